// SPDX-License-Identifier: Apache-2.0
#include "samplefs/verifier.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/scratch.h"
#include "samplefs/filler.h"
#include "samplefs/index_builder.h"
#include "source/checksum.h"
#include "source/hash.h"

namespace paddle::samplefs {
namespace {

using source::CallContext;

std::string md5_of(const std::string& bytes) {
  return source::hex(
      source::digest_of(source::ChecksumKind::kMd5, std::as_bytes(std::span(bytes))));
}

// Returns bytes by etag, as a bucket; what it was not given is another version now.
class EtagSources final : public Sources {
 public:
  void put(const std::string& etag, const std::string& bytes) { objects_[etag] = bytes; }
  void remove(const std::string& etag) { objects_.erase(etag); }
  Result<> read(const Block& block, std::span<std::byte> into, const CallContext&) override {
    ++reads_;
    const auto found = objects_.find(block.etag);
    if (found == objects_.end()) return Error{Code::kConflict, "the object has changed"};
    std::memcpy(into.data(), found->second.data() + block.offset, into.size());
    return Done{};
  }
  int reads() const { return reads_; }

 private:
  std::map<std::string, std::string, std::less<>> objects_{};
  std::atomic<int> reads_ = 0;
};

class VerifierTest : public testing::Test {
 protected:
  VerifierTest() {
    log::set_level(log::Level::kError);
    store_ = *Store::open({.directory = scratch_.path() + "/cache", .limit = 1 << 30});
    store_->set_scrub_rate(0);  // it would find damage first
  }
  ~VerifierTest() override { log::set_level(log::Level::kInfo); }

  // A file of the set. An empty etag: the MD5 of the bytes.
  void add(const std::string& path, const std::string& bytes, std::string etag = "") {
    if (etag.empty()) etag = md5_of(bytes);
    sources_.put(etag, bytes);
    ASSERT_TRUE(builder_.add({.path = path, .size = bytes.size(), .etag = etag}));
  }
  void build() {
    ASSERT_TRUE(builder_.write(scratch_.path() + "/index", 1));
    index_ = *Index::open(scratch_.path() + "/index");
    data_ = std::make_unique<ReadThrough>(store_.get(), sources_);
  }
  void fill() { ASSERT_TRUE(Filler(index_, *data_).run({})); }

  Index::Position at(const std::string& path) const { return *index_->resolve(path); }
  Block block(const std::string& path, std::uint64_t offset = 0) {
    return index_->block(index_->at(at(path)), names_.emplace_back(path), offset);
  }
  // The store has these bytes, with right checksums.
  void store_instead(const std::string& path, const std::string& bytes) {
    store_->drop_all({block(path).key});
    ASSERT_TRUE(store_->put(block(path), std::as_bytes(std::span(bytes))));
  }
  // One bit of the block on disk is another.
  void flip_bit(const std::string& path, std::uint64_t offset = 0) {
    ASSERT_TRUE(store_->flush());
    const auto extent = store_->locate(block(path, offset));
    ASSERT_TRUE(extent);
    std::fstream segment(store_->path_of(extent->segment),
                         std::ios::in | std::ios::out | std::ios::binary);
    segment.seekg(static_cast<std::streamoff>(extent->offset + 10));
    const char was = static_cast<char>(segment.get());
    segment.seekp(static_cast<std::streamoff>(extent->offset + 10));
    segment.put(static_cast<char>(was ^ 4));
    ASSERT_TRUE(segment.good());
  }
  VerifyProgress verify(VerifyOptions options = {}, std::vector<bool> expected = {}) {
    VerifyFiles files{.index = index_, .files = all_files(*index_), .expected = expected};
    if (expected.empty()) files.expected.assign(index_->size(), true);
    Verifier verifier(std::move(files), *store_, sources_, *data_, options);
    const auto done = verifier.run({});
    EXPECT_TRUE(done) << done.error().message;
    return verifier.progress();
  }

