// SPDX-License-Identifier: Apache-2.0
#include "test/support/s3_gateway.h"

#include <filesystem>

#include "base/clock.h"
#include "test/support/components.h"
#include "test/support/eventually.h"
#include "test/support/process.h"

namespace paddle::test {

Result<> S3Gateway::start() {
  TRY(const std::string program, component("versitygw"));
  if (!port_) {
    TRY(port_, ReservedPort::any());
  }
  std::filesystem::create_directory(scratch_.path() + "/data");
  // Keys in the environment: tests check that keys are not in argv.
  Command command{.argv = {program, "--port", "127.0.0.1:" + std::to_string(port_->number()),
                           "--quiet", "--keep-alive", "posix", scratch_.path() + "/data"},
                  .env = clean_environment(scratch_.path()),
                  .directory = scratch_.path(),
                  .log = log_};
  command.env.push_back("ROOT_ACCESS_KEY=" + keys_.access_key);
  command.env.push_back("ROOT_SECRET_KEY=" + keys_.secret_key);
  TRY(server_, spawn(command));
  const bool ready =
      eventually([&] { return poll_exit(server_).has_value() || put("/bucket", ""); });
  if (!ready || !alive(server_)) {
    return Error{Code::kUnavailable, "versitygw does not serve: " + tail(log_, 10)};
  }
  return Done{};
}

void S3Gateway::stop() {
  if (server_ > 0) kill_and_reap(server_);
  server_ = 0;
}

bool S3Gateway::pause() { return freeze(server_); }
void S3Gateway::resume() { thaw(server_); }

bool S3Gateway::put(const std::string& path, const std::string& bytes) {
  const WallTime now = system_clock().wall();
  const std::string encoded = source::uri_encode(path, true);
  source::Headers headers{{"host", "127.0.0.1:" + std::to_string(port_->number())},
                          {"x-amz-content-sha256", "UNSIGNED-PAYLOAD"},
                          {"x-amz-date", source::amz_date(now)}};
  headers.emplace_back("authorization",
                       source::authorization({.method = "PUT",
                                              .path = encoded,
                                              .query = {},
                                              .headers = headers,
                                              .payload_hash = "UNSIGNED-PAYLOAD"},
                                             keys_, {.region = "us-east-1", .now = now}));
  const auto reply = http_.send({.method = "PUT",
                                 .url = endpoint() + encoded,
                                 .headers = headers,
                                 .body = bytes,
                                 .idempotent = true});
  // The bucket may be there from an earlier start.
  if (reply && reply->status == 409 && path == "/bucket") return true;
  return reply && reply->status >= 200 && reply->status < 300;
}

}  // namespace paddle::test
