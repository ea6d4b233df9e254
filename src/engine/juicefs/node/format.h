// SPDX-License-Identifier: Apache-2.0
//
// Makes sure that a volume exists, before anybody mounts it: `juicefs format` where there is none
// yet. A volume that exists is left as it is, but for its keys when that is asked for: JuiceFS
// tries them before it writes them, and every client takes them up within seconds. Keys and the
// password of the metadata go by environment.

#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/juicefs/node/child.h"
#include "engine/juicefs/node/secret_files.h"

namespace paddle::engine::juicefs {

struct FormatPlace {
  std::string program{};
  std::string volume_secret{};  // directory
  bool update_keys = false;     // of a volume that exists; its Secret has changed
};

// An error is one sentence and holds no secret.
Result<> ensure_formatted(const FormatPlace& place, std::stop_token stop);

// The command of ensure_formatted(). Pure. kInvalid: what the Secret lacks.
Result<ChildCommand> format_command(const FormatPlace& place, const SecretFiles& secret);
// The one that writes the Secret's keys. Without an argument when there are none to write.
Result<ChildCommand> keys_command(const FormatPlace& place, const SecretFiles& secret);

}  // namespace paddle::engine::juicefs