  Scratch scratch_;
  EtagSources sources_;
  std::unique_ptr<Store> store_;
  IndexBuilder builder_;
  std::deque<std::string> names_;  // that blocks refer to
  std::shared_ptr<const Index> index_;
  std::unique_ptr<ReadThrough> data_;
};

const std::string kLarge(9 << 20, 'l');  // three blocks

TEST_F(VerifierTest, AWholeCacheIsComparedWithTheDigestsOfItsSource) {
  add("a", "alpha");
  add("d/large", kLarge);
  add("d/empty", "");
  add("parts", "uploaded in parts", "900150983cd24fb0d6963f7d28e17f72-2");
  build();
  fill();
  const int reads = sources_.reads();
  const auto found = verify();
  EXPECT_EQ(found.files_done, 4u);
  EXPECT_EQ(found.bytes_done, found.bytes_total);
  EXPECT_EQ(found.checked, 4u);
  EXPECT_EQ(found.compared, 3u) << "all but the one without an MD5";
  EXPECT_EQ(found.missing + found.corrupt + found.repaired + found.failed, 0u);
  EXPECT_EQ(sources_.reads(), reads) << "nothing is downloaded";
}

TEST_F(VerifierTest, AFlippedBitIsCorruptAndRepairedOnRequest) {
  add("good", "good");
  add("large", kLarge);
  add("parts", "uploaded in parts", "etag-2");
  build();
  fill();
  flip_bit("large", 2 * kBlockSize);
  flip_bit("parts");
  auto found = verify();
  EXPECT_EQ(found.corrupt, 2u);
  EXPECT_EQ(found.missing, 0u);
  EXPECT_EQ(found.repaired, 0u);
  ASSERT_EQ(found.first_corrupt.size(), 2u);

  found = verify({.repair = true});  // what was corrupt is not there any more
  EXPECT_EQ(found.corrupt, 0u);
  EXPECT_EQ(found.missing, 2u);
  EXPECT_EQ(found.repaired, 2u);
  EXPECT_TRUE(found.first_missing.front().repaired);
  EXPECT_EQ(found.bytes_done, found.bytes_total);

  flip_bit("large");
  found = verify({.repair = true});
  EXPECT_EQ(found.corrupt, 1u);
  EXPECT_EQ(found.repaired, 1u);
  EXPECT_EQ(found.first_corrupt, (std::vector<VerifyFinding>{{at("large"), true}}));
  EXPECT_EQ(verify().corrupt, 0u);
}

TEST_F(VerifierTest, BytesWithRightChecksumsThatAreNotTheSourcesAreFoundByTheDigest) {
  add("a", "alpha");
  build();
  fill();
  store_instead("a", "wrong");
  auto found = verify();
  EXPECT_EQ(found.corrupt, 1u);
  EXPECT_EQ(found.compared, 1u);
  EXPECT_FALSE(store_->holds(block("a"))) << "it is not served any more";
  store_instead("a", "wrong");
  found = verify({.repair = true});
  EXPECT_EQ(found.corrupt, 1u);
  EXPECT_EQ(found.repaired, 1u);
  EXPECT_EQ(verify().corrupt, 0u);
}

TEST_F(VerifierTest, ETagsThatOnlyLookLikeMd5sAreNoReasonToCallAFileCorrupt) {
  for (int i = 0; i < 10; ++i) {
    add("f" + std::to_string(i), std::string(100, 'x'), md5_of(std::to_string(i)));
  }
  build();
  fill();
  const int reads = sources_.reads();
  const auto found = verify({.workers = 1});
  EXPECT_EQ(found.corrupt, 0u);
  EXPECT_EQ(found.compared, 1u);
  EXPECT_EQ(sources_.reads(), reads + 1) << "one comparison of bytes is enough for a source";
}

TEST_F(VerifierTest, WhatChangedAtTheSourceIsDecidedByOtherFilesOfIt) {
  add("a", "alpha");
  add("b", "beta", md5_of("not beta"));
  build();
  fill();
  sources_.remove(md5_of("not beta"));
  const auto found = verify({.workers = 1});
  EXPECT_EQ(found.corrupt, 1u) << "the ETag of `a` is an MD5";
  EXPECT_EQ(found.failed, 0u);
}

TEST_F(VerifierTest, AChangedFileWithoutAnythingToCompareItWithStaysCached) {
  add("b", "beta", md5_of("not beta"));
  build();
  fill();
  sources_.remove(md5_of("not beta"));
  const auto found = verify();
  EXPECT_EQ(found.corrupt, 0u);
  EXPECT_EQ(found.compared, 0u);
  EXPECT_TRUE(store_->holds(block("b")));
}

TEST_F(VerifierTest, MissingFilesAreCountedWhereTheyAreExpected) {
  for (const char* path : {"a", "b", "c", "d"}) add(path, path);
  build();
  fill();
  store_->drop_all({block("a").key, block("b").key});
  flip_bit("c");
  std::vector<bool> expected(index_->size());
  expected[at("a")] = expected[at("d")] = true;
  const auto found = verify({.repair = true}, expected);
  EXPECT_EQ(found.files_done, 4u);
  EXPECT_EQ(found.checked, 3u) << "b is neither cached nor expected";
  EXPECT_EQ(found.missing, 1u);
  EXPECT_EQ(found.corrupt, 1u) << "whatever is cached is checked";
  EXPECT_EQ(found.repaired, 2u);
  EXPECT_FALSE(store_->holds(block("b")));
}

TEST_F(VerifierTest, WhatCannotBeRepairedIsCountedWithItsReason) {
  add("a", "alpha");
  add("b", "beta");
  build();
  sources_.remove(md5_of("alpha"));
  const auto found = verify({.repair = true});
  EXPECT_EQ(found.missing, 2u);
  EXPECT_EQ(found.repaired, 1u);
  EXPECT_EQ(found.failed, 1u);
  EXPECT_NE(found.first_error.find("read a: the object has changed"), std::string::npos)
      << found.first_error;
}

TEST_F(VerifierTest, MissingFilesThatDoNotFitAreNoFailure) {
  store_.reset();
  store_ = *Store::open(
      {.directory = scratch_.path() + "/small", .limit = 4UL * 4096 + table_size(kMinSlots)});
  for (int i = 0; i < 8; ++i)
    add("f" + std::to_string(i), std::string(100, 'x') + std::to_string(i));
  build();
  const auto found = verify({.repair = true});
  EXPECT_EQ(found.missing, 8u);
  EXPECT_EQ(found.repaired, 4u);
  EXPECT_EQ(found.no_room, 4u);
  EXPECT_EQ(found.failed, 0u);
}

TEST_F(VerifierTest, OnlyTheFirstFewAreNamedAndAStopEndsIt) {
  for (int i = 0; i < 50; ++i) add("f" + std::to_string(i), "x");
  build();
  const auto found = verify();
  EXPECT_EQ(found.missing, 50u);
  EXPECT_EQ(found.first_missing.size(), 20u);

  std::stop_source stop;
  stop.request_stop();
  VerifyFiles files{.index = index_, .files = all_files(*index_)};
  files.expected.assign(index_->size(), true);
  Verifier stopped(std::move(files), *store_, sources_, *data_);
  EXPECT_TRUE(stopped.run(stop.get_token()).is(Code::kCancelled));
  EXPECT_EQ(stopped.progress().files_done, 0u);
}

}  // namespace
}  // namespace paddle::samplefs
