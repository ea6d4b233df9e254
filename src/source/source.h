// SPDX-License-Identifier: Apache-2.0
//
// A source of samples: a bucket or a directory. It has two operations.
//
//   list   passes every object once, in any order, to a sink (nothing is collected here);
//   read   reads a range of one version of an object.
//
// A version is named by its etag, as the listing returned it. read() returns bytes of that version
// only: kConflict for an object that has changed since, kNotFound for one that is gone, and never
// bytes of two versions. Retryable failures were retried already; a returned error is permanent or
// persistent, or the caller's deadline has passed. No error contains credentials.
//
// Paths are relative to the root of the source, with '/' between components (path_rules.h). Objects
// without a valid path (a component named "..") or etag and entries that are not files (a pipe, a
// link out of the source) are left out and counted; the first few are named (left_out.h). An empty
// object whose key ends with a slash only marks a directory and is not counted.
//
// Thread-safe; calls block, and end early with kCancelled when `stop` is requested. A read ends at
// its deadline (call_context.h) with kDeadline or the error of the last attempt. Only a directory's
// file can take longer, while read(2) itself hangs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "source/call_context.h"
#include "source/left_out.h"

namespace paddle::source {

struct Object {
  std::string path{};
  std::uint64_t size = 0;
  std::string etag{};
  WallTime modified{};
  std::string version_id{};  // of a source that keeps versions; otherwise empty
  bool operator==(const Object&) const = default;
};

struct Listed {
  std::uint64_t objects = 0;  // passed to the sink
  std::uint64_t bytes = 0;
  LeftOut left_out{};
  bool operator==(const Listed&) const = default;
};

// An error of the sink ends the listing with that error. One call at a time, from any thread.
using ObjectSink = std::function<Result<>(Object&& object)>;

class Source {
 public:
  virtual ~Source() = default;

  virtual Result<Listed> list(const ObjectSink& sink, std::stop_token stop) = 0;

  // Fills all of `into` from `offset`. A range past the end of that version is kInvalid. After an
  // error the content of `into` is undefined. An empty `into` sends no request.
  virtual Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                        std::span<std::byte> into, const CallContext& context) = 0;
};

// Limits the rate of one source: called for each transfer, it blocks until `bytes` may be
// transferred. kCancelled when stopped, kDeadline at once when the deadline would pass.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  virtual Result<> take(std::uint64_t bytes, const CallContext& context) = 0;
};

}  // namespace paddle::source
