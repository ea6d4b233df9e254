// SPDX-License-Identifier: Apache-2.0
//
// Jobs that choose their host ports at the same time: each gets a block of its own, and none waits
// for the requests of another.

#include "controllers/paddle_job/observe/port_reservations.h"

#include "api/json/look.h"
#include "controllers/paddle_job/testing/reconciler_fixture.h"
#include "test/support/eventually.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;
using kube::Verb;
using test::eventually;

TEST(PortReservations, ABlockThatOverlapsAnotherIsNotReserved) {
  PortReservations table;
  const ObjectKey a{"train", "a"}, b{"train", "b"};
  EXPECT_TRUE(table.reserve(a, 40000));
  EXPECT_TRUE(table.reserve(a, 40000)) << "the same job again";
  EXPECT_FALSE(table.reserve(b, 40019));
  EXPECT_TRUE(table.reserve(b, 40020));
  EXPECT_EQ(table.of_others(a), std::set<int>{40020});
  table.release(a);
  EXPECT_EQ(table.of_others(b), std::set<int>{});
  EXPECT_TRUE(table.reserve({"train", "c"}, 40000));
}

TEST(PortReservations, AJobThatChoosesAgainGivesItsFirstChoiceBack) {
  PortReservations table;
  const ObjectKey a{"train", "a"}, b{"train", "b"};
  EXPECT_TRUE(table.reserve(a, 40000));
  EXPECT_TRUE(table.reserve(b, 40040));
  EXPECT_FALSE(table.reserve(a, 40040));
  EXPECT_EQ(table.of_others(b), std::set<int>{});
}

struct HostPortsTest : OnePassTest {
  std::atomic<bool> hangs{true};

  // Requests that match do not end before the thread of their pass is stopped.
  void hang(const std::function<bool(const kube::Request&)>& matches) {
    fault = [this, matches](const kube::Request& request, size_t) {
      if (!hangs || !matches(request)) return std::optional<kube::Fault>{};
      return std::optional<kube::Fault>({.kind = kube::Fault::Kind::kDelay, .delay = 24h});
    };
  }
  std::jthread pass_over(const std::string& name) {
    return std::jthread([this, name](std::stop_token stop) {
      (void)reconcile({"train", name}, stop);
    });
  }
  int port_of(const std::string& name) {
    const auto found = server.get(kinds::kPaddleJobs, {"train", name});
    return found ? static_cast<int>(api::look_integer(*found, "/status/port")) : 0;
  }
  bool has_pods(const std::string& job) { return names(kinds::kPods).contains(job + "-worker-1"); }
};

TEST_F(HostPortsTest, AJobWhosePodsCannotBeCreatedForLongDelaysNoOtherJob) {
  create_job({{"intranet", "Host"}}, "slow");
  create_job({{"intranet", "Host"}}, "quick");
  create_job(Json::object(), "plain");
  hang([](const kube::Request& request) {
    return request.verb == Verb::kCreate && request.key.name.starts_with("slow-");
  });
  begin();
  const auto slow = pass_over("slow");
  ASSERT_TRUE(eventually([&] { return failing.injected() > 0; }));
  const auto quick = pass_over("quick");
  const auto plain = pass_over("plain");
  EXPECT_TRUE(eventually([&] { return has_pods("quick") && has_pods("plain"); }));
  EXPECT_GT(port_of("slow"), 0);
  EXPECT_GT(port_of("quick"), 0);
  EXPECT_NE(port_of("quick"), port_of("slow"));
}

TEST_F(HostPortsTest, AChosenBlockIsNotChosenAgainWhileItIsBeingStored) {
  options.config.host_ports = {40000, 40039};  // two blocks
  for (const char* name : {"slow", "quick", "late"}) create_job({{"intranet", "Host"}}, name);
  hang([](const kube::Request& request) {
    return request.verb == Verb::kUpdate && request.sub == "status" && request.key.name == "slow";
  });
  begin();
  auto slow = pass_over("slow");
  ASSERT_TRUE(eventually([&] { return failing.injected() > 0; }));
  pass_over("quick").join();
  pass_over("late").join();
  EXPECT_GT(port_of("quick"), 0);
  EXPECT_EQ(port_of("late"), 0) << "the block of the slow job is reserved";
  EXPECT_EQ(port_of("slow"), 0);

  slow.request_stop();
  slow.join();
  hangs = false;
  ASSERT_TRUE(server.remove(kinds::kPaddleJobs, {"train", "slow"}));
  EXPECT_TRUE(eventually([&] {
    pass_over("slow").join();  // the job is gone, as soon as the informer shows it
    pass_over("late").join();
    return port_of("late") > 0;
  }));
  EXPECT_NE(port_of("late"), port_of("quick"));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
