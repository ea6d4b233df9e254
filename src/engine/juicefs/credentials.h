// SPDX-License-Identifier: Apache-2.0
//
// The user's Secret as JuiceFS and its CSI driver want it: the data of the copy `<set>-volume`.
// Pure. Values lose the white space at their ends (`echo x | base64` leaves a newline).
//
// The driver writes what it knows into the command line of its mount pods, and what it does not
// know into its log, but for a few keys such as `password`, which it never uses. So it is given as
// little as it needs for a volume that is formatted already: the name, and a metadata URL whose
// password goes by environment (META_PASSWORD, in `envs`). Everything else is one JSON object under
// `password`, and only our own pods open it.

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
// What our pods need of the volume; and for a source that has no Secret of its own.
std::vector<SecretFile> files_of_volume();
std::vector<SecretFile> files_of_source();

// The file with everything that the driver is not told, and what is in it: key to value. Nothing
// when it is not what volume_secret() made.
inline constexpr const char* kSealedFile = "sealed";
std::map<std::string, std::string> unsealed(const std::string& text);

}  // namespace paddle::engine::juicefs
