// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/storage.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/scratch.h"
#include "local/api_server/data_directory.h"

namespace paddle::local {
namespace {

using api::Json;
using kube::resources::kConfigMaps;
using testing::HasSubstr;

const std::string kCollection = "/configmaps";

Json object(const std::string& name, const std::string& value, const std::string& owner = {}) {
  Json made{{"metadata", {{"name", name}, {"namespace", "n"}, {"uid", "uid-" + name}}},
            {"data", {{"value", value}}}};
  if (!owner.empty()) made["metadata"]["ownerReferences"] = {{{"uid", owner}}};
  return made;
}

class StorageTest : public testing::Test {
 protected:
  void SetUp() override { reopen(); }

  void reopen(std::int64_t keep_changes = 4096) {
    storage_.reset();
    auto opened = Storage::open({.directory = directory(), .keep_changes = keep_changes});
    ASSERT_TRUE(opened) << opened.error().message;
    storage_ = *std::move(opened);
  }
  std::string directory() const { return scratch_.path() + "/data"; }

  std::uint64_t put(const std::string& name, const std::string& value,
                    const std::string& owner = {}) {
    EXPECT_TRUE(storage_->write([&](Transaction& t) -> Result<> {
      t.put(kConfigMaps, object(name, value, owner), {});
      return Done{};
    }));
    return *storage_->revision();
  }
  void erase(const std::string& name) {
    EXPECT_TRUE(storage_->write([&](Transaction& t) -> Result<> {
      t.erase(kConfigMaps, {"n", name});
      return Done{};
    }));
  }
  // "a=1 b=2"
  std::string listed(std::uint64_t revision = 0, const std::string& after = {}) {
    std::string text;
    const Range range{.collection = kCollection,
                      .after = {after.empty() ? "" : "n", after},
                      .revision = revision};
    const auto seen = storage_->list(range, [&](const api::ObjectKey& key, std::string_view body) {
      const auto json = api::parse_json(body);
      text += key.name + "=" + (*json)["data"]["value"].get<std::string>() + " ";
      return true;
    });
    return seen ? text : std::string(name(seen.error().code));
  }

