// SPDX-License-Identifier: Apache-2.0
//
// A private directory for one unit test, removed at its end. (Integration tests, which may be
// killed, have test/support/scratch_dir.h.)

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <stdlib.h>

namespace paddle {

class Scratch {
 public:
  // `parent`: such as /dev/shm, which is in memory.
  explicit Scratch(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = parent / "paddle-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_{};
};

}  // namespace paddle
