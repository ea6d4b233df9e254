// SPDX-License-Identifier: Apache-2.0
//
// A view takes over from FUSE under running pods: who sees it, what stays where it was, and how it
// ends.

#include <filesystem>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuse/mountinfo.h"
#include "test/sealed/sealed_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

class ViewSwitch : public SealedTest {
 protected:
  void SetUp() override {
    SealedTest::SetUp();
    cache_.add_samples(30, 9000);
    cache_.write();
  }
  // A mount at `name` that FUSE serves, bound as for a pod: its own peer group.
  std::string bind_target(const std::string& from, const std::string& name) {
    std::string target = make_directory(name);
    EXPECT_EQ(::mount(from.c_str(), target.c_str(), nullptr, MS_BIND, nullptr), 0);
    EXPECT_TRUE(sealed::make_own_peer_group(target));
    return target;
  }
};

TEST_F(ViewSwitch, TwoPodsSeeTheViewAndOneOfThemEndsWithoutTheOther) {
  const std::string t1 = make_target("t1");
  const std::string t2 = make_target("t2");
  Child one(SEALED_CHILD, {"pod", t1, make_directory("pod1")});
  Child two(SEALED_CHILD, {"pod", t2, make_directory("pod2")});
  ASSERT_EQ(one.line(), "ready");
  ASSERT_EQ(two.line(), "ready");
  EXPECT_EQ(one.ask("from-below"), "other 1");

  const auto view = seal();
  ASSERT_TRUE(view);
  ASSERT_TRUE(view->show(t1));
  ASSERT_TRUE(view->show(t2));
  EXPECT_EQ(one.ask("class-3/sample-3"), "erofs 9003");
  EXPECT_EQ(two.ask("class-3/sample-3"), "erofs 9003");
  // Aside and over each target: one mount each, all of one superblock.
  EXPECT_EQ(count_views(), 3);
  const auto mounts = *fuse::read_mountinfo();
  std::set<std::string> devices;
  for (const auto& each : mounts) {
    if (each.type == "erofs") devices.insert(each.device);
  }
  EXPECT_EQ(devices.size(), 1u);

  one.kill();
  ASSERT_TRUE(view->hide(t1));
  EXPECT_EQ(*sealed::unmount_all(t1, std::chrono::seconds{5}), 1) << "what was beneath";
  EXPECT_EQ(two.ask("class-4/sample-4"), "erofs 9004") << "the other pod keeps its view";
  EXPECT_EQ(count_views(), 2);
  two.kill();
  ASSERT_TRUE(view->hide(t2));
  ASSERT_TRUE(view->end());
  EXPECT_EQ(count_views(), 0);
}

TEST_F(ViewSwitch, ATargetThatSharesItsPeerGroupIsRefused) {
  const std::string t1 = make_target("t1");
  const std::string t2 = make_directory("t2");
  ASSERT_EQ(::mount(t1.c_str(), t2.c_str(), nullptr, MS_BIND, nullptr), 0);  // of t1's group
  const auto view = seal();
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->show(t1).is(Code::kConflict));
  EXPECT_FALSE(is_view(t1) || is_view(t2));
  ASSERT_TRUE(sealed::make_own_peer_group(t1));
  ASSERT_TRUE(view->show(t1));
  EXPECT_TRUE(is_view(t1));
  EXPECT_FALSE(is_view(t2));
}

TEST_F(ViewSwitch, AViewInUseIsNotTakenFromItsReader) {
  const std::string target = make_target("t");
  const auto view = seal();
  ASSERT_TRUE(view);
  ASSERT_TRUE(view->show(target));
  EXPECT_TRUE(view->end().is(Code::kConflict)) << "it is shown";
  {
    const UniqueFd fd(::open((target + "/class-1/sample-1").c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(view->hide(target).is(Code::kConflict));
    EXPECT_TRUE(is_view(target)) << "and nothing was detached";
    EXPECT_EQ(read_rest(fd.get()).bytes, cache_.files().at("class-1/sample-1"));
  }
  ASSERT_TRUE(view->hide(target));
  EXPECT_EQ(list(target), std::vector<std::string>{"from-below"});
  ASSERT_TRUE(view->end());
}

TEST_F(ViewSwitch, ANewGenerationIsSeenOverTheOldOne) {
  const std::string target = make_target("t");
  Child pod(SEALED_CHILD, {"pod", target, make_directory("pod")});
  ASSERT_EQ(pod.line(), "ready");
  const auto first = seal("view-1");
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->show(target));
  cache_.add("class-1/new", sample_bytes(5, 777));
  ASSERT_EQ(pod.ask("class-1/new"), "errno 2");

  // Segments only grow: what the first view uses stays as it is, in a cache of its own here.
  SampleCache next(make_directory("next"));
  next.add("class-1/new", sample_bytes(5, 777));
  next.write(2);
  auto second = sealed::SealedView::seal(next.request(), path("view-2"), holds_, random_, {});
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_TRUE((*second)->show(target));
  EXPECT_EQ(pod.ask("class-1/new"), "erofs 777");
  pod.kill();
  ASSERT_TRUE((*second)->hide(target));
  ASSERT_TRUE(first->hide(target));
  EXPECT_EQ(list(target), std::vector<std::string>{"from-below"});
}

// The daemon of test/mount serves "0" to "63".
class ViewSwitchFromFuse : public ViewSwitch {
 protected:
  void SetUp() override {
    SealedTest::SetUp();
    add_known_samples(cache_);
    cache_.write();
    staging_ = make_directory("fuse");
    daemon_ = std::make_unique<Child>(MOUNT_DAEMON, std::vector<std::string>{"mount", staging_});
    ASSERT_FALSE(daemon_->line().empty());
    target_ = bind_target(staging_, "target");
  }
  std::string staging_;
  std::string target_;
  std::unique_ptr<Child> daemon_;
};

TEST_F(ViewSwitchFromFuse, WhatWasOpenStaysOnFuseAndLaterOpensAreNative) {
  const UniqueFd file(::open((target_ + "/1").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd directory(::open(target_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  void* mapped = ::mmap(nullptr, 110'000, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const std::string from_fuse(static_cast<const char*>(mapped), 110'000);

  const auto view = seal();
  ASSERT_TRUE(view);
  ASSERT_TRUE(view->show(target_));
  EXPECT_EQ(wrong_files(target_, cache_), std::vector<std::string>{});
  EXPECT_EQ(read_rest(file.get()).bytes, from_fuse) << "an open file goes on";
  EXPECT_EQ(std::string(static_cast<const char*>(mapped), 110'000), from_fuse);
  {
    const UniqueFd relative(::openat(directory.get(), "2", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(read_rest(relative.get()).bytes.size(), 110'000u);
    EXPECT_NE(cache_.files().at("2"), read_all(staging_ + "/2").bytes);
  }

  daemon_->kill();
  EXPECT_EQ(wrong_files(target_, cache_), std::vector<std::string>{}) << "no daemon, no difference";
  EXPECT_EQ(read_all("/proc/self/fd/" + std::to_string(directory.get()) + "/3").error, ENOTCONN);
  EXPECT_EQ(std::string(static_cast<const char*>(mapped), 110'000), from_fuse)
      << "mapped pages stay";
  ::munmap(mapped, 110'000);
}

}  // namespace
}  // namespace paddle::test
