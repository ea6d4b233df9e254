// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/client_variables.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/json/json.h"
#include "api/schema/pattern.h"
#include "engine/juicefs/secret_text.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kLongestValue = 4096;

struct Allowed {
  const char* name;
  const char* pattern;  // of the value
};
constexpr const char* kAnyLine = "^[^\\x00-\\x1f\\x7f]*$";
constexpr const char* kAddresses = "^[A-Za-z0-9._~:/?#@!$&'()*+,;=%\\[\\]-]*$";
constexpr const char* kRegion = "^[A-Za-z0-9-]*$";
constexpr const char* kZone = "^[A-Za-z][A-Za-z0-9_+/-]*$";  // a name, no file
// The reasons are in docs/design/0010.
constexpr auto kAllowed = std::to_array<Allowed>({{kPasswordVariable, kAnyLine},
                                                  {"JFS_RSA_PASSPHRASE", kAnyLine},
                                                  {"AWS_DEFAULT_REGION", kRegion},
                                                  {"AWS_REGION", kRegion},
                                                  {"HTTP_PROXY", kAddresses},
                                                  {"HTTPS_PROXY", kAddresses},
                                                  {"NO_PROXY", kAddresses},
                                                  {"http_proxy", kAddresses},
                                                  {"https_proxy", kAddresses},
                                                  {"no_proxy", kAddresses},
                                                  {"TZ", kZone}});

Error about(const std::string& reason) { return {Code::kInvalid, "has 'envs' " + reason}; }

Error unreadable() {
  return about(
      "that is not a list of variables; write a JSON object of texts, such as {\"TZ\": \"UTC\"}");
}

std::string names() {
  std::string all;
  for (const auto& one : kAllowed) all += (all.empty() ? "" : ", ") + std::string(one.name);
  return all;
}

// The name, if it can be shown.
std::string shown(const std::string& name) {
  if (name.size() <= 64 && api::matches_pattern(name, "^[A-Za-z0-9_.-]+$")) return name;
  return "of that name";
}

Result<> check(const std::string& name, const std::string& value) {
  const auto found = std::find_if(kAllowed.begin(), kAllowed.end(),
                                  [&](const Allowed& one) { return name == one.name; });
  if (found == kAllowed.end()) {
    return about("with the variable " + shown(name) +
                 ", which is not passed on to JuiceFS; remove it, these may be set: " + names());
  }
  if (value.size() > kLongestValue || !api::matches_pattern(value, found->pattern)) {
    return about("with a value of " + name +
                 " that cannot be passed on; it is too long, or has characters that do not belong "
                 "there");
  }
  return Done{};
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A YAML scalar that every parser reads in the same way: plain characters, or quoted.
std::optional<std::string> scalar(const std::string& given) {
  const std::string text = trimmed(given);
  if (text.starts_with('"')) {
    const auto json = api::parse_json(text);
    if (!json || !json->is_string()) return std::nullopt;
    return json->get<std::string>();
  }
  if (text.starts_with('\'')) {
    if (text.size() < 2 || !text.ends_with('\'')) return std::nullopt;
    const std::string inner = text.substr(1, text.size() - 2);
    if (inner.find('\'') != inner.npos) return std::nullopt;
    return inner;
  }
  if (!text.empty() && !api::matches_pattern(text, "^[A-Za-z0-9_./][A-Za-z0-9_./:@%+=~-]*$")) {
    return std::nullopt;
  }
  return text;
}

std::optional<Pairs> read_yaml(const std::string& given) {
  std::string text = trimmed(given);
  char end = '\n';
  if (text.starts_with('{') && text.ends_with('}')) {
    text = text.substr(1, text.size() - 2);
    end = ',';
  }
  Pairs pairs;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t stop = std::min(text.find(end, at), text.size());
    const std::string line = trimmed(text.substr(at, stop - at));
    at = stop + 1;
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) return std::nullopt;
    const auto name = scalar(line.substr(0, colon));
    const auto value = scalar(line.substr(colon + 2));
    if (!name || !value) return std::nullopt;
    pairs.emplace_back(*name, *value);
  }
  return pairs;
}

Result<Pairs> read_pairs(const std::string& text) {
  const auto json = api::parse_json(text);
  if (!json) {
    const auto pairs = read_yaml(text);
    if (!pairs) return unreadable();
    return *pairs;
  }
  if (!json->is_object()) return unreadable();
  Pairs pairs;
  for (const auto& [name, value] : json->items()) {
    if (!value.is_string()) {
      return about("with the variable " + shown(name) +
                   " whose value is not a text; put it in quotes");
    }
    pairs.emplace_back(name, value.get<std::string>());
  }
  return pairs;
}

}  // namespace

Result<std::map<std::string, std::string>> read_variables(const std::string& text) {
  std::map<std::string, std::string> all;
  if (trimmed(text).empty()) return all;
  TRY(const Pairs pairs, read_pairs(text));
  for (const auto& [name, value] : pairs) {
    CHECK_DONE(check(name, value));
    if (!all.emplace(name, value).second) return about("with the variable " + name + " twice");
  }
  return all;
}

}  // namespace paddle::engine::juicefs
