// SPDX-License-Identifier: Apache-2.0
//
// The sources of a set, each opened on first use: the set's own, and those that jobs have added. An
// origin is never forgotten, because an open file may belong to an earlier generation.
//
// A source that a job added is read with the keys of that job (source_keys.h) or, if it had none,
// with the set's. Thread-safe.

#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "base/sync.h"
#include "engine/samplefs/node/sources/reopening_source.h"
#include "engine/samplefs/node/sources/source_health.h"
#include "engine/samplefs/node/sources/source_keys.h"
#include "engine/samplefs/node/sync_rules.h"
#include "samplefs/index.h"
#include "samplefs/read_through.h"

namespace paddle::engine::samplefs {

class SourceSet final : public ::paddle::samplefs::Sources {
 public:
  // `keys`: directory in memory for the keys of jobs; empty: none.
  SourceSet(SourceOptions own, std::string keys)
      : options_(with_paces(std::move(own))),
        keys_(std::make_shared<SourceKeyStore>(std::move(keys))),
        own_(std::make_shared<ReopeningSource>(options_)) {}

  // Makes the origins of an index readable.
  void learn(const ::paddle::samplefs::Index& index) EXCLUDES(mutex_);

  // The set's own source, without a call to it.
  OwnSource own() const;
  // Opens an origin for listing, at most at that rate. `keys`, if any, replace the stored ones and
  // stay in memory. 0: only the source's own budget limits it.
  std::shared_ptr<ReopeningSource> open(const ::paddle::samplefs::Origin& origin,
                                        const KeyValues& keys, std::int64_t megabits = 0) const;
  // The source that files of the origin are read from. kInternal: it was not learned.
  Result<std::shared_ptr<ReopeningSource>> reader(::paddle::samplefs::OriginId origin)
      EXCLUDES(mutex_);
  // Stores the keys for later reads; none: reads use the set's own.
  Result<> keep_keys(const ::paddle::samplefs::Origin& origin, const KeyValues& keys)
      EXCLUDES(mutex_);
  // Removes the keys of origins without a file in either index.
  void forget_keys(const ::paddle::samplefs::Index& now,
                   const ::paddle::samplefs::Index& before) const;

  Result<> read(const ::paddle::samplefs::Block& block, std::span<std::byte> into,
                const source::CallContext& context) override EXCLUDES(mutex_);

  // Calls sources whose reads fail, at times; trouble() is about those that do not answer.
  void probe(const std::stop_token& stop) EXCLUDES(mutex_);
  std::string trouble() const { return health_.trouble(); }

 private:
  static SourceOptions with_paces(SourceOptions options) {
    options.paces = std::make_shared<SourcePaces>();
    return options;
  }
  std::shared_ptr<ReopeningSource> reader_of(const ::paddle::samplefs::Origin& origin) const;

  const SourceOptions options_;
  const std::shared_ptr<SourceKeyStore> keys_;
  const std::shared_ptr<ReopeningSource> own_;
  SourceHealth health_;  // self-synchronised
  Mutex mutex_;
  std::map<::paddle::samplefs::OriginId, std::shared_ptr<ReopeningSource>> others_
      GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
