// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/random.h"
#include "base/unique_fd.h"
#include "test/mount/mount_fixture.h"

namespace paddle::test {
namespace {

class TreeTest : public MountTest {};

TEST_F(TreeTest, AWalkFindsExactlyTheExistingFiles) {
  std::set<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const std::string name =
        "c" + std::to_string(i % 7) + "/d" + std::to_string(i % 3) + "/" + std::to_string(i);
    files_.add_pattern(name, static_cast<std::uint64_t>(i), 1);
    expected.insert(name);
  }
  start();
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(point_.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(point_.path());
    EXPECT_EQ(std::to_string(entry.file_size()), entry.path().filename());
    found.insert(name);
  }
  EXPECT_EQ(found, expected);
}

TEST_F(TreeTest, RandomReadsEqualTheModel) {
  constexpr std::uint64_t kSize = 5'000'011;
  files_.add_pattern("f", kSize, 42);
  start();
  Random random(7);
  const UniqueFd fd(::open((point_ / "f").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(fd);
  std::string got(300'000, '\0');
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t offset = random.below(kSize + 5000);
    const std::size_t size = random.below(i % 10 == 0 ? got.size() : 9000);
    if (i % 50 == 0) drop_page_cache(point_ / "f");
    const ssize_t count = ::pread(fd.get(), got.data(), size, static_cast<off_t>(offset));
    const std::uint64_t left = offset < kSize ? kSize - offset : 0;
    ASSERT_EQ(count, static_cast<ssize_t>(std::min<std::uint64_t>(left, size)));
    ASSERT_EQ(got.substr(0, static_cast<std::size_t>(count)),
              pattern(42, offset, static_cast<std::size_t>(count)));
  }
}

TEST_F(TreeTest, SizesAroundAPageAndARequestEndWhereTheyShould) {
  const std::vector<std::uint64_t> sizes{0,      1,      4095,    4096,    4097,    131071,
                                         131072, 131073, 1048575, 1048576, 1048577, 3000000};
  for (const std::uint64_t size : sizes) files_.add_pattern(std::to_string(size), size, size);
  start();
  for (const std::uint64_t size : sizes) {
    const std::string path = point_ / std::to_string(size);
    const Content content = read_all(path);
    EXPECT_EQ(content.error, 0);
    EXPECT_EQ(content.bytes, pattern(size, 0, size)) << size;
    EXPECT_EQ(read_at(path, size, 10).bytes, "");
    if (size > 0) {
      EXPECT_EQ(read_at(path, size - 1, 10).bytes, pattern(size, size - 1, 1));
    }
    drop_page_cache(path);
    EXPECT_EQ(read_at(path, size / 2, size).bytes, pattern(size, size / 2, size - size / 2));
  }
}

TEST_F(TreeTest, AMappedFileShowsTheSameBytes) {
  constexpr std::size_t kSize = 2'000'003;
  files_.add_pattern("f", kSize, 3);
  start();
  const UniqueFd fd(::open((point_ / "f").c_str(), O_RDONLY | O_CLOEXEC));
  void* mapped = ::mmap(nullptr, kSize, PROT_READ, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(std::string_view(static_cast<const char*>(mapped), kSize), pattern(3, 0, kSize));
  ::munmap(mapped, kSize);
}

TEST_F(TreeTest, DirectIoReadsAreComplete) {
  constexpr std::size_t kSize = 1 << 21;
  files_.add_pattern("f", kSize, 3);
  start();
  const UniqueFd fd(::open((point_ / "f").c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  ASSERT_TRUE(fd);
  std::string got(kSize, '\0');
  ASSERT_EQ(::pread(fd.get(), got.data(), kSize, 0), static_cast<ssize_t>(kSize));
  EXPECT_EQ(got, pattern(3, 0, kSize));
}

TEST_F(TreeTest, ADirectoryOfAHundredThousandEntriesIsComplete) {
  std::vector<std::string> expected;
  for (int i = 0; i < 100'000; ++i) {
    expected.push_back(std::to_string(1'000'000 + i));
    files_.add_pattern("big/" + expected.back(), 10, 1);
  }
  start();
  EXPECT_EQ(list(point_ / "big"), expected);
  bool silent = false;  // the kernel may take back a page of the listing: one of a few must be
  for (int attempt = 0; attempt < 10 && !silent; ++attempt) {
    const auto before = counters().all_requests();
    EXPECT_EQ(list(point_ / "big"), expected);
    for (std::size_t i = 0; i < expected.size(); i += 997) {
      EXPECT_EQ(stat_error(point_ / ("big/" + expected[i])), 0);
    }
    silent = counters().all_requests() == before;
  }
  if (mount_->agreed().no_opendir()) {
    EXPECT_TRUE(silent) << "listed and stat'ed again without the daemon";
  }
}

TEST_F(TreeTest, UnusualNamesComeBackByteForByte) {
  const std::vector<std::string> names{
      " ",        "-rf",  "a b",  "line\nbreak", "\x01\x7f",         "\xff\xfe\x80",
      "\\040",    "...",  "*?[]", "~",           "\xe6\xa0\xb7\xe6", std::string(255, 'n'),
      "quote'\"", "a,b=c"};
  for (const auto& name : names) files_.add_file("d/" + name, name);
  start();
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(list(point_ / "d"), sorted);
  for (const auto& name : names) EXPECT_EQ(read_all(point_ / ("d/" + name)).bytes, name);
  EXPECT_EQ(stat_error(point_ / ("d/" + std::string(256, 'n'))), ENAMETOOLONG);
}

TEST_F(TreeTest, HostileEntriesDoNotAffectOthers) {
  const auto bad = [&](std::string name, std::uint64_t id, std::uint64_t size) {
    files_.add_raw(samplefs::kRootId, std::move(name), samplefs::Attr{id, false, size});
  };
  files_.add_file("before", "b");
  bad("../../etc/passwd", 1000, 1);
  bad("", 1001, 1);
  bad("..", 1002, 1);
  bad(std::string("x\0y", 3), 1003, 1);
  bad(std::string(5000, 'l'), 1004, 1);
  bad("zero-id", 0, 1);
  bad("root-id", samplefs::kRootId, 1);
  bad("impossible-size", 1005, ~0ULL);
  files_.add_file("after", "a");
  start();
  EXPECT_EQ(list(point_.path()), (std::vector<std::string>{"after", "before"}));
  EXPECT_EQ(read_all(point_ / "after").bytes, "a");
  EXPECT_EQ(stat_error(point_ / "zero-id"), EIO);
  EXPECT_EQ(stat_error(point_ / "root-id"), EIO);
  EXPECT_EQ(stat_error(point_ / "impossible-size"), EIO);
  EXPECT_GE(counters().skipped_names(), 8u);
}

TEST_F(TreeTest, NothingCanBeWritten) {
  files_.add_file("d/f", "x");
  start();
  const std::string file = point_ / "d/f";
  EXPECT_EQ(::open(file.c_str(), O_WRONLY), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(::open(file.c_str(), O_RDONLY | O_TRUNC), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(::open((point_ / "new").c_str(), O_CREAT | O_WRONLY, 0644), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(::unlink(file.c_str()), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(::chmod(file.c_str(), 0777), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(::rename(file.c_str(), (point_ / "g").c_str()), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(::access(file.c_str(), W_OK), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(read_all(file).bytes, "x");
}

TEST_F(TreeTest, AttributesAndTotalsAreWhatWasIndexed) {
  files_.add_pattern("d/f", 1025, 1);
  fuse::DataMountOptions options;
  options.session.attr_options.uid = 1234;
  options.session.attr_options.gid = 99;
  start(options);
  struct stat file {};
  ASSERT_EQ(::stat((point_ / "d/f").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode, mode_t{S_IFREG | 0444});
  EXPECT_EQ(file.st_size, 1025);
  EXPECT_EQ(file.st_uid, 1234u);
  EXPECT_EQ(file.st_gid, 99u);
  EXPECT_EQ(file.st_mtim.tv_sec, 1'700'000'000);
  struct stat directory {};
  ASSERT_EQ(::stat((point_ / "d").c_str(), &directory), 0);
  EXPECT_EQ(directory.st_mode, mode_t{S_IFDIR | 0555});
  struct statfs totals {};
  ASSERT_EQ(::statfs(point_.path().c_str(), &totals), 0);
  EXPECT_EQ(totals.f_files, 1u);
  EXPECT_EQ(totals.f_blocks, 1u);
  EXPECT_EQ(totals.f_bavail, 0u);
}

}  // namespace
}  // namespace paddle::test
