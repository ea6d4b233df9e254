// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/secret_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::engine::juicefs {
namespace {

TEST(SecretFiles, EachFileIsOneKey) {
  const Scratch scratch;
  const std::string& root = scratch.path();
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::ofstream(root + "/" + path) << text;
  };
  put("secret/access-key", " ak\n");
  put("secret/name", "vol\n");
  put("secret/empty", "\n");
  put("secret/..data/x", "hidden");
  const auto secret = read_secret(root + "/secret");
  ASSERT_TRUE(secret);
  EXPECT_EQ(*secret, (SecretValues{{"access-key", "ak"}, {"name", "vol"}}));
  EXPECT_EQ(secrets_of(*secret), std::vector<std::string>{"ak"});
  EXPECT_EQ(*read_secret(""), SecretValues{});
  EXPECT_EQ(*read_secret(root + "/none"), SecretValues{});
  EXPECT_TRUE(read_secret(root + "/secret/name").is(Code::kUnavailable));
}

}  // namespace
}  // namespace paddle::engine::juicefs
