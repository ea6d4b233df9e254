// SPDX-License-Identifier: Apache-2.0
//
// What a caller reads of a runtime that answers too much. A runtime is a pod of a user.
#include <future>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "net/server/http_server.h"
#include "runtime/client.h"
#include "runtime/runtime_polls.h"

namespace paddle::runtime {
namespace {

std::unique_ptr<net::HttpServer> answering(std::size_t remark) {
  auto server = net::HttpServer::start({"127.0.0.1", 0}, [remark](const net::ServerRequest&) {
    return net::ServerReply{.body = api::dump_json(api::Json{
                                {"engine", "x"},
                                {"jobs", api::Json::array()},
                                {"remark", std::string(remark, 'r')},
                            })};
  });
  EXPECT_TRUE(server);
  return *std::move(server);
}

Result<PollReport> poll(const net::HttpServer& server) {
  std::promise<Result<PollReport>> done;
  const auto polls = http_polls_at(make_runtime_connections(), std::chrono::seconds{10});
  polls({.address = net::to_string(server.address()), .access = {.token = "t"}},
        [&](Result<PollReport> report) { done.set_value(std::move(report)); });
  return done.get_future().get();
}

TEST(LongAnswer, IsReadUpToTheLimitAndRefusedBeyondIt) {
  const auto good = answering(kLongestAnswer - 1'000);
  EXPECT_TRUE(poll(*good));
  EXPECT_TRUE(Client(net::to_string(good->address()), "t").status());
  const auto bad = answering(kLongestAnswer);
  EXPECT_FALSE(poll(*bad));
  EXPECT_FALSE(Client(net::to_string(bad->address()), "t").status());
  EXPECT_FALSE(Client(net::to_string(bad->address()), "t").jobs());
}

}  // namespace
}  // namespace paddle::runtime
