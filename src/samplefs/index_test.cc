// SPDX-License-Identifier: Apache-2.0
#include "samplefs/index.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "samplefs/index_builder.h"

namespace paddle::samplefs {
namespace {

using source::Object;

Object object(std::string path, std::uint64_t size = 1, std::string etag = "e") {
  return {.path = std::move(path),
          .size = size,
          .etag = std::move(etag),
          .modified = WallTime{std::chrono::seconds{1000 + size % 1'000'000}}};
}

class IndexTest : public testing::Test {
 protected:
  std::string file() const { return scratch_.path() + "/index"; }

  std::shared_ptr<const Index> build(const std::vector<Object>& objects) {
    IndexBuilder builder;
    for (const Object& object : objects) EXPECT_TRUE(builder.add(object));
    const auto written = builder.write(file(), 7);
    EXPECT_TRUE(written) << written.error().message;
    auto index = Index::open(file());
    EXPECT_TRUE(index) << index.error().message;
    return *index;
  }

  // With two origins, a ledger and notes of what was left out besides.
  void build_rich() {
    IndexBuilder builder;
    for (const char* path : {"a/b", "d"}) EXPECT_TRUE(builder.add(object(path, 1)));
    EXPECT_TRUE(builder.add(object("c", 2), {.uri = "s3://x", .destination = "a"}));
    EXPECT_TRUE(builder.add(object("f", 2), {.uri = "s3://y", .server = "h", .destination = ""}));
    source::LeftOut left;
    left.add("g//h", "an empty part");
    builder.leave_out(left, {.uri = "s3://x", .destination = "a"});
    const auto written =
        builder.write(file(), {.generation = 7, .synced = 5, .ledger = {"job-1", "job-2"}});
    EXPECT_TRUE(written) << written.error().message;
  }

  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void overwrite(const std::string& bytes) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
  }