  Scratch scratch_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(StorageTest, KeepsObjectsWhenItIsOpenedAgain) {
  const auto revision = put("a", "1");
  put("b", "2");
  erase("b");
  reopen();
  EXPECT_EQ(listed(), "a=1 ");
  EXPECT_EQ(*storage_->revision(), revision + 2);
  EXPECT_EQ(storage_->changes(kCollection, "", revision, 10)->list.size(), 2U);
}

TEST_F(StorageTest, AFailedWriteLeavesNothingBehind) {
  put("a", "1");
  const auto before = *storage_->revision();
  const auto done = storage_->write([&](Transaction& t) -> Result<> {
    t.put(kConfigMaps, object("b", "2"), {});
    return Error{Code::kInvalid, "no"};
  });
  EXPECT_TRUE(done.is(Code::kInvalid));
  EXPECT_EQ(listed(), "a=1 ");
  EXPECT_EQ(*storage_->revision(), before);
}

TEST_F(StorageTest, ADryRunLeavesNothingBehind) {
  bool heard = false;
  storage_->listen([&](const auto&) { heard = true; });
  EXPECT_TRUE(storage_->write(
      [&](Transaction& t) -> Result<> {
        t.put(kConfigMaps, object("b", "2"), {});
        EXPECT_TRUE(t.read(kConfigMaps, {"n", "b"}));
        return Done{};
      },
      true));
  EXPECT_EQ(listed(), "");
  EXPECT_FALSE(heard);
}

TEST_F(StorageTest, ListsAsOfAnOlderRevision) {
  put("a", "1");
  put("b", "1");
  const auto then = put("d", "1");
  put("a", "2");
  put("a", "3");
  erase("b");
  put("c", "1");
  EXPECT_EQ(listed(), "a=3 c=1 d=1 ");
  EXPECT_EQ(listed(then), "a=1 b=1 d=1 ");
  EXPECT_EQ(listed(then, "a"), "b=1 d=1 ");
}

TEST_F(StorageTest, CompactedRevisionsHaveExpired) {
  const auto first = put("a", "1");
  const auto second = put("a", "2");
  ASSERT_TRUE(storage_->compact());
  EXPECT_EQ(listed(first), name(Code::kExpired));
  EXPECT_TRUE(storage_->changes(kCollection, "", first, 10).is(Code::kExpired));
  EXPECT_TRUE(storage_->changes(kCollection, "", second, 10));
  EXPECT_EQ(listed(second), "a=2 ");
}

TEST_F(StorageTest, HistoryIsBounded) {
  reopen(10);
  const auto first = put("a", "0");
  for (int i = 1; i < 200; ++i) put("a", std::to_string(i));
  EXPECT_TRUE(storage_->changes(kCollection, "", first, 1000).is(Code::kExpired));
  const auto latest = *storage_->revision();
  EXPECT_EQ(storage_->changes(kCollection, "", latest - 5, 1000)->list.size(), 5U);
}

TEST_F(StorageTest, ChangesComeInBatchesWithoutAGap) {
  const auto start = *storage_->revision();
  for (int i = 0; i < 10; ++i) put("a", std::to_string(i));
  const auto part = storage_->changes(kCollection, "", start, 4);
  ASSERT_EQ(part->list.size(), 4U);
  EXPECT_EQ(part->up_to, start + 4);
  EXPECT_EQ(storage_->changes(kCollection, "", part->up_to, 100)->list.front().revision, start + 5);
  EXPECT_TRUE(storage_->changes(kCollection, "elsewhere", start, 100)->list.empty());
}

TEST_F(StorageTest, FindsDependentsAndDanglingObjects) {
  put("owner", "1");
  put("kept", "1", "uid-owner");
  put("lost", "1", "uid-unknown");
  EXPECT_TRUE(storage_->write([&](Transaction& t) -> Result<> {
    EXPECT_EQ(t.dependents_of("uid-owner").at(0).key.name, "kept");
    EXPECT_EQ(t.dangling().at(0).key.name, "lost");
    EXPECT_EQ(t.find_uid("uid-owner")->key.name, "owner");
    return Done{};
  }));
}

TEST_F(StorageTest, FilesAreReadableByTheirOwnerOnly) {
  put("a", "1");
  const auto mode = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0U;
  };
  EXPECT_EQ(mode(directory()), 0700U);
  ASSERT_TRUE(load_token(directory()));
  for (const char* file : {"/state.db", "/state.db-wal", "/token", "/lock"}) {
    EXPECT_EQ(mode(directory() + file), 0600U) << file;
  }
}

TEST_F(StorageTest, TheTokenIsTheSameWhenItIsLoadedAgain) {
  const auto token = load_token(directory());
  ASSERT_TRUE(token);
  EXPECT_EQ(token->size(), 64U);
  EXPECT_EQ(*load_token(directory()), *token);
}

TEST_F(StorageTest, ASecondServerOnTheSameDirectoryIsRejected) {
  const auto second = Storage::open({.directory = directory()});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("in use by another API server"));
}

TEST_F(StorageTest, ADamagedDatabaseIsReportedInOneSentence) {
  for (int i = 0; i < 50; ++i) put("a" + std::to_string(i), std::string(2000, 'x'));
  storage_.reset();
  {
    std::fstream file(directory() + "/state.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(40'000, '\x5a');
  }
  const auto opened = Storage::open({.directory = directory()});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("is damaged"));
  EXPECT_THAT(opened.error().message, HasSubstr("remove it to start again"));
}

TEST_F(StorageTest, AForeignDatabaseIsNotTouched) {
  storage_.reset();
  std::ofstream(directory() + "/state.db", std::ios::trunc) << std::string(8192, 'z');
  EXPECT_FALSE(Storage::open({.directory = directory()}));
}

TEST_F(StorageTest, ANewerSchemaIsRejected) {
  storage_.reset();
  {
    auto database = Database::open(directory() + "/state.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->script("PRAGMA user_version = 99"));
  }
  const auto opened = Storage::open({.directory = directory()});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("newer version"));
}

}  // namespace
}  // namespace paddle::local
