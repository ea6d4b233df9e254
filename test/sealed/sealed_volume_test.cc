// SPDX-License-Identifier: Apache-2.0
//
// What a node does with the offers of a runtime: the pods of one set, from FUSE to a view and back.
// A bound directory stands for FUSE; the cache is a real store.

#include "local/node/sealed_volume.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuse/mountinfo.h"
#include "samplefs/index_builder.h"
#include "samplefs/store/store.h"
#include "test/sealed/sealed_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using local::SealedVolume;
using local::SetCaches;
using Names = std::vector<std::string>;

sealed::DirectoryId id_of(const std::string& path) {
  struct stat seen {};
  EXPECT_EQ(::stat(path.c_str(), &seen), 0) << path;
  return {.device = seen.st_dev, .inode = seen.st_ino};
}

class SealedVolumeTest : public SealedTest {
 protected:
  void SetUp() override {
    SealedTest::SetUp();
    if (IsSkipped()) return;
    make_directory("cache");
    make_directory("session");
    make_directory("below");
    std::ofstream(path("below/from-below")) << "x";
    ASSERT_EQ(
        ::mount(path("below").c_str(), make_directory("mount").c_str(), nullptr, MS_BIND, nullptr),
        0);
    ASSERT_EQ(::mount("", path("mount").c_str(), nullptr, MS_PRIVATE, nullptr), 0);
    auto store =
        samplefs::Store::open({.directory = path("cache/store"), .limit = std::uint64_t{1} << 30});
    ASSERT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
    for (int i = 0; i < 20; ++i) {
      put("class/" + std::to_string(i),
          sample_bytes(static_cast<std::uint64_t>(i), 1 + static_cast<std::size_t>(i) * 7919));
    }
    write_index(1);
  }
  void TearDown() override {
    volume_.reset();
    if (std::filesystem::exists(path("cache"))) {
      EXPECT_TRUE(caches().lift_leftovers());
    }
  }

  SetCaches caches() const { return {.directories = {path("cache")}, .views = path("views")}; }
  SealedVolume& volume() {
    if (!volume_) {
      volume_ = std::make_unique<SealedVolume>(
          local::SealedVolumeOptions{.mount = path("mount"),
                                     .session = path("session"),
                                     .targets = path("targets"),
                                     .caches = [this] { return caches(); },
                                     .clock = system_clock()});
    }
    return *volume_;
  }

  void put(const std::string& name, const std::string& bytes) {
    const auto block = samplefs::block_at(name, "e", bytes.size(), 0);
    ASSERT_TRUE(store_->put(block, std::as_bytes(std::span(bytes))));
    files_[name] = bytes;
  }
  void write_index(std::uint64_t generation) {
    samplefs::IndexBuilder builder;
    for (const auto& [name, bytes] : files_) {
      ASSERT_TRUE(builder.add({.path = name, .size = bytes.size(), .etag = "e", .modified = {}}));
    }
    index_ = "index." + std::to_string(generation);
    ASSERT_TRUE(builder.write(path("cache/" + index_), generation));
    ASSERT_TRUE(store_->flush());
  }
  sealed::Offer current_offer() {
    const auto index = *samplefs::Index::open(path("cache/" + index_));
    return {.number = ++number_,
            .generation = index->generation(),
            .digest = index->digest(),
            .state = id_of(path("cache")),
            .index = index_,
            .tiers = {id_of(path("cache/store"))}};
  }
  void offer(const sealed::Offer& made) {
    std::ofstream(path("session/complete.tmp")) << to_text(made);
    std::filesystem::rename(path("session/complete.tmp"), path("session/complete"));
  }
  void withdraw() { std::filesystem::remove(path("session/complete")); }

