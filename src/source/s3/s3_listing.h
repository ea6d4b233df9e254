// SPDX-License-Identifier: Apache-2.0
//
// One listing of a bucket or a prefix: ListObjectsV2, ListObjectVersions for version ids, or BOS's
// own. The first pages come one after the other. When there are more, and the keys have risen so
// far, the rest is divided (key_splits.h) and its parts are listed at the same time. The objects
// passed are the same either way; their order differs.
//
// A page that fails is requested again from the last key that arrived, for minutes. A listing ends
// with an error when it repeats itself, has no end, or takes longer than the options allow.
//
// Used once, by one thread. The client and the sink outlive it.

#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/sync.h"
#include "source/s3/s3_client.h"
#include "source/s3/s3_list.h"
#include "source/source.h"

namespace paddle::source {

class S3Listing {
 public:
  S3Listing(S3Client& client, const ObjectSink& sink, std::stop_token stop)
      : client_(client),
        sink_(sink),
        stop_(std::move(stop)),
        until_(client.clock().boot() + client.options().listing_limit) {}

  Result<Listed> run();

 private:
  // Where a part of the listing is.
  struct Cursor {
    std::string after{};                // the last key that arrived, or where the part begins
    std::optional<std::string> last{};  // its last key; nothing: no limit
    std::string token{};                // of the next page; empty: from `after`
    std::string version{};              // the same with versions
    int pages = 0;
    int empty_pages = 0;  // the latest ones
    bool done = false;
  };

  Query query_of(const Cursor& cursor, int page_size) const;
  Query bos_query_of(const Cursor& cursor, int page_size) const;
  Result<S3Page> parse_page(std::string_view body) const;
  Result<S3Page> fetch(Cursor& cursor);
  Result<> next_page(Cursor& cursor);
  Result<> pass(S3Page&& page, Cursor& cursor) EXCLUDES(mutex_);
  Result<> pass_object(S3Object&& object) REQUIRES(mutex_);
  Result<std::optional<std::string>> first_key_after(const std::string& after);
  // False: it cannot be divided, and nothing was listed.
  Result<bool> list_parts(const Cursor& from) EXCLUDES(mutex_);
  Result<> list_part(Cursor cursor);

  S3Client& client_;
  const ObjectSink& sink_;
  const std::stop_token stop_;
  const BootTime until_;
  std::stop_source parts_stop_{};

  // Constant while parts are listed at the same time.
  bool parallel_ = false;
  bool sorted_ = true;
  std::unordered_set<std::size_t> first_keys_{};  // hashes, of the pages of an unsorted listing

  Mutex mutex_;                               // held while the sink is called
  std::uint64_t met_ GUARDED_BY(mutex_) = 0;  // entries, those that are left out, too
  Listed listed_ GUARDED_BY(mutex_);
  std::optional<Error> failed_ GUARDED_BY(mutex_);
};

}  // namespace paddle::source
