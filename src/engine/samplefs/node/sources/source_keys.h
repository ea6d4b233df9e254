// SPDX-License-Identifier: Apache-2.0
//
// Keys of sources that jobs added, kept while the set has files of that source: reads that miss the
// cache need them. They are never on a disk: one file per origin, `<directory>/<id of the origin>`,
// mode 0600, in a directory of a file system in memory, which outlives the process (a volume of the
// pod). Without such a directory they end with the process. Keys are in no index, log, reply or
// error.
//
// Thread-safe.

#pragma once

#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "base/sync.h"
#include "samplefs/origin.h"

namespace paddle::engine::samplefs {

using KeyValues = std::map<std::string, std::string>;

class SourceKeyStore {
 public:
  // A directory that is not in memory is not used.
  explicit SourceKeyStore(std::string directory);

  // kNotFound: there are none; kInvalid: they are damaged.
  Result<KeyValues> read(::paddle::samplefs::OriginId origin) const EXCLUDES(mutex_);
  Result<> write(::paddle::samplefs::OriginId origin, const KeyValues& keys) EXCLUDES(mutex_);
  void remove(::paddle::samplefs::OriginId origin) EXCLUDES(mutex_);
  // Removes the keys of all other origins.
  void keep_only(const std::set<::paddle::samplefs::OriginId>& origins) EXCLUDES(mutex_);

 private:
  std::string file(::paddle::samplefs::OriginId origin) const;

  const std::string directory_;  // empty: in kept_
  mutable Mutex mutex_;
  std::map<::paddle::samplefs::OriginId, KeyValues> kept_ GUARDED_BY(mutex_);
};

// The format of a key file: "<name> <size of the value>\n<value>\n" for each key. Pure.
std::string encode_keys(const KeyValues& keys);
Result<KeyValues> decode_keys(std::string_view text);

}  // namespace paddle::engine::samplefs
