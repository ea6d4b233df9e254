// SPDX-License-Identifier: Apache-2.0
#include "source/s3/s3_list.h"

#include <gtest/gtest.h>

#include "source/s3/xml.h"

namespace paddle::source {
namespace {

std::string listing(const std::string& inside) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" +
         inside + "</ListBucketResult>\n";
}

std::string contents(const std::string& key, const std::string& more = {}) {
  return "<Contents><Key>" + key +
         "</Key><LastModified>2024-03-01T12:00:00.250Z</LastModified>"
         "<ETag>&quot;d41d8cd98f00b204e9800998ecf8427e-2&quot;</ETag><Size>42</Size>"
         "<Owner><ID>Key</ID></Owner><StorageClass>STANDARD</StorageClass>" +
         more + "</Contents>";
}

TEST(S3List, ReadsAPage) {
  const auto page = parse_s3_page(
      listing("<Name>b</Name><Prefix/><KeyCount>1</KeyCount><IsTruncated>true</IsTruncated>"
              "<NextContinuationToken>1/a&amp;b=</NextContinuationToken>" +
              contents("cats/&lt;1&gt;&#x732b;.jpg")));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(page->truncated);
  EXPECT_EQ(page->next, "1/a&b=");
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(page->objects[0].key, "cats/<1>\xe7\x8c\xab.jpg");
  EXPECT_EQ(page->objects[0].size, 42u);
  EXPECT_EQ(page->objects[0].etag, "d41d8cd98f00b204e9800998ecf8427e-2");
  EXPECT_EQ(rfc3339_micro(page->objects[0].modified), "2024-03-01T12:00:00.250000Z");
}

TEST(S3List, DecodesKeysOnlyWhenTheyAreDeclaredAsEncoded) {
  const auto plain = parse_s3_page(listing(contents("a+b%20c")));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->objects[0].key, "a+b%20c");

  const auto encoded =
      parse_s3_page(listing(contents("a+b%2Bc%01%E7%8C%AB") + "<EncodingType>url</EncodingType>"));
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->objects[0].key, "a b+c\x01\xe7\x8c\xab");
  for (const char* broken : {"a%2", "a%", "a%zz"}) {
    EXPECT_TRUE(parse_s3_page(listing(contents(broken) + "<EncodingType>url</EncodingType>"))
                    .is(Code::kInvalid));
  }
}

TEST(S3List, AnEmptyBucketIsAnEmptyPage) {
  const auto page = parse_s3_page(listing("<IsTruncated>false</IsTruncated>"));
  ASSERT_TRUE(page);
  EXPECT_EQ(*page, S3Page{});
}

TEST(S3List, RejectsOtherDocuments) {
  const std::string whole = listing(contents("k"));
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_TRUE(parse_s3_page(whole.substr(0, size)).is(Code::kInvalid)) << size;
  }
  for (const std::string& text : {
           std::string("<Error><Code>NoSuchBucket</Code></Error>"),
           std::string("{\"Contents\": []}"),
           listing("<IsTruncated>true</IsTruncated>"),
           listing("<Contents><Key>k</Key><ETag>e</ETag></Contents>"),
           listing("<Contents><Key>k</Key><ETag>e</ETag><Size>-1</Size></Contents>"),
           listing("<Contents><Key>k</Key><ETag>e</ETag><Size>18446744073709551615</Size>"
                   "</Contents>"),
           listing("</ListBucketResult><ListBucketResult>"),
           listing("<a><b></a></b>"),
           listing("&unknown;"),
           listing("<a b></a>"),
           "<!DOCTYPE x [<!ENTITY a \"b\">]>" + listing(""),
           whole + "more",
       }) {
    EXPECT_TRUE(parse_s3_page(text).is(Code::kInvalid)) << text;
  }
}

TEST(S3List, AnObjectWithoutETagIsPartOfThePage) {
  const auto page =
      parse_s3_page(listing(contents("k") + "<Contents><Key>m/</Key><Size>1</Size></Contents>"));
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[1].key, "m/");
  EXPECT_EQ(page->objects[1].etag, "");
}

TEST(S3List, SaysWhetherKeysRise) {
  EXPECT_TRUE(parse_s3_page(listing(contents("a") + contents("b")))->sorted);
  EXPECT_FALSE(parse_s3_page(listing(contents("b") + contents("a")))->sorted);
  EXPECT_FALSE(parse_s3_page(listing(contents("a") + contents("a")))->sorted);
}

TEST(S3List, ReadsTheLatestOfVersions) {
  const auto version = [](const std::string& key, const std::string& id, bool latest) {
    return "<Version><Key>" + key + "</Key><VersionId>" + id + "</VersionId><IsLatest>" +
           (latest ? "true" : "false") +
           "</IsLatest><LastModified>2024-03-01T12:00:00Z</LastModified><ETag>&quot;e&quot;</ETag>"
           "<Size>1</Size></Version>";
  };
  const auto page = parse_s3_page(
      "<ListVersionsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<NextKeyMarker>c+d</NextKeyMarker><NextVersionIdMarker>v9</NextVersionIdMarker>" +
      version("a", "v2", true) + version("a", "v1", false) +
      "<DeleteMarker><Key>b</Key><VersionId>v4</VersionId><IsLatest>true</IsLatest></"
      "DeleteMarker>" +
      version("b", "v3", false) + version("c+d", "null", true) + "</ListVersionsResult>");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->next, "c d");
  EXPECT_EQ(page->next_version, "v9");
  EXPECT_EQ(page->first_key, "a");
  EXPECT_EQ(page->last_key, "c d");
  EXPECT_TRUE(page->sorted);
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0].key, "a");
  EXPECT_EQ(page->objects[0].version_id, "v2");
  EXPECT_EQ(page->objects[1].key, "c d");
  EXPECT_EQ(page->objects[1].version_id, "null");
}

TEST(S3List, LimitsTheDepthOfElements) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_TRUE(parse_s3_page(listing(deep)).is(Code::kInvalid));
}

TEST(S3List, AnErrorShowsItsCodeAndNothingElse) {
  EXPECT_EQ(s3_error_code("<?xml version='1.0'?><Error><Code>SlowDown</Code>"
                          "<AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>"),
            "SlowDown");
  EXPECT_EQ(s3_error_code("<Error><Code>AKIA secret</Code></Error>"), "");
  EXPECT_EQ(s3_error_code("upstream connect error"), "");
  EXPECT_EQ(s3_error_code(""), "");
}

TEST(Xml, DecodesReferencesAndRejectsOthers) {
  EXPECT_EQ(*decode_xml("a&amp;&lt;&gt;&quot;&apos;&#65;&#x1F408;"), "a&<>\"'A\xf0\x9f\x90\x88");
  for (const char* bad :
       {"&", "&;", "&#0;", "&#xD800;", "&#x110000;", "&#99999999999;", "&#x;", "&amp", "&nbsp;"}) {
    EXPECT_TRUE(decode_xml(bad).is(Code::kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace paddle::source
