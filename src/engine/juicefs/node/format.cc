// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/format.h"

#include <array>
#include <string_view>

#include "base/log.h"
#include "engine/juicefs/metadata_url.h"
#include "engine/juicefs/node/said.h"
#include "engine/juicefs/text.h"

namespace paddle::engine::juicefs {
namespace {

// Keys of the Secret that are options of `juicefs format`.
constexpr auto kOptions =
    std::to_array<std::string_view>({"storage", "bucket", "block-size", "capacity", "compress",
                                     "inodes", "shards", "storage-class", "trash-days"});

void add_variable(std::vector<std::string>& env, const char* name, const std::string& value) {
  if (!value.empty()) env.push_back(std::string(name) + "=" + value);
}

void add_key_variables(std::vector<std::string>& env, const SecretFiles& secret) {
  add_variable(env, "ACCESS_KEY", value_of(secret, "access-key"));
  add_variable(env, "SECRET_KEY", value_of(secret, "secret-key"));
  add_variable(env, "SESSION_TOKEN", value_of(secret, "session-token"));
  add_variable(env, "AWS_REGION", value_of(secret, "region"));
  add_variable(env, "JFS_RSA_PASSPHRASE", value_of(secret, "passphrase"));
}

// About a volume; the password of its metadata goes by environment.
ChildCommand command_on(const FormatPlace& place, const MetadataUrl& url) {
  ChildCommand command{.argv = {place.program, "--no-agent", "--no-color"},
                       .env = {"PATH=/usr/bin:/bin", "HOME=/tmp"}};
  add_variable(command.env, "META_PASSWORD", url.password);
  return command;
}

// What it said at its end, without secrets.
std::string why_not(const ChildEnd& end, const SecretFiles& secret) {
  std::vector<std::string> secrets = secrets_of(secret);
  if (const auto url = read_metadata_url(value_of(secret, "metaurl"), {})) {
    secrets.push_back(url->password);
  }
  return last_words(end.said, secrets);
}

}  // namespace

Result<ChildCommand> format_command(const FormatPlace& place, const SecretFiles& secret) {
  if (value_of(secret, "name").empty() || value_of(secret, "metaurl").empty()) {
    return Error{Code::kInvalid, "the Secret at '" + place.volume_secret +
                                     "' has no name and metaurl; it has to name a volume"};
  }
  TRY(const MetadataUrl url, read_metadata_url(value_of(secret, "metaurl"), {}));
  ChildCommand command = command_on(place, url);
  // Without a storage JuiceFS would take a directory of this very pod: then only ask.
  if (value_of(secret, "storage").empty() || value_of(secret, "bucket").empty()) {
    command.argv.insert(command.argv.end(), {"config", url.bare});
    return command;
  }
  const std::string bucket = value_of(secret, "bucket");
  const std::size_t mark = bucket.find("://");
  if (holds_password(mark == bucket.npos ? bucket : bucket.substr(mark + 3))) {
    return Error{Code::kInvalid,
                 "the bucket in the Secret holds a password, which would be on a command line; put "
                 "user and password into access-key and secret-key"};
  }
  add_key_variables(command.env, secret);
  command.argv.insert(command.argv.end(), {"format", "--no-update"});
  for (const auto option : kOptions) {
    const std::string value = value_of(secret, std::string(option));
    if (!value.empty()) command.argv.push_back("--" + std::string(option) + "=" + value);
  }
  if (secret.contains("encrypt_rsa_key")) {
    command.argv.push_back("--encrypt-rsa-key=" + place.volume_secret + "/encrypt_rsa_key");
  }
  command.argv.push_back(url.bare);
  command.argv.push_back(value_of(secret, "name"));
  return command;
}

Result<ChildCommand> keys_command(const FormatPlace& place, const SecretFiles& secret) {
  if (value_of(secret, "access-key").empty() && value_of(secret, "secret-key").empty()) {
    return ChildCommand{};
  }
  TRY(const MetadataUrl url, read_metadata_url(value_of(secret, "metaurl"), {}));
  ChildCommand command = command_on(place, url);
  add_key_variables(command.env, secret);
  command.argv.insert(command.argv.end(), {"set-keys", url.bare});
  return command;
}

Result<> ensure_formatted(const FormatPlace& place, std::stop_token stop) {
  TRY(const SecretFiles secret, read_secret(place.volume_secret));
  TRY(const ChildCommand command, format_command(place, secret));
  TRY(const ChildEnd end, run_child(command, stop));
  const std::string name = "the volume '" + value_of(secret, "name") + "'";
  if (end.exit_code != 0 && value_of(secret, "storage").empty()) {
    return Error{Code::kInvalid, name +
                                     " can not be read, and the Secret has no storage and bucket "
                                     "to make it with: " +
                                     why_not(end, secret)};
  }
  if (end.exit_code != 0) {
    return Error{Code::kUnavailable,
                 name + " can not be made; correct the Secret: " + why_not(end, secret)};
  }
  TRY(const ChildCommand update, keys_command(place, secret));
  const bool updates = place.update_keys && !update.argv.empty();
  ChildEnd updated;
  if (updates) {
    TRY(updated, run_child(update, std::move(stop)));
  }
  if (updated.exit_code == 0) {
    log::info(updates ? "the volume has the Secret's keys" : "the volume is there",
              {{"volume", value_of(secret, "name")}});
    return Done{};
  }
  return Error{Code::kUnavailable,
               name +
                   " keeps the keys that it has, for those of the Secret do not work; correct "
                   "the Secret: " +
                   why_not(updated, secret)};
}

}  // namespace paddle::engine::juicefs
