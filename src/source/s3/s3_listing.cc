// SPDX-License-Identifier: Apache-2.0
#include "source/s3/s3_listing.h"

#include <functional>

#include "base/parallel_for.h"
#include "source/path_rules.h"
#include "source/s3/bos.h"
#include "source/s3/key_splits.h"

namespace paddle::source {
namespace {

constexpr int kMostEmptyPages = 1000;
constexpr std::size_t kPartsPerThread = 8;
// Attempts of a page of a listing that has begun: several minutes.
constexpr int kPatience = 10;

// An empty object by which consoles and gateways mark a directory; the prefix itself may be one.
bool is_directory_mark(std::string_view path, std::uint64_t size) {
  if (size != 0) return false;
  if (path.empty()) return true;
  return path.ends_with('/') && is_path(path.substr(0, path.size() - 1));
}

Error stopped() { return {Code::kCancelled, "the listing was stopped"}; }

}  // namespace

Query S3Listing::bos_query_of(const Cursor& cursor, int page_size) const {
  const std::string& prefix = client_.options().uri.prefix;
  Query query;
  if (!prefix.empty()) query.emplace_back("prefix", prefix);
  query.emplace_back("maxKeys", std::to_string(page_size));
  const std::string& marker = cursor.token.empty() ? cursor.after : cursor.token;
  if (!marker.empty()) query.emplace_back("marker", marker);
  return query;
}

Result<S3Page> S3Listing::parse_page(std::string_view body) const {
  const bool bos = client_.options().uri.store == Store::kBos;
  return bos ? parse_bos_page(body) : parse_s3_page(body);
}

Query S3Listing::query_of(const Cursor& cursor, int page_size) const {
  const S3Options& options = client_.options();
  if (options.uri.store == Store::kBos) return bos_query_of(cursor, page_size);
  Query query{{"encoding-type", "url"}, {"max-keys", std::to_string(page_size)}};
  if (!options.uri.prefix.empty()) query.emplace_back("prefix", options.uri.prefix);
  if (options.versions) {
    query.emplace_back("versions", "");
    const std::string& key = cursor.token.empty() ? cursor.after : cursor.token;
    if (!key.empty()) query.emplace_back("key-marker", key);
    if (!cursor.token.empty() && !cursor.version.empty()) {
      query.emplace_back("version-id-marker", cursor.version);
    }
    return query;
  }
  query.emplace_back("list-type", "2");
  if (!cursor.token.empty()) {
    query.emplace_back("continuation-token", cursor.token);
  } else if (!cursor.after.empty()) {
    query.emplace_back("start-after", cursor.after);
  }
  return query;
}

Result<S3Page> S3Listing::fetch(Cursor& cursor) {
  const std::stop_token stop = parallel_ ? parts_stop_.get_token() : stop_;
  S3Page page;
  const auto attempt = [&]() -> Result<> {
    if (client_.clock().boot() >= until_) {
      return Error{Code::kInvalid, "the listing has not ended in " +
                                       std::to_string(client_.options().listing_limit.count()) +
                                       " hours; sync a part of it: a longer prefix"};
    }
    auto body = client_.get_bucket(query_of(cursor, client_.options().page_size), stop);
    if (!body) {
      // A server may have forgotten its token while it was away; a key stays what it is.
      const bool forgotten = body.is(Code::kInvalid) && !cursor.token.empty() && sorted_;
      if (!forgotten) return std::move(body).error();
      cursor.token.clear();
      return Error{Code::kUnavailable, std::move(body).error().message};
    }
    TRY(page, parse_page(*body));
    return Done{};
  };
  const int attempts =
      client_.options().retry.attempts * (cursor.pages > 0 || parallel_ ? kPatience : 1);
  CHECK_DONE(client_.persist(attempt, stop, {}, attempts));
  return page;
}

Result<> S3Listing::pass_object(S3Object&& object) {
  if (++met_ > client_.options().most_objects) {
    return Error{Code::kInvalid, "the source lists more than " +
                                     std::to_string(client_.options().most_objects) +
                                     " objects; sync a part of it: a longer prefix"};
  }
  const std::string& prefix = client_.options().uri.prefix;
  std::string path = object.key.substr(prefix.size());
  if (const auto why = why_no_path(path); !why.empty()) {
    if (!is_directory_mark(path, object.size)) listed_.left_out.add(path, why);
    return Done{};
  }
  if (!is_etag(object.etag)) {
    listed_.left_out.add(path, object.etag.empty() ? "no ETag" : "an invalid ETag");
    return Done{};
  }
  ++listed_.objects;
  listed_.bytes += object.size;
  return sink_({.path = std::move(path),
                .size = object.size,
                .etag = std::move(object.etag),
                .modified = object.modified,
                .version_id = std::move(object.version_id)});
}

// Moves the cursor behind the page.
Result<> S3Listing::pass(S3Page&& page, Cursor& cursor) {
  ++cursor.pages;
  cursor.empty_pages = page.first_key.empty() ? cursor.empty_pages + 1 : 0;
  if (cursor.empty_pages > kMostEmptyPages) {
    return Error{Code::kInvalid, "the listing goes on without objects"};
  }
  if (!page.first_key.starts_with(client_.options().uri.prefix) && !page.first_key.empty()) {
    return Error{Code::kInvalid, "the listing contains a key outside of the prefix"};
  }
  const bool rises =
      page.sorted && (page.first_key.empty() || page.first_key > cursor.after ||
                      (client_.options().versions && page.first_key == cursor.after));
  if (!rises && parallel_) {
    return Error{Code::kInvalid,
                 "the server does not list keys in order; put list-threads: \"1\" into the Secret"};
  }
  if (!parallel_) {
    sorted_ = sorted_ && rises;
    if (!page.first_key.empty() &&
        !first_keys_.insert(std::hash<std::string>{}(page.first_key)).second && !sorted_) {
      return Error{Code::kInvalid, "the listing repeats a page"};
    }
  }
  Lock lock(mutex_);
  for (S3Object& object : page.objects) {
    if (stop_.stop_requested() || parts_stop_.stop_requested()) return stopped();
    if (!object.key.starts_with(client_.options().uri.prefix)) {
      return Error{Code::kInvalid, "the listing contains a key outside of the prefix"};
    }
    if (cursor.last && object.key > *cursor.last) break;
    CHECK_DONE(pass_object(std::move(object)));
  }
  if (page.truncated && page.next == cursor.token && page.next_version == cursor.version) {
    return Error{Code::kInvalid, "the listing repeats a page"};
  }
  if (!page.last_key.empty()) cursor.after = std::move(page.last_key);
  cursor.token = std::move(page.next);
  cursor.version = std::move(page.next_version);
  cursor.done = !page.truncated || (cursor.last && cursor.after > *cursor.last);
  return Done{};
}

Result<> S3Listing::next_page(Cursor& cursor) {
  TRY(S3Page page, fetch(cursor));
  return pass(std::move(page), cursor);
}

Result<std::optional<std::string>> S3Listing::first_key_after(const std::string& after) {
  std::optional<std::string> key;
  const auto attempt = [&]() -> Result<> {
    TRY(const std::string body, client_.get_bucket(query_of({.after = after}, 1), stop_));
    TRY(const S3Page page, parse_page(body));
    if (!page.first_key.empty()) key = page.first_key;
    return Done{};
  };
  CHECK_DONE(client_.persist(attempt, stop_));
  return key;
}

Result<> S3Listing::list_part(Cursor cursor) {
  while (!cursor.done) {
    auto done = next_page(cursor);
    if (done) continue;
    Lock lock(mutex_);
    if (!failed_) failed_ = std::move(done).error();
    parts_stop_.request_stop();  // the other parts
    return *failed_;
  }
  return Done{};
}

Result<bool> S3Listing::list_parts(const Cursor& from) {
  const std::size_t threads = client_.options().list_threads;
  TRY(const std::vector<std::string> borders,
      split_keys(from.after, threads * kPartsPerThread, threads * kPartsPerThread,
                 [&](const std::string& text) { return first_key_after(text); }));
  if (borders.empty()) return false;
  std::vector<Cursor> parts{from};
  for (const std::string& border : borders) {
    parts.back().last = border;
    parts.push_back({.after = border});
  }
  parallel_ = true;
  const std::stop_callback stop_parts(stop_, [this] { parts_stop_.request_stop(); });
  const auto done =
      parallel_for(parts.size(), threads, [&](std::size_t i) { return list_part(parts[i]); });
  if (stop_.stop_requested()) return stopped();
  Lock lock(mutex_);
  if (failed_) return *std::move(failed_);
  CHECK_DONE(done);
  return true;
}

Result<Listed> S3Listing::run() {
  const S3Options& options = client_.options();
  Cursor cursor;
  while (!cursor.done) {
    if (stop_.stop_requested()) return stopped();
    if (cursor.pages == options.serial_pages && options.list_threads > 1 && sorted_) {
      TRY(const bool divided, list_parts(cursor));
      if (divided) break;
    }
    CHECK_DONE(next_page(cursor));
  }
  Lock lock(mutex_);
  return listed_;
}

}  // namespace paddle::source
