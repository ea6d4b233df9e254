// SPDX-License-Identifier: Apache-2.0
#include "samplefs/merge.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::samplefs {
namespace {

using Names = std::vector<std::string>;
using IndexPtr = std::shared_ptr<const Index>;

constexpr const char* kOtherSource = "s3://other/x";

source::Object found(const std::string& path, const std::string& etag = "e", int modified = 1) {
  return {.path = path,
          .size = path.size(),
          .etag = etag,
          .modified = WallTime{std::chrono::seconds{modified}}};
}

class MergeTest : public testing::Test {
 protected:
  MergeTest() { base_ = written({}); }

  IndexPtr written(const std::function<void(IndexBuilder&)>& fill, const GenerationInfo& as = {}) {
    IndexBuilder builder;
    if (fill) fill(builder);
    const std::string file = scratch_.path() + "/index." + std::to_string(++files_);
    const auto done = builder.write(file, as);
    EXPECT_TRUE(done) << done.error().message;
    auto index = Index::open(file);
    EXPECT_TRUE(index) << index.error().message;
    return *index;
  }
  // Each generation is the base of the next.
  void sync(const std::vector<source::Object>& listing, const SyncRules& rules,
            const std::string& job = "") {
    base_ = written(
        [&](IndexBuilder& next) {
          for (const auto& each : listing) ASSERT_TRUE(add_listed(each, rules, next));
          keep_beside(*base_, rules, next);
        },
        next_after(*base_, job, true));
  }
  Removed remove(const std::vector<std::string>& paths, const std::string& job = "") {
    Removed removed;
    base_ = written([&](IndexBuilder& next) { removed = keep_all_but(*base_, paths, next); },
                    next_after(*base_, job, false));
    return removed;
  }
  // "path=etag@origin"
  Names files() const {
    Names all;
    for (Index::Position i = 0; i < base_->size(); ++i) {
      const auto entry = base_->at(i);
      if (entry.directory) continue;
      const Origin& origin = base_->origin(entry.origin);
      all.push_back(base_->path_of(i) + "=" + std::string(entry.etag) +
                    (origin.uri.empty() ? "" : "@" + origin.uri));
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  Scratch scratch_;
  int files_ = 0;
  IndexPtr base_;
};

TEST_F(MergeTest, ASyncAddsAndUpdatesAndRemovesNothing) {
  sync({found("a"), found("b/c")}, {});
  sync({found("b/c", "new"), found("d")}, {});
  EXPECT_EQ(files(), (Names{"a=e", "b/c=new", "d=e"}));
  EXPECT_EQ(base_->left_out(), 0u) << "what is replaced is not left out";
}

TEST_F(MergeTest, WithDeleteFilesThatTheSourceNoLongerHasAreRemoved) {
  sync({found("a"), found("b/c")}, {});
  sync({found("b/c")}, {.delete_unlisted = true});
  EXPECT_EQ(files(), (Names{"b/c=e"}));
}

TEST_F(MergeTest, ASecondSourceStaysBeneathItsDestination) {
  sync({found("a"), found("val/1"), found("val/2")}, {});
  const Origin other{.uri = kOtherSource, .destination = "val"};
  sync({found("2", "o"), found("sub/3", "o")}, {.origin = other});
  const std::string at = std::string("@") + kOtherSource;
  EXPECT_EQ(files(), (Names{"a=e", "val/1=e", "val/2=o" + at, "val/sub/3=o" + at}));
  ASSERT_EQ(base_->origins(), 2u);
  EXPECT_EQ(base_->origin(1), other);

  const auto position = *base_->resolve("val/sub/3");
  const std::string path = base_->path_of(position);
  const Block block = base_->block(base_->at(position), path, 0);
  EXPECT_EQ(block.object, "sub/3");
  EXPECT_EQ(block.origin, id_of(other));
  EXPECT_NE(block.key, block_at(path, "o", block.file_size, 0).key) << "another source's bytes";

  sync({found("2", "o")}, {.origin = other, .delete_unlisted = true});
  EXPECT_EQ(files(), (Names{"a=e", "val/2=o" + at})) << "and nothing outside of it";
}

TEST_F(MergeTest, DeletionIsLimitedToTheKeysOfTheSync) {
  const Names all{"a/1", "a/2", "b/1", "b/x.txt"};
  std::vector<source::Object> listing;
  for (const auto& each : all) listing.push_back(found(each));
  sync(listing, {});
  sync({}, {.keys = {.start = "b"}, .delete_unlisted = true});
  EXPECT_EQ(files(), (Names{"a/1=e", "a/2=e"}));
  sync(listing, {.keys = {.exclude = {"*.txt"}}});
  EXPECT_EQ(files(), (Names{"a/1=e", "a/2=e", "b/1=e"}));
  sync(listing, {});
  sync({}, {.keys = {.exclude = {"*.txt"}}, .delete_unlisted = true});
  EXPECT_EQ(files(), (Names{"b/x.txt=e"}));
}

TEST_F(MergeTest, WithUpdateAnotherOriginsNewerFileStays) {
  sync({found("a", "old", 5), found("b", "old", 5)}, {});
  const Origin other{.uri = kOtherSource};
  sync({found("a", "o", 5), found("b", "o", 6)}, {.origin = other, .newer_only = true});
  EXPECT_EQ(files(), (Names{"a=old", std::string("b=o@") + kOtherSource}));
  sync({found("a", "back", 1)}, {.newer_only = true});
  EXPECT_EQ(files()[0], "a=back") << "of the same origin the source's version always counts";
  sync({found("b", "own", 1)}, {});
  EXPECT_EQ(files()[1], "b=own") << "without it the last one wins";
  EXPECT_EQ(base_->origins(), 1u) << "nothing is left of the other origin";
}

TEST_F(MergeTest, RemovalHidesNamesUntilASyncListsThemAgain) {
  sync({found("a"), found("b/c"), found("b/d"), found("bc"), found("*")}, {});
  const Removed removed = remove({"b", "nothing"});
  EXPECT_EQ(removed.files, 2u);
  EXPECT_EQ(removed.bytes, 6u);
  EXPECT_EQ(files(), (Names{"*=e", "a=e", "bc=e"}));
  remove({"*"});
  EXPECT_EQ(files(), (Names{"a=e", "bc=e"})) << "a name, no pattern";
  sync({found("b/c")}, {});
  EXPECT_EQ(files(), (Names{"a=e", "b/c=e", "bc=e"}));
}

TEST_F(MergeTest, AGenerationRecordsItsJobAndTheLatestSync) {
  sync({found("a"), found("b")}, {}, "sync-1");
  EXPECT_EQ(base_->generation(), 1u);
  EXPECT_EQ(base_->synced(), 1u);
  remove({"a"}, "rmr-1");
  EXPECT_EQ(base_->generation(), 2u);
  EXPECT_EQ(base_->synced(), 1u);
  EXPECT_TRUE(base_->was_made_by("sync-1"));
  EXPECT_TRUE(base_->was_made_by("rmr-1"));
  EXPECT_FALSE(base_->was_made_by("rmr-2"));
  EXPECT_FALSE(base_->was_made_by(""));
  for (int i = 0; i < 100; ++i) sync({}, {}, "s" + std::to_string(i));
  EXPECT_EQ(base_->ledger().size(), kLedgerSize);
  EXPECT_FALSE(base_->was_made_by("rmr-1"));
  EXPECT_TRUE(base_->was_made_by("s36"));
  EXPECT_TRUE(base_->was_made_by("s99"));
}

TEST_F(MergeTest, TheDigestDependsOnContentAndNotOnHistory) {
  sync({found("a"), found("b")}, {}, "one");
  const std::string first = base_->digest();
  sync({found("a"), found("b")}, {}, "two");
  EXPECT_EQ(base_->digest(), first);
  remove({"b"}, "three");
  EXPECT_NE(base_->digest(), first);
  sync({found("b")}, {}, "four");
  EXPECT_EQ(base_->digest(), first);
}

// Random histories of syncs from three origins and of removals, against a map.
TEST_F(MergeTest, AgreesWithAModelOnRandomHistories) {
  const std::vector<Origin> origins{
      {}, {.uri = kOtherSource, .destination = "d"}, {.uri = "s3://third", .destination = "d/e"}};
  std::mt19937 random(3);
  std::map<std::string, std::string> model;
  for (int round = 0; round < 200; ++round) {
    const auto paths = [&](std::size_t most) {
      std::set<std::string> some;
      for (std::size_t i = random() % (most + 1); i > 0; --i) {
        some.insert(std::string(1, "abcd"[random() % 4]) + "/" + std::to_string(random() % 6));
      }
      return some;
    };
    if (random() % 4 == 0) {
      Names gone;
      for (const auto& each : paths(4)) gone.push_back(random() % 2 ? each.substr(0, 1) : each);
      remove(gone);
      std::erase_if(model, [&](const auto& file) {
        return std::any_of(gone.begin(), gone.end(), [&](const std::string& path) {
          return file.first == path || is_beneath(file.first, path);
        });
      });
    } else {
      const SyncRules rules{.origin = origins[random() % origins.size()],
                            .delete_unlisted = random() % 3 == 0};
      const std::string& at = rules.origin.destination;
      std::vector<source::Object> listing;
      const std::string etag = "v" + std::to_string(round);
      if (rules.delete_unlisted) {
        std::erase_if(model, [&](const auto& file) { return is_beneath(file.first, at); });
      }
      for (const auto& each : paths(8)) {
        listing.push_back(found(each, etag));
        model[path_of_object(each, at)] =
            etag + (rules.origin.uri.empty() ? "" : "@" + rules.origin.uri);
      }
      sync(listing, rules);
    }
    Names expected;
    for (const auto& [path, what] : model) expected.push_back(path + "=" + what);
    ASSERT_EQ(files(), expected) << round;
  }
}

}  // namespace
}  // namespace paddle::samplefs
