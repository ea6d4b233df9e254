// SPDX-License-Identifier: Apache-2.0
//
// Writes a directory of small files that change atomically, with the kubelet's layout:
//
//   ..v7/key            the files of this version
//   ..data -> ..v7      replaced by one rename: readers of ..data see one version
//   key -> ..data/key   the names that programs open
//
// A mount of the directory shows updates; a mount of one file (subPath) does not. One writer at a
// time, any number of readers. After a failure the previous version is still in place.

#pragma once

#include <map>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace paddle::local {

struct FileModes {
  mode_t directory = 0755;
  mode_t file = 0644;
  std::optional<gid_t> group{};  // owns directory and files, and may read them
};

// Creates the directory and its parents; always sets the mode.
Result<> make_directory(const std::string& path, mode_t mode);

// Replaces the content of the directory by these files (name -> content). Writes nothing if it is
// up to date. kInvalid for a name that is not a plain file name.
Result<> replace_files(const std::string& directory,
                       const std::map<std::string, std::string>& files, FileModes modes);

}  // namespace paddle::local
