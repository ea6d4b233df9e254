// SPDX-License-Identifier: Apache-2.0
//
// The Kubernetes REST protocol as one function from request to reply, without sockets: routing,
// verbs, content types, query parameters. Authentication happens before (http_server). Thread-safe.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "local/api_server/reader.h"
#include "local/api_server/reply.h"
#include "local/api_server/target.h"
#include "local/api_server/watch.h"
#include "local/api_server/writer.h"

namespace paddle::local {

struct Request {
  std::string method{};
  std::string target{};
  std::string accept{};
  std::string content_type{};
  std::string body{};
};

struct LogRequest {
  api::ObjectKey pod{};
  std::string container{};
  bool follow = false;
  bool previous = false;
  std::optional<std::uint64_t> tail_lines{};
  std::optional<std::uint64_t> limit_bytes{};
};
// Serves `kubectl logs`. The chunks of the stream are raw text.
using LogSource = std::function<Result<std::shared_ptr<Stream>>(const LogRequest&)>;

struct ApiOptions {
  WatchOptions watch{};
  LogSource logs{};  // empty: requests for logs are rejected
};

class Api {
 public:
  Api(Storage& storage, Writer& writer, const Clock& clock, ApiOptions options)
      : storage_(storage),
        writer_(writer),
        clock_(clock),
        reader_(storage, clock),
        options_(std::move(options)) {}

  Reply handle(const Request& request);

 private:
  // The parsed path of a request: a kind, and a collection, an object or a subresource of it.
  struct RequestInfo {
    const Kind* kind = nullptr;
    api::ObjectKey key{};
    std::string subresource{};
  };
  static std::optional<RequestInfo> parse_request_path(const std::vector<std::string>& path);
  Reply serve(const RequestInfo& info, const Target& target, const Request& request);
  Reply read(const RequestInfo& info, const Target& target, const Request& request);
  Reply write(const RequestInfo& info, const Target& target, const Request& request);
  Reply remove(const RequestInfo& info, const Target& target, const Request& request);
  Reply patch(const RequestInfo& info, const Target& target, const Request& request,
              const WriteOptions& options);
  Reply bind(const RequestInfo& info, const Request& request, const WriteOptions& options);
  Reply evict(const RequestInfo& info, const Target& target, const Request& request);
  Reply logs(const RequestInfo& info, const Target& target);

  Storage& storage_;
  Writer& writer_;
  const Clock& clock_;
  Reader reader_;
  const ApiOptions options_;
};

}  // namespace paddle::local
