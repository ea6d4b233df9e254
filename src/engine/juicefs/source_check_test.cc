// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/source_check.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

TEST(JuicefsSourceCheck, AcceptsTheSchemesOfJuicefs) {
  for (const char* uri :
       {"bos://paddleflow-public.hkg.bcebos.com/imagenet/demo", "s3://bucket.s3.amazonaws.com/a",
        "minio://10.0.0.1:9000/bucket/prefix/", "hdfs://name:8020/data", "nfs://host:/export",
        "sftp://user@host:22:/data", "hdfs://user@name:8020/data",
        "minio://10.0.0.1:9000/bucket/v@1/"}) {
    EXPECT_TRUE(check_source(uri)) << uri;
  }
}

TEST(JuicefsSourceCheck, RefusesOtherSchemesAndListsTheKnownOnes) {
  for (const char* uri : {"jss://bucket.x/y", "http://host/path", "bucket/path", "://bucket",
                          "S3://bucket/x", "s3://a/s3://b"}) {
    const auto checked = check_source(uri);
    ASSERT_TRUE(checked.is(Code::kInvalid)) << uri;
    EXPECT_NE(checked.error().message.find("b2, bos, cos"), std::string::npos) << uri;
  }
  for (const char* uri : {"file:///etc", "s3:///x", "s3://b/a b", "s3://b/\n"}) {
    EXPECT_TRUE(check_source(uri).is(Code::kInvalid)) << uri;
  }
  // It would not run on a cluster, which is where this engine is.
  EXPECT_EQ(check_source("file:///etc").error().message.find("samplefs"), std::string::npos);
}

TEST(JuicefsSourceCheck, RefusesWhatOurBuildOfJuicefsLacksAndSaysWhatToDo) {
  for (const char* uri : {"gs://bucket/x", "ceph://pool/x", "wasb://c.host/x", "mysql://h/db"}) {
    const auto checked = check_source(uri);
    ASSERT_TRUE(checked.is(Code::kInvalid)) << uri;
    EXPECT_NE(checked.error().message.find("built without; use s3://"), std::string::npos) << uri;
  }
}

TEST(JuicefsSourceCheck, RefusesUrisAtWhichJuicefsFails) {
  for (const char* uri : {"nfs://host/export", "sftp://user@host/data"}) {
    const auto checked = check_source(uri);
    ASSERT_TRUE(checked.is(Code::kInvalid)) << uri;
    EXPECT_NE(checked.error().message.find("://HOST:/DIRECTORY"), std::string::npos) << uri;
  }
  EXPECT_TRUE(check_source("redis://host:6379/1").is(Code::kInvalid));
}

TEST(JuicefsSourceCheck, RefusesCredentialsInTheUriAndDoesNotRepeatThem) {
  for (const char* uri : {"s3://canary-key:canary-secret@bucket.host/x",
                          "s3://canary-key:canary/secret@bucket.host/x"}) {
    const auto checked = check_source(uri);
    ASSERT_TRUE(checked.is(Code::kInvalid)) << uri;
    EXPECT_EQ(checked.error().message.find("canary"), std::string::npos);
  }
}

}  // namespace
}  // namespace paddle::engine::juicefs
