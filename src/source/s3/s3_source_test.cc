// SPDX-License-Identifier: Apache-2.0
#include "source/s3/s3_source.h"

#include <atomic>

#include <gtest/gtest.h>

#include "source/checksum.h"
#include "source/fake/fake_s3.h"

namespace paddle::source {
namespace {

const S3Credentials kKeys{
    .access_key = "AKIACANARY", .secret_key = "hunter2", .session_token = "canary-token"};

S3Options options_for(const FakeS3& server, S3Credentials credentials = kKeys) {
  S3Options options;
  options.uri.bucket = FakeS3::kBucket;
  options.endpoint = server.url();
  options.credentials = std::move(credentials);
  return options;
}

Result<Listed> list_all(Source& source) {
  return source.list([](Object&&) -> Result<> { return Done{}; }, {});
}

Result<std::string> read(Source& source, const std::string& path, const std::string& etag,
                         std::size_t size, std::uint64_t offset = 0) {
  std::string into(size, '?');
  CHECK_DONE(source.read(path, etag, offset, std::as_writable_bytes(std::span(into)), {}));
  return into;
}

TEST(S3Source, AnAnonymousRequestIsNotSigned) {
  FakeS3 server{S3Credentials{}};
  server.put("a", "x");
  auto source = *S3Source::create(options_for(server, {}));
  EXPECT_EQ(*list_all(*source), (Listed{.objects = 1, .bytes = 1}));
}

TEST(S3Source, AWrongSecretIsForbiddenAndShowsNoCredential) {
  FakeS3 server{S3Credentials{.access_key = "AKIACANARY", .secret_key = "other"}};
  auto source = *S3Source::create(options_for(server));
  const auto listed = list_all(*source);
  ASSERT_TRUE(listed.is(Code::kForbidden));
  EXPECT_NE(listed.error().message.find("SignatureDoesNotMatch"), std::string::npos);
  for (const char* secret : {"hunter2", "AKIACANARY", "canary-token", "Signature="}) {
    EXPECT_EQ(listed.error().message.find(secret), std::string::npos);
  }
  EXPECT_EQ(server.seen().size(), 1u) << "not worth another attempt";
}

TEST(S3Source, DirectoryObjectsAndInvalidPathsAreLeftOut) {
  FakeS3 server{kKeys};
  for (const char* key : {"dir/", "dir/x", "a//b", "a/../b", "/lead"}) server.put(key, "x");
  auto source = *S3Source::create(options_for(server));
  const auto listed = *list_all(*source);
  EXPECT_EQ(listed.objects, 1u);
  EXPECT_EQ(listed.bytes, 1u);
  EXPECT_EQ(listed.left_out.count, 4u);
  EXPECT_EQ(listed.left_out.examples,
            (std::vector<std::string>{"'/lead' (an empty part)", "'a/../b' (a part . or ..)",
                                      "'a//b' (an empty part)", "'dir/' (an empty part)"}));
}

TEST(S3Source, ADirectoryMarkerIsNotCountedAsLeftOut) {
  FakeS3 server{kKeys};
  server.put("dir/", "");
  server.put("dir/x", "x");
  server.put("dir//", "");
  auto source = *S3Source::create(options_for(server));
  const auto listed = *list_all(*source);
  EXPECT_EQ(listed.objects, 1u);
  EXPECT_EQ(listed.left_out.examples, std::vector<std::string>{"'dir//' (an empty part)"});
}

TEST(S3Source, TransientFailuresAreRetriedWithPauses) {
  std::atomic<int> calls = 0;
  FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    switch (calls++) {
      case 0:
        wire.reply(503, "<Error><Code>SlowDown</Code></Error>", {{"Retry-After", "7"}});
        break;
      case 1:
        wire.reply(500, "<Error><Code>InternalError</Code></Error>");
        break;
      case 2:
        wire.reset();
        break;
      case 3:
        wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<List");
        wire.close();
        break;
      default:
        return false;
    }
    return true;
  });
  server.put("a", "x");
  ManualClock clock(system_clock().wall());
  const BootTime before = clock.boot();
  Random random(1);
  auto source = *S3Source::create(options_for(server), clock, random);
  const auto listed = list_all(*source);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->objects, 1u);
  EXPECT_EQ(calls, 5);
  EXPECT_GE(clock.boot() - before, std::chrono::seconds(7)) << "Retry-After was not honoured";
}

TEST(S3Source, GivesUpAfterTheLastAttempt) {
  FakeS3 server(kKeys, [](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    wire.reply(503, "");
    return true;
  });
  ManualClock clock;
  Random random(1);
  S3Options options = options_for(server);
  options.retry.attempts = 3;
  auto source = *S3Source::create(options, clock, random);
  EXPECT_TRUE(list_all(*source).is(Code::kUnavailable));
  EXPECT_EQ(server.seen().size(), 3u);
}

