// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/scratch.h"
#include "samplefs/store/store.h"
#include "samplefs/store/store_reader.h"

namespace paddle::samplefs {
namespace {

namespace fs = std::filesystem;

class StoreReaderTest : public testing::Test {
 protected:
  StoreReaderTest() { log::set_level(log::Level::kError); }
  ~StoreReaderTest() override { log::set_level(log::Level::kInfo); }

  std::string directory() const { return scratch_.path() + "/cache"; }
  void open() { store_ = *Store::open({.directory = directory(), .limit = 1 << 30}); }
  static std::string bytes(int number) {
    return std::string(static_cast<std::size_t>(3000 + number),
                       static_cast<char>('a' + number % 26));
  }
  static Block block(int number) {
    static std::vector<std::string> names(10'000);
    std::string& name = names[static_cast<std::size_t>(number)];
    name = std::to_string(number);
    return block_at(name, "v", bytes(number).size(), 0);
  }
  void put(int number) {
    const std::string data = bytes(number);
    ASSERT_TRUE(store_->put(block(number), std::as_bytes(std::span(data))));
  }
  static bool reads(StoreReader& reader, int number) {
    std::string into(bytes(number).size(), '?');
    if (!reader.read(block(number), 0, std::as_writable_bytes(std::span(into)))) return false;
    EXPECT_EQ(into, bytes(number));
    return true;
  }

  Scratch scratch_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreReaderTest, SeesWhatTheOwnerStoresWhileItStoresIt) {
  StoreReader reader({directory()});
  EXPECT_FALSE(reads(reader, 1)) << "there is no store yet";
  open();
  put(1);
  EXPECT_TRUE(reads(reader, 1));
  for (int i = 2; i < 500; ++i) put(i);  // the table grows
  for (int i = 1; i < 500; ++i) EXPECT_TRUE(reads(reader, i)) << i;
  store_->clear();
  EXPECT_FALSE(reads(reader, 1));
  put(1);
  EXPECT_TRUE(reads(reader, 1));
}

TEST_F(StoreReaderTest, AnotherProcessReadsWithoutTheLock) {
  open();
  for (int i = 0; i < 50; ++i) put(i);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    StoreReader reader({directory()});
    int right = 0;
    for (int i = 0; i < 50; ++i) right += reads(reader, i) ? 1 : 0;
    ::_exit(right);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 50);
}

TEST_F(StoreReaderTest, TheExtentHasTheBytesInTheSegmentsFile) {
  open();
  for (int i = 0; i < 5; ++i) put(i);
  ASSERT_TRUE(store_->flush());
  StoreReader reader({directory()});
  for (int i = 0; i < 5; ++i) {
    const auto extent = reader.locate(block(i));
    ASSERT_TRUE(extent);
    EXPECT_EQ(extent, store_->locate(block(i)));
    EXPECT_EQ(extent->offset % kExtentAlignment, 0u);
    std::ifstream file(store_->path_of(extent->segment), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(extent->offset));
    std::string page(padded(extent->length), '?');
    ASSERT_TRUE(file.read(page.data(), static_cast<std::streamsize>(page.size())));
    EXPECT_EQ(page.substr(0, extent->length), bytes(i));
    EXPECT_EQ(page.substr(extent->length), std::string(page.size() - extent->length, '\0'));
    EXPECT_EQ(block_checksum(std::as_bytes(std::span(page).first(extent->length))),
              extent->checksum);
  }
  EXPECT_FALSE(reader.locate(block(9)));
}

TEST_F(StoreReaderTest, TakesNoLinksAndNoSpecialFilesForSegments) {
  open();
  put(1);
  store_.reset();
  const std::string segment = directory() + "/segment.1";
  fs::rename(segment, directory() + "/elsewhere");
  fs::create_symlink("elsewhere", segment);
  EXPECT_FALSE(reads(*std::make_unique<StoreReader>(std::vector{directory()}), 1));
  fs::remove(segment);
  ASSERT_EQ(::mkfifo(segment.c_str(), 0600), 0);
  EXPECT_FALSE(reads(*std::make_unique<StoreReader>(std::vector{directory()}), 1));
  fs::remove(segment);
  fs::rename(directory() + "/elsewhere", segment);
  EXPECT_TRUE(reads(*std::make_unique<StoreReader>(std::vector{directory()}), 1));
}

TEST_F(StoreReaderTest, ATruncatedSegmentOrTableIsAMiss) {
  open();
  put(1);
  StoreReader reader({directory()});
  ASSERT_TRUE(reads(reader, 1));
  fs::resize_file(directory() + "/segment.1", 100);
  EXPECT_FALSE(reads(reader, 1));
  fs::resize_file(directory() + "/slots", 5000);
  EXPECT_FALSE(reads(reader, 1));
  fs::resize_file(directory() + "/slots", 0);
  EXPECT_FALSE(reads(reader, 1));
}

}  // namespace
}  // namespace paddle::samplefs
