// SPDX-License-Identifier: Apache-2.0
//
// The user's Secret as JuiceFS and its CSI driver want it: the data of the copy `<set>-volume`.
// Pure. Values lose the white space at their ends (`echo x | base64` leaves a newline).
//
// The driver writes what it is given into the command line of its mount pods. So it is given as
// little as it needs for a volume that is formatted already: the name, and a metadata URL whose
// password goes by environment (META_PASSWORD, in `envs`). Everything else is under names that the
// driver does not know ("volume-access-key"), and only our own pods see it, as files.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/manifests.h"

namespace paddle::engine::juicefs {

// Key to value, not encoded. kInvalid: what is missing or wrong, and what to write; no values.
Result<std::map<std::string, std::string>> volume_secret(const Credentials& given);

// A key of the copy, and the name of its file in a pod.
struct SecretFile {
  std::string key{};
  std::string file{};
};
// What a runtime needs: the volume's name and the whole metadata URL.
std::vector<SecretFile> files_of_runtime();
// What formatting needs as well: where data goes, and the keys for that.
std::vector<SecretFile> files_of_preparation();
// Keys of a source that has no Secret of its own.
std::vector<SecretFile> files_of_source();

}  // namespace paddle::engine::juicefs
