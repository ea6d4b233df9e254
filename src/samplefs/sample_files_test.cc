// SPDX-License-Identifier: Apache-2.0
#include "samplefs/sample_files.h"

#include <cstring>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "samplefs/listed_index.h"
#include "source/failing_source.h"
#include "source/memory_source.h"

namespace paddle::samplefs {
namespace {

using source::FailingSource;
using source::FaultPoint;
using Fault = std::optional<Error>;

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size + 8, '\0');
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, 8);
  }
  bytes.resize(size);
  return bytes;
}

class SampleFilesTest : public testing::Test {
 protected:
  void sync() { index_ = *sync_index(memory_, scratch_.path() + "/index", ++generation_, {}); }
  void cache_of(std::uint64_t limit) {
    store_ = *Store::open({.directory = scratch_.path() + "/cache", .limit = limit});
  }
  static NodeId id(FileSystem& files, std::string_view path) {
    NodeId at = kRootId;
    while (!path.empty()) {
      const std::size_t slash = path.find('/');
      const auto found = files.lookup(at, path.substr(0, slash));
      if (!found) return 0;
      at = found->id;
      path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
    }
    return at;
  }
  static Result<std::string> read(FileSystem& files, NodeId node, std::uint64_t offset,
                                  std::size_t size) {
    std::string into(size, '?');
    TRY(const std::size_t got,
        files.read(node, offset, std::as_writable_bytes(std::span(into)), BootTime::max()));
    into.resize(got);
    return into;
  }

  Scratch scratch_;
  source::MemorySource memory_;
  std::shared_ptr<const Index> index_;
  std::unique_ptr<Store> store_;
  std::uint64_t generation_ = 0;
};

