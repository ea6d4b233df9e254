// SPDX-License-Identifier: Apache-2.0
#include "source/s3/s3_source.h"

#include "source/path_rules.h"
#include "source/s3/object_read.h"
#include "source/s3/s3_listing.h"
#include "source/s3/s3_response.h"

namespace paddle::source {

Result<std::unique_ptr<S3Source>> S3Source::create(S3Options options, const Clock& clock,
                                                   Random& random) {
  TRY(auto client, S3Client::create(std::move(options), clock, random));
  return std::unique_ptr<S3Source>(new S3Source(std::move(client)));
}

Result<Listed> S3Source::list(const ObjectSink& sink, std::stop_token stop) {
  auto listed = S3Listing(*client_, sink, std::move(stop)).run();
  if (listed) return listed;
  if (listed.is(Code::kCancelled)) return std::move(listed).error();
  return std::move(listed).error().in("list " + to_string(SourceUri{client_->options().uri}));
}

Result<> S3Source::read_version(const std::string& key, const Query& query, std::string_view etag,
                                std::uint64_t offset, std::span<std::byte> into,
                                const CallContext& context) {
  ObjectRead what(etag, offset, context.object.size, into, client_->options().md5_etags);
  const auto attempt = [&]() -> Result<> {
    TRY(net::HttpCall limits, client_->limits(context));
    limits.on_header = [&](const net::HttpReply& header) { return what.begin(header); };
    const auto sink = [&](std::string_view piece) { return what.take(piece); };
    TRY(const net::HttpReply reply, client_->get(key, query, what.request(), limits, sink));
    if (reply.status != 200 && reply.status != 206) return s3_error_of(reply);
    return what.end();
  };
  return client_->persist(attempt, context, [&] { return std::uint64_t{what.received()}; });
}

Result<> S3Source::read(std::string_view path, std::string_view etag, std::uint64_t offset,
                        std::span<std::byte> into, const CallContext& context) {
  if (into.empty()) return Done{};
  if (!is_path(path) || !is_etag(etag) || offset > INT64_MAX || into.size() > INT64_MAX - offset) {
    return Error{Code::kInvalid, "not a range of a sample"};
  }
  const auto& limiter = client_->options().rate_limiter;
  if (limiter) CHECK_DONE(limiter->take(into.size(), context));
  const std::string key = client_->options().uri.prefix + std::string(path);
  auto done = read_version(key, {}, etag, offset, into, context);
  const bool replaced = done.is(Code::kConflict) || done.is(Code::kNotFound);
  if (!replaced || !is_version_id(context.object.version_id)) return done;
  return read_version(key, {{"versionId", std::string(context.object.version_id)}}, etag, offset,
                      into, context);
}

}  // namespace paddle::source
