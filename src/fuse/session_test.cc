// SPDX-License-Identifier: Apache-2.0
//
// A socket takes the kernel's place; test/mount tests the same with a real kernel.

#include "fuse/session.h"

#include <cerrno>
#include <map>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "fuse/fake/memory_file_system.h"
#include "fuse/fake/wire.h"

namespace paddle::fuse {
namespace {

using samplefs::kRootId;
constexpr std::chrono::milliseconds kLong{60'000};

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) ADD_FAILURE();
    kernel_ = UniqueFd(ends[0]);
    daemon_ = UniqueFd(ends[1]);
    log::set_level(log::Level::kError);
  }
  ~SessionTest() override { log::set_level(log::Level::kInfo); }

  void start(SessionOptions options = {}, std::optional<Negotiated> resumed = {}) {
    std::vector<UniqueFd> channels;
    channels.push_back(std::move(daemon_));
    auto session = Session::start(std::move(channels), files_, metrics_, options, resumed);
    ASSERT_TRUE(session) << session.error().message;
    session_ = *std::move(session);
    if (!resumed) expect_resend_notice();
  }

  void expect_resend_notice() {
    const Reply notice = receive();
    EXPECT_EQ(notice.header.unique, 0u);
    EXPECT_EQ(notice.header.error, kNotifyResend);
  }

