// SPDX-License-Identifier: Apache-2.0
//
// Cluster over HTTPS: the real thing. See kube/cluster.h for what the verbs promise; this adds
//
//   - the server is followed, not outpaced: Retry-After is honoured within the call's deadline, and
//     a 429 holds back later calls for the same resource (kube/retry.h); there is no QPS setting;
//   - credentials are renewed when they change, expire, or were refused once (401);
//   - lists and watches are cut into objects as the bytes arrive; an object larger than max_object
//     is kInvalid. A list whose connection breaks has fed its sink in part: its error means
//     "forget it".
//   - call.timeout bounds a list as a whole, all its pages included.
//
// Errors say what was tried: "create pods train/a: pods \"a\" is forbidden: ...".

#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "kube/cluster.h"
#include "kube/config.h"

namespace paddle::kube {

class Transport;
struct Ask;

struct ClientOptions {
  std::string field_manager = "paddle-operator";  // of writes that do not name their own
  std::string user_agent{};                       // empty: paddle-operator/VERSION
  size_t max_object = size_t{8} << 20;
  Metrics* metrics = nullptr;
  const Clock* clock = &system_clock();
  Random* random = &system_random();
};

class Client final : public Cluster {
 public:
  // Does not touch the network.
  explicit Client(Config config, ClientOptions options = {});
  ~Client() override;  // no call may be in progress

  Result<Json> get(const Resource&, const ObjectKey&, const Call& = {}) override;
  Result<std::string> list(const Resource&, const ListOptions&, const ItemSink& sink,
                           const Call& = {}) override;
  Result<> watch(const Resource&, const WatchOptions&, const EventSink& sink,
                 const Call& = {}) override;
  Result<Json> create(const Resource&, const Json& object, const Call& = {}) override;
  Result<Json> update(const Resource&, const Json& object, const std::string& sub = {},
                      const Call& = {}) override;
  Result<Json> patch(const Resource&, const ObjectKey&, const Patch&, const std::string& sub = {},
                     const Call& = {}) override;
  Result<> remove(const Resource&, const ObjectKey&, const DeleteOptions& = {},
                  const Call& = {}) override;
  Result<Json> get_sub(const Resource&, const ObjectKey&, const std::string& sub,
                       const Call& = {}) override;

  // GET of any path below the server's URL: "/version", "/readyz".
  Result<std::string> get_raw(const std::string& path, const Call& = {});
  // The same in the shape that `accept` asks for (";as=Table"), piece by piece as it arrives:
  // tables, watches of tables, logs that are followed. call.timeout bounds only the beginning.
  Result<> stream_raw(const std::string& path, const std::string& accept, const net::BodySink& sink,
                      const Call& = {});

 private:
  Result<Json> exchange(const Ask& ask, const Call& call);

  const ClientOptions options_;
  const std::unique_ptr<Transport> transport_;  // self-synchronised
};

}  // namespace paddle::kube
