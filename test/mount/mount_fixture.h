// SPDX-License-Identifier: Apache-2.0
//
// A mount point for one test, which is removed afterwards in any case, and helpers to read files.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/metrics.h"
#include "fuse/data_mount.h"
#include "fuse/fake/memory_file_system.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {

// Why this machine cannot mount; empty when it can.
const std::string& why_no_mounts();

class MountPoint {
 public:
  MountPoint();
  ~MountPoint();  // detaches whatever FUSE mount is still there
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  ScratchDir scratch_;
  std::string path_;
};

// The kernel's own view of FUSE connections (fusectl), mounted for one test.
class FuseControl {
 public:
  FuseControl();
  ~FuseControl();
  int waiting(
      const std::string& device) const;  // requests not answered yet; -1: no such connection
  bool abort(const std::string& device) const;

 private:
  std::string file(const std::string& device, const std::string& name) const;
  ScratchDir scratch_;
};

class MountTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  }
  void start(fuse::DataMountOptions options = {});
  const fuse::Counters& counters() { return mount_->session().counters(); }

  fuse::MemoryFileSystem files_;
  Metrics metrics_;
  MountPoint point_;
  std::unique_ptr<fuse::DataMount> mount_;
};

struct Content {
  int error = 0;
  std::string bytes{};
};
Content read_all(const std::string& path);
Content read_at(const std::string& path, std::uint64_t offset, std::size_t size);
int stat_error(const std::string& path);  // 0 when it exists
// Names without "." and "..", sorted; one entry "errno N" when it fails.
std::vector<std::string> list(const std::string& directory);
void drop_page_cache(const std::string& path);  // of one file

std::string pattern(std::uint64_t seed, std::uint64_t offset, std::size_t size);

}  // namespace paddle::test
