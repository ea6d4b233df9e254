// SPDX-License-Identifier: Apache-2.0
#include "test/integration/audit_log.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "api/json.h"

namespace paddle::test {

std::vector<AuditLine> read_audit(const std::string& path) {
  std::vector<AuditLine> lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const auto entry = api::parse_json(text);
    if (!entry || !entry->is_object()) continue;
    if (entry->value("stage", "") != "ResponseComplete") continue;
    const auto received = parse_rfc3339(entry->value("requestReceivedTimestamp", ""));
    if (!received) continue;
    AuditLine line{.received = *received,
                   .agent = entry->value("userAgent", ""),
                   .verb = entry->value("verb", ""),
                   .uri = entry->value("requestURI", "")};
    if (entry->contains("objectRef")) line.resource = (*entry)["objectRef"].value("resource", "");
    if (entry->contains("responseStatus")) line.code = (*entry)["responseStatus"].value("code", 0);
    lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.received < b.received; });
  return lines;
}

std::vector<std::string> late_writes(const std::vector<AuditLine>& lines, const std::string& prefix,
                                     std::chrono::milliseconds lease) {
  std::map<std::string, WallTime> renewed;
  std::string holder;
  std::vector<std::string> late;
  for (const auto& line : lines) {
    if (!line.writes() || line.agent.rfind(prefix, 0) != 0) continue;
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
    late.push_back(line.agent + " " + line.verb + " " + line.uri + " received " +
                   rfc3339_micro(line.received) + ", holder " + holder + ", last renewal " +
                   rfc3339_micro(renewed[line.agent]) + ", answer " + std::to_string(line.code));
  }
  return late;
}

}  // namespace paddle::test
