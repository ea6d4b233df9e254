// SPDX-License-Identifier: Apache-2.0
//
// The user's Secret in the form that JuiceFS and its CSI driver need: the data of the copy
// `<set>-volume`. Pure. White space around values is removed (`echo x | base64` leaves a newline).
//
// The driver writes keys that it knows into the command line of its mount pods and keys that it
// does not know into its log, except for a few such as `password`, which it never uses. So it gets
// only what it needs for a formatted volume: the name, and a metadata URL whose password is in the
// environment (META_PASSWORD, in `envs`). Everything else is sealed: one JSON object under
// `password` that only our own pods read.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/manifests.h"

namespace paddle::engine::juicefs {

// Keys and values, not encoded. kInvalid: what is missing or wrong and what to write, without
// values.
Result<std::map<std::string, std::string>> volume_secret(const Credentials& given);

// Of the copy, what the driver reads: without the sealed keys.
std::map<std::string, std::string> keys_of_driver(std::map<std::string, std::string> copy);

// A key of the copy, and the name of its file in a pod.
struct SecretFile {
  std::string key{};
  std::string file{};
};
// What our pods mount: of the volume, and for a source that has no Secret of its own.
std::vector<SecretFile> files_of_volume();
std::vector<SecretFile> files_of_source();

// The file with the sealed keys, and its contents. Empty when the text is not from volume_secret().
inline constexpr const char* kSealedFile = "sealed";
std::map<std::string, std::string> unsealed(const std::string& text);

}  // namespace paddle::engine::juicefs
