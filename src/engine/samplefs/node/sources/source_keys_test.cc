// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_keys.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::engine::samplefs {
namespace {

TEST(SourceKeys, AnyBytesAreReadBackAndDamageIsDetected) {
  const KeyValues keys{{"access-key", "me"}, {"secret-key", "a b\nc 3\n\n"}, {"empty", ""}};
  const std::string text = encode_keys(keys);
  EXPECT_EQ(*decode_keys(text), keys);
  EXPECT_EQ(*decode_keys(""), KeyValues{});
  for (std::size_t size = 1; size < text.size(); ++size) {
    const auto part = decode_keys(text.substr(0, size));
    EXPECT_TRUE(!part || part->size() < keys.size()) << size;
  }
  EXPECT_TRUE(decode_keys("a 5\nb\n").is(Code::kInvalid));
  EXPECT_TRUE(decode_keys("a x\nb\n").is(Code::kInvalid));
}

TEST(SourceKeys, FilesAreReadableByTheirOwnerOnlyAndMayBeEmpty) {
  const Scratch scratch;
  const SourceKeyFiles files(scratch.path() + "/keys");
  const ::paddle::samplefs::OriginId one{1};
  for (const KeyValues& keys : {KeyValues{{"secret-key", "s"}}, KeyValues{}}) {
    const auto written = files.write(one, keys);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(*read_key_file(files.file(one)), keys);
    EXPECT_EQ(std::filesystem::status(files.file(one)).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  files.remove(one);
  EXPECT_TRUE(read_key_file(files.file(one)).is(Code::kNotFound));
}

}  // namespace
}  // namespace paddle::engine::samplefs
