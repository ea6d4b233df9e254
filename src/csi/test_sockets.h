// SPDX-License-Identifier: Apache-2.0
//
// Sockets for tests: a directory for them, and a socket that listens but never answers.

#pragma once

#include <string>

#include "base/scratch.h"

namespace paddle::csi {

class SocketDir {
 public:
  const std::string& path() const { return scratch_.path(); }
  std::string at(const std::string& name) const { return path() + "/" + name; }

 private:
  const Scratch scratch_{};
};

// A socket that listens but never answers, for the lifetime of the object.
class UnresponsiveSocket {
 public:
  explicit UnresponsiveSocket(const std::string& path);
  ~UnresponsiveSocket();  // closes it; the file stays, as after kill -9

 private:
  int fd_;
};

}  // namespace paddle::csi
