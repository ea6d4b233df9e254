// SPDX-License-Identifier: Apache-2.0
//
// A private directory for one test, removed at its end.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace paddle::samplefs {

class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/samplefs_test_XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace paddle::samplefs
