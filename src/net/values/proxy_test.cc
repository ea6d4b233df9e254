// SPDX-License-Identifier: Apache-2.0
#include "net/values/proxy.h"

#include <gtest/gtest.h>

namespace paddle::net {
namespace {

std::string via(const std::string& url, const std::string& none) {
  return proxy_for(*origin_of(url), {.http = "plain:1", .https = "secure:2", .none = none});
}

TEST(Proxy, IsChosenByTheSchemeOfTheUrl) {
  EXPECT_EQ(via("http://a.example", ""), "plain:1");
  EXPECT_EQ(via("https://a.example", ""), "secure:2");
  EXPECT_EQ(proxy_for(*origin_of("https://a.example"), {.http = "plain:1"}), "");
}

TEST(Proxy, LoopbackIsAlwaysDirect) {
  for (const char* url : {"https://localhost:1", "https://127.0.0.1", "https://127.9.9.9:6443",
                          "https://[::1]:6443", "https://LOCALHOST"}) {
    EXPECT_EQ(via(url, ""), "") << url;
  }
  EXPECT_EQ(via("https://128.0.0.1", ""), "secure:2");
}

TEST(Proxy, NoProxyNamesCoverTheirSubdomains) {
  EXPECT_EQ(via("https://a.example", "a.example"), "");
  EXPECT_EQ(via("https://b.a.example", "x, a.example"), "");
  EXPECT_EQ(via("https://ba.example", "a.example"), "secure:2");
  EXPECT_EQ(via("https://a.example", ".a.example"), "secure:2");
  EXPECT_EQ(via("https://b.a.example", "*.a.example"), "");
  EXPECT_EQ(via("https://B.A.Example", "a.EXAMPLE"), "");
}

TEST(Proxy, NoProxySupportsPortsBlocksAndStars) {
  EXPECT_EQ(via("https://a.example:6443", "a.example:6443"), "");
  EXPECT_EQ(via("https://a.example", "a.example:6443"), "secure:2");
  EXPECT_EQ(via("https://a.example", "a.example:443"), "");
  EXPECT_EQ(via("https://10.1.2.3", "10.0.0.0/8"), "");
  EXPECT_EQ(via("https://11.1.2.3", "10.0.0.0/8"), "secure:2");
  EXPECT_EQ(via("https://10.1.2.3", "10.1.2.0/23,nonsense/99,/"), "");
  EXPECT_EQ(via("https://[fd00::5]", "fd00::/8"), "");
  EXPECT_EQ(via("https://[fd00::5]:1", "[fd00::5]:1"), "");
  EXPECT_EQ(via("https://10.1.2.3", "10.1.2.3"), "");
  EXPECT_EQ(via("https://a.example", "*"), "");
}

TEST(Proxy, IsConvertedToTheSyntaxOfCurl) {
  EXPECT_EQ(curl_proxy("p:3128"), "http://p:3128");
  EXPECT_EQ(curl_proxy("socks5://u:s@p:1"), "socks5h://u:s@p:1");
  EXPECT_EQ(curl_proxy("https://p"), "https://p");
  EXPECT_EQ(curl_proxy(""), "");
}

}  // namespace
}  // namespace paddle::net
