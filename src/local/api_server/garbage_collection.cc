// SPDX-License-Identifier: Apache-2.0
//
// What Writer does without a request: creates the default namespaces and collects garbage.
#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"
#include "local/api_server/namespaces.h"
#include "local/api_server/writer.h"

namespace paddle::local {
namespace {

constexpr std::chrono::hours kEventLife{1};  // as on a real server

WallTime last_seen(const api::Json& event) {
  WallTime latest{};
  const auto look = [&](const api::Json& at, const char* field) {
    const auto found = at.find(field);
    if (found == at.end() || !found->is_string()) return;
    if (auto time = parse_rfc3339(found->get_ref<const std::string&>())) {
      latest = std::max(latest, *time);
    }
  };
  look(event, "lastTimestamp");
  look(event, "eventTime");
  if (event.contains("metadata")) look(event["metadata"], "creationTimestamp");
  return latest;
}

}  // namespace

Result<> Writer::create_default_namespaces() {
  const Kind& kind = *find_kind("", "v1", "namespaces");
  for (const char* name : kDefaultNamespaces) {
    TRY(const auto there, storage_.get(collection_of(kind.resource), {.name = name}));
    if (there) continue;
    ResponseNotes notes;
    auto made = create(kind, "", {{"metadata", {{"name", name}}}}, {}, notes);
    if (!made) return std::move(made).error();
  }
  return Done{};
}

Result<> Writer::collect_garbage() {
  const WallTime now = clock_.wall();
  return write(false, [&](Transaction& transaction) -> Result<> {
    kube::GarbageCollector garbage(transaction, true);
    garbage.collect_dangling(transaction.dangling(), now);
    for (const auto& found : transaction.in_collection("/events", "")) {
      const auto record = transaction.read(found.resource, found.key);
      if (!record || now - last_seen(*record->object) < kEventLife) continue;
      CHECK_DONE(garbage.remove(found.resource, found.key, {}, now));
    }
    return Done{};
  });
}

}  // namespace paddle::local
