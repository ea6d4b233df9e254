// SPDX-License-Identifier: Apache-2.0
//
// A cache, a place to mount, and a mount namespace of the test program's own.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

#include "sealed/sealed_view.h"
#include "sealed/view_mount.h"
#include "test/sealed/sample_cache.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {

// Why this machine cannot seal; empty when it can. The first call gives this process a mount
// namespace of its own.
const std::string& why_no_views();

class SealedTest : public testing::Test {
 protected:
  SealedTest();
  ~SealedTest() override;  // unmounts what the test left
  void SetUp() override {
    if (!why_no_views().empty()) GTEST_SKIP() << why_no_views();
  }

  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string make_directory(const std::string& name);
  // A published target: a mount with a peer group of its own, over a directory with one file.
  std::string make_target(const std::string& name);
  // Fails the test, and returns nothing, when the set cannot be sealed.
  std::unique_ptr<sealed::SealedView> seal(const std::string& point = "view");

  ScratchDir scratch_;
  sealed::ImmutableSegments holds_;
  Random random_{1};
  SampleCache cache_{scratch_.path()};
};

// A child of sealed_child or mount_daemon, with pipes; killed at the end at the latest.
class Child {
 public:
  Child(const std::string& program, std::vector<std::string> arguments);
  ~Child() { kill(); }
  std::string line();  // the next line that it prints; empty at its end
  std::string ask(const std::string& question);
  void kill();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd to_{};
  UniqueFd from_{};
};

struct Content {
  int error = 0;
  std::string bytes{};
};
Content read_all(const std::string& path);
Content read_rest(int fd);
std::vector<std::string> list(const std::string& directory);  // "errno N" when it fails
void drop_cache_of(const std::string& path);
// Paths below `root` whose bytes differ from the cache's, and the ones that are missing.
std::vector<std::string> wrong_files(const std::string& root, const SampleCache& cache);
bool is_view(const std::string& path);
int count_views();  // mounts of EROFS in this namespace

}  // namespace paddle::test
