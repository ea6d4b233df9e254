// SPDX-License-Identifier: Apache-2.0
#include "test/integration/audit_log.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "api/json/json.h"

namespace paddle::test {

const std::vector<AuditLine>& AuditLog::lines() {
  std::ifstream file(path_);
  file.seekg(read_);
  for (std::string text; std::getline(file, text) && !file.eof();) {
    read_ += static_cast<std::streamoff>(text.size()) + 1;
    if (text.find("\"userAgent\":\"" + prefix_) != text.npos) take(text);
  }
  return lines_;
}

void AuditLog::take(const std::string& text) {
  const auto entry = api::parse_json(text);
  if (!entry || entry->value("stage", "") != "ResponseComplete") return;
  const auto received = parse_rfc3339(entry->value("requestReceivedTimestamp", ""));
  if (!received) return;
  AuditLine line{.received = *received,
                 .agent = entry->value("userAgent", ""),
                 .verb = entry->value("verb", ""),
                 .uri = entry->value("requestURI", "")};
  if (entry->contains("objectRef")) line.resource = (*entry)["objectRef"].value("resource", "");
  if (entry->contains("responseStatus")) line.code = (*entry)["responseStatus"].value("code", 0);
  lines_.push_back(std::move(line));
}

std::vector<std::string> late_writes(std::vector<AuditLine> lines,
                                     std::chrono::milliseconds lease) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.received < b.received; });
  std::map<std::string, WallTime> renewed;
  std::string holder;
  std::vector<std::string> late;
  for (const auto& line : lines) {
    if (!line.writes()) continue;
    if (line.changed_the_lease()) {
      renewed[line.agent] = line.received;
      holder = line.agent;
      continue;
    }
    const bool in_time =
        renewed.contains(line.agent) && line.received < renewed[line.agent] + lease;
    // Two candidates may race for a lease that has run out; the server refuses all but one.
    if (line.resource == "leases" && holder != line.agent && line.code == 409) continue;
    if (in_time && holder == line.agent) continue;
    // Paused between head and body: the fence withholds the body, and the server writes nothing.
    if (line.code == 500 && !line.verb.starts_with("delete")) continue;
    late.push_back(line.agent + " " + line.verb + " " + line.uri + " received " +
                   rfc3339_micro(line.received) + ", holder " + holder + ", last renewal " +
                   rfc3339_micro(renewed[line.agent]) + ", answer " + std::to_string(line.code));
  }
  return late;
}

}  // namespace paddle::test
