// SPDX-License-Identifier: Apache-2.0
//
// Images of our writer before three judges: fsck.erofs, dump.erofs and this kernel.

#include <filesystem>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "erofs/format.h"
#include "erofs/image_writer.h"
#include "sealed/view_check.h"
#include "test/sealed/sealed_fixture.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

using erofs::kBlock;
using erofs::kChunk;

constexpr const char* kFsck = "/usr/bin/fsck.erofs";
constexpr const char* kDump = "/usr/bin/dump.erofs";

std::string image_of(const erofs::Tree& tree) {
  std::string image;
  const auto written = erofs::write_image(tree, {}, [&](std::string_view part) -> Result<> {
    image += part;
    return Done{};
  });
  EXPECT_TRUE(written) << written.error().message;
  return image;
}

class ErofsUtils : public testing::Test {
 protected:
  void SetUp() override {
    if (::access(kFsck, X_OK) != 0) GTEST_SKIP() << "erofs-utils is not installed";
  }
  Ran run_tool(const std::string& tool, const erofs::Tree& tree,
               std::vector<std::string> arguments = {}) {
    EXPECT_TRUE(write_file(scratch_.path() + "/image", image_of(tree)));
    std::vector<std::string> argv{tool};
    for (std::size_t i = 0; i < tree.device_blocks().size(); ++i) {
      argv.push_back("--device=/dev/zero");
    }
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.push_back(scratch_.path() + "/image");
    return run({.argv = argv, .env = clean_environment("/nonexistent")});
  }
  ScratchDir scratch_;
};

// Names of every length and any byte, directories of any shape, chunks anywhere.
void grow(erofs::Tree& tree, Random& random, const std::string& above, int depth) {
  std::set<std::string> names;
  for (std::uint64_t left = random.below(24); left > 0; --left) {
    std::string name;
    for (std::uint64_t size = 1 + random.below(random.below(4) == 0 ? 255 : 12); size > 0; --size) {
      char c = static_cast<char>(1 + random.below(255));
      if (c == '/') c = '-';
      name += c;
    }
    if (name != "." && name != "..") names.insert(name);
  }
  for (const std::string& name : names) {
    if (depth < 5 && random.below(6) == 0) {
      ASSERT_TRUE(tree.add_directory(above + name, {}));
      grow(tree, random, above + name + "/", depth + 1);
      continue;
    }
    const std::uint64_t size = random.below(5) == 0 ? 0 : random.below(3 * kChunk);
    std::vector<erofs::Extent> extents;
    for (std::uint64_t at = 0; at < size; at += kChunk) {
      extents.push_back({.device = static_cast<std::uint32_t>(random.below(3)),
                         .block = random.below(1'000'000)});
    }
    ASSERT_TRUE(tree.add({.path = above + name, .size = size, .extents = extents}));
  }
}

TEST_F(ErofsUtils, FsckAcceptsRandomTrees) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    erofs::Tree tree({2'000'000, 2'000'000, 2'000'000});
    grow(tree, random, "", 0);
    const Ran checked = run_tool(kFsck, tree);
    ASSERT_EQ(checked.exit_code, 0) << "seed " << seed << ": " << checked.out << checked.err;
  }
}

TEST_F(ErofsUtils, DumpFindsWhatWasWritten) {
  erofs::Tree tree({10'000, 10'000});
  const erofs::Extent extents[] = {{1, 77}, {0, 5}};
  ASSERT_TRUE(tree.add({.path = "a/b", .size = kChunk + 9, .extents = extents}));
  const Ran super = run_tool(kDump, tree, {"-s"});
  EXPECT_NE(super.out.find("inode count:                       3\n"), std::string::npos)
      << super.out;
  EXPECT_NE(super.out.find("sb_csum mtime chunked_file device_table"), std::string::npos);
  const Ran file = run_tool(kDump, tree, {"-e", "--path=/a/b"});
  EXPECT_NE(file.out.find("Size: 4194313 "), std::string::npos) << file.out;
  EXPECT_NE(file.out.find("315392..   4509696 | 4194304  # device 2"), std::string::npos)
      << file.out;
}

using KernelImage = SealedTest;