TEST_F(SampleFilesTest, ShowsATreeInAStableOrder) {
  for (const char* path : {"b", "a/y", "a/x", "c/d/e"}) memory_.put(path, path);
  sync();
  ReadThrough data(nullptr, memory_);
  SampleFiles files(index_, data);
  EXPECT_EQ(files.totals().files, 4u);
  EXPECT_TRUE(files.stat(kRootId)->directory);
  EXPECT_TRUE(files.stat(12345).is(Code::kNotFound));
  EXPECT_TRUE(files.lookup(kRootId, "nothing").is(Code::kNotFound));
  EXPECT_TRUE(files.lookup(id(files, "b"), "x").is(Code::kNotFound));

  std::vector<std::uint64_t> cookies;
  const auto names = [&](NodeId node, std::uint64_t start) {
    std::string all;
    cookies.clear();
    EXPECT_TRUE(files.read_directory(
        node, start, [&](std::string_view name, const Attr& attr, std::uint64_t cookie) {
          all += std::string(name) + (attr.directory ? "/ " : " ");
          cookies.push_back(cookie);
          return true;
        }));
    return all;
  };
  EXPECT_EQ(names(id(files, "a"), 0), "x y ");
  EXPECT_EQ(names(kRootId, 0), "a/ b c/ ");
  const auto after = cookies;
  EXPECT_EQ(names(kRootId, after[1]), "c/ ");
  EXPECT_EQ(names(kRootId, after[2]), "");
  EXPECT_LT(after[2], std::uint64_t{1} << 62);
  EXPECT_TRUE(files.read_directory(id(files, "b"), 0, [](auto, auto&, auto) { return true; })
                  .is(Code::kInvalid));
  int seen = 0;
  EXPECT_TRUE(files.read_directory(kRootId, 0, [&](auto, auto&, auto) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

// os.walk() reads a directory in several calls; a sync may end between them.
TEST_F(SampleFilesTest, XattrsTellWhereAFileComesFromAndWhereItIs) {
  memory_.put("a/small", "12345");
  memory_.put("a/large", noise(kBlockSize + 10, 1));
  sync();
  cache_of(64 << 20);
  ReadThrough data(store_.get(), memory_);
  SampleFiles files(index_, data, "s3://bucket/prefix");
  const auto xattrs = [&](const char* path) {
    std::map<std::string, std::string> all;
    const auto found = files.xattrs(id(files, path));
    EXPECT_TRUE(found) << path;
    for (const Xattr& each : *found) all[each.name] = each.value;
    return all;
  };
  const std::string etag(index_->at(*index_->resolve("a/small")).etag);
  EXPECT_EQ(xattrs("a/small"),
            (std::map<std::string, std::string>{{"user.samplefs.etag", etag},
                                                {"user.samplefs.generation", "1"},
                                                {"user.samplefs.source", "s3://bucket/prefix"},
                                                {"user.samplefs.tier", "source"}}));
  ASSERT_TRUE(read(files, id(files, "a/small"), 0, 5));
  ASSERT_TRUE(read(files, id(files, "a/large"), 0, 5));
  EXPECT_EQ(xattrs("a/small")["user.samplefs.tier"], "1");
  EXPECT_EQ(xattrs("a/large")["user.samplefs.tier"], "1,source") << "one block of two";
  EXPECT_EQ(xattrs("a"), (std::map<std::string, std::string>{{"user.samplefs.generation", "1"}}));
  EXPECT_TRUE(files.xattrs(12345).is(Code::kNotFound));
}

TEST_F(SampleFilesTest, AListingThatWasBegunNeitherSkipsNorRepeatsNamesWhateverIsPublished) {
  for (int i = 10; i < 30; ++i) memory_.put("d/" + std::to_string(i), "x");
  sync();
  ReadThrough data(nullptr, memory_);
  SampleFiles files(index_, data);
  const NodeId directory = id(files, "d");
  const auto next_names = [&](std::uint64_t& cookie, std::size_t most) {
    std::vector<std::string> all;
    EXPECT_TRUE(files.read_directory(directory, cookie,
                                     [&](std::string_view name, const Attr&, std::uint64_t behind) {
                                       if (all.size() == most) return false;
                                       all.emplace_back(name);
                                       cookie = behind;
                                       return true;
                                     }));
    return all;
  };
  std::uint64_t cookie = 0;
  std::vector<std::string> names = next_names(cookie, 5);
  for (int i = 0; i < 12; ++i) memory_.remove("d/" + std::to_string(10 + i));
  memory_.put("d/00", "x");
  sync();
  files.switch_to(index_);
  for (;;) {
    const auto more = next_names(cookie, 3);
    if (more.empty()) break;
    names.insert(names.end(), more.begin(), more.end());
  }
  std::vector<std::string> begun;
  for (int i = 10; i < 30; ++i) begun.push_back(std::to_string(i));
  EXPECT_EQ(names, begun);
  cookie = 0;
  EXPECT_EQ(next_names(cookie, 99).front(), "00") << "one that begins now is of the new generation";

  // A cookie of a generation that is gone counts in the current one, and ends.
  for (std::size_t i = 0; i <= SampleFiles::kGenerations; ++i) {
    memory_.put("d/31", std::to_string(i));
    sync();
    files.switch_to(index_);
  }
  EXPECT_LE(next_names(cookie, 99).size(), 9u);
  cookie = UINT64_MAX >> 2;
  EXPECT_TRUE(next_names(cookie, 99).empty());
}

TEST_F(SampleFilesTest, ReadsAreCompleteUpToTheEnd) {
  const std::string big = noise(2 * kBlockSize + 1000, 1);
  memory_.put("big", big);
  memory_.put("empty", "");
  sync();
  cache_of(1 << 30);
  ReadThrough data(store_.get(), memory_);
  SampleFiles files(index_, data);
  const NodeId node = id(files, "big");
  EXPECT_EQ(*read(files, node, 0, big.size() + 5), big);
  EXPECT_EQ(*read(files, node, kBlockSize - 1, 2), big.substr(kBlockSize - 1, 2));
  EXPECT_EQ(*read(files, node, big.size() - 1, 100), big.substr(big.size() - 1));
  EXPECT_EQ(*read(files, node, big.size(), 100), "");
  EXPECT_EQ(*read(files, node, UINT64_MAX, 100), "");
  EXPECT_EQ(*read(files, id(files, "empty"), 0, 100), "");
  EXPECT_TRUE(read(files, kRootId, 0, 1).is(Code::kInvalid));
}

TEST_F(SampleFilesTest, ALocalReadIsCompleteOrNothing) {
  const std::string big = noise(2 * kBlockSize, 1);
  memory_.put("big", big);
  memory_.put("empty", "");
  sync();
  cache_of(1 << 30);
  ReadThrough data(store_.get(), memory_);
  SampleFiles files(index_, data);
  const NodeId node = id(files, "big");
  const auto local = [&](NodeId of, std::uint64_t offset, std::size_t size) {
    std::string into(size, '?');
    const auto got = files.read_local(of, offset, std::as_writable_bytes(std::span(into)));
    if (!got || !*got) return std::string("none");
    into.resize(**got);
    return into;
  };
  EXPECT_EQ(local(node, 0, 10), "none");
  ASSERT_TRUE(read(files, node, 0, 10));
  EXPECT_EQ(local(node, 0, 10), big.substr(0, 10));
  EXPECT_EQ(local(node, kBlockSize - 5, 10), "none") << "the second block is not here";
  ASSERT_TRUE(read(files, node, kBlockSize, 10));
  EXPECT_EQ(local(node, kBlockSize - 5, 10), big.substr(kBlockSize - 5, 10));
  EXPECT_EQ(local(node, big.size(), 10), "") << "the end is known without the source";
  EXPECT_EQ(local(id(files, "empty"), 0, 10), "");
  std::byte one{};
  EXPECT_TRUE(files.read_local(kRootId, 0, {&one, 1}).is(Code::kInvalid));
  EXPECT_TRUE(files.read_local(4711, 0, {&one, 1}).is(Code::kNotFound));
}

TEST_F(SampleFilesTest, AFailureInTheMiddleIsAnErrorAndNotAShortRead) {
  const std::string big = noise(2 * kBlockSize, 1);
  memory_.put("big", big);
  sync();
  std::atomic<int> reads = 0;
  FailingSource failing(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (point == FaultPoint::kBeforeRead && ++reads > 1) return Error{Code::kUnavailable, "gone"};
    return {};
  });
  ReadThrough data(nullptr, failing);
  SampleFiles files(index_, data);
  EXPECT_TRUE(read(files, id(files, "big"), kBlockSize - 10, 20).is(Code::kUnavailable));
}

TEST_F(SampleFilesTest, OldIdsStayReadableAfterASwitch) {
  memory_.put("a", "old");
  memory_.put("same", "same");
  sync();
  cache_of(1 << 30);
  ReadThrough data(store_.get(), memory_);
  SampleFiles files(index_, data);
  const NodeId old = id(files, "a");
  const NodeId same = id(files, "same");
  ASSERT_EQ(*read(files, old, 0, 3), "old");
  memory_.put("a", "fresh");
  sync();
  files.switch_to(index_);
  const NodeId fresh = id(files, "a");
  EXPECT_NE(old, fresh);
  EXPECT_EQ(id(files, "same"), same);
  EXPECT_EQ(*read(files, old, 0, 10), "old") << "it is cached";
  EXPECT_EQ(*read(files, fresh, 0, 10), "fresh");
  store_->clear();
  EXPECT_TRUE(read(files, old, 0, 10).is(Code::kConflict)) << "never the new bytes";
}

TEST_F(SampleFilesTest, OnlyTheLastGenerationsAreKept) {
  memory_.put("a", "first");
  sync();
  ReadThrough data(nullptr, memory_);
  SampleFiles files(index_, data);
  const std::weak_ptr<const Index> first = index_;
  const NodeId old = id(files, "a");
  for (std::size_t i = 0; i < 2 * SampleFiles::kGenerations; ++i) {
    sync();
    files.switch_to(index_);
  }
  EXPECT_TRUE(first.expired()) << "the same again takes its place";
  EXPECT_TRUE(files.stat(old));
  for (std::size_t i = 0; i < SampleFiles::kGenerations; ++i) {
    EXPECT_TRUE(files.stat(old)) << i;
    memory_.put("a", "another");
    sync();
    files.switch_to(index_);
  }
  EXPECT_TRUE(files.stat(old).is(Code::kNotFound));
}

TEST_F(SampleFilesTest, AStopEndsReads) {
  memory_.put("a", "bytes");
  sync();
  ReadThrough data(nullptr, memory_);
  SampleFiles files(index_, data);
  files.stop();
  EXPECT_TRUE(read(files, id(files, "a"), 0, 5).is(Code::kCancelled));
}

// Random ranges in random order from several threads, with random faults of the source, damage of
// the cache and too little room: every read that succeeds returns the correct bytes, and once the
// faults end, every read succeeds.
TEST_F(SampleFilesTest, EqualsAReferenceModelUnderFaults) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::map<std::string, std::string> truth;
    std::mt19937 random(seed);
    for (int i = 0; i < 40; ++i) {
      const std::size_t size = i < 2 ? 2 * kBlockSize + random() % 100'000 : random() % 50'000;
      truth["d" + std::to_string(i % 4) + "/" + std::to_string(i)] =
          noise(size, seed * 100 + static_cast<unsigned>(i));
    }
    for (const auto& [path, bytes] : truth) memory_.put(path, bytes);
    sync();
    store_.reset();
    cache_of(seed == 1 ? std::uint64_t{1} << 30 : 12 << 20);
    std::atomic<bool> faulty = true;
    std::atomic<unsigned> dice = seed;
    FailingSource failing(memory_, [&](FaultPoint, std::string_view) -> Fault {
      const unsigned roll = (dice.fetch_add(1) * 2654435761u) >> 24;
      if (faulty && roll < 64) return Error{Code::kUnavailable, "a fault"};
      return {};
    });
    ManualClock clock;
    ReadThrough data(store_.get(), failing, 8 << 20, clock);
    SampleFiles files(index_, data);
    std::atomic<int> good = 0;
    const auto reader = [&](unsigned number) {
      std::mt19937 mine(seed * 1000 + number);
      for (int i = 0; i < 150; ++i) {
        auto chosen = truth.begin();
        std::advance(chosen, mine() % truth.size());
        const std::string& bytes = chosen->second;
        const std::size_t offset = mine() % (bytes.size() + 10);
        const std::size_t size = mine() % 300'000;
        const auto got = read(files, id(files, chosen->first), offset, size);
        if (!got) {
          EXPECT_TRUE(faulty);
          continue;
        }
        ++good;
        const std::string want = offset < bytes.size() ? bytes.substr(offset, size) : "";
        ASSERT_TRUE(*got == want) << chosen->first << " at " << offset;
        if (faulty && number == 0 && i % 40 == 39) store_->clear();
      }
    };
    for (const bool with_faults : {true, false}) {
      faulty = with_faults;
      clock.advance(RecentFailures::kKept);
      std::vector<std::jthread> readers;
      for (unsigned t = 0; t < 4; ++t) readers.emplace_back([&, t] { reader(t); });
    }
    EXPECT_GT(good, 600);
    EXPECT_LE(store_->stats().used, store_->stats().limit);
    EXPECT_EQ(store_->stats().damaged, 0u);
  }
}

TEST_F(SampleFilesTest, ReadsAheadInALargeFile) {
  memory_.put("big", noise(6 * kBlockSize, 1));
  sync();
  cache_of(1 << 30);
  ReadThrough data(store_.get(), memory_);
  SampleFiles files(index_, data);
  const NodeId node = id(files, "big");
  for (std::uint64_t at = 0; at < 2 * kBlockSize; at += 256 << 10) {
    ASSERT_TRUE(read(files, node, at, 256 << 10));
  }
  // Only the read-ahead requests the third block; wait for it to arrive.
  const Block third =
      block_at("big", index_->at(*index_->resolve("big")).etag, 6 * kBlockSize, 2 * kBlockSize);
  for (int i = 0; i < 10'000 && !store_->holds(third); ++i) {
    system_clock().sleep(std::chrono::milliseconds(1), {});
  }
  EXPECT_TRUE(store_->holds(third));
}

}  // namespace
}  // namespace paddle::samplefs
