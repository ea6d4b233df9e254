// SPDX-License-Identifier: Apache-2.0
#include "cli/wait_condition.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"

namespace paddle::cli {
namespace {

using api::Json;

Error not_understood(const std::string& text) {
  return {Code::kInvalid, "--for=" + text.substr(0, 100) +
                              " is not condition=TYPE[=STATUS], phase=VALUE, "
                              "jsonpath={.PATH}[=VALUE], cached or delete"};
}

// ".status.podIPs[0].ip" as names.
std::vector<std::string> names_in(std::string_view path) {
  std::vector<std::string> names(1);
  for (const char c : path) {
    if (c == '.' || c == '[') {
      if (!names.back().empty()) names.emplace_back();
    } else if (c != ']') {
      names.back() += c;
    }
  }
  if (names.back().empty()) names.pop_back();
  return names;
}

bool is_plain_path(std::string_view path) {
  return path.size() > 1 && path.front() == '.' && std::ranges::all_of(path, [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '[' || c == ']';
         });
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const Json* walk(const Json& object, const std::vector<std::string>& path) {
  const Json* at = &object;
  for (const std::string& name : path) {
    if (at->is_array()) {
      size_t number = at->size();
      std::from_chars(name.data(), name.data() + name.size(), number);
      if (number >= at->size()) return nullptr;
      at = &(*at)[number];
      continue;
    }
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
  }
  return at;
}

bool reached(const WaitCondition& condition, const Json& object) {
  if (condition.type == WaitCondition::Type::kDeleted) return false;
  if (condition.type == WaitCondition::Type::kCached) {
    const auto total = api::look_integer(object, "/status/cacheStatus/totalBytes");
    return api::look_text(object, "/status/phase") == api::sample_set_phase::kReady && total > 0 &&
           api::look_integer(object, "/status/cacheStatus/cachedBytes") >= total;
  }
  if (condition.type == WaitCondition::Type::kCondition) {
    for (const Json& each : api::look_list(object, "/status/conditions")) {
      if (same_word(api::look_text(each, "type"), condition.condition)) {
        return same_word(api::look_text(each, "status"), condition.value);
      }
    }
    return false;
  }
  const Json* found = walk(object, condition.path);
  if (!found || found->is_null()) return false;
  if (condition.value.empty()) return true;
  return (found->is_string() ? found->get<std::string>() : api::dump_json(*found)) ==
         condition.value;
}

bool is_final(const Json& object) {
  const std::string kind = api::look_text(object, "kind");
  const std::string phase = api::look_text(object, "/status/phase");
  if (kind == "PaddleJob") return api::paddle_job_phase::is_final(phase);
  if (kind == "SampleJob") return api::sample_job_phase::is_final(phase);
  return kind == "Pod" && api::pod_phase::is_final(phase);
}

// False while the status is of an older generation of the spec.
bool is_up_to_date(const Json& object) {
  const auto seen = api::look_integer(object, "/status/observedGeneration");
  return seen == 0 || seen >= api::look_integer(object, "/metadata/generation");
}

}  // namespace

Result<WaitCondition> parse_wait_condition(const std::string& text) {
  if (text == "delete") return WaitCondition{.type = WaitCondition::Type::kDeleted};
  if (text == "cached") return WaitCondition{.type = WaitCondition::Type::kCached};
  const auto equal = text.find('=');
  const std::string word = text.substr(0, equal);
  const std::string rest = equal == std::string::npos ? "" : text.substr(equal + 1);
  if (rest.empty()) return not_understood(text);
  if (word == "phase") {
    return WaitCondition{
        .type = WaitCondition::Type::kField, .path = {"status", "phase"}, .value = rest};
  }
  if (word == "condition") {
    const auto second = rest.find('=');
    WaitCondition condition{.condition = rest.substr(0, second), .value = "True"};
    if (second != std::string::npos) condition.value = rest.substr(second + 1);
    if (condition.condition.empty() || condition.value.empty()) return not_understood(text);
    return condition;
  }
  const auto close = rest.find('}');
  if (word != "jsonpath" || rest.front() != '{' || close == std::string::npos) {
    return not_understood(text);
  }
  const std::string path = rest.substr(1, close - 1), after = rest.substr(close + 1);
  const bool good_end = after.empty() || (after.front() == '=' && after.size() > 1);
  if (!is_plain_path(path) || !good_end) return not_understood(text);
  return WaitCondition{.type = WaitCondition::Type::kField,
                       .path = names_in(path),
                       .value = after.empty() ? "" : after.substr(1)};
}

WaitState evaluate(const WaitCondition& condition, const Json& object) {
  if (reached(condition, object)) return {.progress = WaitState::Progress::kMet};
  if (condition.type == WaitCondition::Type::kDeleted || !is_up_to_date(object) ||
      !is_final(object))
    return {};
  const std::string why = explanation(object);
  return {.progress = WaitState::Progress::kNever,
          .reason =
              "it is " + api::look_text(object, "/status/phase") + (why.empty() ? "" : ": " + why)};
}

const Json* condition_of(const Json& object, const std::string& type) {
  for (const Json& condition : api::look_list(object, "/status/conditions")) {
    if (api::look_text(condition, "type") == type) return &condition;
  }
  return nullptr;
}

namespace {

// Controllers name commands of kubectl, which is not needed here.
std::string with_our_commands(std::string text) {
  for (const std::string verb : {"describe ", "logs "}) {
    const std::string theirs = "kubectl " + verb, ours = "paddlectl local " + verb;
    for (auto at = text.find(theirs); at != text.npos; at = text.find(theirs, at + ours.size())) {
      text.replace(at, theirs.size(), ours);
    }
  }
  return text;
}

std::string message_of(const Json& object) {
  if (const Json* ready = condition_of(object, "Ready")) {
    if (auto text = api::look_text(*ready, "message"); !text.empty()) return text;
  }
  for (const Json& each : api::look_list(object, "/status/conditions")) {
    auto text = api::look_text(each, "message");
    if (api::look_text(each, "status") != "True" && !text.empty()) return text;
  }
  const auto text = api::look_text(object, "/status/message");
  return text.empty() ? api::look_text(object, "/status/cacheStatus/errorMassage") : text;
}

}  // namespace

std::string explanation(const Json& object) { return with_our_commands(message_of(object)); }

}  // namespace paddle::cli
