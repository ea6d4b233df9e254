// SPDX-License-Identifier: Apache-2.0
//
// A directory of small files that change together, laid out as the kubelet lays out a Secret:
//
//   ..v7/key            the files of this version
//   ..data -> ..v7      replaced by one rename: who opens ..data sees one version
//   key -> ..data/key   what programs open
//
// A mount of the directory follows; a mount of one file (subPath) keeps what it was mounted with.
// One writer at a time; readers at any time. After a failure the version before is still in place.

#pragma once

#include <map>
#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace paddle::local {

struct FileModes {
  mode_t directory = 0755;
  mode_t file = 0644;
};

// With its parents; the mode is set in any case.
Result<> make_directory(const std::string& path, mode_t mode);

// Makes the directory hold these files (name -> content) and no others. Writes nothing when it does
// already. kInvalid: a name that is not a plain file's.
Result<> replace_files(const std::string& directory,
                       const std::map<std::string, std::string>& files, FileModes modes);

}  // namespace paddle::local
