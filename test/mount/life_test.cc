// SPDX-License-Identifier: Apache-2.0
//
// Start and end of a mount: unmount under load, a killed daemon, an unnoticed successor.

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/log.h"
#include "base/random.h"
#include "test/mount/mount_fixture.h"
#include "test/support/eventually.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

using fuse::Health;
using fuse::Unmounted;

// mount_daemon, killed at the end at the latest.
class Daemon {
 public:
  Daemon(const std::string& verb, const std::string& argument, int input = -1) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    const UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);
    auto child = spawn({.argv = {MOUNT_DAEMON, verb, argument},
                        .env = clean_environment("/nonexistent"),
                        .input = input,
                        .output = theirs.get()});
    if (!child) return;
    pid_ = *child;
    theirs.reset();
    char byte = 0;
    while (::read(ours.get(), &byte, 1) == 1 && agreed_.size() < 1000) {
      agreed_ += byte;
      if (byte == '\n') break;
    }
  }
  ~Daemon() { kill(); }
  bool serves() const { return agreed_.ends_with('\n'); }
  const std::string& agreed() const { return agreed_; }
  void kill() {
    if (pid_ > 0) kill_and_reap(pid_);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  std::string agreed_{};
};

class LifeTest : public MountTest {
 protected:
  LifeTest() { log::set_level(log::Level::kError); }
  ~LifeTest() override { log::set_level(log::Level::kInfo); }
};

TEST_F(LifeTest, AnIdleMountIsUnmountedCleanlyAndLeavesNothing) {
  files_.add_file("f", "x");
  start();
  EXPECT_EQ(*fuse::probe(point_.path()), Health::kAlive);
  EXPECT_EQ(read_all(point_ / "f").bytes, "x");
  EXPECT_EQ(*mount_->unmount(), Unmounted::kCleanly);
  EXPECT_EQ(*mount_->unmount(), Unmounted::kNothing);
  EXPECT_EQ(*fuse::probe(point_.path()), Health::kNotMounted);
  EXPECT_TRUE(list(point_.path()).empty());
}

