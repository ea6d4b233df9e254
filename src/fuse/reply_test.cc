// SPDX-License-Identifier: Apache-2.0
#include "fuse/reply.h"

#include <limits>

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fuse/fake/wire.h"

namespace paddle::fuse {
namespace {

using samplefs::Attr;

TEST(Reply, NamesThatTheKernelWouldRejectAreNotUsable) {
  EXPECT_TRUE(usable_name("a"));
  EXPECT_TRUE(usable_name("...") && usable_name(" \n\x01\xff") && usable_name("-rf"));
  EXPECT_TRUE(usable_name(std::string(255, 'x')));
  EXPECT_FALSE(usable_name(""));
  EXPECT_FALSE(usable_name("."));
  EXPECT_FALSE(usable_name(".."));
  EXPECT_FALSE(usable_name("a/b"));
  EXPECT_FALSE(usable_name(std::string_view("a\0b", 3)));
  EXPECT_FALSE(usable_name(std::string(256, 'x')));
}

TEST(Reply, IdsAndSizesThatTheKernelWouldRejectAreNotUsable) {
  EXPECT_TRUE(usable(Attr{5, false, 0}));
  EXPECT_FALSE(usable(Attr{0, false, 0}));
  EXPECT_FALSE(usable(Attr{samplefs::kRootId, true, 0}));
  EXPECT_FALSE(usable(Attr{5, false, std::numeric_limits<std::uint64_t>::max()}));
}

TEST(Reply, AFileIsARegularReadOnlyFile) {
  const WallTime when{std::chrono::microseconds{1'700'000'000'000'007}};
  const AttrOptions attr_options{.uid = 1000, .gid = 100};
  const fuse_attr attr = encode_attr(Attr{5, false, 513, when}, attr_options);
  EXPECT_EQ(attr.mode, std::uint32_t{S_IFREG | 0444});
  EXPECT_EQ(attr.ino, 5u);
  EXPECT_EQ(attr.size, 513u);
  EXPECT_EQ(attr.blocks, 2u);
  EXPECT_EQ(attr.uid, 1000u);
  EXPECT_EQ(attr.gid, 100u);
  EXPECT_EQ(attr.mtime, 1'700'000'000u);
  EXPECT_EQ(attr.mtimensec, 7000u);
}

TEST(Reply, ATimeBefore1970KeepsItsNanosecondsPositive) {
  const fuse_attr attr =
      encode_attr(Attr{5, false, 0, WallTime{std::chrono::microseconds{-1}}}, {});
  EXPECT_EQ(static_cast<std::int64_t>(attr.mtime), -1);
  EXPECT_EQ(attr.mtimensec, 999'999'000u);
}

TEST(Reply, NoEntryIsNodeZeroWithItsOwnTimeout) {
  const AttrOptions attr_options{.negative_timeout = std::chrono::seconds{9}};
  const fuse_entry_out entry = encode_no_entry(attr_options);
  EXPECT_EQ(entry.nodeid, 0u);
  EXPECT_EQ(entry.entry_valid, 9u);
}

TEST(Reply, ANegativeTimeoutMeansDoNotCache) {
  const AttrOptions attr_options{.entry_timeout = std::chrono::seconds{-5}};
  EXPECT_EQ(encode_entry(Attr{5}, attr_options).entry_valid, 0u);
}

TEST(Reply, StatfsRoundsUpAndNeverHasRoom) {
  const fuse_statfs_out out = encode_statfs({3, 4097});
  EXPECT_EQ(out.st.blocks, 2u);
  EXPECT_EQ(out.st.files, 3u);
  EXPECT_EQ(out.st.bavail, 0u);
  EXPECT_EQ(out.st.namelen, 255u);
}

TEST(Reply, APageHoldsWholeAlignedRecordsOnly) {
  for (const bool plus : {false, true}) {
    const AttrOptions attr_options{};
    const std::size_t head = plus ? sizeof(fuse_entry_out) : 0;
    const std::size_t record = head + FUSE_REC_ALIGN(sizeof(fuse_dirent) + 3);
    std::vector<std::byte> space(2 * record + record - 1, std::byte{0xee});
    DirectoryPage page(space, plus, attr_options);
    EXPECT_TRUE(page.add("abc", Attr{5, false, 1}, 3));
    EXPECT_TRUE(page.add("def", Attr{6, true, 0}, 4));
    EXPECT_FALSE(page.add("ghi", Attr{7, false, 0}, 5));
    EXPECT_EQ(page.size(), 2 * record);

    const auto second = take<fuse_dirent>(space, record + head);
    EXPECT_EQ(second.ino, 6u);
    EXPECT_EQ(second.off, 4u);
    EXPECT_EQ(second.namelen, 3u);
    EXPECT_EQ(second.type, std::uint32_t{DT_DIR});
    EXPECT_EQ(as_text(space).substr(record + head + sizeof(fuse_dirent), 3), "def");
    if (plus) {
      EXPECT_EQ(take<fuse_entry_out>(space, record).nodeid, 6u);
    }
    // Padding between records does not leak previous content.
    EXPECT_EQ(space[record - 1], std::byte{0});
  }
}

TEST(Reply, DotsTakeNoReference) {
  const AttrOptions attr_options{};
  std::vector<std::byte> space(512);
  DirectoryPage page(space, true, attr_options);
  ASSERT_TRUE(page.add_dot("..", 8, 2));
  EXPECT_EQ(take<fuse_entry_out>(space).nodeid, 0u);
  EXPECT_EQ(take<fuse_dirent>(space, sizeof(fuse_entry_out)).ino, 8u);
}

}  // namespace
}  // namespace paddle::fuse
