// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/credentials.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/source_schemes.h"
#include "engine/juicefs/client_variables.h"
#include "engine/juicefs/metadata_url.h"
#include "engine/juicefs/secret_text.h"
#include "engine/juicefs/source_check.h"

namespace paddle::engine::juicefs {
namespace {

using api::Json;

constexpr const char* kSealed = "password";  // the driver neither uses nor logs it
// Keys of the driver, passed on when they are valid.
constexpr auto kDrivers = std::to_array<std::string_view>({"encrypt_rsa_key", "passphrase"});
constexpr std::size_t kLongestPhrase = 4096;
constexpr std::size_t kLongestKey = std::size_t{64} << 10;
// For formatting, and for a source without a Secret of its own.
constexpr auto kHidden = std::to_array<std::string_view>(
    {"storage", "bucket", "access-key", "secret-key", "session-token", "block-size", "capacity",
     "compress", "endpoint", "format-options", "inodes", "region", "shards", "storage-class",
     "trash-days"});

// Whether JuiceFS accepts it as the name of a volume.
bool is_volume_name(const std::string& name) {
  const auto sound = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return name.size() >= 3 && name.size() <= 63 && sound(name.front()) && sound(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return sound(c) || c == '-'; });
}

Error wrong(std::string reason) { return {Code::kInvalid, "the Secret " + std::move(reason)}; }

// Keys of the driver, which JuiceFS reads as texts and no program as commands.
Result<> check_drivers(const Credentials& all) {
  if (all.contains("configs")) {
    return wrong(
        "has 'configs', by which the driver would mount any Secret of its own namespace into a "
        "privileged pod; remove it");
  }
  if (const auto found = all.find("passphrase"); found != all.end()) {
    if (found->second.size() > kLongestPhrase || !is_one_line(found->second)) {
      return wrong("has a 'passphrase' that is too long or not one line");
    }
  }
  if (const auto found = all.find("encrypt_rsa_key"); found != all.end()) {
    std::string lines = found->second;
    std::erase_if(lines, [](char c) { return c == '\n' || c == '\r'; });
    if (lines.size() > kLongestKey || !is_one_line(lines) || !lines.starts_with("-----BEGIN ")) {
      return wrong("has an 'encrypt_rsa_key' that is not a private key in PEM");
    }
  }
  return Done{};
}

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
        "has a 'name' that JuiceFS does not accept: 3 to 63 of a-z, 0-9 and '-', with a letter or "
        "digit at both ends");
  }
  return Done{};
}

// The kind of the store for the volume's data: one that the JuiceFS of our images has, and that all
// nodes reach.
Result<> check_storage(const Credentials& all) {
  const auto storage = all.find("storage");
  if (storage == all.end()) return Done{};
  const api::SourceScheme* known = api::find_scheme(storage->second);
  if (known && api::is_built(*known)) return Done{};
  const std::string start = "has a 'storage' that ";
  if (known && known->juicefs == api::JuicefsSupport::kNotBuilt) return wrong(start + kNotBuilt);
  return wrong(start + "is none of " + api::juicefs_schemes());
}

// The bucket is on command lines, keys are not.
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
  if (!url) return wrong("has a 'bucket' that is not a URL such as redis://host:6379/1");
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
  CHECK_DONE(check_drivers(all));
  auto variables = read_variables(all.contains("envs") ? all.at("envs") : "");
  if (!variables) return wrong(variables.error().message);
  auto url = read_metadata_url(all.at("metaurl"), (*variables)[kPasswordVariable]);
  if (!url) return wrong("cannot be used: " + url.error().message);
  if (auto done = check_metadata_url(url->bare); !done) return wrong(done.error().message);
  // A password from the URL has not been checked yet.
  if ((*variables)[kPasswordVariable].empty()) {
    if (!is_one_line(url->password)) {
      return wrong("has a password in 'metaurl' with control characters, which no server accepts");
    }
    (*variables)[kPasswordVariable] = url->password;
  }
  std::erase_if(*variables, [](const auto& one) { return one.second.empty(); });

  CHECK_DONE(take_password_out_of_bucket(all));
  CHECK_DONE(check_storage(all));
  std::map<std::string, std::string> made{{"name", all.at("name")}, {"metaurl", url->bare}};
  if (!variables->empty()) made["envs"] = api::dump_json(Json(*variables));
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

std::map<std::string, std::string> keys_of_driver(std::map<std::string, std::string> copy) {
  copy.erase(kSealed);
  return copy;
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