  Scratch scratch_;
};

TEST_F(IndexTest, AnEmptySetIsARootDirectory) {
  const auto index = build({});
  EXPECT_EQ(index->size(), 1u);
  EXPECT_EQ(index->find(kRootId), Index::kRoot);
  EXPECT_TRUE(index->at(Index::kRoot).directory);
  EXPECT_EQ(index->children(Index::kRoot).count, 0u);
  EXPECT_EQ(index->resolve("a"), std::nullopt);
}

TEST_F(IndexTest, KeepsEverythingOfTheListing) {
  const auto index =
      build({object("b/z", 5, "e1"), object("a", 3, "e2"), object("b/c/d", 0, "e3")});
  EXPECT_EQ(index->generation(), 7u);
  EXPECT_EQ(index->totals().files, 3u);
  EXPECT_EQ(index->totals().bytes, 8u);
  const auto z = index->at(*index->resolve("b/z"));
  EXPECT_EQ(z.name, "z");
  EXPECT_EQ(z.etag, "e1");
  EXPECT_EQ(z.size, 5u);
  EXPECT_EQ(z.modified, WallTime{std::chrono::seconds{1005}});
  const auto b = index->at(*index->resolve("b"));
  EXPECT_TRUE(b.directory);
  EXPECT_EQ(b.modified, z.modified) << "the latest of what is beneath";
  EXPECT_EQ(index->resolve("b/z/x"), std::nullopt);
  EXPECT_EQ(index->resolve("b/"), index->resolve("b"));
}

TEST_F(IndexTest, AnIdIdentifiesContent) {
  const auto one = build({object("d/a", 1, "e1"), object("d/b", 1, "e1")});
  const NodeId a = one->at(*one->resolve("d/a")).id;
  const NodeId b = one->at(*one->resolve("d/b")).id;
  const NodeId d = one->at(*one->resolve("d")).id;
  const auto two = build({object("d/a", 1, "e2"), object("d/b", 1, "e1"), object("c", 1, "x")});
  EXPECT_NE(two->at(*two->resolve("d/a")).id, a) << "a changed file is another node";
  EXPECT_EQ(two->at(*two->resolve("d/b")).id, b) << "an unchanged one stays";
  EXPECT_EQ(two->at(*two->resolve("d")).id, d);
  EXPECT_EQ(two->find(a), std::nullopt);
}

TEST_F(IndexTest, TheOrderOfTheListingDoesNotMatter) {
  std::vector<Object> objects;
  for (const char* path : {"a-b/x", "a/x", "a/y", "a.b", "a0", "b/c/d/e", "b/c.d"}) {
    objects.push_back(object(path, objects.size()));
  }
  std::mt19937 random(1);
  const std::string digest = build(objects)->digest();
  for (int i = 0; i < 20; ++i) {
    std::shuffle(objects.begin(), objects.end(), random);
    EXPECT_EQ(build(objects)->digest(), digest);
  }
}

TEST_F(IndexTest, ADirectoryHidesAFileOfTheSameName) {
  const auto index = build({object("a"), object("a/b"), object("a/b/c"), object("a-")});
  EXPECT_EQ(index->totals().files, 2u);
  EXPECT_EQ(index->left_out(), 2u);
  EXPECT_TRUE(index->at(*index->resolve("a")).directory);
  EXPECT_TRUE(index->at(*index->resolve("a/b")).directory);
  EXPECT_FALSE(index->at(*index->resolve("a/b/c")).directory);
}

TEST_F(IndexTest, ObjectsLeftOutAreRecordedByOriginWithReasons) {
  const Origin other{.uri = "s3://b", .destination = "more"};
  IndexBuilder builder;
  for (const char* path : {"a", "a/b"}) ASSERT_TRUE(builder.add(object(path)));
  ASSERT_TRUE(builder.add(object("huge", std::uint64_t{1} << 50)));
  source::LeftOut listed;
  listed.add("x//y", "an empty part");
  builder.leave_out(listed, other);
  const std::string file = scratch_.path() + "/notes";
  ASSERT_TRUE(builder.write(file, 7));
  const auto index = *Index::open(file);
  EXPECT_EQ(index->left_out(), 3u);
  ASSERT_EQ(index->left_out_notes().size(), 2u);
  EXPECT_EQ(index->left_out_notes().at({}).examples,
            (std::vector<std::string>{"'huge' (larger than 50 TiB)",
                                      "'a' (a directory has the same name)"}));
  EXPECT_EQ(index->left_out_notes().at(other), listed);
  EXPECT_EQ(index->digest(), build({object("a/b")})->digest()) << "of what there is, alone";
}

TEST_F(IndexTest, DamagedNotesAreRejected) {
  source::LeftOut left;
  left.add("a//b", "why");
  const std::string good = encode_notes({{Origin{}, left}, {Origin{.uri = "u"}, left}});
  ASSERT_TRUE(decode_notes(good));
  EXPECT_EQ(decode_notes(good)->at({}), left);
  for (std::size_t size = 1; size < good.size(); ++size) {
    const auto cut = decode_notes(good.substr(0, size));
    EXPECT_TRUE(!cut || cut->size() == 1) << size;
  }
  EXPECT_FALSE(decode_notes(good + good)) << "each origin once, in order";
  left.examples = {"line\nbreak"};
  left.examples.front()[4] = '\n';
  EXPECT_FALSE(decode_notes(encode_notes({{Origin{}, left}})));
  left.examples = {std::string(source::LeftOut::kLongestExample + 1, 'x')};
  EXPECT_FALSE(decode_notes(encode_notes({{Origin{}, left}})));
}

TEST_F(IndexTest, TooManyBytesAreRejectedInOneSentence) {
  IndexBuilder builder;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(builder.add(object("f" + std::to_string(i), kMaxFileSize)));
  }
  const auto written = builder.write(scratch_.path() + "/large", 1);
  ASSERT_TRUE(written.is(Code::kInvalid));
  EXPECT_NE(written.error().message.find("sync a part of it"), std::string::npos);
}

