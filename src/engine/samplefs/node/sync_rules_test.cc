// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sync_rules.h"

#include <gtest/gtest.h>

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::Origin;

const OwnSource kOwn{.uri = "s3://bucket/train", .endpoint = "http://here:9000"};

Origin origin_of(const SyncTask& task) {
  const auto rules = sync_rules(task, kOwn);
  EXPECT_TRUE(rules) << rules.error().message;
  return rules ? rules->origin : Origin{.uri = "refused"};
}
std::string refusal_of(const SyncTask& task) {
  const auto rules = sync_rules(task, kOwn);
  EXPECT_TRUE(rules.is(Code::kInvalid));
  return rules ? "" : rules.error().message;
}

TEST(SyncRules, TheSetsOwnSourceIsRecognizedInEverySpelling) {
  EXPECT_EQ(origin_of({}), Origin{});
  EXPECT_EQ(origin_of({.source = "s3://bucket/train"}), Origin{});
  EXPECT_EQ(origin_of({.source = "s3://bucket/train/"}), Origin{});
  EXPECT_EQ(origin_of({.keys = {{{"access-key", "a"}, {"endpoint", kOwn.endpoint}}}}), Origin{})
      << "other keys of the same server";
  EXPECT_EQ(origin_of({.destination = "/x/y/"}), (Origin{.destination = "x/y"}));
}

TEST(SyncRules, AnotherSourceIsAnOriginOfItsOwn) {
  EXPECT_EQ(origin_of({.source = "s3://bucket/val", .destination = "val"}),
            (Origin{.uri = "s3://bucket/val/", .destination = "val"}));
  EXPECT_EQ(origin_of({.source = "s3://bucket/train", .keys = {{{"endpoint", "http://b"}}}}),
            (Origin{.uri = "s3://bucket/train/", .server = "http://b"}))
      << "a bucket of the same name elsewhere";
  EXPECT_EQ(origin_of({.source = "file:///data/val"}), (Origin{.uri = "file:///data/val"}));
}

TEST(SyncRules, UnsupportedOptionsAreRefusedWithWhatToDo) {
  EXPECT_NE(refusal_of({.delete_source = true}).find("delete-src"), std::string::npos);
  EXPECT_NE(refusal_of({.perms = true}).find("leave it out"), std::string::npos);
  EXPECT_NE(refusal_of({.dirs = true}).find("dirs"), std::string::npos);
  refusal_of({.destination = "a/../b"});
  refusal_of({.source = "hdfs://x/y"});
}

TEST(SyncRules, SystemDirectoriesAreRefusedAsSources) {
  for (const char* uri : {"file:///etc/paddle-cache/token", "file:///proc/self", "file:///cache/0",
                          "file:///run", "file:///root/.ssh"}) {
    EXPECT_NE(refusal_of({.source = uri}).find("of the system"), std::string::npos) << uri;
  }
  EXPECT_EQ(origin_of({.source = "file:///etcetera"}).uri, "file:///etcetera");
}

TEST(SyncRules, APasswordInAnEndpointIsRefusedAndNotRepeated) {
  const std::string said =
      refusal_of({.source = "s3://b", .keys = {{{"endpoint", "http://me:canary@x"}}}});
  EXPECT_EQ(said.find("canary"), std::string::npos) << said;
}

TEST(SyncRules, FollowTheTask) {
  const auto rules = sync_rules({.start = "a",
                                 .end = "b",
                                 .include = {"*.jpg"},
                                 .exclude = {"*"},
                                 .update = true,
                                 .delete_destination = true},
                                kOwn);
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->keys.start, "a");
  EXPECT_EQ(rules->keys.end, "b");
  EXPECT_EQ(rules->keys.include, (std::vector<std::string>{"*.jpg", "*/"}));
  EXPECT_EQ(rules->keys.exclude, std::vector<std::string>{"*"});
  EXPECT_TRUE(rules->newer_only);
  EXPECT_TRUE(rules->delete_unlisted);
  EXPECT_FALSE(sync_rules({.update = true, .force_update = true}, kOwn)->newer_only);
}

// The same cases as of `juicefs sync` (test/juicefs/options_test.cc).
TEST(SyncRules, SelectTheSameKeysAsJuicefs) {
  using Names = std::vector<std::string>;
  const Names everything{"a.jpg", "b/c.jpg", "b/d.txt", "b/e/f.jpg", "k=v/g.jpg"};
  const std::vector<std::pair<SyncTask, Names>> cases{
      {{}, everything},
      {{.start = "b/d.txt"}, {"b/d.txt", "b/e/f.jpg", "k=v/g.jpg"}},
      {{.end = "b/d.txt"}, {"a.jpg", "b/c.jpg", "b/d.txt"}},
      {{.include = {"*.txt"}, .exclude = {"*"}}, {"b/d.txt"}},
      {{.include = {"*.txt", "a*"}, .exclude = {"*"}}, {"a.jpg", "b/d.txt"}},
      {{.exclude = {"*.jpg"}}, {"b/d.txt"}},
      {{.exclude = {"b/"}}, {"a.jpg", "k=v/g.jpg"}},
      {{.exclude = {"k=v"}}, {"a.jpg", "b/c.jpg", "b/d.txt", "b/e/f.jpg"}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto rules = sync_rules(cases[i].first, kOwn);
    ASSERT_TRUE(rules);
    Names taken;
    for (const auto& key : everything) {
      if (rules->keys.takes(key)) taken.push_back(key);
    }
    EXPECT_EQ(taken, cases[i].second) << i;
  }
}

TEST(SyncRules, APathIsBeneathTheRootOfTheSet) {
  EXPECT_EQ(*path_in_set("/a/b/"), "a/b");
  EXPECT_EQ(*path_in_set("*"), "*");
  for (const char* path : {"", "/", "..", "a/../b", "a//b", "./a"}) {
    EXPECT_TRUE(path_in_set(path).is(Code::kInvalid)) << path;
  }
}

}  // namespace
}  // namespace paddle::engine::samplefs
