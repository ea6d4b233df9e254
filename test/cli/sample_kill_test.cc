// SPDX-License-Identifier: Apache-2.0
//
// SampleJobs of all types at once, while the runtime or the whole cluster is killed: each job
// completes, and no effect happens twice. Effects are counted at the source and in generations, not
// in the jobs' status. The seed is fixed; PADDLE_SEED sets another.

#include <csignal>
#include <cstdlib>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "test/cli/sample_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

constexpr int kGroups = 5;
constexpr int kFiles = 4;  // of a group
constexpr std::size_t kSize = 200'000;
constexpr int kRounds = 6;

// The expected files after each round.
struct Group {
  bool visible = true;
  bool cached = false;
  bool joined = false;     // brought by a source with keys of its own
  double fetched = 0;      // at least so often
  double may_be_more = 0;  // that a kill explains
};

class SampleKill : public SampleJobsTest {
 protected:
  static std::string group_name(int number) { return "g" + std::to_string(number); }
  static std::string key(int group, int file) {
    return "set/" + group_name(group) + "/" + std::to_string(file);
  }

  // A job on one group, with its effect on the model.
  std::string act(int number, int choice, const std::string& name) {
    Group& group = groups_[static_cast<std::size_t>(number)];
    const std::string path = group_name(number);
    if (!group.visible || choice == 0) {
      group.visible = true;
      ++generation_;
      if (number == kGroups - 1) {  // its keys are in no journal
        if (!group.joined) group.cached = false;
        group.joined = true;
        return job(name, "sync",
                   "secretRef: {name: other}, syncOptions: {source: s3://bucket/set/" + path +
                       ", destination: " + path + "}");
      }
      // The two ways to select a part of the source.
      return choice % 2 == 0
                 ? job(name, "sync", "syncOptions: {start: " + path + "/, end: " + path + "/~}")
                 : job(name, "sync",
                       "syncOptions: {include: \"/" + path + "/,/" + path +
                           "/*\", exclude: \"*\"}");
    }
    if (choice == 1) {
      group.visible = group.cached = false;
      ++generation_;
      return job(name, "rmr", "rmrOptions: {paths: [" + path + "]}");
    }
    if (choice == 2) {
      group.cached = false;
      return job(name, "clear", "clearOptions: {paths: [" + path + "]}");
    }
    if (!group.cached) group.fetched += 1;
    group.cached = true;
    warming_.insert(number);
    return job(name, "warmup", "warmupOptions: {paths: [" + path + "]}");
  }

  void kill_runtime() {
    for (const pid_t each : runtimes()) {
      ::kill(each, SIGKILL);
    }
  }
  void kill_cluster() {
    ASSERT_EQ(::kill(status(directory_)["pid"].get<pid_t>(), SIGKILL), 0);
    ASSERT_TRUE(eventually([&] { return processes_with(directory_).empty(); }));
    const Ran again = up_once(directory_);
    ASSERT_EQ(again.exit_code, 0) << again.out;
  }

  void check(int round) {
    std::int64_t files = 0, bytes = 0;
    for (const Group& group : groups_) {
      files += group.visible ? kFiles : 0;
      bytes += group.cached ? static_cast<std::int64_t>(kFiles * kSize) : 0;
    }
    EXPECT_TRUE(figures(files * static_cast<std::int64_t>(kSize), bytes)) << "round " << round;
    must({"wait", std::string("sampleset/") + kSet, "--for=phase=Ready", "--timeout=60s"});
    const auto generation = [&] {
      return get("sampleset", kSet)["status"]["index"]["generation"].get<std::int64_t>();
    };
    EXPECT_TRUE(eventually([&] { return generation() == generation_; }))
        << generation() << " and not " << generation_ << " in round " << round;
    for (int i = 0; i < kGroups; ++i) {
      const Group& group = groups_[static_cast<std::size_t>(i)];
      double most = 0, least = 1e9;
      for (int file = 0; file < kFiles; ++file) {
        const double times = fetched(s3_, key(i, file), kSize);
        most = std::max(most, times);
        least = std::min(least, times);
      }
      EXPECT_GE(least, group.fetched) << "group " << i << " in round " << round;
      EXPECT_LE(most, group.fetched + group.may_be_more) << "group " << i << " in round " << round;
    }
  }

  std::vector<Group> groups_ = std::vector<Group>(kGroups);
  std::set<int> warming_{};
  std::int64_t generation_ = 1;
};

TEST_F(SampleKill, ThirtyJobsEndRightAndHaveTheirEffectOnce) {
  const char* given = std::getenv("PADDLE_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::atoi(given)) : 11;
  SCOPED_TRACE("PADDLE_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < kGroups; ++i) {
    for (int file = 0; file < kFiles; ++file) {
      s3_.put(key(i, file), std::string(kSize, static_cast<char>('a' + i)));
    }
  }
  make_set("warmup: {enabled: false}, ");
  apply(secret("other", s3_, keys_));
  for (int round = 0; round < kRounds; ++round) {
    warming_.clear();
    std::string objects;
    std::vector<std::string> names;
    for (int i = 0; i < kGroups; ++i) {
      names.push_back("r" + std::to_string(round) + "-" + group_name(i));
      objects += act(i, static_cast<int>(random() % 5), names.back());
    }
    apply(objects);
    system_clock().sleep(std::chrono::milliseconds{random() % 1500}, {});
    if (round % 2 == 0) {
      kill_runtime();
    } else {
      kill_cluster();
    }
    for (const int i : warming_) groups_[static_cast<std::size_t>(i)].may_be_more += 1;
    for (const std::string& name : names) wait_phase(name, "Succeeded");
    check(round);
    if (HasFailure()) return;
  }
  std::string wanted;
  for (int i = 0; i < kGroups; ++i) {
    if (groups_[static_cast<std::size_t>(i)].visible) wanted += group_name(i) + "\n";
  }
  EXPECT_EQ(in_worker("ls /data"), wanted);
}

}  // namespace
}  // namespace paddle::test
