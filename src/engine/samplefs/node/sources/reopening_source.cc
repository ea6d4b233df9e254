// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/reopening_source.h"

#include <string_view>

#include "base/match.h"
#include "os/read_file.h"
#include "source/directory_source.h"
#include "source/source_uri.h"

namespace paddle::engine::samplefs {
namespace {

constexpr std::size_t kLongestKey = 16UL * 1024;

// The value of a key; empty when there is none.
Result<std::string> read_key(const std::string& directory, const std::string& name) {
  if (directory.empty()) return std::string{};
  auto read = os::read_file(directory + "/" + name, kLongestKey);
  if (read.is(Code::kNotFound)) return std::string{};
  if (!read) {
    return Error{read.error().code,
                 "cannot use '" + name + "' of the source's Secret: " + read.error().message};
  }
  std::string text = *std::move(read);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

constexpr const char* kAccessKey = "access-key";
constexpr const char* kSecretKey = "secret-key";
constexpr const char* kSessionToken = "session-token";
constexpr const char* kEndpoint = "endpoint";
constexpr const char* kRegion = "region";

Result<SourceSecret> secret_of(KeyValues keys) {
  SourceSecret secret{.credentials = {.access_key = std::move(keys[kAccessKey]),
                                      .secret_key = std::move(keys[kSecretKey]),
                                      .session_token = std::move(keys[kSessionToken])},
                      .endpoint = std::move(keys[kEndpoint]),
                      .region = std::move(keys[kRegion])};
  if (secret.credentials.access_key.empty() != secret.credentials.secret_key.empty()) {
    return Error{Code::kInvalid,
                 "the source's Secret has only one of access-key and secret-key; put in both, or "
                 "neither for an anonymous source"};
  }
  return secret;
}

// Whether it is a loopback or wildcard address: localhost, 127.0.0.0/8, ::1, 0.0.0.0.
bool is_loopback(const std::string& endpoint) {
  std::string_view host = endpoint;
  if (const auto scheme = host.find("://"); scheme != host.npos) host.remove_prefix(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (host.starts_with('[')) return host.starts_with("[::1]") || host.starts_with("[::]");
  host = host.substr(0, host.find(':'));
  return host == "localhost" || host.starts_with("127.") || host == "0.0.0.0";
}

bool refused(const Result<>& outcome) {
  return outcome.is(Code::kUnauthorized) || outcome.is(Code::kForbidden);
}

}  // namespace

bool SourceSecret::operator==(const SourceSecret& other) const {
  return credentials.access_key == other.credentials.access_key &&
         credentials.secret_key == other.credentials.secret_key &&
         credentials.session_token == other.credentials.session_token &&
         endpoint == other.endpoint && region == other.region;
}

Result<SourceSecret> read_source_secret(const std::string& directory) {
  KeyValues keys;
  for (const char* name : {kAccessKey, kSecretKey, kSessionToken, kEndpoint, kRegion}) {
    TRY(keys[name], read_key(directory, name));
  }
  return secret_of(std::move(keys));
}

Result<SourceSecret> read_source_secret(const SourceOptions& options) {
  if (!options.keys.empty()) return secret_of(options.keys);
  if (options.key_file.empty()) return read_source_secret(options.secret_directory);
  auto kept = read_key_file(options.key_file);
  if (kept.is(Code::kNotFound)) return read_source_secret(options.secret_directory);
  if (!kept) return std::move(kept).error();
  return secret_of(*std::move(kept));
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
  auto made = std::visit(
      Match{
          [](const source::DirectoryUri& directory) -> Result<std::unique_ptr<source::Source>> {
            TRY(auto source, source::DirectorySource::open(directory.path));
            return std::unique_ptr<source::Source>(std::move(source));
          },
          [&](const source::S3Uri& s3) -> Result<std::unique_ptr<source::Source>> {
            source::S3Options options;
            options.uri = s3;
            options.endpoint = opened->secret.endpoint;
            if (!opened->secret.region.empty()) options.region = opened->secret.region;
            options.credentials = opened->secret.credentials;
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

Result<> ReopeningSource::read(std::string_view path, std::string_view etag, std::uint64_t offset,
                               std::span<std::byte> into, const source::CallContext& context) {
  TRY(const OpenedPtr opened, current());
  auto done = opened->source->read(path, etag, offset, into, context);
  if (!refused(done)) return done;
  const OpenedPtr next = successor_of(opened);
  if (!next) return done;
  return next->source->read(path, etag, offset, into, context);
}

}  // namespace paddle::engine::samplefs
