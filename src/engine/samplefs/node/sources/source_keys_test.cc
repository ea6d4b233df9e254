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

int entries(const std::string& directory) {
  const std::filesystem::directory_iterator found(directory);
  return static_cast<int>(std::distance(begin(found), end(found)));
}

constexpr ::paddle::samplefs::OriginId kOne{1}, kTwo{2};

TEST(SourceKeys, InADirectoryInMemoryTheyAreTheirOwnersOnlyAndOutliveTheProcess) {
  const Scratch memory("/dev/shm");
  SourceKeyStore store(memory.path());
  for (const KeyValues& keys : {KeyValues{{"secret-key", "s"}}, KeyValues{}}) {
    const auto written = store.write(kOne, keys);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(*store.read(kOne), keys);
    EXPECT_EQ(*SourceKeyStore(memory.path()).read(kOne), keys);
    const std::filesystem::directory_iterator file(memory.path());
    EXPECT_EQ(file->status().permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  ASSERT_TRUE(store.write(kTwo, {}));
  store.keep_only({kTwo});
  EXPECT_EQ(entries(memory.path()), 1);
  EXPECT_TRUE(store.read(kOne).is(Code::kNotFound));
  store.remove(kTwo);
  EXPECT_TRUE(store.read(kTwo).is(Code::kNotFound));
}

TEST(SourceKeys, WithoutADirectoryInMemoryTheyEndWithTheProcessAndNoFileIsMade) {
  const std::string disk = "/proc";  // never in memory, and refuses every file
  for (const std::string& directory : {std::string(), disk}) {
    SourceKeyStore store(directory);
    ASSERT_TRUE(store.write(kOne, {{"secret-key", "s"}}));
    ASSERT_TRUE(store.write(kTwo, {}));
    EXPECT_EQ(store.read(kOne)->at("secret-key"), "s");
    EXPECT_EQ(*store.read(kTwo), KeyValues{});
    EXPECT_TRUE(SourceKeyStore(directory).read(kOne).is(Code::kNotFound));
    store.keep_only({kOne});
    EXPECT_TRUE(store.read(kTwo).is(Code::kNotFound));
    store.remove(kOne);
    EXPECT_TRUE(store.read(kOne).is(Code::kNotFound));
  }
}

}  // namespace
}  // namespace paddle::engine::samplefs
