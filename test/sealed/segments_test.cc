// SPDX-License-Identifier: Apache-2.0
//
// What the owner of a segment can do to it while a view uses it: nothing. After the last view: all.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sealed/immutable.h"
#include "test/sealed/sealed_fixture.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

using SealedSegments = SealedTest;

TEST_F(SealedSegments, CannotBeWrittenPunchedTruncatedOrRemovedNotEvenThroughOldDescriptors) {
  cache_.add_samples(20, 20'000);
  cache_.write();
  const std::string segment = cache_.segment_path(0);
  const UniqueFd old(::open(segment.c_str(), O_RDWR | O_CLOEXEC));
  const UniqueFd direct(::open(segment.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
  const auto view = seal();
  ASSERT_TRUE(view);
  alignas(4096) static char block[4096] = {};
  const auto refused = [](long result) { return result < 0 && errno == EPERM; };
  EXPECT_TRUE(refused(::pwrite(old.get(), "x", 1, 0)));
  EXPECT_TRUE(refused(::pwrite(direct.get(), block, sizeof block, 0)));
  EXPECT_TRUE(refused(::fallocate(old.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096)));
  EXPECT_TRUE(refused(::ftruncate(old.get(), 0)));
  EXPECT_TRUE(refused(::truncate(segment.c_str(), 0)));
  EXPECT_TRUE(refused(::unlink(segment.c_str())));
  EXPECT_TRUE(refused(::rename(segment.c_str(), (segment + "x").c_str())));
  EXPECT_TRUE(refused(::open(segment.c_str(), O_RDWR | O_CLOEXEC)));
  for (const auto& [name, bytes] : cache_.files()) drop_cache_of(view->point() + "/" + name);
  EXPECT_EQ(wrong_files(view->point(), cache_), std::vector<std::string>{});

  ASSERT_TRUE(view->end());
  EXPECT_EQ(::pwrite(old.get(), "x", 1, 0), 1);
  EXPECT_EQ(::unlink(segment.c_str()), 0);
}

TEST_F(SealedSegments, StayImmutableUntilTheLastOfTheirViewsEnds) {
  cache_.add_samples(5, 5000);
  cache_.write();
  const auto first = seal("view-1");
  const auto second = seal("view-2");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(holds_.held(), 1u);
  const UniqueFd file(::open(cache_.segment_path(0).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(first->end());
  EXPECT_TRUE(*sealed::is_immutable(file.get()));
  EXPECT_EQ(wrong_files(second->point(), cache_), std::vector<std::string>{});
  ASSERT_TRUE(second->end());
  EXPECT_FALSE(*sealed::is_immutable(file.get()));
  EXPECT_EQ(holds_.held(), 0u);
}

TEST_F(SealedSegments, WhatADeadProcessLeftImmutableIsLiftedButNotWhatAViewUses) {
  cache_.add_samples(5, 5000);
  cache_.use_segment(1, 0);
  cache_.add("other", "bytes");
  cache_.write();
  auto request = cache_.request();
  const UniqueFd left(::open(cache_.segment_path(1).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(sealed::set_immutable(left.get(), true), 0);
  ASSERT_TRUE(write_file(cache_.cache() + "/unrelated", "x"));
  const UniqueFd directory = *sealed::open_directory(cache_.cache());
  const UniqueFd used(::open(cache_.segment_path(0).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(holds_.hold(used.get()));
  EXPECT_EQ(*holds_.lift_leftovers(directory.get()), 1);
  EXPECT_FALSE(*sealed::is_immutable(left.get()));
  EXPECT_TRUE(*sealed::is_immutable(used.get()));
  holds_.release(used.get());
}

TEST_F(SealedSegments, InMemoryAreNotSealed) {
  cache_.add_samples(5, 5000);
  ASSERT_EQ(::mount("tmpfs", cache_.cache().c_str(), "tmpfs", 0, "size=8m"), 0);
  SampleCache on_tmpfs(scratch_.path());
  on_tmpfs.add_samples(5, 5000);
  on_tmpfs.write();
  const auto view = sealed::SealedView::seal(on_tmpfs.request(), path("view"), holds_, random_, {});
  ASSERT_FALSE(view);
  EXPECT_NE(view.error().message.find("memory"), std::string::npos) << view.error().message;
}

}  // namespace
}  // namespace paddle::test