// Reads the whole object, whose size is known.
Result<std::string> read_whole(Source& source, const std::string& path, const std::string& etag,
                               std::size_t size, const std::string& version_id = {}) {
  std::string into(size, '?');
  CallContext context;
  context.object = {.size = size, .version_id = version_id};
  CHECK_DONE(source.read(path, etag, 0, std::as_writable_bytes(std::span(into)), context));
  return into;
}

std::string md5_of(std::string_view text) {
  std::string shown;
  for (const char c : digest_of(ChecksumKind::kMd5, std::as_bytes(std::span(text)))) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    shown += two;
  }
  return shown;
}

TEST(S3Source, AfterACutOnlyTheRestIsRequested) {
  const std::string bytes(200'000, 'x');
  std::atomic<int> cut = 0;
  FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    if (cut++ > 0) return false;
    wire.send("HTTP/1.1 200 OK\r\nETag: \"etag1\"\r\nContent-Length: 200000\r\n\r\n" +
              bytes.substr(0, 150'000));
    wire.close();
    return true;
  });
  server.put("a", bytes);
  ManualClock clock(system_clock().wall());
  Random random(1);
  auto source = *S3Source::create(options_for(server), clock, random);
  const auto got = read_whole(*source, "a", "etag1", bytes.size());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, bytes);
  ASSERT_EQ(server.seen().size(), 2u);
  EXPECT_FALSE(server.seen()[0].headers.contains("range"));
  EXPECT_EQ(server.seen()[1].headers.at("range"), "bytes=150000-199999");
  EXPECT_EQ(server.seen()[1].headers.at("if-match"), "\"etag1\"");
}

TEST(S3Source, ALinkThatBreaksAgainAndAgainDeliversInTheEnd) {
  const std::string bytes(2'000'000, 'y');
  FakeS3 server(kKeys, [&](const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
    unsigned long long first = 0;
    std::sscanf(request.headers.at("range").c_str(), "bytes=%llu-", &first);
    const std::string range = "bytes " + std::to_string(first) + "-1999999/5000000";
    wire.send("HTTP/1.1 206 Partial Content\r\nETag: \"etag1\"\r\nContent-Range: " + range +
              "\r\nContent-Length: " + std::to_string(bytes.size() - first) + "\r\n\r\n" +
              bytes.substr(first, 100'000));
    wire.close();
    return true;
  });
  ManualClock clock(system_clock().wall());
  Random random(1);
  auto source = *S3Source::create(options_for(server), clock, random);
  const auto got = read(*source, "a", "etag1", bytes.size());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, bytes);
  EXPECT_EQ(server.seen().size(), 20u) << "nothing is fetched twice";
}

TEST(S3Source, ABodyThatStallsIsResumed) {
  std::atomic<int> calls = 0;
  FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    if (calls++ > 0) return false;
    wire.send("HTTP/1.1 200 OK\r\nETag: \"etag1\"\r\nContent-Length: 5\r\n\r\nri");
    wire.wait_for_peer();
    return true;
  });
  server.put("a", "right");
  S3Options options = options_for(server);
  options.stall_timeout = std::chrono::milliseconds(50);
  auto source = *S3Source::create(options);
  EXPECT_EQ(*read_whole(*source, "a", "etag1", 5), "right");
  EXPECT_EQ(server.seen()[1].headers.at("range"), "bytes=2-4");
}

TEST(S3Source, AWrongBodyIsFetchedAgainAndThenAnError) {
  const std::string md5 = md5_of("right");
  for (const bool by_md5 : {true, false}) {
    std::atomic<int> wrong = 1;
    const std::string etag = by_md5 ? md5 : "e";
    FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
      if (wrong-- <= 0) return false;
      FakeS3::HeaderList headers{{"ETag", "\"" + etag + "\""}};
      if (!by_md5) headers.emplace_back("x-amz-checksum-crc32", "LdYY3Q==");
      wire.reply(200, "wrong", headers);
      return true;
    });
    server.put("a", "right", etag);
    ManualClock clock(system_clock().wall());
    Random random(1);
    auto source = *S3Source::create(options_for(server), clock, random);
    const auto second = read_whole(*source, "a", etag, 5);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(*second, "right");
    EXPECT_EQ(server.seen()[0].headers.at("x-amz-checksum-mode"), "ENABLED");
    wrong = 1000;
    const auto never = read_whole(*source, "a", etag, 5);
    ASSERT_TRUE(never.is(Code::kUnavailable));
    EXPECT_NE(never.error().message.find("does not match its checksum"), std::string::npos);
  }
}