  void send(const std::vector<std::byte>& bytes) {
    ASSERT_EQ(::write(kernel_.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }

  struct Reply {
    fuse_out_header header{};
    std::vector<std::byte> body{};
  };
  Reply receive() {
    std::vector<std::byte> bytes(1 << 20);
    const ssize_t got = ::read(kernel_.get(), bytes.data(), bytes.size());
    EXPECT_GE(got, static_cast<ssize_t>(sizeof(fuse_out_header)));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    Reply reply{take<fuse_out_header>(bytes)};
    EXPECT_EQ(reply.header.len, bytes.size());
    if (bytes.size() > sizeof reply.header) {
      reply.body.assign(bytes.begin() + sizeof reply.header, bytes.end());
    }
    return reply;
  }
  Reply ask(const std::vector<std::byte>& bytes) {
    send(bytes);
    return receive();
  }

  UniqueFd kernel_, daemon_;
  MemoryFileSystem files_;
  Metrics metrics_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, IsReadyOnceInitWasAnswered) {
  start();
  EXPECT_TRUE(session_->wait_ready(std::chrono::milliseconds{1}).is(Code::kDeadline));
  EXPECT_EQ(ask(raw_init(45, kModernOffer)).header.error, 0);
  const auto agreed = session_->wait_ready(kLong);
  ASSERT_TRUE(agreed);
  EXPECT_TRUE(agreed->no_open());
}

TEST_F(SessionTest, WaitingForInitCanBeCancelledAndEndsWithTheConnection) {
  start();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(session_->wait_ready(kLong, stop.get_token()).is(Code::kCancelled));
  kernel_.reset();
  EXPECT_TRUE(session_->wait_ready(kLong).is(Code::kUnavailable));
  EXPECT_EQ(session_->wait_end({}), SessionEnd::kUnmounted);
}

TEST_F(SessionTest, EveryAnswerCarriesTheIdOfItsRequest) {
  const auto id = files_.add_file("f", "hello");
  start();
  ask(raw_init(45, kModernOffer));
  const std::uint64_t resent = 88 | kUniqueResend;
  const Reply reply = ask(raw_read(resent, id, 1, 3));
  EXPECT_EQ(reply.header.unique, resent);
  EXPECT_EQ(as_text(reply.body), "ell");
  EXPECT_EQ(ask(raw_read(90, 4711, 0, 1)).header.error, -ENOENT);
  EXPECT_EQ(session_->counters().requests(FUSE_READ), 2u);
  EXPECT_EQ(session_->counters().errors(FUSE_READ), 1u);
  EXPECT_EQ(session_->counters().read_bytes(), 3u);
  EXPECT_EQ(session_->counters().all_requests(), 3u);
}

TEST_F(SessionTest, SlowReadsDelayNeitherNamesNorEachOther) {
  const auto slow = files_.add_file("slow", "slow");
  const auto quick = files_.add_file("quick", "quick");
  start({.max_misses = 3, .spare_threads = 1, .idle_threads = 1});
  ask(raw_init(45, kModernOffer));
  files_.hold_reads(slow);
  for (std::uint64_t unique = 100; unique < 102; ++unique) send(raw_read(unique, slow, 0, 4));
  while (files_.held() < 2) std::this_thread::yield();
  EXPECT_EQ(as_text(ask(raw_read(110, quick, 0, 5)).body), "quick");

  // More slow reads than the gate admits: all other requests are still answered.
  for (std::uint64_t unique = 102; unique < 110; ++unique) send(raw_read(unique, slow, 0, 4));
  while (files_.held() < 3) std::this_thread::yield();
  EXPECT_EQ(ask(raw_lookup(120, kRootId, "quick")).header.unique, 120u);
  EXPECT_EQ(as_text(ask(raw_read(130, quick, 0, 5)).body), "quick");
  EXPECT_EQ(ask(raw_lookup(121, kRootId, "slow")).header.unique, 121u);

  // No queued read is lost or answered twice.
  files_.release_reads(slow);
  std::map<std::uint64_t, std::string> answers;
  for (int i = 0; i < 10; ++i) {
    const Reply reply = receive();
    EXPECT_TRUE(answers.emplace(reply.header.unique, as_text(reply.body)).second);
  }
  for (std::uint64_t unique = 100; unique < 110; ++unique) EXPECT_EQ(answers[unique], "slow");
}

TEST_F(SessionTest, AReadThatNeedsTheSourceEndsByItsDeadlineAlsoWhileItIsQueued) {
  const auto slow = files_.add_file("slow", "slow");
  start({.max_misses = 2,
         .spare_threads = 1,
         .idle_threads = 1,
         .read_limit = std::chrono::milliseconds{50}});
  ask(raw_init(45, kModernOffer));
  files_.hold_reads(slow);
  for (std::uint64_t unique = 100; unique < 110; ++unique) send(raw_read(unique, slow, 0, 4));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(receive().header.error, -ETIMEDOUT);
  files_.release_reads(slow);
  EXPECT_EQ(as_text(ask(raw_read(110, slow, 0, 4)).body), "slow") << "nothing of it stays";
}

TEST_F(SessionTest, ASuccessorRequestsAResendAndNeedsNoInit) {
  files_.add_file("f", "x");
  start({}, *negotiate({kMajor, 45, 0, kModernOffer}, {}));
  EXPECT_TRUE(session_->wait_ready(kLong));
  expect_resend_notice();
  EXPECT_EQ(ask(raw_request(FUSE_OPEN, 5, 2, std::span<const std::byte>{})).header.error, -ENOSYS);
}

TEST_F(SessionTest, ASuccessorOnAnOlderKernelRequestsNoResend) {
  files_.add_file("f", "x");
  start({}, *negotiate({kMajor, 31, 0, FUSE_NO_OPEN_SUPPORT}, {}));
  EXPECT_EQ(ask(raw_lookup(5, kRootId, "f")).header.unique, 5u);
}

TEST_F(SessionTest, StopLeavesUnreadRequestsToASuccessor) {
  files_.add_file("f", "x");
  UniqueFd kept(::dup(daemon_.get()));
  start();
  ask(raw_init(45, kModernOffer));
  session_->stop();
  EXPECT_EQ(session_->ended(), SessionEnd::kStopped);
  session_.reset();
  send(raw_lookup(7, kRootId, "f"));
  daemon_ = std::move(kept);
  start({}, *negotiate({kMajor, 31, 0, FUSE_NO_OPEN_SUPPORT}, {}));
  EXPECT_EQ(receive().header.unique, 7u);
}

TEST_F(SessionTest, StopFinishesRequestsInProgress) {
  const auto id = files_.add_file("f", "x");
  start();
  files_.hold_reads(id);
  send(raw_read(9, id, 0, 1));
  while (files_.held() < 1) std::this_thread::yield();
  std::jthread stopper([this] { session_->stop(); });
  files_.release_reads(id);
  EXPECT_EQ(as_text(receive().body), "x");
}

TEST_F(SessionTest, UnreadableBytesDoNotEndTheSession) {
  start();
  send(std::vector<std::byte>(3));
  send(std::vector<std::byte>(kRequestBuffer));
  const Reply reply = receive();  // a header of zeros with a wrong length
  EXPECT_EQ(reply.header.error, -EINVAL);
  EXPECT_EQ(ask(raw_lookup(5, kRootId, "f")).header.unique, 5u);
}

TEST_F(SessionTest, NotificationsNameTheirEntry) {
  start();
  ASSERT_TRUE(session_->channel().invalidate_entry(3, "cat"));
  const Reply notice = receive();
  EXPECT_EQ(notice.header.error, FUSE_NOTIFY_INVAL_ENTRY);
  EXPECT_EQ(take<fuse_notify_inval_entry_out>(notice.body).parent, 3u);
  EXPECT_EQ(as_text(notice.body).substr(sizeof(fuse_notify_inval_entry_out)),
            std::string_view("cat\0", 4));
}

TEST_F(SessionTest, NeedsAChannelAndThreads) {
  EXPECT_TRUE(Session::start({}, files_, metrics_).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::fuse
