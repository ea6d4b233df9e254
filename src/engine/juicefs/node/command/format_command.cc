// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/format_command.h"

#include <array>
#include <string_view>

#include "engine/juicefs/metadata_url.h"
#include "engine/juicefs/secret_text.h"

namespace paddle::engine::juicefs {
namespace {

// Keys of the Secret that are options of `juicefs format`.
constexpr auto kOptions =
    std::to_array<std::string_view>({"storage", "bucket", "block-size", "capacity", "compress",
                                     "inodes", "shards", "storage-class", "trash-days"});

void add_variable(std::vector<std::string>& env, const char* name, const std::string& value) {
  if (!value.empty()) env.push_back(std::string(name) + "=" + value);
}

void add_key_variables(std::vector<std::string>& env, const SecretValues& secret) {
  add_variable(env, "ACCESS_KEY", value_of(secret, "access-key"));
  add_variable(env, "SECRET_KEY", value_of(secret, "secret-key"));
  add_variable(env, "SESSION_TOKEN", value_of(secret, "session-token"));
  add_variable(env, "AWS_REGION", value_of(secret, "region"));
  add_variable(env, "JFS_RSA_PASSPHRASE", value_of(secret, "passphrase"));
}

// The beginning of each command; the password of the metadata is passed in the environment.
CommandLine command_on(const FormatOptions& options, const MetadataUrl& url) {
  CommandLine command{.argv = {options.program, "--no-agent", "--no-color"},
                      .env = {"PATH=/usr/bin:/bin", "HOME=/tmp"}};
  add_variable(command.env, "META_PASSWORD", url.password);
  return command;
}

}  // namespace

Result<CommandLine> format_command(const FormatOptions& options, const SecretValues& secret) {
  if (value_of(secret, "name").empty() || value_of(secret, "metaurl").empty()) {
    return Error{Code::kInvalid, "the Secret at '" + options.volume_secret +
                                     "' has no name or no metaurl; both are required"};
  }
  TRY(const MetadataUrl url, read_metadata_url(value_of(secret, "metaurl"), {}));
  CommandLine command = command_on(options, url);
  // Without a storage, JuiceFS would create the volume in a directory of this pod: read it only.
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
    command.argv.push_back("--encrypt-rsa-key=" + options.volume_secret + "/encrypt_rsa_key");
  }
  command.argv.push_back(url.bare);
  command.argv.push_back(value_of(secret, "name"));
  return command;
}

Result<CommandLine> keys_command(const FormatOptions& options, const SecretValues& secret) {
  if (value_of(secret, "access-key").empty() && value_of(secret, "secret-key").empty()) {
    return CommandLine{};
  }
  TRY(const MetadataUrl url, read_metadata_url(value_of(secret, "metaurl"), {}));
  CommandLine command = command_on(options, url);
  add_key_variables(command.env, secret);
  command.argv.insert(command.argv.end(), {"set-keys", url.bare});
  return command;
}

}  // namespace paddle::engine::juicefs
