// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_set.h"

#include <atomic>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "source/fake/fake_s3.h"

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::block_at;

class SourceSetTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
  }
  SourceSet set() { return SourceSet({.uri = "s3://bucket", .secret_directory = directory_}, ""); }
  Result<std::string> read(SourceSet& set, const ::paddle::samplefs::FileVersion& file) {
    std::string into(file.size, '?');
    CHECK_DONE(set.read(block_at(file, 0), std::as_writable_bytes(std::span(into)), {}));
    return into;
  }
  const Scratch scratch_{};
  const std::string directory_ = scratch_.path();
};

TEST_F(SourceSetTest, AReadKnowsSizeAndVersionIdOfItsFile) {
  source::FakeS3 server;
  server.put("a", "old");
  server.put("a", "newer");
  put("endpoint", server.url());
  SourceSet sources = set();
  const auto got =
      read(sources, {.path = "a", .object = "a", .etag = "etag1", .size = 3, .version_id = "id1"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "old");
  EXPECT_FALSE(server.seen()[0].headers.contains("range")) << "the whole object, with its checksum";
}

TEST_F(SourceSetTest, ASourceThatRefusesReadsAndAProbeIsReportedUntilItAnswers) {
  std::atomic<bool> refuses = false;
  source::FakeS3 server({}, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    if (refuses) wire.reply(403, "");
    return refuses.load();
  });
  server.put("a", "12345");
  put("endpoint", server.url());
  SourceSet sources = set();
  const ::paddle::samplefs::FileVersion file{
      .path = "a", .object = "a", .etag = "etag1", .size = 5};
  refuses = true;
  ASSERT_TRUE(read(sources, file).is(Code::kForbidden));
  EXPECT_EQ(sources.trouble(), "");
  sources.probe({});
  EXPECT_NE(sources.trouble().find("s3://bucket at http://127.0.0.1"), std::string::npos)
      << sources.trouble();
  refuses = false;
  ASSERT_TRUE(read(sources, file));
  EXPECT_EQ(sources.trouble(), "");
}

TEST_F(SourceSetTest, ListingAndReadsOfASourceShareOneBudget) {
  SourcePaces paces;
  const auto one = paces.of("s3://a http://h", 1000);
  EXPECT_EQ(one, paces.of("s3://a http://h", 2000));
  EXPECT_NE(one, paces.of("s3://b http://h", 1000));

  source::FakeS3 server;
  server.put("a", "12345");
  put("endpoint", server.url());
  put("bwlimit", "1");
  SourceSet sources = set();
  const auto listing = sources.open({}, {{"endpoint", server.url()}, {"bwlimit", "1"}});
  ASSERT_TRUE(listing->refresh());
  // A read through the one source leaves no time for a read of the other: 125,000 bytes a second.
  std::string into(1'250'000, '?');
  const auto bytes = std::as_writable_bytes(std::span(into));
  (void)listing->read("a", "etag1", 0, bytes, {{}, system_clock().boot() + std::chrono::hours(1)});
  const auto block = block_at({.path = "a", .object = "a", .etag = "etag1", .size = 5}, 0);
  const auto late = sources.read(block, bytes.subspan(0, 5),
                                 {{}, system_clock().boot() + std::chrono::seconds(1)});
  ASSERT_TRUE(late.is(Code::kDeadline));
  EXPECT_NE(late.error().message.find("rate limit"), std::string::npos) << late.error().message;
}

TEST_F(SourceSetTest, AServerWithACertificateOfItsOwnAuthorityIsTrustedByCaCrt) {
  const net::Pair ca = net::make_ca("store");
  net::ScriptedServer server(
      [](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
        wire.reply(200, "bytes", {{"ETag", "\"e\""}});
      },
      net::ScriptedServer::Tls{.server = net::make_leaf(ca, {})});
  put("endpoint", "https://127.0.0.1:" + std::to_string(server.port()));
  put("ca.crt", net::make_ca("another").cert);
  const ::paddle::samplefs::FileVersion file{.path = "a", .object = "a", .etag = "e", .size = 5};
  SourceSet sources = set();
  std::string into(5, '?');
  const auto refused = sources.read(block_at(file, 0), std::as_writable_bytes(std::span(into)),
                                    {{}, system_clock().boot() + std::chrono::milliseconds(100)});
  EXPECT_TRUE(refused.is(Code::kUntrusted)) << (refused ? "trusted" : refused.error().message);
  put("ca.crt", ca.cert);
  SourceSet again = set();
  const auto got = read(again, file);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "bytes");

  // The Secret of a job comes as values.
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port());
  const auto of_job = sources.open({}, {{"endpoint", url}, {"ca.crt", ca.cert}});
  const auto done = of_job->read("a", "e", 0, std::as_writable_bytes(std::span(into)), {});
  EXPECT_TRUE(done) << done.error().message;
}

}  // namespace
}  // namespace paddle::engine::samplefs
