// SPDX-License-Identifier: Apache-2.0
//
// A bucket of S3 or BOS, or a prefix of one, as a source. Objects are read by GET with If-Match and
// a check of each response's ETag (some servers ignore If-Match); bytes that arrived before a
// connection broke are kept, and the rest is requested (object_read.h). Listings: s3_listing.h.
// Transient failures are retried (retry.h) within the caller's deadline.
//
// A version that was overwritten or deleted is read by its version id, if the bucket keeps versions
// and they were listed.
//
// Thread-safe.

#pragma once

#include <memory>

#include "source/s3/s3_client.h"
#include "source/source.h"

namespace paddle::source {

class S3Source final : public Source {
 public:
  // kInvalid for an invalid endpoint. Does not connect.
  static Result<std::unique_ptr<S3Source>> create(S3Options options,
                                                  const Clock& clock = system_clock(),
                                                  Random& random = system_random());

  Result<Listed> list(const ObjectSink& sink, std::stop_token stop) override;
  Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                std::span<std::byte> into, const CallContext& context) override;

 private:
  explicit S3Source(std::unique_ptr<S3Client> client) : client_(std::move(client)) {}
  Result<> read_version(const std::string& key, const Query& query, std::string_view etag,
                        std::uint64_t offset, std::span<std::byte> into,
                        const CallContext& context);

  const std::unique_ptr<S3Client> client_;
};

}  // namespace paddle::source
