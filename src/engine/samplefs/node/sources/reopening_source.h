// SPDX-License-Identifier: Apache-2.0
//
// A source of a set, opened on first use and again when its credentials have changed.
//
// Credentials and options are files of a directory (a mounted Secret, source_secret.h). They are
// read at each refresh(), and when the source has refused them: a refused call is repeated once if
// they have changed. Keys of the source itself, given directly or kept (source_keys.h),
// replace all of them.
//
// An error is one sentence with what to do, and has no secret. Thread-safe.

#pragma once

#include <memory>
#include <string>

#include "base/sync.h"
#include "engine/samplefs/node/sources/source_keys.h"
#include "engine/samplefs/node/sources/source_paces.h"
#include "engine/samplefs/node/sources/source_secret.h"
#include "source/source.h"

namespace paddle::engine::samplefs {

struct SourceOptions {
  std::string uri{};
  std::string secret_directory{};                     // empty: none
  std::shared_ptr<const SourceKeyStore> key_store{};  // null: none
  ::paddle::samplefs::OriginId origin{};              // whose keys in it are used, if there are any
  KeyValues keys{};                                   // used if not empty
  std::int64_t megabits = 0;  // per second, besides the budget of the source; 0: no limit
  std::shared_ptr<SourcePaces> paces{};  // null: a budget of its own
};

Result<SourceSecret> read_source_secret(const SourceOptions& options);

// Turns an error of a source into a sentence for the user: what is wrong and what to do. Pure.
Error explain(const std::string& uri, const std::string& endpoint, Error error);

class ReopeningSource final : public source::Source {
 public:
  explicit ReopeningSource(SourceOptions options) : options_(std::move(options)) {}

  // Reads the credentials and opens the source with them.
  Result<> refresh() EXCLUDES(mutex_);

  Result<source::Listed> list(const source::ObjectSink& sink, std::stop_token stop) override
      EXCLUDES(mutex_);
  Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                std::span<std::byte> into, const source::CallContext& context) override
      EXCLUDES(mutex_);
  // Reads the first byte of an object; an error is a sentence for the user.
  Result<> probe(std::string_view path, std::string_view etag, const source::CallContext& context)
      EXCLUDES(mutex_);

 private:
  struct Opened {
    std::unique_ptr<source::Source> source{};
    SourceSecret secret{};
    std::shared_ptr<source::RateLimiter> limiter{};
  };
  using OpenedPtr = std::shared_ptr<const Opened>;

  Result<OpenedPtr> open() const;
  Result<> read_from(const Opened& opened, std::string_view path, std::string_view etag,
                     std::uint64_t offset, std::span<std::byte> into,
                     const source::CallContext& context) const;
  Result<OpenedPtr> current() EXCLUDES(mutex_);
  // The source opened with the current credentials, or null if they are those of `refused`.
  OpenedPtr successor_of(const OpenedPtr& refused) EXCLUDES(mutex_);

  const SourceOptions options_;
  Mutex mutex_;
  OpenedPtr opened_ GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
