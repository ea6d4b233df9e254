// SPDX-License-Identifier: Apache-2.0
#include "fuse/attach.h"

#include <atomic>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/scratch.h"
#include "base/sync.h"
#include "fuse/attach_message.h"

namespace paddle::fuse {
namespace {

constexpr std::chrono::milliseconds kLongAttach{20'000};
const Negotiated kAgreed{.minor = 45, .flags = 1ULL << 39, .max_read = 1 << 20, .max_pages = 256};

class AttachTest : public testing::Test {
 protected:
  AttachTest() {
    log::set_level(log::Level::kError);
    channel_ = UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  }
  ~AttachTest() override { log::set_level(log::Level::kInfo); }

  // A handler that keeps each attachment and accepts it.
  AttachServer::Handler keeping() {
    return [this](Attachment attachment) -> Result<Negotiated> {
      Lock lock(mutex_);
      kept_.push_back(std::move(attachment));
      return kAgreed;
    };
  }
  std::unique_ptr<AttachServer> serve(AttachServer::Handler handler) {
    auto server = AttachServer::start(directory_, std::move(handler));
    EXPECT_TRUE(server) << server.error().message;
    return server ? *std::move(server) : nullptr;
  }
  Result<Attached> attach_one(const std::optional<Negotiated>& resumed = {}) {
    return attach(directory_, "set-0", {channel_.get()}, resumed, kLongAttach);
  }
  UniqueFd dial() {
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    (directory_ + "/attach.sock").copy(to.sun_path, sizeof to.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  static std::string hear(const UniqueFd& fd) {
    char room[kAttachPacket];
    const ssize_t got = ::recv(fd.get(), room, sizeof room, 0);
    return std::string(room, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }

  const Scratch scratch_{};
  std::string directory_ = scratch_.path();
  UniqueFd channel_;
  Mutex mutex_;
  std::vector<Attachment> kept_ GUARDED_BY(mutex_);
};

bool ended(const UniqueFd& link, int limit_ms) {
  pollfd wait{link.get(), POLLIN, 0};
  return ::poll(&wait, 1, limit_ms) == 1;
}

TEST_F(AttachTest, IsUnavailableWithoutAServer) {
  EXPECT_TRUE(attach_one().is(Code::kUnavailable));
  EXPECT_TRUE(attach("/no/such", "set", {channel_.get()}, {}, kLongAttach).is(Code::kUnavailable));
}

TEST_F(AttachTest, PassesTheDescriptorsAndReturnsTheReply) {
  const auto server = serve(keeping());
  const UniqueFd other(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  const Negotiated before{.minor = 31, .flags = 7, .max_read = 4096};
  const auto got = attach(directory_, "set-0", {channel_.get(), other.get()}, before, kLongAttach);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->agreed, kAgreed);
  Lock lock(mutex_);
  ASSERT_EQ(kept_.size(), 1u);
  EXPECT_EQ(kept_[0].name, "set-0");
  EXPECT_EQ(kept_[0].resumed, before);
  ASSERT_EQ(kept_[0].channels.size(), 2u);
  char byte = 'x';
  EXPECT_EQ(::read(kept_[0].channels[0].get(), &byte, 1), 0);
  EXPECT_EQ(::read(kept_[0].channels[1].get(), &byte, 1), 1);
  EXPECT_EQ(::fcntl(kept_[0].channels[0].get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(AttachTest, TheServersErrorKeepsItsCodeAndMessage) {
  const auto server = serve([](const Attachment&) -> Result<Negotiated> {
    return Error{Code::kConflict, "that mount\nis gone"};
  });
  const auto got = attach_one();
  ASSERT_TRUE(got.is(Code::kConflict));
  EXPECT_EQ(got.error().message, "that mount\nis gone");
}

TEST_F(AttachTest, TheLinkEndsWhenTheServerClosesItAndNotBefore) {
  const auto server = serve(keeping());
  const auto got = attach_one();
  ASSERT_TRUE(got);
  EXPECT_FALSE(ended(got->link, 0));
  ASSERT_TRUE(attach_one()) << "serving one does not hold up the next";
  EXPECT_FALSE(ended(got->link, 0));
  {
    Lock lock(mutex_);
    kept_.erase(kept_.begin());
  }
  EXPECT_TRUE(ended(got->link, 20'000));
}

TEST_F(AttachTest, AHandlerThatKeepsNothingEndsTheLinkAtOnce) {
  const auto server = serve([](const Attachment&) -> Result<Negotiated> { return kAgreed; });
  const auto got = attach_one();
  ASSERT_TRUE(got);
  EXPECT_TRUE(ended(got->link, 20'000));
}

TEST_F(AttachTest, ClosingTheLinkHasNoEffectOnTheServer) {
  const auto server = serve(keeping());
  (void)attach_one();
  EXPECT_TRUE(attach_one());
  Lock lock(mutex_);
  EXPECT_EQ(kept_.size(), 2u);
}

TEST_F(AttachTest, ASuccessorReplacesTheSocketAndIsNotRemovedByItsPredecessor) {
  auto first = serve([](const Attachment&) -> Result<Negotiated> {
    return Error{Code::kInternal, "the old one"};
  });
  const auto second = serve(keeping());
  first.reset();
  EXPECT_TRUE(attach_one(kAgreed));
}

TEST_F(AttachTest, ASocketThatAKilledServerLeftIsReplaced) {
  {
    const UniqueFd dead(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    (directory_ + "/attach.sock").copy(at.sun_path, sizeof at.sun_path - 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  }
  EXPECT_TRUE(attach_one().is(Code::kUnavailable));
  const auto server = serve(keeping());
  EXPECT_TRUE(attach_one());
}

TEST_F(AttachTest, TheSocketIsPrivateAndGoneAfterwards) {
  auto server = serve(keeping());
  struct stat there {};
  ASSERT_EQ(::stat((directory_ + "/attach.sock").c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0600u);
  server.reset();
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(AttachTest, WorksInADirectoryWithALongPath) {
  const std::string top = directory_;
  for (int i = 0; i < 6; ++i) directory_ += "/" + std::string(60, 'd');
  std::filesystem::create_directories(directory_);
  {
    const auto server = serve(keeping());
    EXPECT_TRUE(attach_one());
  }
  directory_ = top;
}

TEST_F(AttachTest, GarbageIsRejectedAndTheServerContinues) {
  const auto server = serve(keeping());
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const auto fd = dial();
    std::string text = i % 2 == 0 ? "attach1 " : "";
    for (std::uint64_t n = random.below(300); n > 0; --n) {
      text += static_cast<char>(random.below(256));
    }
    ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (i % 3 != 0) continue;  // the others close the connection without waiting
    EXPECT_EQ(hear(fd).rfind("error1 ", 0), 0u);
  }
  {
    const auto fd = dial();
    const std::string text(3 * kAttachPacket, 'a');
    ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    EXPECT_EQ(hear(fd).rfind("error1 Invalid", 0), 0u);
  }
  {
    const auto fd = dial();
    const std::string text = encode_attach_request({"no-channel", {}});
    ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    EXPECT_EQ(hear(fd).rfind("error1 Invalid", 0), 0u);
  }
  { const auto silent = dial(); }
  EXPECT_TRUE(attach_one());
  Lock lock(mutex_);
  EXPECT_EQ(kept_.size(), 1u);
}

TEST_F(AttachTest, ASilentClientDoesNotKeepTheServerFromEnding) {
  auto server = serve(keeping());
  const auto silent = dial();
  server.reset();  // hangs if it waits for the silent one
  EXPECT_NE(hear(silent).rfind("agreed1", 0), 0u);
}

TEST_F(AttachTest, TheCallerMayStopWaitingAndHasADeadline) {
  std::stop_source ask;
  const auto server = serve([&](const Attachment& attachment) -> Result<Negotiated> {
    if (attachment.name == "stop") ask.request_stop();
    system_clock().sleep(std::chrono::hours{1}, attachment.stop);
    return Error{Code::kCancelled, "the server ends"};
  });
  EXPECT_TRUE(attach(directory_, "stop", {channel_.get()}, {}, kLongAttach, ask.get_token())
                  .is(Code::kCancelled));
  EXPECT_TRUE(attach(directory_, "late", {channel_.get()}, {}, std::chrono::milliseconds{50})
                  .is(Code::kDeadline));
}

TEST_F(AttachTest, TheCallerDetectsThatTheServerDiedDuringItsRequest) {
  std::atomic<bool> asked{false};
  auto server = serve([&](const Attachment& attachment) -> Result<Negotiated> {
    asked = true;
    system_clock().sleep(std::chrono::hours{1}, attachment.stop);
    return Error{Code::kUnavailable, "the server ends"};
  });
  std::jthread ending([&] {
    while (!asked) std::this_thread::yield();
    server.reset();
  });
  EXPECT_TRUE(attach_one().is(Code::kUnavailable));
}

TEST_F(AttachTest, RejectsInvalidNamesAndChannels) {
  const int fd = channel_.get();
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a\nb"), std::string(256, 'x')}) {
    EXPECT_TRUE(attach(directory_, name, {fd}, {}, kLongAttach).is(Code::kInvalid)) << name;
  }
  EXPECT_TRUE(attach(directory_, "set", {}, {}, kLongAttach).is(Code::kInvalid));
  EXPECT_TRUE(attach(directory_, "set", std::vector<int>(kAttachChannels + 1, fd), {}, kLongAttach)
                  .is(Code::kInvalid));
}

TEST(AttachMessage, SurvivesARoundTrip) {
  for (const AttachRequest& request :
       {AttachRequest{"a", {}}, AttachRequest{std::string(255, 'n'), kAgreed}}) {
    EXPECT_EQ(*decode_attach_request(encode_attach_request(request)), request);
  }
  EXPECT_EQ(*decode_attach_answer(encode_attach_answer(kAgreed)), kAgreed);
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) {
    const auto back =
        decode_attach_answer(encode_attach_answer(Error{static_cast<Code>(code), "why: x"}));
    EXPECT_TRUE(back.is(static_cast<Code>(code)));
    EXPECT_EQ(back.error().message, "why: x");
  }
  const std::string longest(100'000, 'e');
  EXPECT_LT(encode_attach_answer(Error{Code::kInternal, longest}).size(), kAttachPacket);
  EXPECT_TRUE(decode_attach_answer("error1 Nonsense x").is(Code::kInvalid));
  EXPECT_TRUE(decode_attach_answer("").is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::fuse
