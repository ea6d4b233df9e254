// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/table_cells.h"

#include <map>

#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "base/units.h"

namespace paddle::local {
namespace {

using api::Json;

constexpr const char* kCompleted = "Completed";  // the reason of a container that exited with 0
constexpr const char* kReady = "Ready";
constexpr const char* kTerminating = "Terminating";

std::string text(const Json& object, const Path& path) {
  const Json* found = find_at(object, path);
  return found && found->is_string() ? found->get<std::string>() : std::string{};
}

std::int64_t number(const Json& object, const Path& path) {
  const Json* found = find_at(object, path);
  return found && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

size_t size(const Json& object, const Path& path) {
  const Json* found = find_at(object, path);
  return found && found->is_structured() ? found->size() : 0;
}

const Json& list(const Json& object, const Path& path) {
  static const Json kNone = Json::array();
  const Json* found = find_at(object, path);
  return found && found->is_array() ? *found : kNone;
}

std::string age_of(const std::string& time, WallTime now) {
  const auto then = parse_rfc3339(time);
  if (!then) return "<unknown>";
  return human_duration(std::chrono::floor<std::chrono::seconds>(now - *then));
}

// Why a container does not run, in one word; empty when it does.
std::string failure_reason(const Json& container) {
  if (auto waiting = text(container, {"state", "waiting", "reason"}); !waiting.empty()) {
    return waiting;
  }
  if (!find_at(container, {"state", "terminated"})) return {};
  if (auto ended = text(container, {"state", "terminated", "reason"}); !ended.empty()) {
    return ended;
  }
  if (const auto signal = number(container, {"state", "terminated", "signal"}); signal != 0) {
    return "Signal:" + std::to_string(signal);
  }
  return "ExitCode:" + std::to_string(number(container, {"state", "terminated", "exitCode"}));
}

// `step` is "?key=value".
const Json* element_with(const Json& list, const std::string& step) {
  const auto equals = step.find('=');
  if (!list.is_array() || equals == std::string::npos) return nullptr;
  const std::string key = step.substr(1, equals - 1);
  for (const Json& each : list) {
    if (text(each, {key}) == step.substr(equals + 1)) return &each;
  }
  return nullptr;
}

}  // namespace

const Json* find_at(const Json& object, const Path& path) {
  const Json* here = &object;
  for (const auto& step : path) {
    if (step.starts_with('?')) {
      here = element_with(*here, step);
      if (!here) return nullptr;
      continue;
    }
    if (!here->is_object()) return nullptr;
    const auto next = here->find(step);
    if (next == here->end()) return nullptr;
    here = &*next;
  }
  return here;
}

Cell text_at(Path path, std::string otherwise) {
  return [path = std::move(path), otherwise = std::move(otherwise)](const Json& object, WallTime) {
    const std::string found = text(object, path);
    return Json(found.empty() ? otherwise : found);
  };
}

Cell value_at(Path path) {
  return [path = std::move(path)](const Json& object, WallTime) {
    const Json* found = find_at(object, path);
    return found && found->is_primitive() ? *found : Json();
  };
}

Cell age_at(Path path) {
  return [path = std::move(path)](const Json& object, WallTime now) {
    return Json(age_of(text(object, path), now));
  };
}

Cell pairs_at(Path path) {
  return [path = std::move(path)](const Json& object, WallTime) {
    std::string joined;
    const Json* found = find_at(object, path);
    if (!found || !found->is_object()) return Json("<none>");
    for (const auto& [name, value] : found->items()) {
      if (value.is_string()) {
        joined += (joined.empty() ? "" : ",") + name + "=" + value.get<std::string>();
      }
    }
    return Json(joined.empty() ? "<none>" : joined);
  };
}

Json pod_ready(const Json& pod, WallTime) {
  size_t ready = 0;
  for (const Json& status : list(pod, {"status", "containerStatuses"})) {
    const Json* flag = find_at(status, {"ready"});
    if (flag && *flag == true) ++ready;
  }
  return std::to_string(ready) + "/" + std::to_string(size(pod, {"spec", "containers"}));
}

Json pod_status(const Json& pod, WallTime) {
  std::string word = text(pod, {"status", "phase"});
  for (const Json& condition : list(pod, {"status", "conditions"})) {
    if (text(condition, {"reason"}) == "SchedulingGated") word = "SchedulingGated";
  }
  if (const auto pod_reason = text(pod, {"status", "reason"}); !pod_reason.empty())
    word = pod_reason;
  bool initializing = false;
  const Json& inits = list(pod, {"status", "initContainerStatuses"});
  for (size_t i = 0; i < inits.size() && !initializing; ++i) {
    const std::string reason = failure_reason(inits[i]);
    if (find_at(inits[i], {"state", "terminated"}) &&
        number(inits[i], {"state", "terminated", "exitCode"}) == 0) {
      continue;
    }
    initializing = true;
    word = reason.empty() || reason == "PodInitializing"
               ? "Init:" + std::to_string(i) + "/" + std::to_string(inits.size())
               : "Init:" + reason;
  }
  if (!initializing) {
    bool running = false;
    const Json& statuses = list(pod, {"status", "containerStatuses"});
    for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
      const std::string reason = failure_reason(*status);
      if (!reason.empty()) word = reason;
      if (find_at(*status, {"state", "running"})) running = true;
    }
    if (word == kCompleted && running) word = api::pod_phase::kRunning;
  }
  if (!text(pod, {"metadata", "deletionTimestamp"}).empty()) word = kTerminating;
  return word;
}

Json pod_restarts(const Json& pod, WallTime) {
  std::int64_t restarts = 0;
  for (const Json& status : list(pod, {"status", "containerStatuses"})) {
    restarts += number(status, {"restartCount"});
  }
  return restarts;
}

Json service_ports(const Json& service, WallTime) {
  std::string joined;
  for (const Json& port : list(service, {"spec", "ports"})) {
    joined += (joined.empty() ? "" : ",") + std::to_string(number(port, {"port"})) + "/" +
              text(port, {"protocol"});
  }
  return joined.empty() ? "<none>" : joined;
}

Json event_last_seen(const Json& event, WallTime now) {
  for (const Path& path : {Path{"series", "lastObservedTime"}, Path{"lastTimestamp"},
                           Path{"eventTime"}, Path{"metadata", "creationTimestamp"}}) {
    if (const auto time = text(event, path); !time.empty()) return age_of(time, now);
  }
  return "<unknown>";
}

Json event_object(const Json& event, WallTime) {
  std::string kind = text(event, {"involvedObject", "kind"});
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return kind + "/" + text(event, {"involvedObject", "name"});
}

Json access_modes(const Json& volume, WallTime) {
  static const std::map<std::string, std::string> kShorter{{"ReadWriteOnce", "RWO"},
                                                           {"ReadOnlyMany", "ROX"},
                                                           {"ReadWriteMany", "RWX"},
                                                           {"ReadWriteOncePod", "RWOP"}};
  std::string joined;
  for (const Json& mode : list(volume, {"spec", "accessModes"})) {
    const auto found = mode.is_string() ? kShorter.find(mode.get<std::string>()) : kShorter.end();
    if (found != kShorter.end()) joined += (joined.empty() ? "" : ",") + found->second;
  }
  return joined;
}

Json volume_claim(const Json& volume, WallTime) {
  const std::string name = text(volume, {"spec", "claimRef", "name"});
  return name.empty() ? "" : text(volume, {"spec", "claimRef", "namespace"}) + "/" + name;
}

Json data_count(const Json& object, WallTime) {
  return size(object, {"data"}) + size(object, {"binaryData"});
}

Json node_status(const Json& node, WallTime) {
  for (const Json& condition : list(node, {"status", "conditions"})) {
    if (text(condition, {"type"}) == kReady) {
      return text(condition, {"status"}) == "True" ? kReady : "NotReady";
    }
  }
  return "Unknown";
}

Json replicas_ready(const Json& set, WallTime) {
  return std::to_string(number(set, {"status", "readyReplicas"})) + "/" +
         std::to_string(number(set, {"spec", "replicas"}));
}

}  // namespace paddle::local