TEST_F(LifeTest, AMountInUseIsDetachedAndItsReadersGetAnErrorOrCorrectBytes) {
  for (std::uint64_t i = 0; i < 16; ++i) files_.add_pattern(std::to_string(i), 110'000, i);
  fuse::DataMountOptions options;
  options.grace = std::chrono::milliseconds{0};
  start(options);
  std::atomic<int> reading{0}, wrong{0};
  std::vector<std::jthread> readers;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    readers.emplace_back([&, seed] {
      const UniqueFd fd(
          ::open((point_ / std::to_string(seed)).c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
      std::string got(110'000, '\0');
      ++reading;
      while (true) {
        const ssize_t count = ::pread(fd.get(), got.data(), got.size(), 0);
        if (count < 0) return;
        if (got.substr(0, static_cast<std::size_t>(count)) != pattern(seed, 0, 110'000)) ++wrong;
      }
    });
  }
  while (reading < 4) std::this_thread::yield();
  EXPECT_EQ(*mount_->unmount(), Unmounted::kDetached);
  readers.clear();  // hangs if a reader is left waiting
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(*fuse::probe(point_.path()), Health::kNotMounted);
}

TEST_F(LifeTest, ASessionEndsWhenAnotherProcessUnmounts) {
  files_.add_file("f", "x");
  start();
  ASSERT_EQ(::umount2(point_.path().c_str(), 0), 0);
  EXPECT_EQ(mount_->session().wait_end({}), fuse::SessionEnd::kUnmounted);
  EXPECT_EQ(*mount_->unmount(), Unmounted::kNothing);
}

TEST_F(LifeTest, OnlyOurOwnMountIsRemoved) {
  files_.add_file("f", "x");
  start();
  auto over = fuse::DataMount::start(point_.path(), files_, metrics_);
  ASSERT_TRUE(over) << over.error().message;
  EXPECT_TRUE(mount_->unmount().is(Code::kConflict));
  EXPECT_EQ(read_all(point_ / "f").bytes, "x") << "the upper one still serves";
  EXPECT_EQ(*(*over)->unmount(), Unmounted::kCleanly);
  EXPECT_NE(*mount_->unmount(), Unmounted::kNothing);
  EXPECT_EQ(*fuse::probe(point_.path()), Health::kNotMounted);
}

TEST_F(LifeTest, AMissingMountPointIsAnError) {
  const auto missing = fuse::DataMount::start(point_ / "no/such", files_, metrics_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  ASSERT_TRUE(write_file(point_.path() + "-file", "x"));
  EXPECT_TRUE(fuse::DataMount::start(point_.path() + "-file", files_, metrics_).is(Code::kInvalid));
}

TEST_F(LifeTest, AnAbortedConnectionEndsTheSession) {
  files_.add_file("f", "x");
  start();
  const FuseControl control;
  ASSERT_TRUE(control.abort(mount_->device()));
  EXPECT_EQ(mount_->session().wait_end({}), fuse::SessionEnd::kAborted);
  EXPECT_EQ(stat_error(point_ / "f"), ENOTCONN);
}

TEST_F(LifeTest, AKilledDaemonIsDetectedAndItsMountReplaced) {
  Daemon daemon("mount", point_.path());
  ASSERT_TRUE(daemon.serves());
  EXPECT_EQ(read_all(point_ / "1").bytes, pattern(1, 0, 110'000));
  EXPECT_EQ(*fuse::clear_dead(point_.path()), 0) << "a living mount stays";
  std::atomic<int> stuck_error{0};
  std::jthread stuck([&] { stuck_error = read_all(point_ / "stuck").error; });
  const FuseControl control;
  const std::string device = fuse::top_of(*fuse::read_mountinfo(), point_.path())->device;
  EXPECT_TRUE(eventually([&] { return control.waiting(device) > 0; }));
  daemon.kill();
  stuck.join();  // hangs if a waiting reader is not released
  EXPECT_NE(stuck_error, 0);
  EXPECT_EQ(stat_error(point_ / "never asked before"), ENOTCONN);
  EXPECT_EQ(*fuse::probe(point_.path()), Health::kDead);

  files_.add_file("1", "new");
  start();
  EXPECT_EQ(read_all(point_ / "1").bytes, "new") << "no page of the dead mount is left";
  EXPECT_EQ(*mount_->unmount(), Unmounted::kCleanly);
  EXPECT_EQ(*fuse::probe(point_.path()), Health::kNotMounted);
}

TEST_F(LifeTest, ReadersDoNotNoticeThatTheirDaemonIsKilledRepeatedly) {
  // Destroyed from the last to the first: without a daemon and a descriptor no reader hangs.
  std::atomic<std::uint64_t> reads{0}, failed{0}, wrong{0};
  std::vector<std::jthread> readers;
  auto mounted = fuse::mount_data(point_.path(), {});
  ASSERT_TRUE(mounted) << mounted.error().message;
  auto daemon = std::make_unique<Daemon>("serve", "-", mounted->channel.get());
  ASSERT_TRUE(daemon->serves());
  const std::string agreed = daemon->agreed();
  if (!fuse::negotiated_from_text(agreed)->can_resend()) {
    GTEST_SKIP() << "this kernel has no FUSE_NOTIFY_RESEND (Linux 6.9)";
  }
  for (std::uint64_t reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader](const std::stop_token& stop) {
      Random random(reader);
      while (!stop.stop_requested()) {
        const std::uint64_t seed = random.below(64);
        const std::string path = point_ / std::to_string(seed);
        drop_page_cache(path);
        const Content content = read_all(path);
        if (content.error != 0) ++failed;
        if (content.error == 0 && content.bytes != pattern(seed, 0, 110'000)) ++wrong;
        ++reads;
      }
    });
  }
  for (int kills = 0; kills < 20; ++kills) {
    const std::uint64_t before = reads;
    ASSERT_TRUE(eventually([&] { return reads > before + 8; })) << "after kill " << kills;
    daemon->kill();
    daemon = std::make_unique<Daemon>("serve", agreed, mounted->channel.get());
    ASSERT_TRUE(daemon->serves());
  }
  readers.clear();
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(wrong, 0u);
  daemon->kill();
  EXPECT_EQ(*fuse::unmount(mounted->point, mounted->device, std::chrono::milliseconds{2000}),
            Unmounted::kCleanly);
}

TEST_F(LifeTest, ADaemonThatDiedDuringInitIsFollowedByOneThatAnswersIt) {
  auto mounted = fuse::mount_data(point_.path(), {});
  ASSERT_TRUE(mounted) << mounted.error().message;
  {
    // Receives INIT and never replies.
    const fuse::Channel first(UniqueFd(::dup(mounted->channel.get())));
    std::vector<std::byte> request(fuse::kRequestBuffer);
    ASSERT_EQ(first.receive(request).status, fuse::ChannelStatus::kOk);
    if (!first.resend()) GTEST_SKIP() << "this kernel has no FUSE_NOTIFY_RESEND (Linux 6.9)";
    ASSERT_EQ(first.receive(request).status, fuse::ChannelStatus::kOk);
  }
  Daemon second("serve", "-", mounted->channel.get());
  ASSERT_TRUE(second.serves());
  EXPECT_EQ(read_all(point_ / "5").bytes, pattern(5, 0, 110'000));
}

}  // namespace
}  // namespace paddle::test
