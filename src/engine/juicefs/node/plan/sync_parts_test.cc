// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/sync_parts.h"

#include <set>

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

const std::string kHead = "2026/01/02 03:04:05.678901 juicefs[42] ";

TEST(ToCopy, ReadsTheLogOfADryRun) {
  EXPECT_EQ(to_copy(kHead + "<DEBUG>: Will copy a/b.jpg (40000 bytes) [worker@sync.go:1052]"),
            (ToCopy{"a/b.jpg", 40'000}));
  EXPECT_EQ(to_copy(kHead + "<DEBUG>: Will copy permissions for a/b [worker@sync.go:9]"),
            (ToCopy{"a/b", 0}));
}

TEST(ToCopy, AcceptsAnyName) {
  EXPECT_EQ(to_copy(kHead + "<DEBUG>: Will copy odd (7 bytes) [x] (3 bytes) [worker@sync.go:1]"),
            (ToCopy{"odd (7 bytes) [x]", 3}));
  EXPECT_EQ(to_copy(kHead + "<DEBUG>: Will copy permissions for me (3 bytes) [worker@sync.go:1]"),
            (ToCopy{"permissions for me", 3}));
  for (const char* line :
       {"<DEBUG>: Will copy half a na", "<INFO>: Will copy a (3 bytes) [w@s.go:1]",
        "<DEBUG>: Will copy a (x bytes) [w@s.go:1]", "<DEBUG>: Will copy (3 bytes) [w@s.go:1]", "",
        "<DEBUG>: Will delete a from b [w@s.go:1]"}) {
    EXPECT_FALSE(to_copy(line)) << line;
  }
}

std::string key_of(int number) {
  std::string digits = std::to_string(number);
  return "class" + std::string(5 - digits.size(), '0') + digits + ".jpg";
}

CopyList list_of(int files, std::int64_t bytes, std::size_t most = 20'000) {
  CopyList list(most);
  for (int i = 0; i < files; ++i) list.add({key_of(i), bytes});
  return list;
}

// In how many pieces a key is, over all parts; the end of a range counted in, as S3 does.
int times(const std::vector<SyncPart>& parts, const std::string& key) {
  int found = 0;
  for (const auto& part : parts) {
    for (const auto& piece : part.pieces) found += within(piece, key) ? 1 : 0;
  }
  return found;
}

TEST(Divide, EveryKeyIsInExactlyOnePart) {
  for (const int files : {1, 2, 7, 100, 999}) {
    for (const int parts : {2, 3, 8}) {
      const auto divided = divide(list_of(files, 1'000), {.parts = parts, .cut = "c"});
      ASSERT_EQ(divided.size(), static_cast<std::size_t>(parts));
      std::int64_t planned = 0;
      for (const auto& part : divided) {
        planned += part.files;
        EXPECT_EQ(part.cut, "c");
        EXPECT_EQ(part.pieces.empty(), part.files == 0);
      }
      EXPECT_EQ(planned, files);
      for (int i = 0; i < files; ++i) EXPECT_EQ(times(divided, key_of(i)), 1) << key_of(i);
      // Keys that are not in the list, too.
      for (const char* other : {"", "a", "class00000.jpg~", "class00050", "zzz", "\xff"}) {
        EXPECT_EQ(times(divided, other), 1) << other;
      }
    }
  }
}

TEST(Divide, PartsHaveAboutTheSameNumberOfBytes) {
  CopyList list;
  std::int64_t all = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::int64_t bytes = i < 300 ? 10 << 20 : 1'000'000;
    list.add({key_of(i), bytes});
    all += bytes;
  }
  for (const auto& part : divide(list, {.parts = 3})) {
    EXPECT_GT(part.bytes, all * 30 / 100);
    EXPECT_LT(part.bytes, all * 37 / 100);
  }
}

TEST(Divide, TheSameListGivesTheSameParts) {
  const Division how{.parts = 4, .megabits = 10, .in_pieces = true, .cut = "c"};
  EXPECT_EQ(divide(list_of(500, 1 << 20), how), divide(list_of(500, 1 << 20), how));
}

TEST(Divide, OneFileGoesToOneRuntime) {
  const auto parts = divide(list_of(1, 100), {.parts = 3});
  EXPECT_EQ(parts[0].pieces, std::vector<KeyRange>{{}});
  EXPECT_TRUE(parts[1].pieces.empty());
  EXPECT_TRUE(parts[2].pieces.empty());
}

TEST(Divide, NothingToCopyGivesEmptyParts) {
  for (const auto& part : divide(CopyList{}, {.parts = 3})) EXPECT_TRUE(part.pieces.empty());
}

TEST(Divide, StaysWithinTheRangeOfTheUser) {
  const auto parts = divide(list_of(10, 1), {.parts = 2, .all = {"class00000", "class00009.jpg"}});
  EXPECT_EQ(parts[0].pieces.front().start, "class00000");
  EXPECT_EQ(parts[1].pieces.back().end, "class00009.jpg");
  EXPECT_EQ(parts[0].pieces.back().end, parts[1].pieces.front().start);
}

TEST(Divide, PartsShareTheRateLimitAndEachHasOne) {
  const auto sum = [](const std::vector<SyncPart>& parts) {
    std::int64_t megabits = 0;
    for (const auto& part : parts) {
      megabits += part.megabits;
      EXPECT_EQ(part.megabits == 0, part.pieces.empty());
    }
    return megabits;
  };
  EXPECT_EQ(sum(divide(list_of(100, 1'000), {.parts = 3, .megabits = 100})), 100);
  EXPECT_EQ(sum(divide(list_of(100, 1'000), {.parts = 3, .megabits = 2})), 2);
  EXPECT_EQ(sum(divide(list_of(100, 1'000), {.parts = 3, .megabits = 1})), 1);
}

TEST(Divide, AForcedUpdateIsDividedIntoSmallPieces) {
  const auto parts = divide(list_of(1'000, 1 << 20), {.parts = 2, .in_pieces = true});
  for (const auto& part : parts) {
    EXPECT_GT(part.pieces.size(), 20u);
    EXPECT_LE(part.pieces.size(), 24u);
  }
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(times(parts, key_of(i)), 1) << key_of(i);
  EXPECT_EQ(divide(list_of(10, 1'000), {.parts = 2, .in_pieces = true})[0].pieces.size(), 1u);
}

TEST(Divide, MillionsOfKeysTakeLittleMemory) {
  const CopyList list = list_of(10'000, 100, 64);
  EXPECT_EQ(list.files(), 10'000);
  EXPECT_LT(list.groups().size(), 64u);
  const auto parts = divide(list, {.parts = 3});
  for (const auto& part : parts) EXPECT_GT(part.files, 2'500);
  for (int i = 0; i < 10'000; i += 7) EXPECT_EQ(times(parts, key_of(i)), 1);
}

TEST(Divide, AnUnsortedListLosesNoKey) {
  CopyList list;
  for (const int i : {5, 3, 9, 1, 7, 2, 8}) list.add({key_of(i), 100});
  const auto parts = divide(list, {.parts = 3});
  for (int i = 0; i < 12; ++i) EXPECT_EQ(times(parts, key_of(i)), 1) << i;
}

TEST(SyncPart, IsReadBackAsItWasWritten) {
  const SyncPart part{.cut = "cut-1",
                      .pieces = {{"", "a b\xff!"}, {"a b\xff!", "to \tx"}, {"to \tx", ""}},
                      .files = 3,
                      .bytes = 1LL << 50,
                      .megabits = 7};
  EXPECT_EQ(*parse_part(to_text(part)), part);
  for (const char* wrong : {"", "cut", "cut x", "cut x\nfrom a\n", "cut x\nfrom a\nfrom b\n",
                            "cut x\nfiles -1\n", "files 1\n", "what is this\n"}) {
    EXPECT_FALSE(parse_part(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace paddle::engine::juicefs
