// SPDX-License-Identifier: Apache-2.0
#include "erofs/tree.h"

#include <gtest/gtest.h>

#include "erofs/format.h"

namespace paddle::erofs {
namespace {

const Extent kFirst[] = {{.device = 0, .block = 0}};

Result<> add(Tree& tree, std::string_view path) {
  return tree.add({.path = path, .size = 1, .extents = kFirst});
}

std::string why(Tree& tree, std::string_view path) {
  const auto added = add(tree, path);
  return added ? "" : added.error().message;
}

TEST(ErofsTree, RefusesNamesThatNoDirectoryCanHold) {
  Tree tree({1});
  const std::string long_name(256, 'n');
  for (const std::string& path :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
        std::string(".."), std::string("a/./b"), std::string("a/../b"), std::string("a\0b", 3),
        long_name, "a/" + long_name}) {
    EXPECT_TRUE(add(tree, path).is(Code::kInvalid)) << path;
  }
  EXPECT_EQ(tree.size(), 1u) << "a refused path leaves nothing";
  EXPECT_TRUE(add(tree, std::string(255, 'n')));
}

TEST(ErofsTree, RefusesPathsThatAreOutOfOrderOrComeTwice) {
  Tree tree({1});
  ASSERT_TRUE(add(tree, "a/b"));
  EXPECT_FALSE(add(tree, "a/b"));
  EXPECT_FALSE(add(tree, "a/a"));
  EXPECT_FALSE(add(tree, "a/b/c")) << "a file has nothing beneath it";
  EXPECT_FALSE(add(tree, "a")) << "a directory is no file";
  ASSERT_TRUE(add(tree, "a.b"));
  EXPECT_FALSE(add(tree, "a/c")) << "the directory was left";
  EXPECT_FALSE(tree.add_directory("a", {}));
  ASSERT_TRUE(tree.add_directory("b", {}));
  ASSERT_TRUE(add(tree, "b/x"));
  EXPECT_EQ(tree.files(), 3u);
}

TEST(ErofsTree, ComparesNamesAsUnsignedBytes) {
  Tree tree({1});
  ASSERT_TRUE(add(tree, "z"));
  ASSERT_TRUE(add(tree, "\xc3\xa9"));
  EXPECT_FALSE(add(tree, "zz"));
}

TEST(ErofsTree, RefusesExtentsBeyondTheEndOfTheirDevice) {
  Tree tree({4, std::uint64_t{1} << 40});
  const auto with = [&](std::uint64_t size, Extent extent) {
    const Extent extents[] = {extent};
    return tree.add({.path = "f", .size = size, .extents = extents});
  };
  EXPECT_FALSE(with(1, {.device = 2, .block = 0}));
  EXPECT_FALSE(with(1, {.device = 0xFFFFFFFF, .block = 0}));
  EXPECT_FALSE(with(1, {.device = 0, .block = 4}));
  EXPECT_FALSE(with(kBlock + 1, {.device = 0, .block = 3}));
  EXPECT_FALSE(with(1, {.device = 0, .block = ~std::uint64_t{0}}));
  EXPECT_FALSE(with(1, {.device = 1, .block = kNoBlock})) << "a hole in an image";
  EXPECT_FALSE(with(2 * kBlock, {.device = 1, .block = kNoBlock - 1}));
  EXPECT_EQ(tree.size(), 1u);
  EXPECT_TRUE(with(kBlock, {.device = 0, .block = 3}));
}

TEST(ErofsTree, RefusesAnotherNumberOfExtentsThanChunks) {
  Tree tree({100'000});
  const Extent two[] = {{0, 0}, {0, 2000}};
  EXPECT_FALSE(tree.add({.path = "f", .size = 1, .extents = two}));
  EXPECT_FALSE(tree.add({.path = "f", .size = kChunk, .extents = two}));
  EXPECT_FALSE(tree.add({.path = "f", .size = 2 * kChunk + 1, .extents = two}));
  EXPECT_FALSE(tree.add({.path = "f", .size = ~std::uint64_t{0}, .extents = two}));
  EXPECT_FALSE(tree.add({.path = "f", .size = 1}));
  EXPECT_FALSE(tree.add({.path = "f", .size = 0, .extents = kFirst}));
  EXPECT_TRUE(tree.add({.path = "f", .size = 0}));
  EXPECT_TRUE(tree.add({.path = "g", .size = kChunk + 1, .extents = two}));
}

TEST(ErofsTree, BoundsDepthAndEntries) {
  Tree deep({1}, {.depth = 3});
  EXPECT_TRUE(add(deep, "a/b/c"));
  EXPECT_NE(why(deep, "a/b/d/e").find("too deep"), std::string::npos);
  Tree few({1}, {.entries = 3});
  EXPECT_TRUE(add(few, "a/b"));
  EXPECT_NE(why(few, "a/c").find("one entry too many"), std::string::npos);
}

TEST(ErofsTree, ShowsHostilePathsHarmlesslyInMessages) {
  Tree tree({1});
  const std::string message =
      why(tree, std::string("a\n'\x1b[0m/..") + std::string(500, 'x') + "/");
  EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos) << message;
  EXPECT_LT(message.size(), 200u);
}

TEST(ErofsTree, ADirectoryHasTheLatestTimeOfWhatIsBeneath) {
  Tree tree({1});
  const auto at = [](int seconds) { return WallTime{std::chrono::seconds{seconds}}; };
  ASSERT_TRUE(tree.add({.path = "a/b", .size = 1, .modified = at(5), .extents = kFirst}));
  ASSERT_TRUE(tree.add({.path = "a/c", .size = 1, .modified = at(3), .extents = kFirst}));
  EXPECT_EQ(tree.at(Tree::kRoot).modified_us, 5'000'000);
}

}  // namespace
}  // namespace paddle::erofs
