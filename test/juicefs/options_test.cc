// SPDX-License-Identifier: Apache-2.0
//
// Every public option, once: the real `juicefs` accepts our arguments and does what they mean.
#include <algorithm>
#include <filesystem>
#include <set>

#include "test/juicefs/volume_fixture.h"

namespace paddle::test {
namespace {

using Names = std::set<std::string>;

struct Case {
  const char* option;
  engine::SyncTask task;
  Names brings;
};

class JuicefsOptionsTest : public VolumeTest {
 protected:
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(s3_.put("/bucket/train/" + name, text)) << name;
  }
  Names names_beneath(const std::string& root) {
    Names names;
    if (!std::filesystem::exists(root)) return names;
    for (const auto& [name, text] : files_beneath(root)) names.insert(name);
    return names;
  }
};

TEST_F(JuicefsOptionsTest, EveryOptionOfASyncWorksWithTheRealProgram) {
  const Names everything{"a.jpg", "b/c.jpg", "b/d.txt", "b/e/f.jpg", "k=v/g.jpg"};
  for (const auto& name : everything) put(name, name);
  ASSERT_EQ(format(path("volume")).exit_code, 0);
  Runtime& node = add_runtime();

  const std::vector<Case> cases{
      {"(none)", {}, everything},
      {"start", {.start = "b/d.txt"}, {"b/d.txt", "b/e/f.jpg", "k=v/g.jpg"}},
      {"end", {.end = "b/d.txt"}, {"a.jpg", "b/c.jpg", "b/d.txt"}},
      {"include", {.include = {"*.txt"}, .exclude = {"*"}}, {"b/d.txt"}},
      {"include, several", {.include = {"*.txt", "a*"}, .exclude = {"*"}}, {"a.jpg", "b/d.txt"}},
      {"exclude", {.exclude = {"*.jpg"}}, {"b/d.txt"}},
      {"exclude a directory", {.exclude = {"b/"}}, {"a.jpg", "k=v/g.jpg"}},
      {"exclude with =", {.exclude = {"k=v"}}, {"a.jpg", "b/c.jpg", "b/d.txt", "b/e/f.jpg"}},
      {"threads", {.threads = 3}, everything},
      {"bwlimit", {.megabits = 1}, everything},
      {"update", {.update = true}, everything},
      {"force-update", {.force_update = true}, everything},
      {"perms", {.perms = true}, everything},
      {"dirs", {.dirs = true}, everything},
      {"dry", {.dry = true}, {}},
      {"delete-dst", {.delete_destination = true}, everything},
  };
  int number = 0;
  for (const Case& each : cases) {
    SCOPED_TRACE(each.option);
    runtime::JobRequest request{.kind = runtime::JobKind::kSync, .sync = each.task};
    request.sync.destination = "to" + std::to_string(++number);
    const auto report = run_job(node, "sync-" + std::to_string(number), request);
    EXPECT_EQ(report.state, runtime::JobState::kSucceeded) << report.error;
    EXPECT_EQ(names_beneath(node.mount + "/" + request.sync.destination), each.brings);
  }

  // What is there already: by size, by time, always, and what is no longer in the source.
  ASSERT_TRUE(write_file(node.mount + "/to1/extra.jpg", "x"));
  runtime::JobRequest mirror{.kind = runtime::JobKind::kSync};
  mirror.sync = {.destination = "to1", .exclude = {"b/"}, .delete_destination = true};
  EXPECT_EQ(run_job(node, "mirror", mirror).state, runtime::JobState::kSucceeded);
  EXPECT_EQ(names_beneath(node.mount + "/to1"), everything);  // what is excluded stays

  // It deletes at the source what the destination has: last.
  runtime::JobRequest move{.kind = runtime::JobKind::kSync};
  move.sync = {.destination = "to1", .exclude = {"b/"}, .delete_source = true};
  EXPECT_EQ(run_job(node, "move", move).state, runtime::JobState::kSucceeded);
  runtime::JobRequest rest{.kind = runtime::JobKind::kSync};
  rest.sync.destination = "rest";
  EXPECT_EQ(run_job(node, "rest", rest).state, runtime::JobState::kSucceeded);
  EXPECT_EQ(names_beneath(node.mount + "/rest"), (Names{"b/c.jpg", "b/d.txt", "b/e/f.jpg"}));
  expect_no_secret_in_argv();
}

TEST_F(JuicefsOptionsTest, EveryOptionOfTheOtherKindsWorksWithTheRealClient) {
  for (const char* name : {"a.jpg", "b/c.jpg", "b/d.txt", "b/e/f.jpg"}) put(name, name);
  ASSERT_EQ(format(path("volume")).exit_code, 0);
  Runtime& node = add_runtime();
  ASSERT_EQ(run_job(node, "sync", {.kind = runtime::JobKind::kSync}).state,
            runtime::JobState::kSucceeded);
  ASSERT_TRUE(write_file(node.mount + "/.list", "b/d.txt\n/a.jpg\n"));

  struct Other {
    const char* option;
    runtime::JobKind kind;
    engine::Selection which;
    std::int64_t files;
  };
  using runtime::JobKind;
  const std::vector<Other> cases{
      {"warmup", JobKind::kWarmup, {}, 4},
      {"warmup paths", JobKind::kWarmup, {.paths = {"b"}}, 3},
      {"warmup file", JobKind::kWarmup, {.file = ".list"}, 2},
      {"warmup threads", JobKind::kWarmup, {.threads = 3}, 4},
      {"warmup strategy",
       JobKind::kWarmup,
       {.partition = 1, .partitions = 2, .strategy = {.order = sampler::Order::kRandom, .seed = 7}},
       2},
      {"clear paths", JobKind::kClear, {.paths = {"b/e"}}, 1},
      {"clear", JobKind::kClear, {}, 5},  // the list as well
      {"rmr paths", JobKind::kRemove, {.paths = {"b/c.jpg", "b/d.txt"}}, 2},
      {"rmr skip-trash", JobKind::kRemove, {.paths = {"b"}, .skip_trash = true}, 3},
  };
  for (const Other& each : cases) {
    SCOPED_TRACE(each.option);
    std::string id = each.option;
    std::replace(id.begin(), id.end(), ' ', '-');
    const auto report = run_job(node, id, {.kind = each.kind, .which = each.which});
    EXPECT_EQ(report.state, runtime::JobState::kSucceeded) << report.error;
    EXPECT_EQ(report.progress.files_done, each.files);
  }
  EXPECT_EQ(names_beneath(node.mount), Names{"a.jpg"});
}

}  // namespace
}  // namespace paddle::test
