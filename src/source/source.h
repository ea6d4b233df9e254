// SPDX-License-Identifier: Apache-2.0
//
// Where samples come from: a bucket, a directory. Two questions and no others.
//
//   list   every object once, in any order, straight to a sink (nothing is gathered here);
//   read   a range of one version of an object.
//
// A version is named by its etag, as the listing gave it. read() gives bytes of that version alone:
// an object that has changed since is kConflict, one that is gone kNotFound, and bytes of two
// versions are never mixed in one answer. Retryable failures have been retried within; what comes
// out has failed for good or for long, or the caller's time is over. Credentials appear in no
// error.
//
// Paths are relative to the root of the source, '/' between components (path_rules.h). What has no
// such path (a component named "..") or is no file (a pipe, a link out of the source) is left out,
// counted and, of the first few, named (left_out.h). An empty object whose key ends with a slash
// only says that there is a directory: nothing is lost with it, and it is not counted.
//
// Thread-safe; calls block, and end early with kCancelled when `stop` is asked for. A read ends
// when its time is over (call_context.h): with kDeadline, or with what the last attempt said. Only
// a file of a directory can outlast it, while the machine's own read() hangs.

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
  bool operator==(const Object&) const = default;
};

struct Listed {
  std::uint64_t objects = 0;  // given to the sink
  std::uint64_t bytes = 0;
  LeftOut left_out{};
  bool operator==(const Listed&) const = default;
};

// An error ends the listing with that error.
using ObjectSink = std::function<Result<>(Object&& object)>;

class Source {
 public:
  virtual ~Source() = default;

  virtual Result<Listed> list(const ObjectSink& sink, std::stop_token stop) = 0;

  // Fills all of `into` from `offset`. A range past the end of that version is kInvalid. After an
  // error the content of `into` is undefined. An empty `into` asks nobody.
  virtual Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                        std::span<std::byte> into, const CallContext& context) = 0;
};

// The seam for one rate budget per source: asked before each transfer, it blocks until `bytes` may
// be moved. kCancelled when stopped.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  virtual Result<> take(std::uint64_t bytes, std::stop_token stop) = 0;
};

}  // namespace paddle::source