TEST(S3Source, AnOverwrittenVersionIsReadByItsId) {
  FakeS3 server(kKeys);
  server.put("a", "old");
  server.put("a", "newer");
  auto source = *S3Source::create(options_for(server));
  EXPECT_TRUE(read_whole(*source, "a", "etag1", 3).is(Code::kConflict));
  EXPECT_EQ(*read_whole(*source, "a", "etag1", 3, "id1"), "old");
  EXPECT_EQ(*read_whole(*source, "a", "etag2", 5, "id2"), "newer");
  server.remove("a");
  EXPECT_EQ(*read_whole(*source, "a", "etag1", 3, "id1"), "old");
  EXPECT_TRUE(read_whole(*source, "a", "etag1", 3, "id9").is(Code::kNotFound));
  EXPECT_TRUE(read_whole(*source, "a", "other", 3, "id1").is(Code::kConflict))
      << "an id is no licence for other bytes";
}

TEST(S3Source, ABucketCanBePartOfTheHostName) {
  FakeS3 server(kKeys, [](const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
    wire.reply(200, request.target + " of " + request.headers.at("host"), {{"ETag", "\"e\""}});
    return true;
  });
  S3Options options = options_for(server);
  options.path_style = false;
  options.endpoint = server.url("localhost");
  const std::string host = "bucket." + options.endpoint.substr(std::string("http://").size());
  const std::string expected = "/a%20b of " + host;
  auto source = *S3Source::create(options);
  const auto got = read_whole(*source, "a b", "e", expected.size());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, expected);
}

