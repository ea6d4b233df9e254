// SPDX-License-Identifier: Apache-2.0
//
// Every option of a sync in the contract, once: the real `juicefs` takes the command line that is
// made of it, and does what it says.
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

class OptionsTest : public VolumeTest {
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

TEST_F(OptionsTest, OfASyncAreTakenByTheRealProgram) {
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

}  // namespace
}  // namespace paddle::test
