// SPDX-License-Identifier: Apache-2.0
//
// The two neighbours of a registrar, for tests: a driver that tells who it is, and a kubelet that
// speaks the bytes of the protocol without our generated code. And a directory for sockets.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace paddle::csi {

class SocketDir {
 public:
  SocketDir();
  ~SocketDir();
  const std::string& path() const { return path_; }
  std::string at(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class FakeDriver {
 public:
  FakeDriver(const std::string& socket, const std::string& name, bool ready = true);
  ~FakeDriver();
  void set_ready(bool ready);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls a method of pluginregistration.Registration on a socket; the reply's bytes.
Result<std::string> call_registration(const std::string& socket, const std::string& method,
                                      const std::string& request);

// A string field of a message, as protobuf writes it; for fields shorter than 128 bytes.
std::string field(int number, const std::string& text);

// A socket that is bound and listens, but never answers; for the lifetime of the object.
class MuteSocket {
 public:
  explicit MuteSocket(const std::string& path);
  ~MuteSocket();  // closes it; the file stays, as after kill -9

 private:
  int fd_;
};

}  // namespace paddle::csi
