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
  Greeter(std::string outer, std::string inner) {
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
