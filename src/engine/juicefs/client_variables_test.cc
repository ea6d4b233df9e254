// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/client_variables.h"

#include <vector>

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using Map = std::map<std::string, std::string>;

TEST(ClientVariables, AreReadFromJsonAndFromSimpleYaml) {
  const struct {
    const char* text;
    Map all;
  } rows[] = {
      {"", {}},
      {" \n", {}},
      {"{}", {}},
      {R"({"TZ":"Asia/Shanghai"})", {{"TZ", "Asia/Shanghai"}}},
      {"{TZ: Asia/Shanghai}", {{"TZ", "Asia/Shanghai"}}},
      {"{TZ: UTC, AWS_REGION: 'us-east-1'}", {{"TZ", "UTC"}, {"AWS_REGION", "us-east-1"}}},
      {"TZ: \"UTC\"\n# ours\nNO_PROXY: 10.0.0.1\n", {{"TZ", "UTC"}, {"NO_PROXY", "10.0.0.1"}}},
      {R"({"META_PASSWORD":"a b'$(x)\"é"})", {{"META_PASSWORD", "a b'$(x)\"é"}}},
      {"JFS_RSA_PASSPHRASE: 12345678", {{"JFS_RSA_PASSPHRASE", "12345678"}}},
      {R"({"https_proxy":"http://u:p@proxy:3128/"})", {{"https_proxy", "http://u:p@proxy:3128/"}}},
  };
  for (const auto& row : rows) {
    const auto read = read_variables(row.text);
    ASSERT_TRUE(read) << row.text << ": " << read.error().message;
    EXPECT_EQ(*read, row.all) << row.text;
  }
}

TEST(ClientVariables, NamesThatALoaderAShellOrTheDriverReadsAreRefused) {
  for (const std::string name : {"LD_PRELOAD",
                                 "LD_LIBRARY_PATH",
                                 "LD_AUDIT",
                                 "GCONV_PATH",
                                 "PATH",
                                 "HOME",
                                 "BASH_ENV",
                                 "ENV",
                                 "IFS",
                                 "GODEBUG",
                                 "jfsSettings",
                                 "check_mount.sh",
                                 "metaurl",
                                 "encrypt_rsa_key",
                                 "init_config",
                                 "SSL_CERT_FILE",
                                 "AWS_CONFIG_FILE",
                                 "AWS_SHARED_CREDENTIALS_FILE",
                                 "AWS_PROFILE",
                                 "GOOGLE_APPLICATION_CREDENTIALS",
                                 "KUBECONFIG",
                                 "JFS_SUPERVISOR",
                                 "JFS_SUPER_COMM",
                                 "tz",
                                 "Meta_Password",
                                 "META_PASSWORD_FILE"}) {
    for (const std::string& text : {R"({")" + name + R"(":"canary"})", "{" + name + ": canary}",
                                    name + ": canary", "TZ: UTC\n" + name + ": canary"}) {
      const auto read = read_variables(text);
      ASSERT_TRUE(read.is(Code::kInvalid)) << text;
      EXPECT_NE(read.error().message.find("the variable " + name + ","), std::string::npos)
          << read.error().message;
      EXPECT_EQ(read.error().message.find("canary"), std::string::npos);
    }
  }
}

TEST(ClientVariables, AValueIsOneBoundedLine) {
  const std::string long_one(4097, 'x');
  const std::vector<std::string> all{R"({"META_PASSWORD":"canary\nLD_PRELOAD=/x"})",
                                     R"({"META_PASSWORD":"canary\u0000"})",
                                     R"({"META_PASSWORD":")" + long_one + "\"}",
                                     R"({"META_PASSWORD":"canary\u007f"})",
                                     R"({"AWS_REGION":"canary;x"})",
                                     R"({"TZ":"/etc/canary"})",
                                     R"({"TZ":":canary"})",
                                     R"({"TZ":"../canary"})",
                                     R"({"HTTP_PROXY":"http://canary x"})"};
  for (const std::string& text : all) {
    const auto read = read_variables(text);
    ASSERT_TRUE(read.is(Code::kInvalid)) << text;
    EXPECT_EQ(read.error().message.find("canary"), std::string::npos);
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
}

TEST(ClientVariables, AmbiguousYamlIsRefused) {
  for (const char* text :
       {"[]", "\"canary\"", "7", "canary", "TZ:UTC", "TZ: &a UTC", "TZ: |\n  UTC", "<<: *canary",
        "{TZ: {a: b}}", "TZ: UTC\nTZ: CET", R"({"TZ":7})", R"({"TZ":null})", "? TZ\n: UTC",
        "TZ: !!str UTC", "{TZ: 'it''s'}", "TZ: \"UTC", "TZ: UTC # canary",
        "META_PASSWORD: caf\xe9"}) {
    const auto read = read_variables(text);
    ASSERT_TRUE(read.is(Code::kInvalid)) << text;
    EXPECT_EQ(read.error().message.find("canary"), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace paddle::engine::juicefs
