// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

namespace paddle {
namespace {

TEST(Base64, MatchesThePublishedVectors) {
  const std::pair<const char*, const char*> vectors[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) {
    EXPECT_EQ(base64_encode(plain), coded);
    EXPECT_EQ(*base64_decode(coded), plain);
  }
}

TEST(Base64, AnyBytesSurviveARoundTrip) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i * 7);
    EXPECT_EQ(*base64_decode(base64_encode(bytes)), bytes);
  }
}

TEST(Base64, ToleratesWrappingAndMissingPaddingAndNothingElse) {
  EXPECT_EQ(*base64_decode("Zm9v\nYmE\n"), "fooba");
  for (const char* bad : {"Z", "Zg=", "Zg===", "Z=g=", "Zm9*", "Zm-v", "===="}) {
    EXPECT_TRUE(base64_decode(bad).is(Code::kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace paddle