  sealed::ViewState state() const {
    std::ifstream file(path("session/view"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto read = sealed::view_state_from_text(text);
    return read ? *read : sealed::ViewState{.reason = "none"};
  }
  bool seals() const {
    return eventually([&] { return state().sealed && state().number == number_; });
  }
  bool says(const std::string& why) const {
    return eventually([&] { return !state().sealed && state().reason.find(why) != why.npos; });
  }
  Names wrong(const std::string& root) const {
    Names names;
    for (const auto& [name, bytes] : files_) {
      if (read_all(root + "/" + name).bytes != bytes) names.push_back(name);
    }
    return names;
  }
  bool can_change_segments() const {
    const UniqueFd fd(::open(path("cache/store/segment.1").c_str(), O_WRONLY | O_CLOEXEC));
    return bool(fd);
  }
  int mounts_at(const std::string& point) const {
    const auto mounts = *fuse::read_mountinfo();
    return static_cast<int>(std::ranges::count(mounts, point, &fuse::MountEntry::point));
  }

  std::unique_ptr<samplefs::Store> store_;
  std::map<std::string, std::string> files_;
  std::string index_;
  std::uint64_t number_ = 0;
  std::unique_ptr<SealedVolume> volume_;
};

TEST_F(SealedVolumeTest, PodsReadAViewWhileTheCacheIsCompleteAndFuseBeforeAndAfter) {
  const auto one = volume().publish("one");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(*volume().publish("one"), *one);
  EXPECT_EQ(list(*one), Names{"from-below"});
  EXPECT_TRUE(says("does not have all samples"));

  offer(current_offer());
  ASSERT_TRUE(seals()) << state().reason;
  ASSERT_TRUE(eventually([&] { return is_view(*one); }));
  EXPECT_EQ(wrong(*one), Names{});
  const auto two = *volume().publish("two");
  EXPECT_TRUE(is_view(two)) << "a pod that comes later reads the same view";
  EXPECT_FALSE(can_change_segments());

  const UniqueFd open_file(::open((*one + "/class/7").c_str(), O_RDONLY | O_CLOEXEC));
  withdraw();
  ASSERT_TRUE(says("does not have all samples"));
  EXPECT_EQ(list(*one), Names{"from-below"});
  EXPECT_EQ(list(two), Names{"from-below"});
  EXPECT_EQ(read_rest(open_file.get()).bytes, files_["class/7"]) << "an open file keeps the view";
  EXPECT_FALSE(can_change_segments()) << "and its bytes";
}

TEST_F(SealedVolumeTest, NothingIsLeftWhenTheLastPodHasEnded) {
  const auto one = *volume().publish("one");
  const auto two = *volume().publish("two");
  offer(current_offer());
  ASSERT_TRUE(eventually([&] { return is_view(one) && is_view(two); })) << state().reason;
  volume().unpublish("one");
  EXPECT_FALSE(std::filesystem::exists(one));
  EXPECT_TRUE(is_view(two)) << "the other pod keeps its view";
  EXPECT_FALSE(can_change_segments());
  volume().unpublish("two");
  EXPECT_TRUE(eventually([&] { return volume().is_idle(); }));
  EXPECT_TRUE(says("no pod"));
  EXPECT_TRUE(can_change_segments());
  EXPECT_TRUE(std::filesystem::is_empty(path("views")));
  EXPECT_EQ(count_views(), 0);
}

TEST_F(SealedVolumeTest, ANewGenerationReplacesTheViewAndAnOpenFileKeepsItsBytes) {
  const auto target = *volume().publish("one");
  offer(current_offer());
  ASSERT_TRUE(eventually([&] { return is_view(target); })) << state().reason;
  const UniqueFd before(::open((target + "/class/3").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string old_bytes = files_["class/3"];

  withdraw();
  ASSERT_TRUE(eventually([&] { return !is_view(target); }));
  put("class/new", sample_bytes(99, 5000));
  write_index(2);
  offer(current_offer());
  ASSERT_TRUE(seals()) << state().reason;
  ASSERT_TRUE(eventually([&] { return is_view(target); }));
  EXPECT_EQ(wrong(target), Names{});
  EXPECT_EQ(read_rest(before.get()).bytes, old_bytes);
  EXPECT_EQ(mounts_at(target), 4) << "FUSE, a view, FUSE, a view";

  // The same generation, whose blocks lie elsewhere now: without a pause between the two.
  offer(current_offer());
  ASSERT_TRUE(seals()) << state().reason;
  ASSERT_TRUE(eventually([&] { return mounts_at(target) == 6; }));
  EXPECT_EQ(wrong(target), Names{});
}

TEST_F(SealedVolumeTest, AContainerThatWasStartedOnAViewFollowsAndItsSegmentsWaitForIt) {
  const auto target = *volume().publish("one");
  offer(current_offer());
  ASSERT_TRUE(eventually([&] { return is_view(target); })) << state().reason;
  Child pod(SEALED_CHILD, {"pod", target, make_directory("pod")});
  ASSERT_EQ(pod.line(), "ready");
  EXPECT_EQ(pod.ask("class/3"), "erofs " + std::to_string(files_["class/3"].size()));

  withdraw();
  EXPECT_TRUE(eventually([&] { return pod.ask("from-below") == "other 1"; }));
  // The node believes that the pod has ended, but a process of it lives.
  volume().unpublish("one");
  EXPECT_FALSE(eventually([&] { return can_change_segments(); }, std::chrono::seconds{1}));
  EXPECT_FALSE(volume().is_idle());
  pod.kill();
  EXPECT_TRUE(eventually([&] { return volume().is_idle(); }));
  EXPECT_TRUE(can_change_segments());
}

TEST_F(SealedVolumeTest, WhatCannotBeSealedStaysOnFuseAndSaysWhy) {
  const auto target = *volume().publish("one");
  sealed::Offer elsewhere = current_offer();
  elsewhere.tiers = {id_of("/")};
  offer(elsewhere);
  EXPECT_TRUE(says("not a cache of this set")) << state().reason;

  sealed::Offer other_index = current_offer();
  other_index.digest = std::string(32, '0');
  offer(other_index);
  EXPECT_TRUE(says("not the one that the runtime offers")) << state().reason;

  const auto block = samplefs::block_at("class/7", "e", files_["class/7"].size(), 0);
  store_->drop_all({block.key});
  offer(current_offer());
  EXPECT_TRUE(says("does not have all of the samples")) << state().reason;
  EXPECT_EQ(list(target), Names{"from-below"});
  EXPECT_TRUE(can_change_segments());

  put("class/7", files_["class/7"]);
  ASSERT_TRUE(store_->flush());
  offer(current_offer());
  EXPECT_TRUE(eventually([&] { return is_view(target); })) << state().reason;
}

TEST_F(SealedVolumeTest, TheNextNodeLiftsWhatAnEarlierOneLeftOnceNoProcessReadsIt) {
  // As a killed node leaves it: a view with its record, and immutable segments.
  const auto made = caches().seal(current_offer(), "7", holds_, {});
  ASSERT_TRUE(made) << made.error().message;
  const std::string target = make_target("target");
  ASSERT_TRUE((*made)->show(target));
  Child pod(SEALED_CHILD, {"pod", target, make_directory("pod")});
  ASSERT_EQ(pod.line(), "ready");
  ASSERT_TRUE((*made)->hide(target));
  EXPECT_TRUE(caches().lift_leftovers().is(Code::kConflict)) << "a process of a pod reads it";
  EXPECT_FALSE(can_change_segments());
  EXPECT_EQ(pod.ask("class/3"), "erofs " + std::to_string(files_["class/3"].size()));
  pod.kill();
  EXPECT_TRUE(eventually([&] { return bool(caches().lift_leftovers()); }));
  EXPECT_TRUE(can_change_segments());
  EXPECT_EQ(count_views(), 0);
}

}  // namespace
}  // namespace paddle::test
