// SPDX-License-Identifier: Apache-2.0
//
// Replies as values, and failures as the real server's Status. A reply has a body, or a stream that
// continues after the header (watches, followed logs).

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

// Produces the next chunk when the last one was sent and there may be new data. Never called by two
// threads at once.
class Stream {
 public:
  virtual ~Stream() = default;
  // Empty text: no data now.
  virtual StreamChunk next(BootTime now) = 0;
  // Call next() again after this time even without a wake-up.
  virtual std::chrono::milliseconds poll_interval() const = 0;
  // True if a commit in this collection should wake the stream.
  virtual bool is_interested_in(const std::string& collection) const = 0;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::string> warnings{};
  std::shared_ptr<Stream> stream{};
};

// The object of a failure, for Status.details.
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
// For statuses without an error code: 400, 405, 406, 415...
Reply failure(int status, const std::string& reason, const std::string& message,
              const StatusDetails& subject = {}, const std::vector<Cause>& causes = {});
Reply bad_request(const std::string& message);

// The Status object of a failure, also used in the last event of a watch.
api::Json status_of(int status, const std::string& reason, const std::string& message,
                    const StatusDetails& subject = {}, const std::vector<Cause>& causes = {});
// The reply of a successful delete when the object is gone.
api::Json success(const StatusDetails& subject, const std::string& uid);

int http_status(Code code);
std::string reason_of(Code code);

}  // namespace paddle::local
