// SPDX-License-Identifier: Apache-2.0
//
// The engine over a fake client. test/juicefs has the real one.
#include "engine/juicefs/node/node_engine.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/log.h"
#include "engine/juicefs/node/client/fake_client.h"

namespace paddle::engine::juicefs {
namespace {

const auto kNoReport = [](const Progress&) {};

class JuicefsNodeEngineTest : public testing::Test {
 protected:
  JuicefsNodeEngineTest() { log::set_level(log::Level::kError); }
  ~JuicefsNodeEngineTest() override { log::set_level(log::Level::kInfo); }

  std::unique_ptr<JuicefsNodeEngine> open() {
    return *JuicefsNodeEngine::open({.data = client_.path(), .state = state_.path()});
  }
  void write(const std::string& path, const std::string& text = "x") {
    const std::string whole = client_.path() + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << text;
  }
  // Of a check: so many files, all of them in the cache.
  static std::string found(int files) {
    return data_answer(R"({"FileCount":)" + std::to_string(files) +
                       R"(,"TotalBytes":10,"MissBytes":0})");
  }

  const Scratch state_{};
  FakeClient client_;
};

TEST_F(JuicefsNodeEngineTest, AVerificationIsRefusedWithWhatToDoInstead) {
  const auto refused = open()->run({.kind = api::JobKind::kVerify}, kNoReport, {});
  ASSERT_TRUE(refused.is(Code::kInvalid));
  EXPECT_NE(refused.error().message.find("run a SampleJob of type clear"), std::string::npos);
  EXPECT_EQ(client_.requests(), 0);
}

TEST_F(JuicefsNodeEngineTest, ARemovalThatIsRunAgainSucceeds) {
  client_.answer({kMissing, kMissing});
  const auto engine = open();
  Selection which{.paths = {"train"}};
  EXPECT_TRUE(engine->remove(which, kNoReport, {}).is(Code::kNotFound));
  which.again = true;
  EXPECT_TRUE(engine->remove(which, kNoReport, {}));
  which.accepted = 1;  // long ago: what is there is looked at first
  EXPECT_TRUE(engine->remove(which, kNoReport, {}));
  EXPECT_EQ(client_.requests(), 2);
}

TEST_F(JuicefsNodeEngineTest, ARemovalThatFindsOnlyNewerFilesSaysSoInsteadOfSucceeding) {
  write("train/a.jpg");
  write("train/b.jpg");
  const auto engine = open();
  Selection which{.paths = {"train"}, .accepted = 1};
  const auto refused = engine->remove(which, kNoReport, {});
  ASSERT_TRUE(refused.is(Code::kInvalid));
  EXPECT_NE(refused.error().message.find("all 2 files are newer"), std::string::npos)
      << refused.error().message;
  which.again = true;  // an earlier run may have removed the older ones
  EXPECT_TRUE(engine->remove(which, kNoReport, {}));
}

TEST_F(JuicefsNodeEngineTest, AWriterWhoseClockIsAheadKeepsNoFileFromARemoval) {
  write("train/a.jpg");
  client_.answer({kDone});
  const auto engine = open();
  const auto accepted = system_clock().wall() - std::chrono::minutes{2};
  const Selection which{
      .paths = {"train"},
      .accepted = std::chrono::duration_cast<std::chrono::milliseconds>(accepted.time_since_epoch())
                      .count()};
  EXPECT_TRUE(engine->remove(which, kNoReport, {}));
  EXPECT_EQ(client_.requests(), 1) << "the whole path is removed";
}

TEST_F(JuicefsNodeEngineTest, ARemovalThatIsRunAgainReportsTheNewerFilesThatItLeaves) {
  write("train/a.jpg");
  write("train/b.jpg");
  const auto engine = open();
  Progress last;
  const Selection which{.paths = {"train"}, .accepted = 1, .again = true};
  ASSERT_TRUE(engine->remove(which, [&](const Progress& now) { last = now; }, {}));
  EXPECT_EQ(last.left_out.count, 2);
}

TEST_F(JuicefsNodeEngineTest, TheCommitOfASharedSyncNeedsNoSource) {
  const auto engine = open();
  EXPECT_TRUE(engine->sync({}, kNoReport, {}).is(Code::kInvalid));
  EXPECT_TRUE(engine->sync({.counts = true}, kNoReport, {}));
}

TEST_F(JuicefsNodeEngineTest, AWarmUpFailsWhenItsListNamesMissingFiles) {
  write("train/a.jpg");
  write("train/b.jpg");
  write("labels", "train/a.jpg 0\ntrain/b.jpg 1\n");
  write("stale", "train/a.jpg\ntrain/gone.jpg\n");
  client_.answer({found(0), found(1), found(2)});
  const auto engine = open();
  const auto labels = engine->warm_up({.file = "labels"}, kNoReport, {});
  ASSERT_TRUE(labels.is(Code::kNotFound));
  EXPECT_NE(labels.error().message.find("'train/a.jpg 0'"), std::string::npos);
  EXPECT_NE(labels.error().message.find("and nothing else"), std::string::npos);
  const auto stale = engine->warm_up({.file = "stale"}, kNoReport, {});
  ASSERT_TRUE(stale.is(Code::kNotFound));
  EXPECT_NE(stale.error().message.find("'train/gone.jpg'"), std::string::npos);
  write("good", "train/a.jpg\ntrain/b.jpg\n");
  EXPECT_TRUE(engine->warm_up({.file = "good"}, kNoReport, {}));
  EXPECT_EQ(client_.requests(), 3);
}

TEST_F(JuicefsNodeEngineTest, AWarmUpFailsWhenTheClientDoesNotFindExistingFiles) {
  write("train/a.jpg");
  write("train/b.jpg");
  client_.answer({found(1), found(1)});
  const auto engine = open();
  EXPECT_TRUE(engine->warm_up({}, kNoReport, {}).is(Code::kUnavailable));
  EXPECT_EQ(client_.requests(), 2) << "once more before it is said";
}

TEST_F(JuicefsNodeEngineTest, FilesThatComeOrGoDuringAWarmUpAreNoError) {
  write("train/a.jpg");
  write("train/b.jpg");
  client_.answer({found(1), found(2), found(1)});
  const auto engine = open();
  EXPECT_TRUE(engine->warm_up({.job = "w"}, kNoReport, {}));
  std::filesystem::remove(client_.path() + "/train/b.jpg");
  EXPECT_TRUE(engine->warm_up({.job = "w"}, kNoReport, {})) << "the list is the previous one";
  EXPECT_EQ(client_.requests(), 3);
}

TEST_F(JuicefsNodeEngineTest, AnEmptyDirectoryOrALinkInAListIsNotMissing) {
  write("train/a.jpg");
  std::filesystem::create_directories(client_.path() + "/empty");
  std::filesystem::create_symlink("nowhere", client_.path() + "/link");
  write("list", "train/a.jpg\nempty\nlink\n");
  client_.answer({found(1)});
  EXPECT_TRUE(open()->warm_up({.file = "list"}, kNoReport, {}));
  EXPECT_EQ(client_.requests(), 1);
}

}  // namespace
}  // namespace paddle::engine::juicefs
