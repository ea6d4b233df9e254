// SPDX-License-Identifier: Apache-2.0
#include "fuse/negotiate.h"

#include <gtest/gtest.h>

#include "fuse/fake/wire.h"

namespace paddle::fuse {
namespace {

Init offer(std::uint32_t minor, std::uint64_t flags) { return {kMajor, minor, 128 * 1024, flags}; }

TEST(Negotiate, AModernKernelOpensWithoutAMessage) {
  const auto agreed = negotiate(offer(45, kModernOffer), {});
  ASSERT_TRUE(agreed);
  EXPECT_TRUE(agreed->no_open());
  EXPECT_TRUE(agreed->no_opendir());
  EXPECT_TRUE(agreed->can_resend());
  EXPECT_EQ(agreed->max_read, 1u << 20);
  EXPECT_EQ(agreed->max_pages, 256u);
}

TEST(Negotiate, NothingIsNegotiatedThatWasNotOffered) {
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t flag = 1ULL << bit;
    const auto agreed = negotiate(offer(45, flag), {});
    ASSERT_TRUE(agreed);
    EXPECT_EQ(agreed->flags & ~flag, 0u) << bit;
  }
}

TEST(Negotiate, FlagsThatWouldSpoilThePageCacheAreNeverNegotiated) {
  const auto agreed = negotiate(offer(45, ~0ULL), {});
  ASSERT_TRUE(agreed);
  EXPECT_FALSE(agreed->has(FUSE_ATOMIC_O_TRUNC));
  EXPECT_FALSE(agreed->has(FUSE_AUTO_INVAL_DATA));
  EXPECT_FALSE(agreed->has(FUSE_WRITEBACK_CACHE));
  EXPECT_FALSE(agreed->has(FUSE_EXPORT_SUPPORT));
  EXPECT_FALSE(agreed->has(FUSE_POSIX_LOCKS));
}

TEST(Negotiate, OlderKernelsGetPlainOpensAndSmallReads) {
  const auto linux_4_18 =
      negotiate(offer(27, FUSE_ASYNC_READ | FUSE_DO_READDIRPLUS | FUSE_NO_OPEN_SUPPORT), {});
  ASSERT_TRUE(linux_4_18);
  EXPECT_TRUE(linux_4_18->no_open());
  EXPECT_FALSE(linux_4_18->no_opendir());
  EXPECT_EQ(linux_4_18->max_read, 128u * 1024);
  EXPECT_EQ(encode_init(*linux_4_18).max_pages, 0u);

  const auto oldest = negotiate(offer(23, FUSE_ASYNC_READ), {});
  ASSERT_TRUE(oldest);
  EXPECT_FALSE(oldest->no_open());
  EXPECT_EQ(encode_init(*oldest).minor, 23u);
}

TEST(Negotiate, ANewerKernelGetsTheVersionWeKnow) {
  EXPECT_EQ(negotiate(offer(99, kModernOffer), {})->minor, kMinor);
}

TEST(Negotiate, UnsupportedProtocolsAreRejected) {
  EXPECT_TRUE(negotiate(offer(22, kModernOffer), {}).is(Code::kInvalid));
  EXPECT_TRUE(negotiate({6, 45, 0, 0}, {}).is(Code::kInvalid));
}

TEST(Negotiate, PlainOpensCanBeRequested) {
  const auto agreed = negotiate(offer(45, kModernOffer), {.no_open = false});
  EXPECT_FALSE(agreed->no_open());
  EXPECT_FALSE(agreed->no_opendir());
}

TEST(Negotiate, OptionsBeyondTheLimitsAreCut) {
  const auto agreed =
      negotiate(offer(45, kModernOffer),
                {.max_read = 0xffffffff, .max_background = 0, .congestion_threshold = 500});
  EXPECT_EQ(agreed->max_read, 1u << 20);
  EXPECT_EQ(agreed->max_background, 1u);
  EXPECT_EQ(agreed->congestion_threshold, 1u);
  EXPECT_EQ(negotiate(offer(45, kModernOffer), {.max_read = 1})->max_read, 4096u);
}

TEST(Negotiate, PagesAreTheMachinesPages) {
  const auto agreed = negotiate(offer(45, kModernOffer), {.page_size = 65536});
  EXPECT_EQ(agreed->max_read, 1u << 20);
  EXPECT_EQ(agreed->max_pages, 16u);
}

TEST(Negotiate, TheSecondWordOfFlagsIsSentOnlyWhenAnnounced) {
  const fuse_init_out out = encode_init(*negotiate(offer(45, kModernOffer), {}));
  EXPECT_NE(out.flags & FUSE_INIT_EXT, 0u);
  EXPECT_EQ(out.flags2, static_cast<std::uint32_t>((kHasResend | FUSE_HAS_EXPIRE_ONLY) >> 32));
  const fuse_init_out old =
      encode_init(*negotiate(offer(40, kModernOffer & ~std::uint64_t{FUSE_INIT_EXT}), {}));
  EXPECT_EQ(old.flags2, 0u);
}

TEST(Negotiate, TextSurvivesARoundTrip) {
  const auto agreed = *negotiate(offer(45, kModernOffer), {});
  const auto again = negotiated_from_text(to_text(agreed));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, agreed);
}

TEST(Negotiate, OtherTextIsRejected) {
  const std::string good = to_text(*negotiate(offer(45, kModernOffer), {}));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(negotiated_from_text(good.substr(0, size)).is(Code::kInvalid)) << size;
  }
  for (const char* bad :
       {"fuse2 45 1 1 4096 1 1 1\n", "fuse1 45 1 1 4096 1 1 1 1\n", "fuse1 45 1 1 4096 1 1 99999\n",
        "fuse1 45 1 1 0 1 1 1\n", "fuse1 45 -1 1 4096 1 1 1\n", "fuse1 22 1 1 4096 1 1 1\n",
        "fuse1 45  1 1 4096 1 1 1\n"}) {
    EXPECT_TRUE(negotiated_from_text(bad).is(Code::kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace paddle::fuse
