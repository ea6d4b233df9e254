// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_logs.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "local/node/pod_files.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

struct PodLogsTest : testing::Test {
  Scratch scratch{};
  PodSpec spec = [] {
    PodSpec made;
    made.meta.key = {"n", "p"};
    made.meta.uid = "u";
    made.containers = {{.name = "main"}, {.name = "side"}};
    made.init = {{.name = "first"}};
    return made;
  }();

  void SetUp() override { ASSERT_TRUE(make_pod_files(scratch.path(), spec)); }

  void write(const std::string& container, int nth, const std::string& text) {
    std::ofstream(log_path(scratch.path(), "u", container, nth), std::ios::app) << text;
  }
  Result<std::shared_ptr<Stream>> open(LogRequest request) {
    request.pod = spec.meta.key;
    return pod_logs(scratch.path())(request);
  }
  std::string read(const LogRequest& request) {
    const auto stream = open(request);
    if (!stream) return "error: " + stream.error().message;
    std::string all;
    while (true) {
      const StreamChunk chunk = (*stream)->next(BootTime{});
      all += chunk.text;
      if (chunk.ended) return all;
    }
  }
};

TEST_F(PodLogsTest, ShowTheLastStartOfTheFirstContainerByDefault) {
  write("main", 0, "old\n");
  write("main", 1, "new\n");
  write("side", 0, "beside\n");
  EXPECT_EQ(read({}), "new\n");
  EXPECT_EQ(read({.previous = true}), "old\n");
  EXPECT_EQ(read({.container = "side"}), "beside\n");
  EXPECT_EQ(read({.container = "first"}), "error: container first in pod p is waiting to start");
  EXPECT_EQ(read({.container = "none"}), "error: container none is not valid for pod p");
}

TEST_F(PodLogsTest, LimitLinesAndBytes) {
  std::string all;
  for (int i = 0; i < 3000; ++i) all += "line " + std::to_string(i) + "\n";
  write("main", 0, all + "unfinished");
  EXPECT_EQ(read({.tail_lines = 0}), "");
  EXPECT_EQ(read({.tail_lines = 1}), "unfinished");
  EXPECT_EQ(read({.tail_lines = 2}), "line 2999\nunfinished");
  EXPECT_EQ(read({.tail_lines = 3001}), all + "unfinished");
  EXPECT_EQ(read({.tail_lines = 9999}), all + "unfinished");
  EXPECT_EQ(read({.limit_bytes = 4}), "line");
  write("main", 1, "a\nb\n");
  EXPECT_EQ(read({.tail_lines = 1}), "b\n");
}

TEST_F(PodLogsTest, AreFollowedUntilTheContainerHasEnded) {
  write("main", 0, "a\n");
  const auto stream = open({.follow = true});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->next({}).text, "a\n");
  const StreamChunk nothing = (*stream)->next({});
  EXPECT_TRUE(nothing.text.empty());
  EXPECT_FALSE(nothing.ended);
  write("main", 0, "b\n");
  mark_log_ended(scratch.path(), "u", "main", 0);
  EXPECT_EQ((*stream)->next({}).text, "b\n");
  EXPECT_TRUE((*stream)->next({}).ended);
}

TEST_F(PodLogsTest, AreKeptForTheLastTwoStartsAndRemovedWithThePod) {
  for (int nth = 0; nth < 4; ++nth) {
    forget_logs_before(scratch.path(), "u", "main", nth - 1);
    write("main", nth, std::to_string(nth));
  }
  EXPECT_FALSE(fs::exists(log_path(scratch.path(), "u", "main", 1)));
  EXPECT_EQ(read({.previous = true}), "2");
  remove_pod_data(scratch.path(), "u");
  EXPECT_EQ(read({}), "3");
  remove_unknown_pod_files(scratch.path(), {"u"});
  EXPECT_EQ(read({}), "3");
  remove_unknown_pod_files(scratch.path(), {});
  EXPECT_FALSE(fs::exists(pod_directory(scratch.path(), "u")));
  EXPECT_TRUE(fs::is_empty(scratch.path() + "/names"));
}

}  // namespace
}  // namespace paddle::local
