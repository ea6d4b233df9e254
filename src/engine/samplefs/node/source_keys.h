// SPDX-License-Identifier: Apache-2.0
//
// Keys of sources that jobs brought, for as long as files of theirs are in the set: reads that miss
// the cache need them. One file per origin, `<directory>/<id of the origin>`, 0600 in a directory
// of 0700, replaced whole. They are in no index, log, reply or error.
//
// Thread-safe as far as files are.

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
  // Removes those of all other origins.
  void keep_only(const std::set<::paddle::samplefs::OriginId>& origins) const;

 private:
  const std::string directory_;
};

// What a file of keys holds. kNotFound: there is none; kInvalid: it is damaged.
Result<KeyValues> read_key_file(const std::string& file);

// As the file has them: "<name> <size of the value>\n<value>\n" each. Pure.
std::string encode_keys(const KeyValues& keys);
Result<KeyValues> decode_keys(std::string_view text);

}  // namespace paddle::engine::samplefs
