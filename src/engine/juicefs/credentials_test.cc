// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/credentials.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/juicefs/metadata_url.h"

namespace paddle::engine::juicefs {
namespace {

const Credentials kTutorial = {{"name", "imagenet\n"},
                               {"storage", "redis\n"},
                               {"bucket", "redis://192.168.7.227:6379/1\n"},
                               {"metaurl", " redis://192.168.7.227:6379/0\n"}};

std::map<std::string, std::string> made(const Credentials& given) {
  auto data = volume_secret(given);
  EXPECT_TRUE(data) << (data ? "" : data.error().message);
  return data ? *data : std::map<std::string, std::string>{};
}

Credentials with(Credentials more) {
  more.insert(kTutorial.begin(), kTutorial.end());
  return more;
}

TEST(JuicefsCredentials, ANewlineAtTheEndOfAValueIsRemoved) {
  const auto data = made(kTutorial);
  EXPECT_EQ(data.at("name"), "imagenet");
  EXPECT_EQ(data.at("metaurl"), "redis://192.168.7.227:6379/0");
  EXPECT_EQ(data.size(), 3u);
  const Credentials expected = {{"metaurl", "redis://192.168.7.227:6379/0"},
                                {"storage", "redis"},
                                {"bucket", "redis://192.168.7.227:6379/1"}};
  EXPECT_EQ(unsealed(data.at("password")), expected);
}

TEST(JuicefsCredentials, TheDriverGetsNoKeyAndNoPasswordThatItShows) {
  const auto data = made(with({{"metaurl", "redis://u:canary%2Fpass@host/1"},
                               {"access-key", "canary-key"},
                               {"secret-key", "canary/+secret"},
                               {"other", "canary-unknown"}}));
  for (const auto& [key, value] : data) {
    if (key == "password" || key == "envs") continue;
    EXPECT_EQ(value.find("canary"), std::string::npos) << key;
  }
  EXPECT_EQ(data.at("metaurl"), "redis://u@host/1");
  EXPECT_EQ(data.at("envs"), R"({"META_PASSWORD":"canary/pass"})");
  const auto ours = unsealed(data.at("password"));
  EXPECT_EQ(ours.at("metaurl"), "redis://u:canary%2Fpass@host/1");
  EXPECT_EQ(ours.at("access-key"), "canary-key");
  EXPECT_EQ(ours.at("secret-key"), "canary/+secret");
  EXPECT_FALSE(ours.contains("other"));
}

TEST(JuicefsCredentials, AnInvalidSealedTextHasNoKeys) {
  for (const char* text : {"", "x", "[]", "{\"a\": 1}"})
    EXPECT_TRUE(unsealed(text).empty()) << text;
}

TEST(JuicefsCredentials, ThePasswordIsAddedToTheUsersVariables) {
  const char* url = "redis://:p@host/1";
  EXPECT_EQ(made(with({{"metaurl", url}, {"envs", R"({"TZ":"UTC"})"}})).at("envs"),
            R"({"META_PASSWORD":"p","TZ":"UTC"})");
  EXPECT_EQ(made(with({{"metaurl", url}, {"envs", "TZ: UTC"}})).at("envs"),
            R"({"META_PASSWORD":"p","TZ":"UTC"})");
  const auto own = made(with({{"metaurl", "host/1"}, {"envs", R"({"META_PASSWORD":"a/b"})"}}));
  EXPECT_EQ(own.at("envs"), R"({"META_PASSWORD":"a/b"})");
  EXPECT_EQ(own.at("metaurl"), "redis://host/1");
  EXPECT_EQ(unsealed(own.at("password")).at("metaurl"), "redis://:a%2Fb@host/1");
}

// Each of these has been a way to root on the node: the driver is privileged, and trusts its
// Secret.
TEST(JuicefsCredentials, KeysThatControlThePrivilegedDriverAreRefused) {
  const struct {
    Credentials more;
    const char* says;
  } rows[] = {
      {{{"envs", R"({"LD_PRELOAD":"/var/lib/kubelet/pods/canary/volumes/x.so"})"}}, "LD_PRELOAD"},
      {{{"envs", R"({"jfsSettings":"{\"Attr\":{\"Image\":\"canary\",\"HostPID\":true}}"})"}},
       "jfsSettings"},
      {{{"envs", "{check_mount.sh: canary}"}}, "check_mount.sh"},
      {{{"configs", R"({"canary-secret-of-kube-system":"/stolen"})"}}, "'configs'"},
      {{{"passphrase", "canary\nLD_PRELOAD=/x.so"}}, "'passphrase'"},
      {{{"encrypt_rsa_key", "canary"}}, "'encrypt_rsa_key'"},
      {{{"metaurl", "redis://:canary%0aLD_PRELOAD=x@host/1"}}, "'metaurl'"},
      {{{"metaurl", "sqlite3:///var/lib/kubelet/canary.db"}}, "'metaurl'"},
      {{{"metaurl", "-canary://x"}}, "metaurl is not a URL"},
      {{{"metaurl", "mysql://u@(canary:3306)/db?allowAllFiles=true"}}, "allowAllFiles"},
      {{{"metaurl", "mysql://u@(canary:3306)/db?charset=utf8&allowAllFiles=true"}},
       "allowAllFiles"},
      {{{"metaurl", "rediss://canary/1?tls-key-file=/var/lib/kubelet/pki/x"}}, "tls-key-file"},
      {{{"metaurl", "etcd://canary/x?cert=/var/lib/kubelet/pki/x"}}, "parameter cert,"},
  };
  for (const auto& row : rows) {
    const auto refused = volume_secret(with(row.more));
    ASSERT_TRUE(refused.is(Code::kInvalid)) << row.says;
    const std::string& message = refused.error().message;
    EXPECT_NE(message.find(row.says), std::string::npos) << message;
    EXPECT_EQ(message.find("canary"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(JuicefsCredentials, KeysThatUsersNeedAreAccepted) {
  const auto data =
      made(with({{"envs", "{TZ: Asia/Shanghai, AWS_REGION: us-east-1}"},
                 {"passphrase", "a b$c"},
                 {"encrypt_rsa_key", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END"},
                 {"configs", " \n"}}));
  EXPECT_EQ(data.at("envs"), R"({"AWS_REGION":"us-east-1","TZ":"Asia/Shanghai"})");
  EXPECT_EQ(data.at("passphrase"), "a b$c");
  EXPECT_EQ(data.at("encrypt_rsa_key"), "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END");
  EXPECT_FALSE(data.contains("configs"));
  for (const char* url : {"rediss://u:p@host:1/2?insecure-skip-verify=true&read-timeout=3s",
                          "redis://:p@a,b,c:26379/1?route-read=replica", "host/0"}) {
    EXPECT_TRUE(volume_secret(with({{"metaurl", url}}))) << url;
  }
}

TEST(JuicefsCredentials, WhatOurBuildOfJuicefsLacksIsRefusedWithWhatToDo) {
  for (const char* url : {"mysql://u:p@(h:3306)/db?tls=skip-verify",
                          "postgres://u:p@h:5432/db?sslmode=disable&search_path=x",
                          "tikv://a:1,b:2/x?gc-interval=3h", "etcd://h:2379/x"}) {
    const auto refused = volume_secret(with({{"metaurl", url}}));
    ASSERT_TRUE(refused.is(Code::kInvalid)) << url;
    EXPECT_NE(refused.error().message.find("built without; use redis"), std::string::npos);
  }
  const auto storage = [](const char* kind) {
    const auto data = volume_secret(with({{"storage", kind}, {"bucket", "b.host"}}));
    return data ? "fine" : data.error().message;
  };
  EXPECT_NE(storage("gs").find("built without"), std::string::npos);
  EXPECT_NE(storage("file").find("is none of b2, bos"), std::string::npos);
  EXPECT_NE(storage("gopher").find("is none of b2, bos"), std::string::npos);
  for (const char* kind : {"bos", "s3", "oss", "minio", "redis"}) EXPECT_EQ(storage(kind), "fine");
}

TEST(JuicefsCredentials, APasswordInABucketBecomesItsKey) {
  const auto data = made(with({{"bucket", "redis://:secret@host:6379/1"}}));
  const auto ours = unsealed(data.at("password"));
  EXPECT_EQ(ours.at("bucket"), "redis://host:6379/1");
  EXPECT_EQ(ours.at("secret-key"), "secret");
}

TEST(JuicefsCredentials, APasswordInABucketIsRefusedAndNotShown) {
  const auto short_form = made(with({{"bucket", ":secret@host:6379/1"}}));
  EXPECT_EQ(unsealed(short_form.at("password")).at("bucket"), "redis://host:6379/1");
  EXPECT_EQ(unsealed(short_form.at("password")).at("secret-key"), "secret");
  for (const char* bucket : {"u:canary@(h:3306)/db", "mysql://u:canary@(h:3306)/db",
                             "postgres://u:can/ary@h/db", "https://ak:canary@b.host"}) {
    const auto refused = volume_secret(with({{"storage", "mysql"}, {"bucket", bucket}}));
    ASSERT_TRUE(refused.is(Code::kInvalid)) << bucket;
    EXPECT_EQ(refused.error().message.find("canary"), std::string::npos);
    EXPECT_NE(refused.error().message.find("secret-key"), std::string::npos);
  }
  for (const char* bucket : {"(h:3306)/db", "https://b.host:9000/a@b", "user@host:/path"}) {
    const auto data = made(with({{"storage", "nfs"}, {"bucket", bucket}}));
    EXPECT_EQ(unsealed(data.at("password")).at("bucket"), bucket);
  }
}

TEST(JuicefsCredentials, AnErrorNamesTheMissingKey) {
  const auto says = [](const Credentials& given) {
    const auto data = volume_secret(given);
    return data ? "fine" : data.error().message;
  };
  EXPECT_NE(says({}).find("no 'name'"), std::string::npos);
  EXPECT_NE(says({{"name", "imagenet"}, {"metaurl", " \n"}}).find("no 'metaurl'"),
            std::string::npos);
  EXPECT_EQ(says({{"name", "imagenet"}, {"metaurl", "host"}}), "fine");
  EXPECT_NE(says({{"name", "imagenet"}, {"metaurl", "host"}, {"storage", "s3"}}).find("'bucket'"),
            std::string::npos);
  EXPECT_NE(says({{"name", "imagenet"}, {"metaurl", "host"}, {"bucket", "x"}}).find("'storage'"),
            std::string::npos);
  for (const char* name : {"ab", "Abc", "-ab", "ab-", "a_b"}) {
    EXPECT_NE(says({{"name", name}, {"metaurl", "host"}}).find("'name'"), std::string::npos)
        << name;
  }
  const auto odd = says({{"name", "imagenet"}, {"metaurl", "redis://:canary @host"}});
  EXPECT_NE(odd, "fine");
  EXPECT_EQ(odd.find("canary"), std::string::npos);
}

TEST(JuicefsMetadataUrl, IsParsedAsJuicefsParsesIt) {
  const struct {
    const char* given;
    const char* bare;
    const char* password;
  } rows[] = {
      {"host:6379/1", "redis://host:6379/1", ""},
      {"redis://host", "redis://host", ""},
      {"redis://:p@host", "redis://host", "p"},
      {"rediss://u:p%40@host:1/2?x=y", "rediss://u@host:1/2?x=y", "p@"},
      {"redis://u@host", "redis://u@host", ""},
      {"redis://u:@host", "redis://u:@host", ""},
      {"mysql://u:p@(host:3306)/db", "mysql://u@(host:3306)/db", "p"},
      {"postgres://u:p@host/db", "postgres://u@host/db", "p"},
      {"tikv://a:1,b:2/x", "tikv://a:1,b:2/x", ""},
      {"tikv://a:1,b:2/x@y", "tikv://a:1,b:2/x@y", ""},
      {"etcd://u@host:2379/x", "etcd://u@host:2379/x", ""},
  };
  for (const auto& row : rows) {
    const auto url = read_metadata_url(row.given, "");
    ASSERT_TRUE(url) << row.given;
    EXPECT_EQ(url->bare, row.bare);
    EXPECT_EQ(url->password, row.password) << row.given;
  }
}

TEST(JuicefsMetadataUrl, APasswordThatWouldBeOnACommandLineIsRefused) {
  for (const char* given :
       {"redis://:canary%zz@host", "etcd://u:canary@host/x", "etcd://u:canary/x@host/x"}) {
    const auto url = read_metadata_url(given, "");
    ASSERT_TRUE(url.is(Code::kInvalid)) << given;
    EXPECT_EQ(url.error().message.find("canary"), std::string::npos);
  }
}

}  // namespace
}  // namespace paddle::engine::juicefs
