// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/sync_command.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using Words = std::vector<std::string>;

TEST(SyncCommand, NamesTheVolumeByAVariableAndEndsBothUrisWithASlash) {
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

TEST(SyncCommand, PassesEveryOptionOn) {
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

TEST(SyncCommand, AListPrintsWhatWouldBeCopiedInOrder) {
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

TEST(SyncCommand, ADeletionCopiesNothing) {
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

}  // namespace
}  // namespace paddle::engine::juicefs
