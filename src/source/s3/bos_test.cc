// SPDX-License-Identifier: Apache-2.0
//
// The signatures are those that Baidu's bce-sdk-go 0.9.263 (auth.BceV1Signer) makes of the same
// requests.
#include "source/s3/bos.h"

#include <set>

#include <gtest/gtest.h>

#include "source/fake/fake_s3.h"  // and what it is made with
#include "source/s3/s3_source.h"

namespace paddle::source {
namespace {

const S3Credentials kBosKeys{.access_key = "my-access", .secret_key = "my-secret"};

std::string authorization_of(const std::string& path, const Query& query, const char* token = "") {
  S3Credentials keys = kBosKeys;
  keys.session_token = token;
  return bos_headers("hkg.bcebos.com", path, query, keys, *parse_rfc3339("2026-01-02T03:04:05Z"))
      .back()
      .second;
}

TEST(Bos, SignsAsTheSdkOfBaidu) {
  const std::string scope = "bce-auth-v1/my-access/2026-01-02T03:04:05Z/1800/host;x-bce-date";
  EXPECT_EQ(authorization_of("/samples/imagenet/a%20b.jpg", {}),
            scope + "/49729601f4c0e38c7ef110ebab5c97e23ccdeb17a73698e8048ce44d9ca418f1");
  EXPECT_EQ(
      authorization_of("/samples", {{"prefix", "imagenet/"}, {"maxKeys", "1000"}, {"marker", ""}}),
      scope + "/bcb95ef9ef66a774e472bb66e20af449fa5752316331589bcc68a95272ba4705");
  EXPECT_EQ(authorization_of("/samples/x", {}, "my/token=="),
            scope +
                ";x-bce-security-token"
                "/bd1cbfc6b79dc73de431f9da7115629f0756534b8e7c32a4c3fd92274b9f0dad");
}

TEST(Bos, ReadsAPageOfAListing) {
  const auto page = parse_bos_page(
      R"({"name":"b","isTruncated":true,"nextMarker":"n/2","contents":[{"key":"n/1.jpg","size":7,)"
      R"("eTag":"\"abc\"","lastModified":"2026-01-01T00:00:00Z","storageClass":"STANDARD"}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->objects,
            (std::vector<S3Object>{{.key = "n/1.jpg",
                                    .size = 7,
                                    .etag = "abc",
                                    .modified = *parse_rfc3339("2026-01-01T00:00:00Z")}}));
  EXPECT_TRUE(page->truncated);
  EXPECT_EQ(page->next, "n/2");
  EXPECT_EQ(page->first_key, "n/1.jpg");
  EXPECT_EQ(page->last_key, "n/1.jpg");
  EXPECT_TRUE(page->sorted);
}

TEST(Bos, APageWhoseKeysDoNotRiseIsNotSorted) {
  const auto page = parse_bos_page(
      R"({"contents":[{"key":"b","size":0,"eTag":"t"},{"key":"a","size":0,"eTag":"t"}]})");
  ASSERT_TRUE(page);
  EXPECT_FALSE(page->sorted);
  EXPECT_EQ(page->last_key, "a");
}

TEST(Bos, APageThatDoesNotSayWhereItGoesOnGoesOnAfterItsLastKey) {
  const auto page =
      parse_bos_page(R"({"isTruncated":true,"contents":[{"key":"a","size":0,"eTag":"t"}]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->next, "a");
}

TEST(Bos, RefusesWhatIsNoListing) {
  for (const char* text :
       {"", "[]", "{}", "<xml/>", R"({"isTruncated":true,"contents":[]})",
        R"({"contents":[{"size":1,"eTag":"t"}]})", R"({"contents":[{"key":"a","eTag":"t"}]})",
        R"({"contents":[{"key":"a","size":-1,"eTag":"t"}]})",
        R"({"contents":[{"key":"a","size":1,"eTag":"a b"}]})", R"({"contents":[{"key":"a",)"}) {
    EXPECT_TRUE(parse_bos_page(text).is(Code::kInvalid)) << text;
  }
}

TEST(Bos, TakesOnlyAWordAsTheCodeOfAnError) {
  EXPECT_EQ(bos_error_code(R"({"code":"NoSuchKey","message":"AKIA"})"), "NoSuchKey");
  EXPECT_EQ(bos_error_code(R"({"code":"my secret\n"})"), "");
  EXPECT_EQ(bos_error_code("<Error/>"), "");
}

// A bucket of three objects in pages of two.
void answer_as_bos(const net::ReceivedRequest& ask, net::ScriptedConnection& wire) {
  if (ask.target.starts_with("/images?")) {
    const bool second = ask.target.find("marker=n%2Fb") != std::string::npos;
    const std::string first =
        R"({"key":"n/a","size":1,"eTag":"1"},{"key":"n/b","size":2,"eTag":"2"})";
    return wire.reply(200, second ? R"({"contents":[{"key":"n/c","size":3,"eTag":"3"}]})"
                                  : R"({"isTruncated":true,"contents":[)" + first + "]}");
  }
  if (ask.target == "/images/n/b") {
    return wire.reply(206, "o", {{"ETag", "\"2\""}, {"Content-Range", "bytes 1-1/2"}});
  }
  wire.reply(404, R"({"code":"NoSuchKey","message":"none","requestId":"1"})");
}

TEST(Bos, ABucketIsListedInPagesAndReadInRanges) {
  const net::ScriptedServer server(answer_as_bos);
  S3Options options;
  options.uri = {.bucket = "images", .prefix = "n/", .store = Store::kBos};
  options.endpoint = server.url();
  options.credentials = kBosKeys;
  auto source = *S3Source::create(options);
  std::vector<std::string> paths;
  const auto listed = source->list(
      [&](Object&& object) -> Result<> {
        paths.push_back(object.path);
        return Done{};
      },
      {});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(paths, (std::vector<std::string>{"a", "b", "c"}));
  std::string into(1, '?');
  ASSERT_TRUE(source->read("b", "2", 1, std::as_writable_bytes(std::span(into)), {}));
  EXPECT_EQ(into, "o");
  const auto missing = source->read("x", "2", 0, std::as_writable_bytes(std::span(into)), {});
  ASSERT_TRUE(missing.is(Code::kNotFound));
  EXPECT_NE(missing.error().message.find("NoSuchKey"), std::string::npos);
}

// A bucket of 26 objects: n/a to n/z.
void answer_as_large_bos(const net::ReceivedRequest& ask, net::ScriptedConnection& wire) {
  const auto value = [&](const std::string& name) -> std::string {
    const std::size_t at = ask.target.find(name + "=");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 1;
    return ask.target.substr(begin, ask.target.find('&', begin) - begin);
  };
  std::string after = value("marker");
  if (const std::size_t slash = after.find("%2F"); slash != std::string::npos) {
    after.replace(slash, 3, "/");
  }
  const int most = std::stoi(value("maxKeys"));
  std::string objects;
  int count = 0;
  bool more = false;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    const std::string key = std::string("n/") + letter;
    if (key <= after) continue;
    more = count == most;
    if (more) break;
    objects += (count++ > 0 ? "," : "") + (R"({"key":")" + key + R"(","size":1,"eTag":"1"})");
  }
  wire.reply(200, std::string(R"({"isTruncated":)") + (more ? "true" : "false") +
                      R"(,"contents":[)" + objects + "]}");
}

TEST(Bos, ALargeBucketIsListedInPartsAndEachObjectOnce) {
  net::ScriptedServer server(answer_as_large_bos);
  S3Options options;
  options.uri = {.bucket = "images", .prefix = "n/", .store = Store::kBos};
  options.endpoint = server.url();
  options.page_size = 2;
  options.serial_pages = 2;
  options.list_threads = 2;
  auto source = *S3Source::create(options);
  std::multiset<std::string> paths;
  const auto listed = source->list(
      [&](Object&& object) -> Result<> {
        paths.insert(object.path);
        return Done{};
      },
      {});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->objects, 26u);
  EXPECT_EQ(std::set<std::string>(paths.begin(), paths.end()).size(), 26u);
  EXPECT_EQ(paths.size(), 26u);
  bool probed = false;
  for (const net::ReceivedRequest& each : server.seen()) {
    probed = probed || each.target.find("maxKeys=1&") != std::string::npos;
  }
  EXPECT_TRUE(probed) << "it was not divided";
}

