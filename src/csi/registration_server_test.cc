// SPDX-License-Identifier: Apache-2.0
#include "csi/registration_server.h"

#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "base/sync.h"
#include "csi/test_peers.h"
#include "csi/test_sockets.h"

namespace paddle::csi {
namespace {

const Registration kRegistration{.name = "csi.juicefs.com", .endpoint = "/k/csi.sock"};

class Ear {
 public:
  RegistrationServer::Told told() {
    return [this](const Verdict& verdict) {
      const Lock lock(mutex_);
      heard_.push_back(verdict);
    };
  }
  std::vector<Verdict> heard() {
    const Lock lock(mutex_);
    return heard_;
  }

 private:
  Mutex mutex_;
  std::vector<Verdict> heard_ GUARDED_BY(mutex_);
};

TEST(RegistrationServer, TellsKubeletInItsOwnBytesWhatThereIs) {
  const SocketDir dir;
  Ear ear;
  const auto server = RegistrationServer::start(dir.at("a.sock"), kRegistration, ear.told());
  ASSERT_TRUE(server) << server.error().message;
  const auto reply = call_registration(dir.at("a.sock"), "GetInfo", "");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(*reply, field(1, "CSIPlugin") + field(2, "csi.juicefs.com") + field(3, "/k/csi.sock") +
                        field(4, "1.0.0"));
}

TEST(RegistrationServer, HearsKubeletsVerdictInItsOwnBytes) {
  const SocketDir dir;
  Ear ear;
  const auto server = RegistrationServer::start(dir.at("a.sock"), kRegistration, ear.told());
  const std::string method = "NotifyRegistrationStatus";
  const auto reply = call_registration(dir.at("a.sock"), method, "\x08\x01");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(*reply, "");
  ASSERT_TRUE(call_registration(dir.at("a.sock"), method, field(2, "no such node")));
  EXPECT_EQ(ear.heard(), (std::vector<Verdict>{{.registered = true},
                                               {.registered = false, .error = "no such node"}}));
}

TEST(RegistrationServer, ListensInPlaceOfASocketThatAKilledProcessLeft) {
  const SocketDir dir;
  { const MuteSocket killed(dir.at("a.sock")); }
  Ear ear;
  const auto server = RegistrationServer::start(dir.at("a.sock"), kRegistration, ear.told());
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_TRUE(call_registration(dir.at("a.sock"), "GetInfo", ""));
}

TEST(RegistrationServer, SaysInOneSentenceThatItCanNotListen) {
  const SocketDir dir;
  Ear ear;
  const auto server = RegistrationServer::start(dir.at("none/a.sock"), kRegistration, ear.told());
  ASSERT_TRUE(server.is(Code::kUnavailable));
  EXPECT_NE(server.error().message.find(dir.at("none/a.sock")), std::string::npos);
}

TEST(RegistrationServer, RefusesWhatKubeletNeverAsks) {
  const SocketDir dir;
  Ear ear;
  const auto server = RegistrationServer::start(dir.at("a.sock"), kRegistration, ear.told());
  EXPECT_FALSE(call_registration(dir.at("a.sock"), "Nonsense", ""));
  EXPECT_FALSE(call_registration(dir.at("a.sock"), "NotifyRegistrationStatus", "\xff\xff\xff"));
  EXPECT_TRUE(ear.heard().empty());
}

}  // namespace
}  // namespace paddle::csi