TEST_F(IndexTest, TheLatestOfAPathListedTwiceIsKept) {
  const auto index = build({object("a", 1, "old"), object("a", 9, "new"), object("a", 2, "mid")});
  EXPECT_EQ(index->size(), 2u);
  EXPECT_EQ(index->at(1).etag, "new");
}

TEST_F(IndexTest, RejectsObjectsThatNoListingMayContain) {
  IndexBuilder builder;
  for (const char* path : {"", "/a", "a/", "a//b", "..", "a/./b"}) {
    EXPECT_TRUE(builder.add(object(path)).is(Code::kInvalid)) << path;
  }
  EXPECT_TRUE(builder.add(object("a", 1, "")).is(Code::kInvalid));
  EXPECT_TRUE(builder.add(object("a", UINT64_MAX)).is(Code::kInvalid));
}

TEST_F(IndexTest, AgreesWithAMapOnRandomTrees) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    std::map<std::string, Object> model;
    std::vector<Object> objects;
    for (int i = 0; i < 200; ++i) {
      std::string path;
      for (auto depth = random() % 4 + 1; depth-- > 0;) {
        path += std::string(path.empty() ? "" : "/") + "ab-+0\xff"[random() % 6] +
                (random() % 2 ? "" : "/x");
      }
      if (!model.contains(path)) {
        objects.push_back(object(path, random() % 100, "e" + std::to_string(random() % 5)));
        model[path] = objects.back();
      }
    }
    std::erase_if(model, [&](const auto& item) {
      const auto next = model.lower_bound(item.first + "/");
      return next != model.end() && next->first.starts_with(item.first + "/");
    });
    const auto index = build(objects);
    EXPECT_EQ(index->totals().files, model.size());
    std::size_t files = 0;
    for (Index::Position i = 0; i < index->size(); ++i) {
      const std::string path = index->path_of(i);
      EXPECT_EQ(index->resolve(path), i);
      EXPECT_EQ(index->find(index->at(i).id), i);
      if (index->at(i).directory) continue;
      ++files;
      ASSERT_TRUE(model.contains(path)) << path;
      EXPECT_EQ(index->at(i).size, model.at(path).size);
      EXPECT_EQ(index->at(i).etag, model.at(path).etag);
    }
    EXPECT_EQ(files, model.size());
  }
}

// All names of an index with what it says of them.
std::map<std::string, std::string> shown(const Index& index) {
  std::map<std::string, std::string> all;
  for (Index::Position i = 1; i < index.size(); ++i) {
    const Index::Entry entry = index.at(i);
    const std::string path = index.path_of(i);
    if (entry.id == 0 || path.empty()) continue;  // damaged
    all[path] = std::to_string(entry.id) + " " + std::to_string(entry.size) + " " +
                std::string(entry.etag) + " " + std::string(entry.version_id);
  }
  return all;
}

