// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/journal.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/scratch.h"

namespace paddle::runtime {
namespace {

Job job(const std::string& id, std::uint64_t number) {
  return {.number = number,
          .request = {.kind = JobKind::kWarmup,
                      .which = {.paths = {"a/b"}, .partition = 1, .partitions = 2}},
          .report = {.id = id, .kind = JobKind::kWarmup, .state = JobState::kRunning}};
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() { log::set_level(log::Level::kError); }
  ~JournalTest() override { log::set_level(log::Level::kInfo); }
  std::unique_ptr<Journal> open() { return *Journal::open(directory_); }

  const Scratch scratch_;
  const std::string directory_ = scratch_.path() + "/jobs";
};

TEST_F(JournalTest, TheNextProcessReadsWhatWasWritten) {
  ASSERT_TRUE(open()->write(job("a", 1)));
  ASSERT_TRUE(open()->write(job("b", 2)));
  auto changed = job("a", 1);
  changed.report.state = JobState::kSucceeded;
  ASSERT_TRUE(open()->write(changed));
  auto loaded = *open()->load();
  std::sort(loaded.begin(), loaded.end(),
            [](const Job& x, const Job& y) { return x.number < y.number; });
  EXPECT_EQ(loaded, (std::vector<Job>{changed, job("b", 2)}));
  open()->remove("a");
  EXPECT_EQ(open()->load()->size(), 1u);
}

TEST_F(JournalTest, StoresThatAJobWasCancelled) {
  auto cancelled = job("a", 1);
  cancelled.cancelled = true;
  ASSERT_TRUE(open()->write(cancelled));
  EXPECT_EQ(*open()->load(), std::vector<Job>{cancelled});
}

TEST_F(JournalTest, CountsStartsUntilTheyAreForgotten) {
  EXPECT_EQ(*open()->count_start("a"), 1);
  EXPECT_EQ(*open()->count_start("a"), 2);
  EXPECT_EQ(*open()->count_start("b"), 1);
  EXPECT_TRUE(open()->load()->empty());
  open()->forget_starts("a");
  EXPECT_EQ(*open()->count_start("a"), 1);
  EXPECT_EQ(*open()->count_start("b"), 2);
  // Of a written job they are kept whatever the number of others, which go before they pile up.
  ASSERT_TRUE(open()->write(job("w", 1)));
  EXPECT_EQ(*open()->count_start("w"), 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(*open()->count_start("x" + std::to_string(i)), 1);
  EXPECT_EQ(open()->load()->size(), 1u);
  EXPECT_EQ(*open()->count_start("b"), 1);
  EXPECT_EQ(*open()->count_start("w"), 2);
  open()->remove("w");
  EXPECT_EQ(*open()->count_start("w"), 1);
}

TEST_F(JournalTest, FilesAreReadableByTheirOwnerOnly) {
  ASSERT_TRUE(open()->write(job("a", 1)));
  struct stat seen {};
  ASSERT_EQ(::stat(directory_.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((directory_ + "/a.json").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u);
}

TEST_F(JournalTest, DamagedAndForeignFilesAreSkipped) {
  ASSERT_TRUE(open()->write(job("good", 1)));
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
  };
  put("empty.json", "");
  put("half.json", R"({"number":1,"request":{"kind":"sync"},"rep)");
  put("list.json", "[]");
  put("negative.json", R"({"number":-1,"request":{"kind":"sync"},"report":{}})");
  put("other.txt", "x");
  put("half.json.tmp", "{");
  std::filesystem::copy(directory_ + "/good.json", directory_ + "/another-name.json");
  std::filesystem::create_directory(directory_ + "/folder.json");
  const auto loaded = open()->load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(*loaded, std::vector<Job>{job("good", 1)});
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/half.json.tmp")) << "of a killed process";
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/half.json"));
}

TEST_F(JournalTest, AnUnusableDirectoryIsAnError) {
  EXPECT_TRUE(Journal::open(scratch_.path() + "/no/such").is(Code::kUnavailable));
  std::ofstream(scratch_.path() + "/file") << "x";
  EXPECT_TRUE(Journal::open(scratch_.path() + "/file").is(Code::kUnavailable));
}

}  // namespace
}  // namespace paddle::runtime
