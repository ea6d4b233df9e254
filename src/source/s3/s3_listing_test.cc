// SPDX-License-Identifier: Apache-2.0
//
// Listings of a fake server through S3Source::list(): in parts, resumed, endless and hostile.
#include "source/s3/s3_listing.h"

#include <atomic>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "source/fake/fake_s3.h"
#include "source/s3/s3_source.h"

namespace paddle::source {
namespace {

S3Options listing_of(const FakeS3& server) {
  S3Options options;
  options.uri.bucket = FakeS3::kBucket;
  options.endpoint = server.url();
  return options;
}

struct Seen {
  std::map<std::string, Object> objects{};
  Listed listed{};
  int twice = 0;
};

Result<Seen> list(S3Options options, const Clock& clock = system_clock()) {
  Random random(1);
  TRY(const auto source, S3Source::create(std::move(options), clock, random));
  Seen seen;
  TRY(seen.listed, source->list(
                       [&](Object&& object) -> Result<> {
                         seen.twice += seen.objects.contains(object.path) ? 1 : 0;
                         seen.objects[object.path] = std::move(object);
                         return Done{};
                       },
                       {}));
  return seen;
}

std::string query_value(const net::ReceivedRequest& request, const std::string& name) {
  const std::size_t at = request.target.find(name + "=");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 1;
  return request.target.substr(begin, request.target.find('&', begin) - begin);
}

TEST(S3Listing, InPartsItPassesTheSameObjectsAsOnePageAfterTheOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 4; ++round) {
    FakeS3 server;
    for (int i = 0; i < 250; ++i) {
      std::string key = round % 2 == 0 ? "data/" : "";
      key += std::string(1, static_cast<char>('a' + random() % 5)) + "/" +
             std::to_string(random() % 3000) + (random() % 7 == 0 ? "//x" : "");
      server.put(key, std::string(random() % 5, 'x'));
    }
    S3Options options = listing_of(server);
    options.page_size = 7;
    options.serial_pages = 3;
    if (round % 3 == 0) options.versions = true;
    options.list_threads = 1;
    const auto serial = list(options);
    ASSERT_TRUE(serial) << serial.error().message;
    const std::size_t before = server.seen().size();
    options.list_threads = 4;
    const auto parallel = list(options);
    ASSERT_TRUE(parallel) << parallel.error().message;
    EXPECT_EQ(parallel->objects, serial->objects);
    EXPECT_EQ(parallel->listed.objects, serial->listed.objects);
    EXPECT_EQ(parallel->listed.bytes, serial->listed.bytes);
    EXPECT_EQ(parallel->listed.left_out.count, serial->listed.left_out.count);
    EXPECT_EQ(parallel->twice, 0);
    int parts = 0;
    const auto seen = server.seen();
    for (std::size_t i = before; i < seen.size(); ++i) {
      const bool begins = !query_value(seen[i], "start-after").empty() ||
                          (!query_value(seen[i], "key-marker").empty() &&
                           query_value(seen[i], "version-id-marker").empty());
      if (begins && query_value(seen[i], "max-keys") == "7") ++parts;
    }
    EXPECT_GT(parts, 4) << "it was not divided";
  }
}

TEST(S3Listing, SmallListingsAreNotDivided) {
  FakeS3 server;
  for (int i = 0; i < 30; ++i) server.put("k" + std::to_string(i), "x");
  S3Options options = listing_of(server);
  options.page_size = 10;
  ASSERT_TRUE(list(options));
  EXPECT_EQ(server.seen().size(), 3u);
}

TEST(S3Listing, APartThatFailsIsRequestedAgainAndNothingTwice) {
  std::atomic<int> calls = 0;
  FakeS3 server({}, [&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    if (++calls % 3 != 0) return false;
    if (calls % 2 == 0) {
      wire.reply(503, "");
    } else {
      wire.reset();
    }
    return true;
  });
  for (int i = 0; i < 300; ++i) server.put(std::to_string(i), "x");
  ManualClock clock;
  S3Options options = listing_of(server);
  options.page_size = 5;
  options.serial_pages = 2;
  options.list_threads = 3;
  const auto seen = list(options, clock);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->objects.size(), 300u);
  EXPECT_EQ(seen->twice, 0);
}

TEST(S3Listing, WithoutItsTokenItGoesOnBehindTheLastKey) {
  FakeS3 server({}, [&](const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
    if (query_value(request, "continuation-token").empty()) return false;
    wire.reply(400, "<Error><Code>InvalidArgument</Code></Error>");
    return true;
  });
  for (int i = 100; i < 120; ++i) server.put(std::to_string(i), "x");
  ManualClock clock;
  S3Options options = listing_of(server);
  options.page_size = 10;
  const auto seen = list(options, clock);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->objects.size(), 20u);
  EXPECT_EQ(seen->twice, 0);
}

TEST(S3Listing, OutlivesAnOutageThatIsLongerThanTheOneOfARead) {
  std::atomic<int> failures = 30;
  FakeS3 server({}, [&](const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
    if (query_value(request, "continuation-token").empty() || failures-- <= 0) return false;
    wire.reply(503, "");
    return true;
  });
  for (int i = 100; i < 120; ++i) server.put(std::to_string(i), "x");
  ManualClock clock;
  S3Options options = listing_of(server);
  options.page_size = 10;
  const auto seen = list(options, clock);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->objects.size(), 20u);
}

