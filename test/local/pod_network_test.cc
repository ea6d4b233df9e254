// SPDX-License-Identifier: Apache-2.0
//
// The network of pods: each other, this machine, and other networks.

#include <future>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "local/node/command.h"
#include "test/local/machine_fixture.h"
#include "test/support/eventually.h"

namespace paddle::local {
namespace {

namespace kinds = kube::resources;
using Pointer = Json::json_pointer;

// Sends "hello" to the first client and prints its address.
class Greeter {
 public:
  // In its own network namespace, connected to this machine by a veth pair with these addresses.
  Greeter(const std::string& outer, const std::string& inner) {
    std::promise<Result<int>> made;
    auto port = made.get_future();
    thread_ = std::thread([this, &made, outer, inner] {
      made.set_value(listen(outer, inner));
      serve();
    });
    auto got = port.get();
    EXPECT_TRUE(got) << got.error().message;
    port_ = got ? *got : 0;
  }
  // In this machine's own network.
  Greeter() : Greeter("", "") {}
  ~Greeter() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return port_; }

 private:
  Result<int> listen(const std::string& outer, const std::string& inner) {
    if (!outer.empty()) CHECK_DONE(wire(outer, inner));
    socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof any;
    auto* address = reinterpret_cast<sockaddr*>(&any);
    if (::bind(socket_.get(), address, size) != 0 || ::listen(socket_.get(), 4) != 0 ||
        ::getsockname(socket_.get(), address, &size) != 0) {
      return Error{Code::kInternal, "cannot listen"};
    }
    return static_cast<int>(ntohs(any.sin_port));
  }

  static Result<> wire(const std::string& outer, const std::string& inner) {
    if (::unshare(CLONE_NEWNET) != 0) return Error{Code::kInternal, "no network of its own"};
    const std::string id = std::to_string(::gettid());
    const std::string inside = "--net=/proc/" + id + "/ns/net";
    const std::string outside = "--net=/proc/" + std::to_string(::getpid()) + "/ns/net";
    const std::string name = "pdt" + id;
    const auto machine = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"nsenter", outside, "ip"});
      return run_command(words);
    };
    CHECK_DONE(machine({"link", "add", name, "type", "veth", "peer", "name", "far", "netns", id}));
    CHECK_DONE(machine({"addr", "add", outer + "/30", "dev", name}));
    CHECK_DONE(machine({"link", "set", name, "up"}));
    CHECK_DONE(run_command({"nsenter", inside, "ip", "addr", "add", inner + "/30", "dev", "far"}));
    return run_command({"nsenter", inside, "ip", "link", "set", "far", "up"});
  }

  void serve() {
    while (true) {
      const UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      [[maybe_unused]] const auto sent = ::write(peer.get(), "hello\n", 6);
    }
  }

  UniqueFd socket_{};
  int port_ = 0;
  std::thread thread_{};
};

std::string ask(const std::string& address, int port) {
  return "python3 -c 'import socket,os\ns = socket.create_connection((os.path.expandvars(\"" +
         address + "\"), " + std::to_string(port) + "), 20)\nprint(s.recv(9).decode(), end=\"\")'";
}

class PodNetworkTest : public MachineTest {
 protected:
  void SetUp() override {
    MachineTest::SetUp();
    if (!node_) return;
    const std::string note = node_->network_note();
    EXPECT_EQ(note.find("cannot reach other networks"), std::string::npos) << note;
  }
  Json asker(const std::string& name, const std::string& address, int port) {
    Json made = pod(name, ask(address, port));
    made["spec"]["containers"][0]["env"] = Json::array(
        {Json{{"name", "HOST"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.hostIP"}}}}}}});
    return made;
  }
};

TEST_F(PodNetworkTest, APodReachesThisMachine) {
  const Greeter greeter;
  create(kinds::kPods, asker("p", "$HOST", greeter.port()));
  expect_phase("p", "Succeeded");
  EXPECT_EQ(logs("p"), "hello\n");
}

TEST_F(PodNetworkTest, APodReachesOtherNetworksThroughThisMachine) {
  // The other network has no route to the pods: only a masqueraded connection can work.
  const Greeter greeter("198.18.77.1", "198.18.77.2");
  create(kinds::kPods, asker("p", "198.18.77.2", greeter.port()));
  expect_phase("p", "Succeeded");
  EXPECT_EQ(logs("p"), "hello\n");
}

TEST_F(PodNetworkTest, TheNameOfAServiceFollowsItsPodToAnotherAddress) {
  create(kinds::kServices,
         {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", {{"name", "peer"}, {"namespace", "default"}}},
          {"spec",
           {{"selector", {{"app", "peer"}}}, {"ports", Json::array({Json{{"port", 2379}}})}}}});
  create(kinds::kPods, pod("reader",
                           "while true; do for n in peer peer.default peer.default.svc "
                           "peer.default.svc.cluster.local; do getent hosts $n; done; "
                           "sleep 0.1; done"));
  expect_phase("reader", "Running");
  // Keeps the first address taken, so that the second peer gets another.
  const auto run_peer = [&](const std::string& name) {
    Json peer = pod(name, "sleep 1000");
    peer["metadata"]["labels"] = {{"app", "peer"}};
    peer["spec"]["terminationGracePeriodSeconds"] = 0;
    create(kinds::kPods, peer);
    expect_phase(name, "Running");
    return get(kinds::kPods, name).at(Pointer("/status/podIP")).get<std::string>();
  };
  const auto every_name_leads_to = [&](const std::string& address) {
    for (const char* name : {"peer", "peer.default", "peer.default.svc"}) {
      const std::string recent = logs("reader", "tailLines=8");
      if (recent.find(address) == std::string::npos) return false;
      if (recent.find(name) == std::string::npos) return false;
    }
    return true;
  };
  const std::string first = run_peer("peer-1");
  EXPECT_TRUE(test::eventually([&] { return every_name_leads_to(first); })) << logs("reader");
  create(kinds::kPods, pod("bystander", "sleep 1000"));
  expect_phase("bystander", "Running");
  const std::string second = run_peer("peer-2");
  ASSERT_NE(first, second);
  ASSERT_TRUE(client().remove(kinds::kPods, {"default", "peer-1"}, {.grace_seconds = 0}));
  EXPECT_TRUE(test::eventually([&] {
    const std::string recent = logs("reader", "tailLines=8");
    return recent.find(second) != std::string::npos && recent.find(first) == std::string::npos;
  })) << logs("reader", "tailLines=8");
}

TEST_F(PodNetworkTest, WithoutABridgePodsHaveLoopbackAddresses) {
  end_node();
  Metrics metrics;
  auto node = Node::start(
      client(),
      {.directory = directory(), .base_env = {{"PATH", "/usr/bin:/bin"}}, .bridge = false},
      metrics);
  ASSERT_TRUE(node) << node.error().message;
  create(kinds::kPods, pod("p", "true"));
  expect_phase("p", "Succeeded");
  EXPECT_TRUE(
      get(kinds::kPods, "p").at(Pointer("/status/podIP")).get<std::string>().starts_with("127."));
}

}  // namespace
}  // namespace paddle::local
