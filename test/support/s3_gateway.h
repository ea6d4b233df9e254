// SPDX-License-Identifier: Apache-2.0
//
// A real S3 server (versitygw over a directory) with one bucket, "bucket", on a loopback port.

#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "net/http_client.h"
#include "source/s3/sigv4.h"
#include "test/support/ports.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {

class S3Gateway {
 public:
  explicit S3Gateway(source::S3Credentials keys) : keys_(std::move(keys)) {}
  ~S3Gateway() { stop(); }

  Result<> start();  // returns when the bucket is there; kNotFound when it is not installed
  void stop();       // kills it; the objects stay for the next start()

  bool pause();  // it keeps its connections and does not respond
  void resume();

  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_->number()); }
  const source::S3Credentials& keys() const { return keys_; }
  const std::string& log() const { return log_; }

  // A signed PUT of "/bucket/key"; the path is not yet encoded. True: 2xx.
  bool put(const std::string& path, const std::string& bytes);

 private:
  const source::S3Credentials keys_;
  ScratchDir scratch_;
  std::string log_ = scratch_.path() + "/log";
  std::optional<ReservedPort> port_;
  pid_t server_ = 0;
  net::HttpClient http_{{}};
};

}  // namespace paddle::test
