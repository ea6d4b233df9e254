// SPDX-License-Identifier: Apache-2.0
#include "etcd/store_suite.h"

namespace paddle::etcd {

void StoreSuite::SetUp() {
  store_ = GetParam().make();
  ASSERT_TRUE(store_);
  root_ = std::string("/") + testing::UnitTest::GetInstance()->current_test_info()->name();
}

std::string StoreSuite::value_of(const std::string& at) {
  const auto found = store_->get(at);
  EXPECT_TRUE(found) << found.error().message;
  return found && *found ? (**found).value : "(none)";
}

std::int64_t StoreSuite::revision_of(const std::string& at) {
  const auto found = store_->get(at);
  EXPECT_TRUE(found) << found.error().message;
  return found && *found ? (**found).revision : 0;
}

std::string StoreSuite::listed(const std::string& prefix) {
  const auto found = store_->list(prefix);
  EXPECT_TRUE(found) << found.error().message;
  std::string out;
  if (!found) return out;
  for (const Entry& entry : *found) {
    if (!out.empty()) out += ',';
    out += entry.key.substr(root_.size()) + "=" + entry.value;
  }
  return out;
}

TEST_P(StoreSuite, APutValueCanBeReadAndAbsenceIsNoError) {
  EXPECT_EQ(value_of(key()), "(none)");
  ASSERT_TRUE(store_->put(key(), "3"));
  EXPECT_EQ(value_of(key()), "3");
  ASSERT_TRUE(store_->put(key(), "4"));
  EXPECT_EQ(value_of(key()), "4");
}

TEST_P(StoreSuite, KeysAndValuesAreBytes) {
  const std::string bytes("\0\xff\n\"=", 5);
  ASSERT_TRUE(store_->put(key(bytes), bytes + bytes));
  EXPECT_EQ(value_of(key(bytes)), bytes + bytes);
  ASSERT_TRUE(store_->put(key("/empty"), ""));
  EXPECT_EQ(value_of(key("/empty")), "");
}

TEST_P(StoreSuite, RevisionsGrowWithEveryWrite) {
  ASSERT_TRUE(store_->put(key("/a"), "1"));
  const auto first = revision_of(key("/a"));
  EXPECT_GT(first, 0);
  ASSERT_TRUE(store_->put(key("/b"), "1"));
  EXPECT_GT(revision_of(key("/b")), first);
  EXPECT_EQ(revision_of(key("/a")), first);
}

TEST_P(StoreSuite, AConditionalPutRequiresTheRevisionThatWasRead) {
  ASSERT_TRUE(store_->put_if(key(), "1", 0));
  EXPECT_TRUE(store_->put_if(key(), "2", 0).is(Code::kConflict));
  const auto seen = revision_of(key());
  ASSERT_TRUE(store_->put_if(key(), "2", seen));
  EXPECT_TRUE(store_->put_if(key(), "3", seen).is(Code::kConflict));
  EXPECT_EQ(value_of(key()), "2");
  ASSERT_TRUE(store_->remove(key()));
  EXPECT_TRUE(store_->put_if(key(), "4", revision_of(key() + "x") + 999999).is(Code::kConflict));
  EXPECT_EQ(value_of(key()), "(none)");
}

TEST_P(StoreSuite, AListReturnsTheKeysWithItsPrefixInOrder) {
  for (const char* rest : {"/nodes/b", "/nodes/a", "/nodes", "/nodez", "/nodes/\xff"}) {
    ASSERT_TRUE(store_->put(key(rest), "1"));
  }
  EXPECT_EQ(listed(key("/nodes/")), "/nodes/a=1,/nodes/b=1,/nodes/\xff=1");
  EXPECT_EQ(listed(key("/nodes/\xff")), "/nodes/\xff=1");
  EXPECT_EQ(listed(key("/none")), "");
}

TEST_P(StoreSuite, RemovingDeletesOnlyWhatItNames) {
  for (const char* rest : {"", "/np", "/nodes/a", "2", "2/np"}) {
    ASSERT_TRUE(store_->put(key(rest), "1"));
  }
  ASSERT_TRUE(store_->remove_all(key("/")));
  EXPECT_EQ(listed(key()), "=1,2=1,2/np=1");
  ASSERT_TRUE(store_->remove(key()));
  EXPECT_EQ(listed(key()), "2=1,2/np=1");
  EXPECT_TRUE(store_->remove(key()));
  EXPECT_TRUE(store_->remove_all(key("/")));
}

TEST_P(StoreSuite, AnEmptyKeyOrPrefixIsRefused) {
  EXPECT_TRUE(store_->list("").is(Code::kInvalid));
  EXPECT_TRUE(store_->remove_all("").is(Code::kInvalid));
  EXPECT_TRUE(store_->put("", "1").is(Code::kInvalid));
  EXPECT_TRUE(store_->put_if("", "1", 0).is(Code::kInvalid));
  EXPECT_TRUE(store_->remove("").is(Code::kInvalid));
  EXPECT_TRUE(store_->get("").is(Code::kInvalid));
}

TEST_P(StoreSuite, ACallThatIsStoppedHasNoEffect) {
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_TRUE(store_->put(key(), "1", stopped.get_token()).is(Code::kCancelled));
  EXPECT_TRUE(store_->get(key(), stopped.get_token()).is(Code::kCancelled));
  EXPECT_EQ(value_of(key()), "(none)");
}

}  // namespace paddle::etcd
