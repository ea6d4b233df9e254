// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/credentials.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/juicefs/metadata_url.h"
#include "engine/juicefs/text.h"

namespace paddle::engine::juicefs {
namespace {

using api::Json;

constexpr const char* kPasswordVariable = "META_PASSWORD";
constexpr const char* kSealed = "password";  // what the driver neither uses nor shows
// The driver's own, passed on as they are.
constexpr auto kDrivers =
    std::to_array<std::string_view>({"configs", "encrypt_rsa_key", "passphrase"});
// For formatting, and for a source without a Secret of its own.
constexpr auto kHidden = std::to_array<std::string_view>(
    {"storage", "bucket", "access-key", "secret-key", "session-token", "block-size", "capacity",
     "compress", "endpoint", "format-options", "inodes", "region", "shards", "storage-class",
     "trash-days"});

// What JuiceFS takes as the name of a volume.
bool is_volume_name(const std::string& name) {
  const auto sound = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return name.size() >= 3 && name.size() <= 63 && sound(name.front()) && sound(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return sound(c) || c == '-'; });
}

Error wrong(std::string reason) { return {Code::kInvalid, "the Secret " + std::move(reason)}; }

// The user's variables; a JSON object, or YAML of one "name: value" a line.
struct Variables {
  std::string text{};
  std::string password{};  // that they set themselves

  static Variables read(const std::string& text) {
    Variables all{.text = text};
    const auto json = api::parse_json(text);
    if (json && json->is_object() && json->contains(kPasswordVariable) &&
        (*json)[kPasswordVariable].is_string()) {
      all.password = (*json)[kPasswordVariable].get<std::string>();
    }
    return all;
  }

  void add_password(const std::string& value) {
    const auto json = api::parse_json(text.empty() ? "{}" : text);
    if (json && json->is_object()) {
      Json more = *json;
      more[kPasswordVariable] = value;
      text = api::dump_json(more);
    } else {  // a JSON text is one of YAML too
      text += std::string("\n") + kPasswordVariable + ": " + api::dump_json(Json(value)) + "\n";
    }
  }
};

Result<> check(const Credentials& all) {
  const auto has = [&](const char* key) { return all.contains(key); };
  if (!has("name") || !has("metaurl")) {
    return wrong(std::string("has no '") + (has("name") ? "metaurl" : "name") +
                 "'; the juicefs engine needs name and metaurl, and storage and bucket for a "
                 "volume that does not exist yet");
  }
  if (has("storage") != has("bucket")) {
    return wrong(std::string("has '") + (has("storage") ? "storage" : "bucket") + "' without '" +
                 (has("storage") ? "bucket" : "storage") +
                 "'; a volume that does not exist yet needs both, one that exists neither");
  }
  if (!is_volume_name(all.at("name"))) {
    return wrong(
        "has a 'name' that JuiceFS does not take: 3 to 63 of a-z, 0-9 and '-', with a letter or "
        "digit at both ends");
  }
  return Done{};
}

// Buckets are part of command lines, keys are not.
Result<> take_password_out_of_bucket(Credentials& all) {
  const auto bucket = all.find("bucket");
  if (bucket == all.end()) return Done{};
  const std::string& given = bucket->second;
  const std::size_t mark = given.find("://");
  const auto storage = all.find("storage");
  const bool redis = given.starts_with("redis://") || given.starts_with("rediss://") ||
                     (mark == given.npos && storage != all.end() && storage->second == "redis");
  if (!redis) {
    if (!holds_password(mark == given.npos ? given : given.substr(mark + 3))) return Done{};
    return wrong(
        "has a 'bucket' with a password, which would be on command lines; put user and password "
        "into access-key and secret-key");
  }
  const auto url = read_metadata_url(bucket->second, {});
  if (!url) return wrong("has a 'bucket' that is no URL such as redis://host:6379/1");
  if (url->password.empty()) return Done{};
  bucket->second = url->bare;
  all.emplace("secret-key", url->password);
  return Done{};
}

}  // namespace

Result<std::map<std::string, std::string>> volume_secret(const Credentials& given) {
  Credentials all;
  for (const auto& [key, value] : given) {
    if (auto plain = trimmed(value); !plain.empty()) all[key] = std::move(plain);
  }
  CHECK_DONE(check(all));
  Variables variables = Variables::read(all.contains("envs") ? all.at("envs") : "");
  auto url = read_metadata_url(all.at("metaurl"), variables.password);
  if (!url) return wrong("can not be used: " + url.error().message);
  if (!url->password.empty() && variables.password.empty()) variables.add_password(url->password);

  CHECK_DONE(take_password_out_of_bucket(all));
  std::map<std::string, std::string> made{{"name", all.at("name")}, {"metaurl", url->bare}};
  if (!variables.text.empty()) made["envs"] = variables.text;
  for (const auto key : kDrivers) {
    if (const auto found = all.find(std::string(key)); found != all.end()) made.insert(*found);
  }
  Json sealed = {{"metaurl", url->whole}};
  for (const auto key : kHidden) {
    if (const auto found = all.find(std::string(key)); found != all.end()) {
      sealed[found->first] = found->second;
    }
  }
  made[kSealed] = api::dump_json(sealed);
  return made;
}

std::vector<SecretFile> files_of_volume() {
  return {{"name", "name"},
          {kSealed, kSealedFile},
          {"encrypt_rsa_key", "encrypt_rsa_key"},
          {"passphrase", "passphrase"}};
}

std::vector<SecretFile> files_of_source() { return {{kSealed, kSealedFile}}; }

std::map<std::string, std::string> unsealed(const std::string& text) {
  std::map<std::string, std::string> all;
  const auto json = api::parse_json(text);
  if (!json || !json->is_object()) return all;
  for (const auto& [key, value] : json->items()) {
    if (value.is_string()) all[key] = value.get<std::string>();
  }
  return all;
}

}  // namespace paddle::engine::juicefs
