// SPDX-License-Identifier: Apache-2.0
#include "sealed/segment_check.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/unique_fd.h"

namespace paddle::sealed {
namespace {

constexpr std::uint64_t kBlock = 4096;

std::uint64_t sum(std::span<const std::byte> data) {
  std::uint64_t total = data.size();
  for (const std::byte b : data) total = total * 131 + static_cast<std::uint8_t>(b);
  return total;
}

// 10,000 bytes at block 1, with zeros behind them; a hole from block 8 to 12.
class SegmentCheck : public testing::Test {
 protected:
  SegmentCheck() {
    file_ = UniqueFd(::open((scratch_.path() + "/s").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    std::string whole(8 * kBlock, '\0');
    for (std::size_t i = kBlock; i < kBlock + 10'000; ++i)
      whole[i] = static_cast<char>(i % 251 + 1);
    write(0, whole);
    EXPECT_EQ(::ftruncate(file_.get(), 12 * kBlock), 0);
    good_ = {0, kBlock, 10'000, sum(std::as_bytes(std::span(whole).subspan(kBlock, 10'000)))};
  }
  void write(std::uint64_t at, std::string_view bytes) {
    ASSERT_EQ(::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
    ASSERT_EQ(::fsync(file_.get()), 0);
  }
  Result<> check(const SegmentExtent& extent, std::stop_token stop = {}) {
    const int files[] = {file_.get()};
    const SegmentExtent extents[] = {extent};
    return check_segments(files, extents, sum, stop);
  }

  const Scratch scratch_;
  UniqueFd file_;
  SegmentExtent good_;
};

TEST_F(SegmentCheck, AcceptsBytesWithTheirChecksumAndZerosBehind) {
  const auto done = check(good_);
  EXPECT_TRUE(done) << done.error().message;
}

TEST_F(SegmentCheck, OneWrongByteIsFound) {
  write(kBlock + 9'999, "x");
  EXPECT_TRUE(check(good_).is(Code::kInvalid));
}

TEST_F(SegmentCheck, ATailThatIsNotZeroIsFound) {
  write(kBlock + 3 * kBlock - 1, "x");
  EXPECT_NE(check(good_).error().message.find("zeros"), std::string::npos);
}

TEST_F(SegmentCheck, AHoleIsFoundThoughItReadsAsZeros) {
  const std::string zeros(100, '\0');
  const SegmentExtent hole{0, 9 * kBlock, 100, sum(std::as_bytes(std::span(zeros)))};
  EXPECT_NE(check(hole).error().message.find("hole"), std::string::npos);
}

TEST_F(SegmentCheck, ASegmentThatBecameShorterIsAnErrorAndNoSignal) {
  ASSERT_EQ(::ftruncate(file_.get(), 2 * kBlock), 0);
  EXPECT_FALSE(check(good_));
}

TEST_F(SegmentCheck, EndsWhenItIsStopped) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(check(good_, stop.get_token()).is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::sealed
