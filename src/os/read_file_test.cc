// SPDX-License-Identifier: Apache-2.0
#include "os/read_file.h"

#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/unique_fd.h"

namespace paddle::os {
namespace {

class ReadFileTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::string path = scratch_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  const Scratch scratch_;
};

TEST_F(ReadFileTest, ReturnsTheWholeFileUpToTheLimit) {
  const std::string text(100'000, 'x');
  const std::string path = write("file", text);
  EXPECT_EQ(*read_file(path, 100'000), text);
  EXPECT_TRUE(read_file(path, 99'999).is(Code::kInvalid));
  EXPECT_EQ(*read_file(write("empty", ""), 0), "");
}

TEST_F(ReadFileTest, AMissingFileIsNotFound) {
  EXPECT_TRUE(read_file(scratch_.path() + "/none", 10).is(Code::kNotFound));
  EXPECT_TRUE(read_file(write("file", "x") + "/below", 10).is(Code::kNotFound));
}

TEST_F(ReadFileTest, RefusesDirectoriesAndPipesWithoutBlocking) {
  EXPECT_TRUE(read_file(scratch_.path(), 10).is(Code::kInvalid));
  const std::string pipe = scratch_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(read_file(pipe, 10).is(Code::kInvalid));
}

TEST_F(ReadFileTest, ReadsAnOpenDescriptorFromItsPositionToItsEnd) {
  const UniqueFd file(::open(write("file", "one two").c_str(), O_RDONLY | O_CLOEXEC));
  ::lseek(file.get(), 4, SEEK_SET);
  EXPECT_EQ(*read_to_end(file.get(), "the file", 3), "two");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ASSERT_EQ(::write(writer.get(), "piped", 5), 5);
  writer.reset();
  EXPECT_EQ(*read_to_end(reader.get(), "the pipe", 10), "piped");
  EXPECT_TRUE(read_to_end(-1, "nothing", 10).is(Code::kUnavailable));
}

}  // namespace
}  // namespace paddle::os
