// SPDX-License-Identifier: Apache-2.0
//
// A directory for one unit test of this folder, removed at its end.

#pragma once

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace paddle::local {

class Scratch {
 public:
  Scratch() {
    std::string pattern = std::filesystem::temp_directory_path() / "paddle-api-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
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

}  // namespace paddle::local