TEST_F(KernelImage, EveryByteOfEveryKindOfFileIsRead) {
  for (const std::size_t size : {0ul, 1ul, 4095ul, 4096ul, 4097ul, 110'000ul, 2 * kChunk}) {
    cache_.add("size-" + std::to_string(size), sample_bytes(size, size));
  }
  cache_.add(std::string(255, 'n'), "long name");
  cache_.add("!before-the-dot", "x");
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += "d/";
  cache_.add(deep + "file", sample_bytes(7, 5000));
  cache_.write();
  const auto view = seal();
  ASSERT_TRUE(view);
  EXPECT_EQ(wrong_files(view->point(), cache_), std::vector<std::string>{});
  EXPECT_EQ(view->files(), cache_.files().size());
}

// Neighbours in their numbers but on different devices must not be read in one go.
TEST_F(KernelImage, BlocksOfOneFileMayLieInDifferentSegmentsAtNeighbouringPlaces) {
  constexpr std::uint64_t kBefore = 16 * kBlock;
  const std::string bytes = sample_bytes(3, 3 * kChunk + 1234);
  for (std::uint32_t i = 0; i < 4; ++i) cache_.use_segment(i, kBefore + i * kChunk);
  // add() fills one segment; so the blocks are placed by hand.
  cache_.use_segment(0, kBefore);
  cache_.add("big", bytes);
  std::string rest = bytes;
  for (std::uint32_t i = 1; i < 4; ++i) {
    const auto block = samplefs::block_at("big", "etag-1", bytes.size(), i * kChunk);
    cache_.use_segment(i, kBefore + i * kChunk);
    cache_.add("part-" + std::to_string(i), bytes.substr(i * kChunk, block.length));
    const auto part = samplefs::block_at("part-" + std::to_string(i), "etag-1", block.length, 0);
    cache_.extents[block.key] = cache_.extents[part.key];
    EXPECT_EQ(cache_.extents[block.key].segment, i);
    EXPECT_EQ(cache_.extents[block.key].offset, kBefore + i * kChunk);
  }
  cache_.poison(0, kBefore + kChunk);  // what a read of the wrong segment would return
  cache_.write();
  const auto view = seal();
  ASSERT_TRUE(view);
  EXPECT_EQ(wrong_files(view->point(), cache_), std::vector<std::string>{});
}

TEST_F(KernelImage, ADirectoryOfAHundredThousandFilesIsListedAndLookedUp) {
  constexpr int kCount = 100'000;
  const std::string bytes = sample_bytes(1, 100);
  cache_.add("d/000000", bytes);
  const auto extent = cache_.extents.begin()->second;
  erofs::Tree tree({cache_.extents.size()});
  sealed::SegmentExtent same = extent;
  char name[20];
  for (int i = 0; i < kCount; ++i) {
    std::snprintf(name, sizeof name, "d/%06d", i);
    const erofs::Extent where[] = {{0, same.offset / kBlock}};
    ASSERT_TRUE(tree.add({.path = name, .size = bytes.size(), .extents = where}));
  }
  cache_.write();
  ASSERT_TRUE(write_file(path("image"), image_of(tree)));
  const UniqueFd image(::open(path("image").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd segment(::open(cache_.segment_path(0).c_str(), O_RDONLY | O_CLOEXEC));
  const int segments[] = {segment.get()};
  auto mounted = sealed::mount_image(image.get(), segments);
  ASSERT_EQ(mounted.error, 0) << mounted.message;
  const std::string point = make_directory("aside");
  ASSERT_TRUE(sealed::attach(mounted.tree.get(), point));
  mounted.tree.reset();
  EXPECT_EQ(list(point + "/d").size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; i += 997) {
    std::snprintf(name, sizeof name, "/d/%06d", i);
    ASSERT_EQ(read_all(point + name).bytes, bytes);
  }
  EXPECT_EQ(read_all(point + "/d/100000").error, ENOENT);
  EXPECT_EQ(*sealed::unmount_all(point, std::chrono::seconds{5}), 1);
}

TEST_F(KernelImage, TheRestOfTheLastPageOfAMappingIsZero) {
  cache_.add("short", sample_bytes(1, 100));
  cache_.add("next", sample_bytes(2, 5000));
  cache_.write();
  const auto view = seal();
  ASSERT_TRUE(view);
  for (const std::string name : {"short", "next"}) {
    const UniqueFd fd(::open((view->point() + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    const std::size_t size = cache_.files().at(name).size();
    const std::size_t whole = (size + kBlock - 1) / kBlock * kBlock;
    void* mapped = ::mmap(nullptr, whole, PROT_READ, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    const std::string_view bytes(static_cast<const char*>(mapped), whole);
    EXPECT_EQ(bytes.substr(0, size), cache_.files().at(name));
    EXPECT_EQ(bytes.find_first_not_of('\0', size), bytes.npos);
    ::munmap(mapped, whole);
  }
}

TEST_F(KernelImage, AttributesAreThoseOfTheIndex) {
  cache_.add("a/file", sample_bytes(1, 100));
  cache_.write(/*generation=*/42);
  const auto view = seal();
  ASSERT_TRUE(view);
  struct stat file {};
  ASSERT_EQ(::stat((view->point() + "/a/file").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode, static_cast<mode_t>(S_IFREG | 0444));
  EXPECT_EQ(file.st_mtime, 1'700'000'001);
  EXPECT_EQ(file.st_nlink, 1u);
  ASSERT_EQ(::stat((view->point() + "/a").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode, static_cast<mode_t>(S_IFDIR | 0555));
  char value[64] = {};
  EXPECT_EQ(::getxattr((view->point() + "/a/file").c_str(), "user.samplefs.etag", value, 64), 6);
  EXPECT_STREQ(value, "etag-1");
  EXPECT_EQ(::getxattr((view->point() + "/a/file").c_str(), "user.samplefs.generation", value, 64),
            2);
  EXPECT_EQ(view->generation(), 42u);
}

TEST_F(KernelImage, AViewIsReadOnlyWithoutDevicesAndReadsAheadAsTheDiskDoes) {
  cache_.add("file", "x");
  cache_.write();
  const auto view = seal();
  ASSERT_TRUE(view);
  EXPECT_LT(::open((view->point() + "/new").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 0);
  EXPECT_EQ(errno, EROFS);
  std::ifstream mounts("/proc/self/mountinfo");
  bool found = false;
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" " + view->point() + " ") == line.npos) continue;
    found = true;
    EXPECT_NE(line.find("ro,nosuid,nodev"), line.npos) << line;
    EXPECT_NE(line.find("directio"), line.npos) << line;
  }
  EXPECT_TRUE(found);
  EXPECT_GE(std::atoi(read_file("/sys/class/bdi/" + view->bdi() + "/read_ahead_kb").c_str()), 1024);
}

TEST_F(KernelImage, AMountWithoutItsSegmentsOrWithOthersIsFoundBeforeAnybodySeesIt) {
  // The kernel mounts it and returns bytes of the image as contents of files.
  cache_.add_samples(40, 5000);
  cache_.use_segment(1, 0);
  cache_.add("second/other", sample_bytes(99, 110'000));
  for (int i = 0; i < 40; ++i) cache_.add("second/" + std::to_string(i), sample_bytes(200, 6000));
  cache_.write();
  auto built = sealed::build_view(cache_.request(), holds_, random_, {});
  ASSERT_TRUE(built) << built.error().message;
  const int right[] = {built->segments[0].get(), built->segments[1].get()};
  const int swapped[] = {right[1], right[0]};
  for (const std::span<const int> segments :
       {std::span<const int>(swapped), std::span<const int>()}) {
    const auto mounted = sealed::mount_image(built->image.get(), segments);
    ASSERT_EQ(mounted.error, 0) << mounted.message;
    EXPECT_FALSE(sealed::check_view(mounted.tree.get(), *built, sum_of));
  }
  const auto mounted = sealed::mount_image(built->image.get(), right);
  ASSERT_EQ(mounted.error, 0) << mounted.message;
  const auto checked = sealed::check_view(mounted.tree.get(), *built, sum_of);
  EXPECT_TRUE(checked) << checked.error().message;
  for (const UniqueFd& each : built->segments) holds_.release(each.get());
}

}  // namespace
}  // namespace paddle::test