TEST(Bos, AnETagThatLooksLikeAnMd5IsNotTakenForOne) {
  const std::string etag(32, 'a');
  const net::ScriptedServer server([&](const net::ReceivedRequest&, net::ScriptedConnection& wire) {
    wire.reply(200, "abc", {{"ETag", '"' + etag + '"'}});
  });
  S3Options options;
  options.uri = {.bucket = "images", .prefix = "n/", .store = Store::kBos};
  options.endpoint = server.url();
  auto source = *S3Source::create(options);
  std::string into(3, '?');
  CallContext context;
  context.object.size = 3;
  ASSERT_TRUE(source->read("b", etag, 0, std::as_writable_bytes(std::span(into)), context));
  EXPECT_EQ(into, "abc");
}

TEST(Bos, RequestsAreSignedWithKeysAndNotWithout) {
  for (const bool anonymous : {true, false}) {
    net::ScriptedServer server(answer_as_bos);
    S3Options options;
    options.uri = {.bucket = "images", .prefix = "n/", .store = Store::kBos};
    options.endpoint = server.url();
    if (!anonymous) options.credentials = kBosKeys;
    auto source = *S3Source::create(options);
    ASSERT_TRUE(source->list([](Object&&) -> Result<> { return Done{}; }, {}));
    for (const net::ReceivedRequest& each : server.seen()) {
      EXPECT_EQ(each.headers.contains("authorization"), !anonymous);
      EXPECT_FALSE(each.headers.contains("x-amz-date"));
    }
  }
}

}  // namespace
}  // namespace paddle::source
