// SPDX-License-Identifier: Apache-2.0
#include "fuse/request.h"

#include <gtest/gtest.h>

#include "fuse/fake/wire.h"

namespace paddle::fuse {
namespace {

TEST(Request, DecodesRequestsOfTheKernel) {
  const auto bytes = raw_read(7, 42, 4096, 131072);
  const auto request = decode(bytes);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->unique, 7u);
  EXPECT_EQ(request->node, 42u);
  const auto* read = std::get_if<Read>(&request->operation);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->offset, 4096u);
  EXPECT_EQ(read->size, 131072u);
}

TEST(Request, ANameEndsAtItsNul) {
  const auto bytes = raw_lookup(1, 1, "cat.jpg");
  const auto request = decode(bytes);
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<Lookup>(request->operation).name, "cat.jpg");
}

TEST(Request, ANameWithoutAnEndIsMalformedButAnswerable) {
  const std::string_view text = "cat";
  const auto bytes = raw_request(FUSE_LOOKUP, 9, 1, std::as_bytes(std::span(text)));
  const auto request = decode(bytes);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->unique, 9u);
  EXPECT_TRUE(std::holds_alternative<Malformed>(request->operation));
}

TEST(Request, EveryTruncationOfEveryRequestIsRejectedOrMalformed) {
  fuse_batch_forget_in forget{};
  forget.count = 2;
  std::vector<std::byte> two(sizeof forget + 2 * sizeof(fuse_forget_one));
  std::memcpy(two.data(), &forget, sizeof forget);
  for (const auto& whole :
       {raw_read(1, 2, 3, 4), raw_read(1, 2, 3, 4, FUSE_READDIRPLUS), raw_lookup(1, 1, "name"),
        raw_request(FUSE_BATCH_FORGET, 1, 0, std::span<const std::byte>(two))}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      if (size >= sizeof(fuse_in_header)) {
        // A header with the length after the cut, so that the body itself is decoded.
        const auto length = static_cast<std::uint32_t>(size);
        std::memcpy(cut.data(), &length, sizeof length);
      }
      const auto request = decode(cut);
      if (size < sizeof(fuse_in_header)) {
        EXPECT_TRUE(request.is(Code::kInvalid));
      } else {
        ASSERT_TRUE(request);
        EXPECT_TRUE(std::holds_alternative<Malformed>(request->operation)) << size;
      }
    }
    EXPECT_FALSE(std::holds_alternative<Malformed>(decode(whole)->operation));
  }
}

TEST(Request, AWrongLengthIsMalformed) {
  auto bytes = raw_read(1, 2, 3, 4);
  bytes.push_back(std::byte{0});
  EXPECT_TRUE(std::holds_alternative<Malformed>(decode(bytes)->operation));
}

TEST(Request, AForgetCountBeyondTheBytesIsMalformed) {
  fuse_batch_forget_in in{};
  in.count = 0xffffffff;
  const auto bytes = raw_request(FUSE_BATCH_FORGET, 1, 0, in);
  EXPECT_TRUE(std::holds_alternative<Malformed>(decode(bytes)->operation));
}

TEST(Request, ALaterProtocolMayAppendToABody) {
  std::vector<std::byte> body(sizeof(fuse_read_in) + 24);
  const auto bytes = raw_request(FUSE_READ, 1, 2, std::span<const std::byte>(body));
  EXPECT_TRUE(std::holds_alternative<Read>(decode(bytes)->operation));
}

TEST(Request, InitOfOlderKernelsIsSixteenBytes) {
  const std::uint32_t words[] = {7, 31, 131072, FUSE_ASYNC_READ | FUSE_INIT_EXT};
  const auto bytes =
      raw_request(FUSE_INIT, 1, 0, std::span<const std::byte>(std::as_bytes(std::span(words))));
  const auto request = decode(bytes);
  const Init init = std::get<Init>(request->operation);
  EXPECT_EQ(init.minor, 31u);
  EXPECT_EQ(init.flags, std::uint64_t{FUSE_ASYNC_READ | FUSE_INIT_EXT});
}

TEST(Request, TheSecondWordOfFlagsCountsOnlyWhenAnnounced) {
  fuse_init_in in{};
  in.major = 7;
  in.minor = 40;
  in.flags2 = static_cast<std::uint32_t>(kHasResend >> 32);
  EXPECT_EQ(std::get<Init>(decode(raw_request(FUSE_INIT, 1, 0, in))->operation).flags, 0u);
  in.flags = FUSE_INIT_EXT;
  EXPECT_EQ(std::get<Init>(decode(raw_request(FUSE_INIT, 1, 0, in))->operation).flags,
            FUSE_INIT_EXT | kHasResend);
}

TEST(Request, ANameOfAnXattrStandsBehindTheSize) {
  const auto bytes = raw_get_xattr(1, 7, "user.a", 4);
  const auto got = std::get<GetXattr>(decode(bytes)->operation);
  EXPECT_EQ(got.name, "user.a");
  EXPECT_EQ(got.size, 4u);
  EXPECT_TRUE(std::holds_alternative<Malformed>(decode(raw_get_xattr(1, 7, "", 4))->operation));
  fuse_getxattr_in in{};
  EXPECT_TRUE(
      std::holds_alternative<Malformed>(decode(raw_request(FUSE_GETXATTR, 1, 7, in))->operation))
      << "without a name";
  in.size = 9;
  EXPECT_EQ(std::get<ListXattr>(decode(raw_request(FUSE_LISTXATTR, 1, 7, in))->operation).size, 9u);
}

TEST(Request, WritesAreChangesAndUnknownOpcodesAreUnsupported) {
  for (const std::uint32_t opcode : {FUSE_WRITE, FUSE_CREATE, FUSE_UNLINK, FUSE_SETATTR}) {
    EXPECT_TRUE(std::holds_alternative<Change>(
        decode(raw_request(opcode, 1, 1, std::span<const std::byte>{}))->operation));
  }
  for (const std::uint32_t opcode : {std::uint32_t{FUSE_ACCESS}, std::uint32_t{FUSE_INTERRUPT},
                                     kOpStatx, std::uint32_t{77}, 0xffffffffu}) {
    EXPECT_TRUE(std::holds_alternative<Unsupported>(
        decode(raw_request(opcode, 1, 1, std::span<const std::byte>{}))->operation));
  }
}

}  // namespace
}  // namespace paddle::fuse
