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

class StatusRecorder {
 public:
  RegistrationServer::StatusCallback on_status() {
    return [this](const RegistrationStatus& status) {
      const Lock lock(mutex_);
      statuses_.push_back(status);
    };
  }
  std::vector<RegistrationStatus> statuses() {
    const Lock lock(mutex_);
    return statuses_;
  }

 private:
  Mutex mutex_;
  std::vector<RegistrationStatus> statuses_ GUARDED_BY(mutex_);
};

TEST(RegistrationServer, AnswersGetInfoInKubeletsWireFormat) {
  const SocketDir dir;
  StatusRecorder recorder;
  const auto server =
      RegistrationServer::start(dir.at("a.sock"), kRegistration, recorder.on_status());
  ASSERT_TRUE(server) << server.error().message;
  const auto reply = call_registration(dir.at("a.sock"), "GetInfo", "");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(*reply, field(1, "CSIPlugin") + field(2, "csi.juicefs.com") + field(3, "/k/csi.sock") +
                        field(4, "1.0.0"));
}

TEST(RegistrationServer, ReceivesKubeletsStatusInItsWireFormat) {
  const SocketDir dir;
  StatusRecorder recorder;
  const auto server =
      RegistrationServer::start(dir.at("a.sock"), kRegistration, recorder.on_status());
  const std::string method = "NotifyRegistrationStatus";
  const auto reply = call_registration(dir.at("a.sock"), method, "\x08\x01");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(*reply, "");
  ASSERT_TRUE(call_registration(dir.at("a.sock"), method, field(2, "no such node")));
  EXPECT_EQ(recorder.statuses(),
            (std::vector<RegistrationStatus>{{.registered = true},
                                             {.registered = false, .error = "no such node"}}));
}

TEST(RegistrationServer, ReplacesASocketThatAKilledProcessLeft) {
  const SocketDir dir;
  { const UnresponsiveSocket killed(dir.at("a.sock")); }
  StatusRecorder recorder;
  const auto server =
      RegistrationServer::start(dir.at("a.sock"), kRegistration, recorder.on_status());
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_TRUE(call_registration(dir.at("a.sock"), "GetInfo", ""));
}

TEST(RegistrationServer, ReportsInOneSentenceThatItCannotListen) {
  const SocketDir dir;
  StatusRecorder recorder;
  const auto server =
      RegistrationServer::start(dir.at("none/a.sock"), kRegistration, recorder.on_status());
  ASSERT_TRUE(server.is(Code::kUnavailable));
  EXPECT_NE(server.error().message.find(dir.at("none/a.sock")), std::string::npos);
}

TEST(RegistrationServer, RejectsUnknownCalls) {
  const SocketDir dir;
  StatusRecorder recorder;
  const auto server =
      RegistrationServer::start(dir.at("a.sock"), kRegistration, recorder.on_status());
  EXPECT_FALSE(call_registration(dir.at("a.sock"), "Nonsense", ""));
  EXPECT_FALSE(call_registration(dir.at("a.sock"), "NotifyRegistrationStatus", "\xff\xff\xff"));
  EXPECT_TRUE(recorder.statuses().empty());
}

}  // namespace
}  // namespace paddle::csi
