// SPDX-License-Identifier: Apache-2.0
//
// The sources of a set, each opened when it is first needed: the set's own, and those that jobs
// have added. An origin that was known stays known, because an open file may be of an earlier
// generation.
//
// A source of its own is read with the keys that came with its job (source_keys.h), or with the
// set's when none did. Thread-safe.

#pragma once

#include <map>
#include <memory>

#include "base/sync.h"
#include "engine/samplefs/node/reopening_source.h"
#include "engine/samplefs/node/source_keys.h"
#include "engine/samplefs/node/sync_rules.h"
#include "samplefs/index.h"
#include "samplefs/read_through.h"

namespace paddle::engine::samplefs {

class SourceSet final : public ::paddle::samplefs::Sources {
 public:
  // `keys`: where keys that came with jobs are.
  SourceSet(SourceOptions own, std::string keys)
      : options_(std::move(own)),
        keys_(std::move(keys)),
        own_(std::make_shared<ReopeningSource>(options_)) {}

  // For reads from now on: of all its files.
  void learn(const ::paddle::samplefs::Index& index) EXCLUDES(mutex_);

  // What is known of the set's own source without asking it.
  OwnSource own() const;
  // To list it. With keys: these and not those that are kept; they stay in memory alone.
  std::shared_ptr<ReopeningSource> open(const ::paddle::samplefs::Origin& origin,
                                        const KeyValues& keys) const;
  // The keys that reads of it take from now on; none: the set's own.
  Result<> keep_keys(const ::paddle::samplefs::Origin& origin, const KeyValues& keys)
      EXCLUDES(mutex_);
  // Forgets keys of origins that neither index has a file of.
  void forget_keys(const ::paddle::samplefs::Index& now,
                   const ::paddle::samplefs::Index& before) const;

  Result<> read(const ::paddle::samplefs::Block& block, std::span<std::byte> into,
                const source::CallContext& context) override EXCLUDES(mutex_);

 private:
  std::shared_ptr<ReopeningSource> reader_of(const ::paddle::samplefs::Origin& origin) const;

  const SourceOptions options_;
  const SourceKeyFiles keys_;
  const std::shared_ptr<ReopeningSource> own_;
  Mutex mutex_;
  std::map<::paddle::samplefs::OriginId, std::shared_ptr<ReopeningSource>> others_
      GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
