// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/format.h"

#include "base/log.h"
#include "engine/juicefs/metadata_url.h"
#include "engine/juicefs/node/command/juicefs_output.h"
#include "engine/juicefs/node/secret_files.h"
#include "engine/juicefs/node/sync/juicefs_process.h"

namespace paddle::engine::juicefs {
namespace {

// The reason of a failure, without secrets.
std::string failure_of(const os::CompletedProcess& end, const SecretValues& secret) {
  std::vector<std::string> secrets = secrets_of(secret);
  if (const auto url = read_metadata_url(value_of(secret, "metaurl"), {})) {
    secrets.push_back(url->password);
  }
  return failure_reason(end.out, secrets);
}

}  // namespace

Result<> ensure_formatted(const FormatOptions& options, std::stop_token stop) {
  TRY(const SecretValues secret, read_secret(options.volume_secret));
  TRY(const CommandLine command, format_command(options, secret));
  TRY(const os::CompletedProcess end, run_juicefs(command, stop));
  const std::string name = "the volume '" + value_of(secret, "name") + "'";
  if (end.exit_code != 0 && value_of(secret, "storage").empty()) {
    return Error{Code::kInvalid, name +
                                     " cannot be read, and the Secret has no storage and bucket "
                                     "to create it with: " +
                                     failure_of(end, secret)};
  }
  if (end.exit_code != 0) {
    return Error{Code::kUnavailable,
                 name + " cannot be created; correct the Secret: " + failure_of(end, secret)};
  }
  TRY(const CommandLine update, keys_command(options, secret));
  const bool updates = options.update_keys && !update.argv.empty();
  os::CompletedProcess updated;
  if (updates) {
    TRY(updated, run_juicefs(update, std::move(stop)));
  }
  if (updated.exit_code == 0) {
    log::info(updates ? "the volume has the Secret's keys" : "the volume exists",
              {{"volume", value_of(secret, "name")}});
    return Done{};
  }
  return Error{Code::kUnavailable,
               name +
                   " keeps its keys, because those of the Secret do not work; correct "
                   "the Secret: " +
                   failure_of(updated, secret)};
}

}  // namespace paddle::engine::juicefs
