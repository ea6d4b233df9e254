// SPDX-License-Identifier: Apache-2.0
//
// A set whose cache is complete, as its pods see it: sealed while they read, without any process of
// ours, replaced by a new generation, withdrawn by a clear, and after a kill of the whole cluster.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>

#include <fcntl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "sealed/probe.h"
#include "test/cli/sample_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 60;
constexpr std::size_t kSize = 110'000;
constexpr const char* kReader = "reads-for-ever";  // in the command line of the reader
constexpr const char* kMount = "/samples";
constexpr long kErofs = 0xE0F5E1E2;

std::string bytes_of(int number, std::size_t size) {
  std::string bytes(size, '\0');
  std::mt19937_64 random(static_cast<std::uint64_t>(number) + 1);
  for (char& each : bytes) each = static_cast<char>(random());
  return bytes;
}

std::string read_rest(int fd) {
  std::string bytes;
  std::string part(65536, '\0');
  for (ssize_t got = 0; (got = ::read(fd, part.data(), part.size())) > 0;) {
    bytes.append(part, 0, static_cast<std::size_t>(got));
  }
  return bytes;
}

class SealedSet : public SampleJobsTest {
 protected:
  void make_disk() override {}  // a view needs a cache on a disk
  void SetUp() override {
    const ScratchDir here;
    const auto probed = sealed::probe(here.path(), here.path());
    if (!probed.sealed) GTEST_SKIP() << "no sealed views here: " << probed.reason;
    for (int i = 0; i < kFiles; ++i) {
      put("class-" + std::to_string(i % 3) + "/" + std::to_string(i), bytes_of(i, kSize));
    }
    put("large", bytes_of(1000, 9'000'000));
    SampleJobsTest::SetUp();
  }
  void put(const std::string& name, std::string bytes) {
    s3_.put("set/" + name, bytes);
    files_[name] = std::move(bytes);
  }

  // A worker that mounts the set and does nothing; returns where this process sees its mount.
  std::string start_reader() {
    apply(std::string("{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: "
                      "reader}, spec: {cleanPodPolicy: Never, sampleSetRef: {name: ") +
          kSet + ", mountPath: " + kMount +
          "}, worker: {replicas: 1, template: {spec: {containers: [{name: main, "
          "image: x, command: [sh, -c, \"while sleep 1; do : " +
          kReader + "; done\"]}]}}}}}");
    return reader();
  }
  // The same, of the worker that runs now.
  static std::string reader() {
    std::string root;
    EXPECT_TRUE(eventually([&] {
      for (const pid_t each : processes_with(kReader)) {
        root = "/proc/" + std::to_string(each) + "/root" + kMount;
        std::error_code error;
        if (fs::exists(root + "/large", error)) return true;
      }
      return false;
    })) << "no reader";
    return root;
  }
  static bool is_sealed(const std::string& root) {
    struct statfs kind {};
    return ::statfs(root.c_str(), &kind) == 0 && kind.f_type == kErofs;
  }
  static bool waits_for_view(const std::string& root) {
    return eventually([&] { return is_sealed(root); });
  }

  // All files in a random order, past the page cache; returns those that differ.
  std::vector<std::string> epoch(const std::string& root, unsigned seed) {
    std::vector<std::string> order;
    for (const auto& [name, bytes] : files_) order.push_back(name);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    std::vector<std::string> wrong;
    for (const std::string& name : order) {
      const UniqueFd fd(::open((root + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
      ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
      if (read_rest(fd.get()) != files_[name]) wrong.push_back(name);
    }
    return wrong;
  }
  pid_t daemon() const { return status(directory_)["pid"].get<pid_t>(); }
  void signal_runtime(int number) const {
    for (const pid_t each : runtimes()) {
      ::kill(each, number);
    }
  }

  std::map<std::string, std::string> files_;
};

TEST_F(SealedSet, AWholeEpochNeedsNoProcessOfOurs) {
  make_set();
  const std::string root = start_reader();
  ASSERT_TRUE(waits_for_view(root));
  const pid_t ours = daemon();
  ASSERT_EQ(::kill(ours, SIGSTOP), 0);
  signal_runtime(SIGKILL);
  EXPECT_TRUE(eventually([&] { return runtimes().empty(); })) << "no process starts it again";
  const std::size_t requests = s3_.seen().size();
  EXPECT_EQ(epoch(root, 1), std::vector<std::string>{});
  EXPECT_EQ(epoch(root, 2), std::vector<std::string>{});
  EXPECT_EQ(s3_.seen().size(), requests);
  ASSERT_EQ(::kill(ours, SIGCONT), 0);
  EXPECT_TRUE(eventually([&] { return !runtimes().empty(); }));
  EXPECT_TRUE(is_sealed(root)) << "a runtime that was restarted leaves the view";
}

TEST_F(SealedSet, JobsThatChangeTheSetOrItsCacheAreSeenAtTheirEnd) {
  make_set();
  const std::string root = start_reader();
  ASSERT_TRUE(waits_for_view(root));
  const UniqueFd before(::open((root + "/large").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(before);

  put("class-0/later", bytes_of(2000, kSize));
  succeeds("again", "sync");
  EXPECT_TRUE(fs::exists(root + "/class-0/later")) << "the sync has succeeded";
  EXPECT_EQ(read_rest(before.get()), files_["large"]) << "an open file keeps its bytes";
  ASSERT_TRUE(waits_for_view(root)) << "the new generation is warmed up and sealed, too";
  EXPECT_EQ(epoch(root, 3), std::vector<std::string>{});

  succeeds("gone", "rmr", "rmrOptions: {paths: [class-1]}");
  EXPECT_FALSE(fs::exists(root + "/class-1"));
  std::erase_if(files_, [](const auto& each) { return each.first.starts_with("class-1/"); });
  ASSERT_TRUE(waits_for_view(root));
  EXPECT_EQ(epoch(root, 4), std::vector<std::string>{});

  succeeds("empty", "clear");
  EXPECT_FALSE(is_sealed(root));
  EXPECT_TRUE(eventually([&] { return cached() == 0; }));
  EXPECT_EQ(read_file(root + "/class-0/0"), files_["class-0/0"]) << "from the source";
}

TEST_F(SealedSet, AKilledClusterLeavesNothingThatItsSuccessorCannotEnd) {
  make_set();
  ASSERT_TRUE(waits_for_view(start_reader()));
  ASSERT_EQ(::kill(daemon(), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return processes_with(directory_).empty(); }));
  const Ran again = up_once(directory_);
  ASSERT_EQ(again.exit_code, 0) << again.out;
  std::string root;
  ASSERT_TRUE(eventually([&] { return waits_for_view(root = reader()); }));
  EXPECT_EQ(epoch(root, 5), std::vector<std::string>{});

  // Killed again, and ended by the command line: what is left can be removed.
  ASSERT_EQ(::kill(daemon(), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return processes_with(directory_).empty(); }));
  must({"down"});
  std::error_code error;
  fs::remove_all(disk_, error);
  EXPECT_FALSE(error) << error.message();
}

TEST_F(SealedSet, WithoutSealedViewsPodsStayOnFuse) {
  must({"down"});
  const Ran again = up_once(directory_, {"--no-sealed-views"});
  ASSERT_EQ(again.exit_code, 0) << again.out;
  host_ = status(directory_)["nodes"][0]["address"];
  make_set();
  const std::string root = start_reader();
  EXPECT_FALSE(eventually([&] { return is_sealed(root); }, std::chrono::seconds{2}));
  EXPECT_EQ(epoch(root, 6), std::vector<std::string>{});
}

}  // namespace
}  // namespace paddle::test
