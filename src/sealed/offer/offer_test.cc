// SPDX-License-Identifier: Apache-2.0
#include "sealed/offer/offer.h"

#include <gtest/gtest.h>

namespace paddle::sealed {
namespace {

Offer offer() {
  return {.number = 9,
          .generation = 3,
          .digest = "0123456789abcdef0123456789abcdef",
          .state = {2049, 17},
          .index = "index.3",
          .tiers = {{2049, 18}, {30, 2}}};
}

ViewState state() {
  return {.number = 9, .since = WallTime{std::chrono::seconds{1'700'000'000}}, .reason = "why not"};
}

TEST(Offer, SurvivesARoundTrip) {
  const auto read = offer_from_text(to_text(offer()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, offer());
}

TEST(Offer, ACutOrChangedOneIsRefused) {
  const std::string text = to_text(offer());
  ASSERT_LT(text.size(), kLongestOffer);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto read = offer_from_text(text.substr(0, size));
    // A file of whole lines with fewer tiers is another offer; the blocks of the rest are missing.
    EXPECT_TRUE(!read || *read != offer()) << size;
  }
  for (const char* bad : {"offer1 0 3 0123456789abcdef0123456789abcdef\nindex 1 2 i\ntier 1 2\n",
                          "offer1 1 3 0123456789ABCDEF0123456789abcdef\nindex 1 2 i\ntier 1 2\n",
                          "offer1 1 3 0123456789abcdef0123456789abcdef\nindex 1 2 ../i\ntier 1 2\n",
                          "offer1 1 3 0123456789abcdef0123456789abcdef\nindex 1 2 a/b\ntier 1 2\n",
                          "offer1 1 3 0123456789abcdef0123456789abcdef\nindex 1 -2 i\ntier 1 2\n",
                          "offer1 1 3 0123456789abcdef0123456789abcdef\nindex 1 2 i\ntier 1 2 3\n",
                          "offer1 1 3 0123456789abcdef0123456789abcdef\nindex 1 2 i\n",
                          "offer2 1 3 0123456789abcdef0123456789abcdef\nindex 1 2 i\ntier 1 2\n"}) {
    EXPECT_TRUE(offer_from_text(bad).is(Code::kInvalid)) << bad;
  }
  std::string many = text;
  for (int i = 0; i < 100; ++i) many += "tier 1 2\n";
  EXPECT_TRUE(offer_from_text(many).is(Code::kInvalid));
}

TEST(ViewState, SurvivesARoundTrip) {
  auto read = view_state_from_text(to_text(state()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, state());
  ViewState sealed = state();
  sealed.sealed = true;
  sealed.reason.clear();
  read = view_state_from_text(to_text(sealed));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, sealed);
}

TEST(ViewState, AReasonIsOneLineOfBoundedLength) {
  ViewState long_one = state();
  long_one.reason = "a\nview1 sealed 1 1\n" + std::string(5000, 'x');
  const auto read = view_state_from_text(to_text(long_one));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->sealed);
  EXPECT_EQ(read->reason.substr(0, 20), "a view1 sealed 1 1 x");
  EXPECT_EQ(read->reason.size(), 1000u);
}

TEST(ViewState, ACutOrChangedOneIsRefused) {
  const std::string text = to_text(state());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(view_state_from_text(text.substr(0, size))) << size;
  }
  for (const char* bad : {"view1 open 1 1\n\n", "view1 fuse x 1\n\n", "view1 fuse 1\n\n",
                          "view1 fuse 1 99999999999999999\n\n", "view1 fuse 1 1\na\nb\n"}) {
    EXPECT_TRUE(view_state_from_text(bad).is(Code::kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace paddle::sealed