TEST_F(IndexTest, EveryTruncationAndEveryFlippedBitIsRejected) {
  build_rich();
  const std::string good = bytes();
  const auto refused = [](const std::string& file) {
    const auto index = Index::over(std::as_bytes(std::span(file)));
    return index.is(Code::kInvalid) || (*index)->verify().is(Code::kInvalid);
  };
  EXPECT_FALSE(refused(good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_TRUE(refused(good.substr(0, size))) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    ASSERT_TRUE(refused(bad)) << at;
  }
  overwrite("");
  EXPECT_TRUE(Index::open(file()).is(Code::kInvalid));
  overwrite(good + "x");
  EXPECT_TRUE(Index::open(file()).is(Code::kInvalid));
  EXPECT_TRUE(Index::open(scratch_.path() + "/none").is(Code::kNotFound));
}

// Several chunks, opened without being read: whatever is damaged, the rest is right, and what is
// missing is known to be so.
TEST_F(IndexTest, DamageInAnIndexThatWasNotVerifiedHidesNamesAndNeverChangesThem) {
  std::vector<Object> objects;
  for (int i = 0; i < 3000; ++i) {
    Object each = object("d" + std::to_string(i % 10) + "/f" + std::to_string(i), 10, "etag");
    each.version_id = "v" + std::to_string(i);
    objects.push_back(std::move(each));
  }
  const auto good = shown(*build(objects));
  ASSERT_EQ(good.size(), 3010u);
  const std::string whole = bytes();
  ASSERT_GT(whole.size(), 3 * kIndexChunkSize);
  std::mt19937 random(5);
  int hidden = 0;
  for (int round = 0; round < 60; ++round) {
    std::string bad = whole;
    const std::size_t at = sizeof(IndexHeader) + random() % (whole.size() - sizeof(IndexHeader));
    bad[at] = static_cast<char>(bad[at] ^ (1 << (round % 8)));
    const auto index = Index::over(std::as_bytes(std::span(bad)));
    if (!index) continue;
    const auto seen = shown(**index);
    for (const auto& [path, what] : seen) ASSERT_EQ(what, good.at(path)) << path;
    for (const auto& [path, what] : good) {
      const auto found = (*index)->resolve(path);
      if (found) {
        ASSERT_EQ((*index)->at(*found).id == 0 || (*index)->path_of(*found) == path ||
                      (*index)->path_of(*found).empty(),
                  true);
      }
    }
    if (seen.size() < good.size()) {
      ++hidden;
      EXPECT_TRUE((*index)->damaged()) << at;
    }
    EXPECT_TRUE((*index)->verify().is(Code::kInvalid));
  }
  EXPECT_GT(hidden, 10);
}

TEST_F(IndexTest, KeepsVersionIdsThroughGenerationsAndReadsNoDifferenceInAnIdWithoutOne) {
  Object versioned = object("a");
  versioned.version_id = "3sL4kqtJlcpXroDTDmJ";
  const auto index = build({versioned, object("b")});
  EXPECT_EQ(index->at(*index->resolve("a")).version_id, versioned.version_id);
  EXPECT_EQ(index->at(*index->resolve("b")).version_id, "");
  EXPECT_EQ(index->at(*index->resolve("a")).id, build({object("a")})->at(1).id)
      << "the same content is the same file";
  IndexBuilder next;
  for (Index::Position i = 1; i < index->size(); ++i) {
    next.keep(*index, index->at(i), index->path_of(i));
  }
  const std::string later = scratch_.path() + "/later";
  ASSERT_TRUE(next.write(later, 8));
  const auto kept = *Index::open(later);
  EXPECT_TRUE(kept->verify());
  EXPECT_EQ(kept->at(*kept->resolve("a")).version_id, versioned.version_id);
  const auto entry = kept->at(*kept->resolve("a"));
  EXPECT_EQ(kept->block(entry, "a", 0).version_id, versioned.version_id);
}

TEST_F(IndexTest, APathThatIsTooLongBeneathItsDestinationIsLeftOutAndNamed) {
  IndexBuilder builder;
  const std::string long_name = std::string(200, 'x');
  std::string deep = long_name;
  while (deep.size() + long_name.size() + 1 <= 4095) deep += "/" + long_name;
  const Origin origin{.uri = "s3://x", .destination = "a/destination/" + long_name};
  ASSERT_TRUE(builder.add(object(deep), origin));
  ASSERT_TRUE(builder.add(object("short"), origin));
  ASSERT_TRUE(builder.write(file(), 1));
  const auto index = *Index::open(file());
  EXPECT_EQ(index->totals().files, 1u);
  EXPECT_EQ(index->left_out(), 1u);
  EXPECT_NE(index->left_out_notes().at(origin).examples.front().find("beneath the destination"),
            std::string::npos);
}

// A damaged file with correct hashes still cannot cause reads outside of it.
TEST_F(IndexTest, ADamagedIndexWithCorrectHashesIsRejectedOrHarmless) {
  build_rich();
  const std::string good = bytes();
  int refused = 0;
  for (std::size_t at = 8; at < good.size(); ++at) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::vector<std::byte> bad(good.size());
      std::memcpy(bad.data(), good.data(), good.size());
      bad[at] = static_cast<std::byte>(value);
      seal_index(bad.data(), bad.size());
      const auto index = Index::over(bad);
      if (!index) {
        ++refused;
        continue;
      }
      for (Index::Position i = 0; i < (*index)->size(); ++i) {
        (void)(*index)->find((*index)->at(i).id);
        (void)(*index)->resolve((*index)->path_of(i));
      }
      if (!(*index)->verify()) {
        ++refused;
        continue;
      }
      for (Index::Position i = 0; i < (*index)->size(); ++i) {
        EXPECT_EQ((*index)->resolve((*index)->path_of(i)), i);
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST_F(IndexTest, RecordsOriginsOfFilesAndItsJobs) {
  build_rich();
  const auto index = *Index::open(file());
  EXPECT_EQ(index->synced(), 5u);
  EXPECT_EQ(index->ledger(), (std::vector<std::string>{"job-1", "job-2"}));
  ASSERT_EQ(index->origins(), 3u);
  EXPECT_EQ(index->origin(0), Origin{});
  EXPECT_EQ(index->origin_id(0), 0u);
  const auto origin_of = [&](const char* path) {
    return index->origin(index->at(*index->resolve(path)).origin);
  };
  EXPECT_EQ(origin_of("d"), Origin{});
  EXPECT_EQ(origin_of("a/c"), (Origin{.uri = "s3://x", .destination = "a"}));
  EXPECT_EQ(origin_of("f"), (Origin{.uri = "s3://y", .server = "h"}));
}

TEST_F(IndexTest, TheSamePathOfAnotherOriginIsAnotherFile) {
  const auto own = build({object("a")});
  IndexBuilder builder;
  ASSERT_TRUE(builder.add(object("a"), {.uri = "s3://x"}));
  ASSERT_TRUE(builder.write(file(), 8));
  const auto other = *Index::open(file());
  EXPECT_NE(other->at(1).id, own->at(1).id);
  EXPECT_NE(other->digest(), own->digest());
}

// The format of earlier programs: nodes without an origin, nothing after the texts.
std::string as_version_one(const std::string& file) {
  IndexHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  const IndexLayout from(header);
  std::string old(sizeof header, '\0');
  for (std::uint32_t i = 0; i < header.node_count; ++i) {
    old += file.substr(from.nodes + i * from.node_size, kFirstNodeSize);
  }
  old += file.substr(from.ids, from.origins - from.ids);
  header.version = kFirstIndexVersion;
  header.synced = header.origins_size = header.ledger_size = 0;
  header.file_size = old.size();
  std::memcpy(old.data(), &header, sizeof header);
  seal_index(reinterpret_cast<std::byte*>(old.data()), old.size());
  return old;
}

TEST_F(IndexTest, AFileOfTheFirstVersionIsStillRead) {
  build({object("a/b", 1), object("a/c", 2), object("d", 3)});
  const std::string file_now = bytes();
  const auto now = *Index::over(std::as_bytes(std::span(file_now)));
  overwrite(as_version_one(file_now));
  const auto opened = Index::open(file());
  ASSERT_TRUE(opened) << opened.error().message;
  const auto& old = *opened;
  EXPECT_EQ(old->size(), now->size());
  EXPECT_EQ(old->synced(), 7u);
  EXPECT_TRUE(old->ledger().empty());
  for (Index::Position i = 0; i < old->size(); ++i) {
    EXPECT_EQ(old->path_of(i), now->path_of(i));
    EXPECT_EQ(old->at(i).id, now->at(i).id) << "kernels know files by it";
    EXPECT_EQ(old->at(i).origin, 0u);
  }
}

TEST_F(IndexTest, AFailedWriteLeavesTheOldGeneration) {
  build({object("a")});
  IndexBuilder builder;
  ASSERT_TRUE(builder.add(object("b")));
  EXPECT_TRUE(builder.write(scratch_.path() + "/no/such/directory", 8).is(Code::kUnavailable));
  EXPECT_TRUE((*Index::open(file()))->resolve("a"));
}

}  // namespace
}  // namespace paddle::samplefs
