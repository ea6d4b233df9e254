// SPDX-License-Identifier: Apache-2.0
#include "local/node/atomic_writer.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/unique_fd.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

class AtomicWriterTest : public testing::Test {
 protected:
  void replace(const std::map<std::string, std::string>& files, FileModes modes = {}) {
    const auto done = replace_files(directory_, files, modes);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string text(const std::string& name) const {
    std::ifstream file(directory_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
  mode_t mode(const std::string& name) const {
    struct stat st {};
    EXPECT_EQ(stat((directory_ + "/" + name).c_str(), &st), 0) << name;
    return st.st_mode & 07777;
  }

  const Scratch scratch_;
  const std::string directory_ = scratch_.path() + "/volume";
};

TEST_F(AtomicWriterTest, WritesTheGivenFilesAndNoOthers) {
  replace({{"a", "1"}, {"b", ""}});
  EXPECT_EQ(text("a"), "1");
  EXPECT_EQ(text("b"), "");
  replace({{"a", "2"}, {"c", std::string("x\0y", 3)}});
  EXPECT_EQ(text("a"), "2");
  EXPECT_EQ(text("c").size(), 3u);
  EXPECT_EQ(names(), (std::set<std::string>{"..data", "..v2", "a", "c"}));
  replace({});
  EXPECT_EQ(names(), (std::set<std::string>{"..data", "..v3"}));
}

TEST_F(AtomicWriterTest, AnOpenDataDirectoryShowsOneVersion) {
  replace({{"a", "1"}, {"b", "1"}});
  const UniqueFd before(open((directory_ + "/a").c_str(), O_RDONLY | O_CLOEXEC));
  replace({{"a", "2"}, {"b", "2"}});
  char byte = 0;
  ASSERT_EQ(read(before.get(), &byte, 1), 1);
  EXPECT_EQ(byte, '1') << "as a subPath keeps what it was mounted with";
  EXPECT_EQ(fs::read_symlink(directory_ + "/b"), "..data/b");
  EXPECT_EQ(text("..data/a") + text("..data/b"), "22");
}

TEST_F(AtomicWriterTest, WritesNothingWhenNothingChanged) {
  replace({{"a", "1"}});
  replace({{"a", "1"}});
  EXPECT_EQ(fs::read_symlink(directory_ + "/..data"), "..v1");
}

TEST_F(AtomicWriterTest, ReplacesPlainFilesAndLeftoversOfAKilledWriter) {
  fs::create_directories(directory_ + "/..v1");
  std::ofstream(directory_ + "/..v1/half") << "x";
  std::ofstream(directory_ + "/a") << "old";
  std::ofstream(directory_ + "/gone") << "old";
  replace({{"a", "new"}});
  EXPECT_EQ(text("a"), "new");
  EXPECT_EQ(names(), (std::set<std::string>{"..data", "..v1", "a"}));
  EXPECT_FALSE(fs::exists(directory_ + "/..v1/half"));
}

TEST_F(AtomicWriterTest, SecretsAreReadableByTheirOwnerOnly) {
  replace({{"key", "hidden"}}, {.directory = 0700, .file = 0600});
  EXPECT_EQ(mode("key"), 0600u);
  EXPECT_EQ(mode("..data"), 0700u);
  EXPECT_EQ(mode(""), 0700u);
}

TEST_F(AtomicWriterTest, RejectsANameThatLeadsElsewhere) {
  replace({{"a", "1"}});
  for (const char* name : {"", ".", "..", "../x", "x/y", "..data", "..v9"}) {
    const auto done = replace_files(directory_, {{"a", "2"}, {name, "x"}}, {});
    EXPECT_TRUE(done.is(Code::kInvalid)) << name;
  }
  EXPECT_EQ(text("a"), "1");
}

}  // namespace
}  // namespace paddle::local
