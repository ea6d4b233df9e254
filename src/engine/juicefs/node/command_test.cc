// SPDX-License-Identifier: Apache-2.0
//
// What JuiceFS is started with: sources, options, and where secrets go.
#include <algorithm>

#include <gtest/gtest.h>

#include "engine/juicefs/node/format.h"
#include "engine/juicefs/node/source_access.h"
#include "engine/juicefs/node/sync_command.h"

namespace paddle::engine::juicefs {
namespace {

using Words = std::vector<std::string>;

const SecretFiles kKeys{{"access-key", "ak"}, {"secret-key", "s/k+"}};

TEST(SourceAccess, GivesKeysByTheVariablesOfTheirSdk) {
  const auto bos = source_access("bos://bucket.bj.bcebos.com/imagenet/demo", kKeys);
  ASSERT_TRUE(bos) << bos.error().message;
  EXPECT_EQ(*bos, (SourceAccess{.uri = "bos://bucket.bj.bcebos.com/imagenet/demo",
                                .env = {"BDCLOUD_ACCESS_KEY=ak", "BDCLOUD_SECRET_KEY=s/k+"}}));
  EXPECT_EQ(source_access("hdfs://nn:8020/data", {{"access-key", "hadoop"}})->env,
            Words{"HADOOP_USER_NAME=hadoop"});
  EXPECT_EQ(source_access("oss://b.oss-cn-x.aliyuncs.com", kKeys)->env,
            (Words{"ALICLOUD_ACCESS_KEY_ID=ak", "ALICLOUD_ACCESS_KEY_SECRET=s/k+"}));
}

TEST(SourceAccess, KnowsSessionTokensAndRegions) {
  SecretFiles more = kKeys;
  more["session-token"] = "tok";
  more["region"] = "r1";
  EXPECT_EQ(source_access("s3://b.s3.amazonaws.com/p", more)->env,
            (Words{"AWS_ACCESS_KEY_ID=ak", "AWS_SECRET_ACCESS_KEY=s/k+", "AWS_SESSION_TOKEN=tok",
                   "AWS_REGION=r1"}));
  EXPECT_EQ(source_access("minio://h:9000/b", more)->env,
            (Words{"AWS_ACCESS_KEY_ID=ak", "AWS_SECRET_ACCESS_KEY=s/k+", "AWS_SESSION_TOKEN=tok",
                   "MINIO_REGION=r1"}));
  EXPECT_TRUE(source_access("bos://b.e/p", more).is(Code::kInvalid));
}

TEST(SourceAccess, AsksAnonymouslyWhereThereAreNoKeys) {
  EXPECT_EQ(*source_access("bos://paddleflow-public.hkg.bcebos.com/imagenet/demo", {}),
            (SourceAccess{.uri = "bos://paddleflow-public.hkg.bcebos.com/imagenet/demo"}));
  EXPECT_EQ(source_access("s3://b.s3.amazonaws.com/p", {})->uri,
            "s3://anonymous:@b.s3.amazonaws.com/p");
  EXPECT_TRUE(source_access("minio://h:9000/b", {}).is(Code::kInvalid));
  EXPECT_EQ(source_access("bos://b.e/p", {{"secret-key", "of Redis"}})->env, Words{});
}

TEST(SourceAccess, AddsTheEndpointOfTheSecretToAMereBucket) {
  SecretFiles more = kKeys;
  more["endpoint"] = "http://store.local:9000/";
  const auto plain = source_access("s3://bucket/prefix", more);
  EXPECT_EQ(plain->uri, "s3://bucket.store.local:9000/prefix");
  EXPECT_TRUE(plain->no_https);
  more["endpoint"] = "https://bj.bcebos.com";
  EXPECT_EQ(source_access("bos://bucket/p", more)->uri, "bos://bucket.bj.bcebos.com/p");
  EXPECT_FALSE(source_access("bos://bucket/p", more)->no_https);
  EXPECT_EQ(source_access("bos://bucket.other.com/p", more)->uri, "bos://bucket.other.com/p");
}

TEST(SourceAccess, RefusesWhatWouldShowKeysOrIsNotKnown) {
  const auto shown = source_access("wasabi://b.s3.wasabisys.com/p", kKeys);
  ASSERT_TRUE(shown.is(Code::kInvalid));
  EXPECT_NE(shown.error().message.find("command line"), std::string::npos);
  EXPECT_EQ(shown.error().message.find("s/k+"), std::string::npos);
  const auto unknown = source_access("gopher://b/p", {});
  ASSERT_TRUE(unknown.is(Code::kInvalid));
  EXPECT_NE(unknown.error().message.find("bos"), std::string::npos);
  EXPECT_TRUE(source_access("s3://user:word@b.e/p", {}).is(Code::kInvalid));
}

TEST(SyncArguments, NameTheVolumeByAVariableAndEndBothWithASlash) {
  const auto argv = sync_arguments({.uri = "bos://b.e/p"}, {});
  ASSERT_TRUE(argv);
  EXPECT_EQ(*argv,
            (Words{"--no-agent", "--no-color", "sync", "bos://b.e/p/", "jfs://PADDLE_VOLUME/"}));
  const auto within = sync_arguments({.uri = "bos://b.e/p"}, {.destination = "x"}, "/a/b/");
  EXPECT_EQ(within->back(), "jfs://PADDLE_VOLUME/a/b/x/");
  EXPECT_EQ(sync_arguments({.uri = "bos://b.e/p"}, {}, "a")->back(), "jfs://PADDLE_VOLUME/a/");
  const auto deeper = sync_arguments({.uri = "bos://b.e/p/"}, {.destination = "/train//x/"});
  EXPECT_EQ((*deeper)[3], "bos://b.e/p/");
  EXPECT_EQ((*deeper)[4], "jfs://PADDLE_VOLUME/train/x/");
}

TEST(SyncArguments, PassEveryOptionOn) {
  const auto argv =
      sync_arguments({.uri = "minio://h/b", .no_https = true}, {.start = "a",
                                                                .end = "z",
                                                                .include = {"*.jpg"},
                                                                .exclude = {"*"},
                                                                .threads = 3,
                                                                .megabits = 8,
                                                                .update = true,
                                                                .force_update = true,
                                                                .perms = true,
                                                                .dirs = true,
                                                                .dry = true,
                                                                .delete_source = true,
                                                                .delete_destination = true});
  ASSERT_TRUE(argv);
  EXPECT_EQ(*argv, (Words{"--no-agent",
                          "--no-color",
                          "sync",
                          "--start=a",
                          "--end=z",
                          "--include",
                          "*.jpg",
                          "--include",
                          "*/",
                          "--exclude",
                          "*",
                          "--threads=3",
                          "--bwlimit=8",
                          "--update",
                          "--force-update",
                          "--perms",
                          "--dirs",
                          "--dry",
                          "--delete-src",
                          "--delete-dst",
                          "--no-https",
                          "minio://h/b/",
                          "jfs://PADDLE_VOLUME/"}));
}

TEST(SyncArguments, OfAListSayWhatWouldBeCopiedInOrder) {
  const auto argv = sync_arguments({.uri = "minio://h/b"},
                                   {.exclude = {"a=b"},
                                    .threads = 30,
                                    .force_update = true,
                                    .delete_source = true,
                                    .delete_destination = true},
                                   {}, SyncAction::kList);
  ASSERT_TRUE(argv);
  EXPECT_EQ(*argv, (Words{"--no-agent", "--no-color", "--verbose", "sync", "--exclude", "a=b",
                          "--threads=1", "--force-update", "--dry", "minio://h/b/",
                          "jfs://PADDLE_VOLUME/"}));
}

TEST(SyncArguments, OfADeletionCopyNothing) {
  const auto argv = sync_arguments({.uri = "minio://h/b"},
                                   {.start = "a",
                                    .update = true,
                                    .force_update = true,
                                    .perms = true,
                                    .delete_destination = true},
                                   {}, SyncAction::kDelete);
  ASSERT_TRUE(argv);
  EXPECT_EQ(*argv,
            (Words{"--no-agent", "--no-color", "sync", "--start=a", "--existing",
                   "--ignore-existing", "--delete-dst", "minio://h/b/", "jfs://PADDLE_VOLUME/"}));
}

TEST(PathInSet, StaysBeneathTheRoot) {
  EXPECT_EQ(*path_in_set("/a//b/./c/"), "a/b/c");
  EXPECT_EQ(*path_in_set("/"), "");
  EXPECT_EQ(*path_in_set("..."), "...");
  for (const char* wrong : {"..", "a/../b", "/../etc", "a\nb"}) {
    EXPECT_TRUE(path_in_set(wrong).is(Code::kInvalid)) << wrong;
  }
  EXPECT_TRUE(path_in_set("a/" + std::string(255, 'x')));
  EXPECT_TRUE(path_in_set(std::string(256, 'x') + "/a").is(Code::kInvalid));
}

const FormatPlace kPlace{.program = "/j", .volume_secret = "/v"};

TEST(FormatCommand, HasNoSecretOnItsCommandLine) {
  const auto command = format_command(kPlace, {{"name", "vol"},
                                               {"metaurl", "redis://:pa%2Fss@h:6379/0"},
                                               {"storage", "s3"},
                                               {"bucket", "http://h/b"},
                                               {"access-key", "ak"},
                                               {"secret-key", "s/k+"},
                                               {"trash-days", "0"},
                                               {"encrypt_rsa_key", "PEM"}});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->argv,
            (Words{"/j", "--no-agent", "--no-color", "format", "--no-update", "--storage=s3",
                   "--bucket=http://h/b", "--trash-days=0", "--encrypt-rsa-key=/v/encrypt_rsa_key",
                   "redis://h:6379/0", "vol"}));
  const auto has = [&](const std::string& word) {
    return std::count(command->env.begin(), command->env.end(), word) == 1;
  };
  EXPECT_TRUE(has("META_PASSWORD=pa/ss"));
  EXPECT_TRUE(has("ACCESS_KEY=ak"));
  EXPECT_TRUE(has("SECRET_KEY=s/k+"));
}

TEST(FormatCommand, RefusesABucketWithAPassword) {
  const auto command = format_command(kPlace, {{"name", "vol"},
                                               {"metaurl", "redis://h:6379/0"},
                                               {"storage", "mysql"},
                                               {"bucket", "mysql://u:canary@(h:3306)/db"}});
  ASSERT_TRUE(command.is(Code::kInvalid));
  EXPECT_EQ(command.error().message.find("canary"), std::string::npos);
}

TEST(KeysCommand, HasNoSecretOnItsCommandLine) {
  const auto command = keys_command(kPlace, {{"name", "vol"},
                                             {"metaurl", "redis://:pa%2Fss@h:6379/0"},
                                             {"access-key", "ak"},
                                             {"secret-key", "s/k+"}});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->argv,
            (Words{"/j", "--no-agent", "--no-color", "set-keys", "redis://h:6379/0"}));
  for (const char* word : {"META_PASSWORD=pa/ss", "ACCESS_KEY=ak", "SECRET_KEY=s/k+"}) {
    EXPECT_EQ(std::count(command->env.begin(), command->env.end(), word), 1) << word;
  }
  EXPECT_TRUE(keys_command(kPlace, {{"name", "vol"}, {"metaurl", "h:6379/0"}})->argv.empty());
}

TEST(FormatCommand, OnlyAsksWhereItCouldNotMakeAnything) {
  const auto command = format_command(kPlace, {{"name", "vol"}, {"metaurl", "h:6379/0"}});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->argv, (Words{"/j", "--no-agent", "--no-color", "config", "redis://h:6379/0"}));
  EXPECT_TRUE(format_command(kPlace, {{"name", "vol"}}).is(Code::kInvalid));
  EXPECT_TRUE(format_command(kPlace, {}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::engine::juicefs
