// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/format_command.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using Words = std::vector<std::string>;

const FormatOptions kOptionsOfTest{.program = "/j", .volume_secret = "/v"};

TEST(FormatCommand, HasNoSecretOnItsCommandLine) {
  const auto command = format_command(kOptionsOfTest, {{"name", "vol"},
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
  const auto command = format_command(kOptionsOfTest, {{"name", "vol"},
                                                       {"metaurl", "redis://h:6379/0"},
                                                       {"storage", "mysql"},
                                                       {"bucket", "mysql://u:canary@(h:3306)/db"}});
  ASSERT_TRUE(command.is(Code::kInvalid));
  EXPECT_EQ(command.error().message.find("canary"), std::string::npos);
}

TEST(KeysCommand, HasNoSecretOnItsCommandLine) {
  const auto command = keys_command(kOptionsOfTest, {{"name", "vol"},
                                                     {"metaurl", "redis://:pa%2Fss@h:6379/0"},
                                                     {"access-key", "ak"},
                                                     {"secret-key", "s/k+"}});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->argv,
            (Words{"/j", "--no-agent", "--no-color", "set-keys", "redis://h:6379/0"}));
  for (const char* word : {"META_PASSWORD=pa/ss", "ACCESS_KEY=ak", "SECRET_KEY=s/k+"}) {
    EXPECT_EQ(std::count(command->env.begin(), command->env.end(), word), 1) << word;
  }
  EXPECT_TRUE(
      keys_command(kOptionsOfTest, {{"name", "vol"}, {"metaurl", "h:6379/0"}})->argv.empty());
}

TEST(FormatCommand, WithoutAStorageItOnlyReadsTheVolume) {
  const auto command = format_command(kOptionsOfTest, {{"name", "vol"}, {"metaurl", "h:6379/0"}});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->argv, (Words{"/j", "--no-agent", "--no-color", "config", "redis://h:6379/0"}));
  EXPECT_TRUE(format_command(kOptionsOfTest, {{"name", "vol"}}).is(Code::kInvalid));
  EXPECT_TRUE(format_command(kOptionsOfTest, {}).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::engine::juicefs
