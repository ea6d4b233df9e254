// SPDX-License-Identifier: Apache-2.0
//
// The command lines of `juicefs format` and of what updates a volume's keys. Pure. Keys and the
// password of the metadata are passed in the environment, so no command line has a secret.

#pragma once

#include <string>

#include "base/result.h"
#include "engine/juicefs/node/command/secret_values.h"
#include "engine/juicefs/node/command/sync_command.h"

namespace paddle::engine::juicefs {

struct FormatOptions {
  std::string program{};
  std::string volume_secret{};  // directory
  bool update_keys = false;     // also write the Secret's keys into an existing volume
};

// Creates the volume, or only reads it when the Secret has no storage to create it on. kInvalid:
// what the Secret lacks.
Result<CommandLine> format_command(const FormatOptions& options, const SecretValues& secret);
// Writes the Secret's keys into an existing volume. Empty when there are none to write.
Result<CommandLine> keys_command(const FormatOptions& options, const SecretValues& secret);

}  // namespace paddle::engine::juicefs
