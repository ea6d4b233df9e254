// SPDX-License-Identifier: Apache-2.0
//
// What the server says: replies as values, and failures in the shape of the real server's Status.
// A reply has a body, or a stream that goes on after the header (watches, logs that are followed).

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/clock.h"
#include "base/result.h"
#include "kube/resource.h"

namespace paddle::local {

struct StreamChunk {
  std::string text{};
  bool ended = false;
};

// Asked for its next piece when the last one has been sent and something may have happened. Never
// called by two threads at once.
class Stream {
 public:
  virtual ~Stream() = default;
  // Empty text: nothing now.
  virtual StreamChunk next(BootTime now) = 0;
  // Ask again after this long even if nothing woke the stream.
  virtual std::chrono::milliseconds poll_interval() const = 0;
  // A commit in this collection is worth asking for the next piece.
  virtual bool is_interested_in(const std::string& collection) const = 0;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::string> warnings{};
  std::shared_ptr<Stream> stream{};
};

// Whom a failure is about, for Status.details.
struct StatusDetails {
  std::string group{};
  std::string plural{};
  std::string kind{};
  std::string name{};
};
StatusDetails status_details(const kube::Resource& resource, const std::string& name);

struct Cause {
  std::string reason{};
  std::string message{};
  std::string field{};
};

Reply json_reply(int status, const api::Json& body);

// The reason ("NotFound") and the HTTP status follow from the error's code.
Reply failure(const Error& error, const StatusDetails& subject = {},
              const std::vector<Cause>& causes = {});
// For what an error code can not say: 400, 405, 406, 415...
Reply failure(int status, const std::string& reason, const std::string& message,
              const StatusDetails& subject = {}, const std::vector<Cause>& causes = {});
Reply bad_request(const std::string& message);

// The Status of a failure by itself: the last event of a watch carries one.
api::Json status_of(int status, const std::string& reason, const std::string& message,
                    const StatusDetails& subject = {}, const std::vector<Cause>& causes = {});
// What a successful delete answers when the object is gone.
api::Json success(const StatusDetails& subject, const std::string& uid);

int http_status(Code code);
std::string reason_of(Code code);

}  // namespace paddle::local
