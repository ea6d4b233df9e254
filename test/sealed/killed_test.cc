// SPDX-License-Identifier: Apache-2.0
//
// Kills at any moment: of the node while it seals, and of readers on a cold view.

#include <atomic>
#include <set>
#include <thread>

#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/clock.h"
#include "sealed/immutable.h"
#include "test/sealed/sealed_fixture.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

using Killed = SealedTest;

constexpr int kKills = 25;
constexpr int kReaders = 120;

TEST_F(Killed, WhileANodeSealsNobodyEverSeesAnEmptyDirectoryAndTheNextNodeSealsAgain) {
  add_known_samples(cache_);
  cache_.write();
  const std::string target = make_target("target");
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> looks{0};
  int shown = 0;
  int unseen = 0;
  {
    const std::jthread watcher([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto names = list(target);
        if (names.size() != 64 && names != std::vector<std::string>{"from-below"}) ++wrong;
        ++looks;
      }
    });
    for (int kill = 0; kill < kKills; ++kill) {
      Child node(SEALED_CHILD, {"seal", scratch_.path(), target});
      ASSERT_EQ(node.line(), "begins");
      // Anywhere from before the build to after the hand-over.
      system_clock().sleep(std::chrono::microseconds{random_.below(70'000)}, {});
      node.kill();
      // The watcher itself may be inside: then the view is in use, and is tried again.
      const bool was_shown = is_view(target);
      (was_shown ? shown : unseen) += 1;
      EXPECT_TRUE(sealed::unmount_views(target, std::chrono::seconds{20}));
      EXPECT_TRUE(sealed::unmount_all(path("view"), std::chrono::seconds{20}));
      const UniqueFd directory = *sealed::open_directory(cache_.cache());
      sealed::ImmutableSegments next;
      EXPECT_TRUE(next.lift_leftovers(directory.get()));
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(looks, 0u);
  EXPECT_EQ(count_views(), 0);
  std::printf("kills with the view shown: %d, before: %d, looks: %llu\n", shown, unseen,
              static_cast<unsigned long long>(looks.load()));
  const auto view = seal();
  ASSERT_TRUE(view);
  EXPECT_EQ(wrong_files(view->point(), cache_), std::vector<std::string>{});
}

TEST_F(Killed, AViewIsAdoptedByTheNextNodeAndItsSegmentsStayImmutableUntilItEnds) {
  add_known_samples(cache_);
  cache_.write();
  const std::string target = make_target("target");
  {
    Child node(SEALED_CHILD, {"seal", scratch_.path(), target});
    ASSERT_EQ(node.line(), "begins");
    ASSERT_EQ(node.line(), "sealed");
    ASSERT_EQ(node.line(), "shown");
  }
  EXPECT_EQ(wrong_files(target, cache_), std::vector<std::string>{}) << "it needs no process";
  const UniqueFd directory = *sealed::open_directory(cache_.cache());
  const int tiers[] = {directory.get()};
  auto view = sealed::SealedView::adopt(path("view"), tiers, holds_);
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ((*view)->shown(), std::set<std::string>{target});
  EXPECT_EQ((*view)->files(), 64u);
  EXPECT_EQ(*holds_.lift_leftovers(directory.get()), 0) << "its segments are in use";
  EXPECT_LT(::truncate(cache_.segment_path(0).c_str(), 0), 0);
  EXPECT_TRUE((*view)->end().is(Code::kConflict));
  ASSERT_TRUE((*view)->hide(target));
  ASSERT_TRUE((*view)->end());
  EXPECT_EQ(count_views(), 0);
  EXPECT_EQ(::truncate(cache_.segment_path(0).c_str(), 0), 0);
  EXPECT_TRUE(sealed::SealedView::adopt(path("view"), tiers, holds_).is(Code::kNotFound));
}

TEST_F(Killed, ReadersOfAColdViewLeaveNoWrongPageBehind) {
  cache_.add_samples(60, 110'000);
  cache_.add("big", sample_bytes(1, 12'000'000));
  cache_.write();
  const auto view = seal();
  ASSERT_TRUE(view);
  std::vector<std::string> arguments{"read"};
  for (const auto& [name, bytes] : cache_.files()) {
    arguments.push_back(view->point() + "/" + name);
  }
  for (int i = 0; i < kReaders; i += 4) {
    for (const auto& [name, bytes] : cache_.files()) drop_cache_of(view->point() + "/" + name);
    std::vector<std::unique_ptr<Child>> readers;
    for (int j = 0; j < 4; ++j) readers.push_back(std::make_unique<Child>(SEALED_CHILD, arguments));
    system_clock().sleep(std::chrono::microseconds{random_.below(20'000)}, {});
    readers.clear();
    ASSERT_EQ(wrong_files(view->point(), cache_), std::vector<std::string>{}) << "after " << i;
  }
}

}  // namespace
}  // namespace paddle::test