class CountingLimiter final : public RateLimiter {
 public:
  Result<> take(std::uint64_t bytes, const CallContext&) override {
    taken += bytes;
    if (bytes > 100'000) return Error{Code::kDeadline, "the rate limit leaves no time"};
    return Done{};
  }
  std::atomic<std::uint64_t> taken = 0;
};

TEST(S3Source, ReadsAndListingsTakeFromOneBudget) {
  FakeS3 server(kKeys);
  server.put("a", "12345");
  const auto limiter = std::make_shared<CountingLimiter>();
  S3Options options = options_for(server);
  options.rate_limiter = limiter;
  auto source = *S3Source::create(options);
  ASSERT_TRUE(list_all(*source));
  const std::uint64_t listing = limiter->taken;
  EXPECT_GT(listing, 100u);
  ASSERT_TRUE(read(*source, "a", "etag1", 5));
  EXPECT_EQ(limiter->taken, listing + 5);
  const std::size_t asked = server.seen().size();
  EXPECT_TRUE(read(*source, "a", "etag1", 200'000).is(Code::kDeadline));
  EXPECT_EQ(server.seen().size(), asked) << "refused before the transfer";
}

// Servers that violate the protocol: no response may turn into wrong bytes.
TEST(S3Source, WrongResponsesAreErrors) {
  const auto answered = [](int status, const std::string& body, net::ScriptedConnection& wire,
                           const std::vector<std::pair<std::string, std::string>>& headers) {
    wire.reply(status, body, headers);
    return true;
  };
  struct Case {
    int status;
    const char* body;
    std::vector<std::pair<std::string, std::string>> headers;
    Code code;
  };
  const std::vector<Case> cases{
      {206, "12345", {{"ETag", "\"other\""}, {"Content-Range", "bytes 3-7/9"}}, Code::kConflict},
      {206, "12345", {{"ETag", "\"e\""}, {"Content-Range", "bytes 0-4/9"}}, Code::kInvalid},
      {206, "12345", {{"ETag", "\"e\""}}, Code::kInvalid},
      {206, "1234", {{"ETag", "\"e\""}, {"Content-Range", "bytes 3-7/9"}}, Code::kUnavailable},
      {200, "12345", {{"ETag", "\"e\""}}, Code::kInvalid},      // ranges ignored
      {200, "123456789", {{"ETag", "\"e\""}}, Code::kInvalid},  // the whole object
      {301, "", {{"Location", "http://elsewhere/"}}, Code::kInvalid},
      {304, "", {}, Code::kInvalid},
      {416, "", {}, Code::kInvalid},
      {429, "", {}, Code::kThrottled},
      {400, "<Error><Code>RequestTimeout</Code></Error>", {}, Code::kUnavailable},
      {401, "", {}, Code::kUnauthorized},
      {403, "<Error><Code>AccessDenied</Code></Error>", {}, Code::kForbidden},
      {400, "<Error><Code>ExpiredToken</Code></Error>", {}, Code::kUnauthorized},
      {403, "<Error><Code>ExpiredToken</Code></Error>", {}, Code::kUnauthorized},
      {400, "<Error><Code>InvalidToken</Code></Error>", {}, Code::kUnauthorized},
      {400, "<Error><Code>TokenRefreshRequired</Code></Error>", {}, Code::kUnauthorized},
      {400, "<Error><Code>InvalidArgument</Code></Error>", {}, Code::kInvalid},
  };
  for (const Case& wrong : cases) {
    FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
      return answered(wrong.status, wrong.body, wire, wrong.headers);
    });
    S3Options options = options_for(server);
    options.retry.attempts = 1;
    auto source = *S3Source::create(options);
    const auto got = read(*source, "a", "e", 5, 3);
    EXPECT_TRUE(got.is(wrong.code)) << wrong.status << " " << wrong.body;
  }
}

TEST(S3Source, AListingThatRepeatsAPageIsAnError) {
  FakeS3 server(kKeys, [](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    wire.reply(200,
               "<ListBucketResult><IsTruncated>true</IsTruncated>"
               "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>");
    return true;
  });
  auto source = *S3Source::create(options_for(server));
  EXPECT_TRUE(list_all(*source).is(Code::kInvalid));
}

TEST(S3Source, RejectsABadEndpointAndSupportsBothAddressStyles) {
  S3Options options;
  options.uri.bucket = "bucket";
  for (const char* bad :
       {"127.0.0.1:9000", "ftp://host", "http://host/path", "http://u:p@host", "http://host?x=y"}) {
    options.endpoint = bad;
    EXPECT_TRUE(S3Source::create(options).is(Code::kInvalid)) << bad;
  }
  options.endpoint = "http://[::1]:9000/";
  EXPECT_TRUE(S3Source::create(options));
  options.endpoint = "";
  EXPECT_TRUE(S3Source::create(options));
}

TEST(S3Source, ARejectedReadIsRetriedUntilItsDeadlineAndNotBeyond) {
  FakeS3 server(kKeys, [](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    wire.reply(503, "");
    return true;
  });
  ManualClock clock;
  Random random(1);
  auto source = *S3Source::create(options_for(server), clock, random);
  const BootTime until = clock.boot() + std::chrono::seconds{2};
  std::string into(5, '?');
  const auto bytes = std::as_writable_bytes(std::span(into));
  EXPECT_TRUE(source->read("a", "e", 0, bytes, {{}, until}).is(Code::kUnavailable));
  EXPECT_LT(clock.boot(), until) << "a pause that would last longer is not begun";
  const std::size_t asked = server.seen().size();
  EXPECT_GT(asked, 1u);
  EXPECT_LT(asked, 7u);

  clock.advance(std::chrono::seconds{2});
  EXPECT_TRUE(source->read("a", "e", 0, bytes, {{}, until}).is(Code::kDeadline));
  EXPECT_EQ(server.seen().size(), asked) << "there is no time to ask";
}

TEST(S3Source, AHangingServerLeavesTimeForAnotherConnection) {
  std::atomic<int> calls = 0;
  FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    if (calls++ > 0) return false;
    wire.wait_for_peer();
    return true;
  });
  server.put("a", "right");
  auto source = *S3Source::create(options_for(server));
  std::string into(5, '?');
  const BootTime until = system_clock().boot() + std::chrono::seconds{4};
  const auto done =
      source->read("a", "etag1", 0, std::as_writable_bytes(std::span(into)), {{}, until});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(into, "right");
}

TEST(S3Source, AHangingOrSlowServerIsAbandonedAtTheDeadline) {
  std::atomic<bool> drips = false;
  FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    if (drips) {
      wire.send(
          "HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Range: bytes 0-4/9\r\n"
          "Content-Length: 5\r\n\r\nr");
    }
    wire.wait_for_peer();
    return true;
  });
  auto source = *S3Source::create(options_for(server));
  std::string into(5, '?');
  for (const bool drip : {false, true}) {
    drips = drip;
    const BootTime until = system_clock().boot() + std::chrono::milliseconds{200};
    const auto done =
        source->read("a", "e", 0, std::as_writable_bytes(std::span(into)), {{}, until});
    EXPECT_TRUE(done.is(Code::kDeadline)) << drip;
  }
}

TEST(S3Source, AStopEndsTheWaitBetweenAttempts) {
  std::stop_source stop;
  FakeS3 server(kKeys, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    wire.reply(503, "", {{"Retry-After", "30"}});
    stop.request_stop();
    return true;
  });
  auto source = *S3Source::create(options_for(server));
  const auto listed = source->list([](Object&&) -> Result<> { return Done{}; }, stop.get_token());
  EXPECT_TRUE(listed.is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::source
