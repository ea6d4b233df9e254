// SPDX-License-Identifier: Apache-2.0
//
// Keys of sources that jobs added, kept while the set has files of that source: reads that miss the
// cache need them. One file per origin, `<directory>/<id of the origin>`, mode 0600 in a directory
// of mode 0700, replaced atomically. Keys are in no index, log, reply or error.
//
// Thread-safe: each call works on files only.

#pragma once

#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "samplefs/origin.h"

namespace paddle::engine::samplefs {

using KeyValues = std::map<std::string, std::string>;

class SourceKeyFiles {
 public:
  explicit SourceKeyFiles(std::string directory) : directory_(std::move(directory)) {}

  std::string file(::paddle::samplefs::OriginId origin) const;
  Result<> write(::paddle::samplefs::OriginId origin, const KeyValues& keys) const;
  void remove(::paddle::samplefs::OriginId origin) const;
  // Removes the keys of all other origins.
  void keep_only(const std::set<::paddle::samplefs::OriginId>& origins) const;

 private:
  const std::string directory_;
};

// The contents of a key file. kNotFound: there is none; kInvalid: it is damaged.
Result<KeyValues> read_key_file(const std::string& file);

// The format of a key file: "<name> <size of the value>\n<value>\n" for each key. Pure.
std::string encode_keys(const KeyValues& keys);
Result<KeyValues> decode_keys(std::string_view text);

}  // namespace paddle::engine::samplefs