// A server that does not sort: one page after the other, whatever it costs.
class UnsortedServer {
 public:
  UnsortedServer(std::vector<std::vector<std::string>> pages, bool for_ever)
      : pages_(std::move(pages)),
        server_({}, [this, for_ever](const net::ReceivedRequest& request,
                                     net::ScriptedConnection& wire) {
          const std::string token = query_value(request, "continuation-token");
          const std::size_t page = token.empty() ? 0 : std::stoul(token);
          std::string body;
          for (const std::string& key : pages_[page % pages_.size()]) {
            body += "<Contents><Key>" + key + "</Key><ETag>e</ETag><Size>1</Size></Contents>";
          }
          const bool more = for_ever || page + 1 < pages_.size();
          body += more ? "<IsTruncated>true</IsTruncated><NextContinuationToken>" +
                             std::to_string(page + 1) + "</NextContinuationToken>"
                       : "";
          wire.reply(200, "<ListBucketResult>" + body + "</ListBucketResult>");
          return true;
        }) {}
  FakeS3& server() { return server_; }

 private:
  const std::vector<std::vector<std::string>> pages_;
  FakeS3 server_;
};

TEST(S3Listing, AServerThatDoesNotSortIsListedPageByPage) {
  UnsortedServer unsorted({{"c", "b"}, {"z", "a"}, {"d"}}, false);
  S3Options options = listing_of(unsorted.server());
  options.serial_pages = 1;
  const auto seen = list(options);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->objects.size(), 5u);
}

TEST(S3Listing, AServerWithoutStartAfterIsListedPageByPage) {
  UnsortedServer sorted({{"a", "b"}, {"c", "d"}, {"e"}}, false);
  S3Options options = listing_of(sorted.server());
  options.serial_pages = 1;
  const auto seen = list(options);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->objects.size(), 5u);
}

TEST(S3Listing, OneThatRepeatsItselfOrNeverEndsIsAnError) {
  {
    UnsortedServer circle({{"a", "b"}, {"c"}, {"d"}}, true);
    S3Options options = listing_of(circle.server());
    options.list_threads = 1;
    const auto seen = list(options);
    ASSERT_TRUE(seen.is(Code::kInvalid));
    EXPECT_NE(seen.error().message.find("repeats a page"), std::string::npos);
  }
  {
    UnsortedServer nothing({{}}, true);
    const auto seen = list(listing_of(nothing.server()));
    ASSERT_TRUE(seen.is(Code::kInvalid));
    EXPECT_NE(seen.error().message.find("without objects"), std::string::npos);
  }
  FakeS3 server;
  for (int i = 100; i < 150; ++i) server.put(std::to_string(i), "x");
  S3Options options = listing_of(server);
  options.most_objects = 40;
  options.page_size = 10;
  const auto many = list(options);
  ASSERT_TRUE(many.is(Code::kInvalid));
  EXPECT_NE(many.error().message.find("more than 40 objects"), std::string::npos);
  // Ever new ones that no set can show.
  FakeS3 marks;
  for (int i = 100; i < 150; ++i) marks.put(std::to_string(i) + "/", "");
  for (int i = 200; i < 210; ++i) marks.put("a//" + std::to_string(i), "x");
  options.endpoint = marks.url();
  const auto left_out = list(options);
  ASSERT_TRUE(left_out.is(Code::kInvalid));
  EXPECT_NE(left_out.error().message.find("more than 40 objects"), std::string::npos);
}

TEST(S3Listing, OneThatDripsEndsAfterItsTimeLimit) {
  ManualClock clock;
  FakeS3 server({}, [&](const net::ReceivedRequest&, net::ScriptedConnection&) {
    clock.advance(std::chrono::seconds(100));  // each page takes that long
    return false;
  });
  for (int i = 1000; i < 2000; ++i) server.put(std::to_string(i), "x");
  S3Options options = listing_of(server);
  options.page_size = 1;
  options.list_threads = 1;
  const auto seen = list(options, clock);
  ASSERT_TRUE(seen.is(Code::kInvalid)) << (seen ? "it ended" : seen.error().message);
  EXPECT_NE(seen.error().message.find("has not ended in 12 hours"), std::string::npos);
}

TEST(S3Listing, ObjectsWithoutAnETagAreLeftOutAndNamed) {
  FakeS3 server({}, [](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    wire.reply(200,
               "<ListBucketResult><Contents><Key>dir/</Key><Size>0</Size></Contents>"
               "<Contents><Key>good</Key><ETag>&quot;e&quot;</ETag><Size>1</Size></Contents>"
               "<Contents><Key>mark</Key><Size>7</Size></Contents>"
               "<Contents><Key>odd</Key><ETag>a&#10;b</ETag><Size>1</Size></Contents>"
               "</ListBucketResult>");
    return true;
  });
  const auto seen = list(listing_of(server));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->objects.size(), 1u);
  EXPECT_EQ(seen->listed.left_out.count, 2u);
  EXPECT_EQ(seen->listed.left_out.examples,
            (std::vector<std::string>{"'mark' (no ETag)", "'odd' (an invalid ETag)"}));
}

TEST(S3Listing, VersionIdsAreThoseOfTheLatestVersions) {
  FakeS3 server;
  server.put("a", "1");
  server.put("a", "22");
  server.put("b", "1");
  server.remove("b");
  server.put("c", "1");
  S3Options options = listing_of(server);
  options.versions = true;
  options.page_size = 2;  // versions of one key are on two pages
  const auto seen = list(options);
  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_EQ(seen->objects.size(), 2u);
  EXPECT_EQ(seen->objects.at("a").version_id, "id2");
  EXPECT_EQ(seen->objects.at("a").size, 2u);
  EXPECT_EQ(seen->objects.at("c").version_id, "id5");
}

}  // namespace
}  // namespace paddle::source
