// SPDX-License-Identifier: Apache-2.0
//
// By our own reader (image_reader.h); fsck.erofs and the kernel read the same images in
// test/sealed.
#include "erofs/image_writer.h"

#include <gtest/gtest.h>

#include "erofs/image_reader.h"

namespace paddle::erofs {
namespace {

std::string image_of(const Tree& tree, const ImageLimits& limits = {}) {
  std::string image;
  const auto written = write_image(tree, limits, [&](std::string_view part) -> Result<> {
    EXPECT_LE(part.size(), std::size_t{1} << 20);
    image += part;
    return Done{};
  });
  EXPECT_TRUE(written) << written.error().message;
  EXPECT_EQ(written ? *written : 0, image.size());
  return image;
}

void add_file(Tree& tree, const std::string& path, std::uint64_t size = 1,
              std::vector<Extent> extents = {{0, 0}}) {
  const auto added = tree.add({.path = path, .size = size, .extents = extents});
  ASSERT_TRUE(added) << added.error().message;
}

TEST(ErofsImage, AnEmptyTreeIsARootWithoutEntries) {
  const Tree tree({});
  const ImageReader read(image_of(tree));
  EXPECT_EQ(read.fault(), "");
  EXPECT_EQ(read.entries().size(), 1u);
  EXPECT_EQ(read.super().devices, 0);
}

TEST(ErofsImage, FilesHaveTheirSizeTimeAndExtents) {
  Tree tree({3000, 5000});
  const Extent pieces[] = {
      {.device = 1, .block = 7}, {.device = 0, .block = 1024}, {.device = 1, .block = 2000}};
  ASSERT_TRUE(tree.add({.path = "a/big",
                        .size = 2 * kChunk + 5,
                        .modified = WallTime{std::chrono::microseconds{-1}},
                        .extents = pieces}));
  add_file(tree, "a/empty", 0, {});
  add_file(tree, "b", 4096, {{1, 4999}});
  ASSERT_TRUE(tree.add_directory("c", {}));
  const std::string image = image_of(tree);
  const ImageReader read(image);
  ASSERT_EQ(read.fault(), "");
  ASSERT_EQ(read.entries().size(), 6u);
  const ReadEntry& big = read.entries().at("a/big");
  EXPECT_EQ(big.size, 2 * kChunk + 5);
  EXPECT_EQ(big.mtime, -1);
  EXPECT_EQ(big.mtime_ns, 999'999'000u);
  EXPECT_EQ(big.extents,
            (std::vector<std::pair<std::uint32_t, std::uint64_t>>{{1, 7}, {0, 1024}, {1, 2000}}));
  EXPECT_EQ(read.entries().at("a/empty").size, 0u);
  EXPECT_TRUE(read.entries().at("c").directory);
  EXPECT_EQ(read.entries().at("").links, 4u);
}

TEST(ErofsImage, NamesThatSortBeforeADotStandBeforeIt) {
  Tree tree({1});
  for (const char* name : {"!", "-", ".-", ".a", "0", "\xff"}) add_file(tree, name);
  const ImageReader read(image_of(tree));
  EXPECT_EQ(read.fault(), "");
  EXPECT_EQ(read.entries().size(), 7u);
}

TEST(ErofsImage, DirectoriesOfEverySizeAroundABlockAreRead) {
  for (int count = 0; count < 700; count += 3) {
    Tree tree({1});
    char name[20];
    for (int i = 0; i < count; ++i) {
      std::snprintf(name, sizeof name, "d/%06d", i);
      add_file(tree, name);
    }
    const std::string image = image_of(tree);
    const ImageReader read(image);
    ASSERT_EQ(read.fault(), "") << count;
    ASSERT_EQ(read.entries().size(), static_cast<std::size_t>(count ? count + 2 : 1));
  }
}

TEST(ErofsImage, ASmallDirectoryCostsNoBlock) {
  Tree tree({1});
  for (int i = 1000; i < 2000; ++i) add_file(tree, std::to_string(i) + "/x");
  const std::string image = image_of(tree);
  EXPECT_EQ(ImageReader(image).fault(), "");
  EXPECT_LT(image.size(), 1000u * 400);
}

TEST(ErofsImage, LongNamesAndManyDevicesAndDeepPathsAreRead) {
  Tree tree(std::vector<std::uint64_t>(1000, 10));
  std::string path;
  for (int i = 0; i < 100; ++i) path += "d/";
  add_file(tree, path + "x");
  for (char c = 'e'; c < 'z'; ++c) {
    add_file(tree, std::string(255, c), 1, {{static_cast<std::uint32_t>(c * 8), 9}});
  }
  const std::string image = image_of(tree);
  const ImageReader read(image);
  EXPECT_EQ(read.fault(), "");
  EXPECT_EQ(read.super().devices, 1000);
  EXPECT_EQ(read.entries().at(std::string(255, 'y')).extents[0].first, 'y' * 8u);
}

TEST(ErofsImage, XattrsStandBehindTheirInode) {
  Tree tree({1});
  const Xattr xattrs[] = {{"samplefs.etag", "d41d8cd98f"}, {"samplefs.generation", "7"}};
  const Extent extents[] = {{0, 0}};
  for (char c = 'a'; c <= 'z'; ++c) {
    ASSERT_TRUE(
        tree.add({.path = std::string(1, c), .size = 5, .extents = extents, .xattrs = xattrs}));
  }
  const std::string image = image_of(tree);
  const ImageReader read(image);
  ASSERT_EQ(read.fault(), "");
  EXPECT_EQ(read.entries().at("z").xattrs,
            (std::map<std::string, std::string>{{"samplefs.etag", "d41d8cd98f"},
                                                {"samplefs.generation", "7"}}));
}

TEST(ErofsImage, IsRefusedBeforeTheFirstByteWhenItExceedsItsLimit) {
  Tree tree({1});
  add_file(tree, "a");
  bool called = false;
  const auto written = write_image(tree, {.bytes = 4096}, [&](std::string_view) -> Result<> {
    called = true;
    return Done{};
  });
  EXPECT_TRUE(written.is(Code::kInvalid));
  EXPECT_FALSE(called);
}

TEST(ErofsImage, EndsWithTheErrorOfItsSink) {
  Tree tree({1});
  for (int i = 100'000; i < 130'000; ++i) add_file(tree, std::to_string(i));
  int parts = 0;
  const auto written = write_image(tree, {}, [&](std::string_view) -> Result<> {
    if (++parts == 2) return Error{Code::kUnavailable, "no space"};
    return Done{};
  });
  EXPECT_TRUE(written.is(Code::kUnavailable));
  EXPECT_EQ(parts, 2);
}

}  // namespace
}  // namespace paddle::erofs
