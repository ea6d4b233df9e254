// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/reopening_source.h"

#include <string_view>

#include "base/match.h"
#include "source/directory_source.h"
#include "source/s3/s3_source.h"
#include "source/source_uri.h"

namespace paddle::engine::samplefs {
namespace {

// Whether it is a loopback or wildcard address: localhost, 127.0.0.0/8, ::1, 0.0.0.0.
bool is_loopback(const std::string& endpoint) {
  std::string_view host = endpoint;
  if (const auto scheme = host.find("://"); scheme != host.npos) host.remove_prefix(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (host.starts_with('[')) return host.starts_with("[::1]") || host.starts_with("[::]");
  host = host.substr(0, host.find(':'));
  return host == "localhost" || host.starts_with("127.") || host == "0.0.0.0";
}

// The budget of the source, which everybody who opens it shares, and that of this user alone.
std::shared_ptr<source::RateLimiter> limiter_for(const SourceOptions& options,
                                                 const SourceSecret& secret) {
  std::shared_ptr<source::RateLimiter> shared;
  if (options.paces) {
    shared = options.paces->of(options.uri + " " + secret.endpoint, secret.bytes_per_second);
  } else {
    shared = std::make_shared<source::Pace>(secret.bytes_per_second);
  }
  if (options.megabits <= 0) return shared;
  return std::make_shared<source::Pace>(static_cast<std::uint64_t>(options.megabits) * 125'000,
                                        system_clock(), shared);
}

bool refused(const Result<>& outcome) {
  return outcome.is(Code::kUnauthorized) || outcome.is(Code::kForbidden);
}

}  // namespace

Result<SourceSecret> read_source_secret(const SourceOptions& options) {
  if (!options.keys.empty()) return source_secret_of(options.keys);
  if (!options.key_store) return read_source_secret(options.secret_directory);
  auto kept = options.key_store->read(options.origin);
  if (kept.is(Code::kNotFound)) return read_source_secret(options.secret_directory);
  if (!kept) return std::move(kept).error();
  return source_secret_of(*std::move(kept));
}

Error explain(const std::string& uri, const std::string& endpoint, Error error) {
  // An endpoint with a password is wrong, and must not be shown.
  const bool shown = !endpoint.empty() && endpoint.find('@') == endpoint.npos;
  const std::string where = shown ? " at " + endpoint : "";
  const std::string detail = " (" + error.message + ")";
  switch (error.code) {
    case Code::kUnauthorized:
    case Code::kForbidden:
      error.message = uri + where +
                      " refuses the credentials: check access-key, secret-key and session-token "
                      "of the source's Secret and what they may read" +
                      detail;
      break;
    case Code::kNotFound:
      error.message = uri + where +
                      " does not exist: check the bucket or directory of the source's "
                      "uri, and the endpoint of its Secret" +
                      detail;
      break;
    case Code::kUnavailable:
    case Code::kUntrusted:
    case Code::kDeadline:
      error.message = uri + where +
                      (is_loopback(endpoint)
                           ? " does not answer: to a runtime, which has a network of its own, this "
                             "address is itself; put an address of the store into endpoint that "
                             "pods reach, on one machine the node's ('paddlectl local status')"
                           : " does not answer: check that the endpoint is right and can be "
                             "reached from this node") +
                      detail;
      break;
    default:
      break;
  }
  return error;
}

Result<ReopeningSource::OpenedPtr> ReopeningSource::open() const {
  TRY(const source::SourceUri uri, source::parse_source_uri(options_.uri));
  auto opened = std::make_shared<Opened>();
  TRY(opened->secret, read_source_secret(options_));
  opened->limiter = limiter_for(options_, opened->secret);
  auto made = std::visit(
      Match{
          [](const source::DirectoryUri& directory) -> Result<std::unique_ptr<source::Source>> {
            TRY(auto source, source::DirectorySource::open(directory.path));
            return std::unique_ptr<source::Source>(std::move(source));
          },
          [&](const source::S3Uri& s3) -> Result<std::unique_ptr<source::Source>> {
            TRY(const source::BucketAddress address, source::resolve(s3, opened->secret.endpoint));
            source::S3Options options;
            options.uri = address.uri;
            options.endpoint = address.endpoint;
            if (!address.region.empty()) options.region = address.region;
            if (!opened->secret.region.empty()) options.region = opened->secret.region;
            options.credentials = opened->secret.credentials;
            options.path_style = opened->secret.path_style;
            options.md5_etags = opened->secret.etag_is_md5;
            options.versions = opened->secret.version_ids;
            if (opened->secret.list_threads) options.list_threads = *opened->secret.list_threads;
            options.http.tls.ca_pem = opened->secret.ca_pem;
            options.rate_limiter = opened->limiter;
            TRY(auto source, source::S3Source::create(std::move(options)));
            return std::unique_ptr<source::Source>(std::move(source));
          },
      },
      uri);
  if (!made) return explain(source::to_string(uri), opened->secret.endpoint, made.error());
  opened->source = *std::move(made);
  return OpenedPtr(std::move(opened));
}

Result<> ReopeningSource::refresh() {
  TRY(OpenedPtr opened, open());
  Lock lock(mutex_);
  opened_ = std::move(opened);
  return Done{};
}

Result<ReopeningSource::OpenedPtr> ReopeningSource::current() {
  {
    Lock lock(mutex_);
    if (opened_) return opened_;
  }
  CHECK_DONE(refresh());
  Lock lock(mutex_);
  return opened_;
}

ReopeningSource::OpenedPtr ReopeningSource::successor_of(const OpenedPtr& refused_one) {
  const auto secret = read_source_secret(options_);
  if (!secret || *secret == refused_one->secret) return nullptr;
  auto opened = open();
  if (!opened) return nullptr;
  Lock lock(mutex_);
  opened_ = *opened;
  return opened_;
}

Result<source::Listed> ReopeningSource::list(const source::ObjectSink& sink, std::stop_token stop) {
  CHECK_DONE(refresh());
  TRY(const OpenedPtr opened, current());
  auto listed = opened->source->list(sink, std::move(stop));
  if (listed) return listed;
  return explain(options_.uri, opened->secret.endpoint, listed.error());
}

Result<> ReopeningSource::read_from(const Opened& opened, std::string_view path,
                                    std::string_view etag, std::uint64_t offset,
                                    std::span<std::byte> into,
                                    const source::CallContext& context) const {
  // The client of S3 keeps to the limit itself, also with listings.
  const bool limited = options_.uri.starts_with("file:");
  if (limited) CHECK_DONE(opened.limiter->take(into.size(), context));
  return opened.source->read(path, etag, offset, into, context);
}

Result<> ReopeningSource::read(std::string_view path, std::string_view etag, std::uint64_t offset,
                               std::span<std::byte> into, const source::CallContext& context) {
  TRY(const OpenedPtr opened, current());
  auto done = read_from(*opened, path, etag, offset, into, context);
  if (!refused(done)) return done;
  const OpenedPtr next = successor_of(opened);
  if (!next) return done;
  return read_from(*next, path, etag, offset, into, context);
}

Result<> ReopeningSource::probe(std::string_view path, std::string_view etag,
                                const source::CallContext& context) {
  TRY(const OpenedPtr opened, current());
  std::byte first{};
  auto done = read(path, etag, 0, {&first, 1}, context);
  if (done) return done;
  return explain(options_.uri, opened->secret.endpoint, std::move(done).error());
}

}  // namespace paddle::engine::samplefs
