// SPDX-License-Identifier: Apache-2.0
//
// What the engine makes of a client's answers. The real client: test/juicefs.
#include "engine/juicefs/node/node_engine.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/log.h"
#include "engine/juicefs/node/fake_client.h"

namespace paddle::engine::juicefs {
namespace {

const auto kNobody = [](const Progress&) {};

class JuicefsNode : public testing::Test {
 protected:
  JuicefsNode() { log::set_level(log::Level::kError); }
  ~JuicefsNode() override { log::set_level(log::Level::kInfo); }

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

TEST_F(JuicefsNode, ARemovalThatIsRunAgainFindsItsWorkDone) {
  client_.answer({kMissing, kMissing});
  const auto engine = open();
  Selection which{.paths = {"train"}};
  EXPECT_TRUE(engine->remove(which, kNobody, {}).is(Code::kNotFound));
  which.again = true;
  EXPECT_TRUE(engine->remove(which, kNobody, {}));
  which.accepted = 1;  // long ago: what is there is looked at first
  EXPECT_TRUE(engine->remove(which, kNobody, {}));
  EXPECT_EQ(client_.asked(), 2);
}

TEST_F(JuicefsNode, ASyncThatOthersHaveDoneNeedsNoSource) {
  const auto engine = open();
  EXPECT_TRUE(engine->sync({}, kNobody, {}).is(Code::kInvalid));
  EXPECT_TRUE(engine->sync({.counts = true}, kNobody, {}));
}

TEST_F(JuicefsNode, AListThatNamesWhatIsNotThereIsNoWarmUp) {
  write("train/a.jpg");
  write("train/b.jpg");
  write("labels", "train/a.jpg 0\ntrain/b.jpg 1\n");
  write("stale", "train/a.jpg\ntrain/gone.jpg\n");
  client_.answer({found(0), found(1), found(2)});
  const auto engine = open();
  const auto labels = engine->warm_up({.file = "labels"}, kNobody, {});
  ASSERT_TRUE(labels.is(Code::kNotFound));
  EXPECT_NE(labels.error().message.find("'train/a.jpg 0'"), std::string::npos);
  EXPECT_NE(labels.error().message.find("and nothing else"), std::string::npos);
  const auto stale = engine->warm_up({.file = "stale"}, kNobody, {});
  ASSERT_TRUE(stale.is(Code::kNotFound));
  EXPECT_NE(stale.error().message.find("'train/gone.jpg'"), std::string::npos);
  write("good", "train/a.jpg\ntrain/b.jpg\n");
  EXPECT_TRUE(engine->warm_up({.file = "good"}, kNobody, {}));
  EXPECT_EQ(client_.asked(), 3);
}

TEST_F(JuicefsNode, AClientThatDoesNotFindWhatIsThereHasNotWarmedItUp) {
  write("train/a.jpg");
  write("train/b.jpg");
  client_.answer({found(1), found(1)});
  const auto engine = open();
  EXPECT_TRUE(engine->warm_up({}, kNobody, {}).is(Code::kUnavailable));
  EXPECT_EQ(client_.asked(), 2) << "once more before it is said";
}

TEST_F(JuicefsNode, WhatCameOrWentMeanwhileIsNoError) {
  write("train/a.jpg");
  write("train/b.jpg");
  client_.answer({found(1), found(2), found(1)});
  const auto engine = open();
  EXPECT_TRUE(engine->warm_up({.job = "w"}, kNobody, {}));
  std::filesystem::remove(client_.path() + "/train/b.jpg");
  EXPECT_TRUE(engine->warm_up({.job = "w"}, kNobody, {})) << "the list is that of before";
  EXPECT_EQ(client_.asked(), 3);
}

TEST_F(JuicefsNode, AnEmptyDirectoryOrALinkInAListIsNoFileThatIsMissing) {
  write("train/a.jpg");
  std::filesystem::create_directories(client_.path() + "/empty");
  std::filesystem::create_symlink("nowhere", client_.path() + "/link");
  write("list", "train/a.jpg\nempty\nlink\n");
  client_.answer({found(1)});
  EXPECT_TRUE(open()->warm_up({.file = "list"}, kNobody, {}));
  EXPECT_EQ(client_.asked(), 1);
}

TEST(JuicefsFigures, FollowTheClientsCacheBetweenTwoLooks) {
  EXPECT_EQ(payload(2, 2 * 4096 + 500), 500);
  EXPECT_EQ(payload(2, 500), 500) << "a cache in memory counts no pages";

  Status last;
  last.index = Status::Index{.files = 10, .bytes = 1000};
  last.cached_bytes = 300;
  last.part_bytes = 400;
  last.part_cached_bytes = 100;
  EXPECT_EQ(followed(last, 50, 250, false).cached_bytes, 500);
  EXPECT_EQ(followed(last, 50, 250, false).part_cached_bytes, 100) << "nobody says whose it is";
  EXPECT_EQ(followed(last, 50, 250, true).part_cached_bytes, 300);
  EXPECT_EQ(followed(last, 50, 5050, true).cached_bytes, 1000);
  EXPECT_EQ(followed(last, 50, 5050, true).part_cached_bytes, 400);
}

TEST(JuicefsFigures, FollowACacheThatShrinks) {
  Status last;
  last.index = Status::Index{.files = 10, .bytes = 1000};
  last.cached_bytes = 300;
  last.part_bytes = 200;
  last.part_cached_bytes = 200;
  EXPECT_EQ(followed(last, 5000, 10, true).cached_bytes, 0);
  EXPECT_EQ(followed(last, 300, 150, false).cached_bytes, 150);
  EXPECT_EQ(followed(last, 300, 150, false).part_cached_bytes, 150) << "no more than all of it";
  EXPECT_EQ(followed(last, 120, 0, false).cached_bytes, 0) << "an empty cache has nothing";
  EXPECT_EQ(followed(last, 120, 0, false).part_cached_bytes, 0);
}

TEST(JuicefsFigures, OfAClientThatHangsAreNotShownAsIfItServed) {
  Status last;
  last.mounts = 1;
  last.cached_bytes = 7;
  EXPECT_EQ(shown(last, std::chrono::seconds{29}).mounts, 1);
  EXPECT_EQ(shown(last, std::chrono::seconds{29}).remark, "");
  const Status silent = shown(last, std::chrono::seconds{31});
  EXPECT_EQ(silent.mounts, 0);
  EXPECT_EQ(silent.cached_bytes, 7) << "what was seen last";
  EXPECT_NE(silent.remark.find("has not answered"), std::string::npos) << silent.remark;
  EXPECT_EQ(shown(last, std::chrono::hours{1}).remark, silent.remark);
}

}  // namespace
}  // namespace paddle::engine::juicefs
