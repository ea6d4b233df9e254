// SPDX-License-Identifier: Apache-2.0
//
// Test doubles for the peers of a registrar: a driver, and a kubelet that encodes the protocol
// without our generated code.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace paddle::csi {

class FakeDriver {
 public:
  FakeDriver(const std::string& socket, const std::string& name, bool ready = true);
  ~FakeDriver();
  void set_ready(bool ready);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls a method of pluginregistration.Registration on a socket; returns the encoded reply.
Result<std::string> call_registration(const std::string& socket, const std::string& method,
                                      const std::string& request);

// A string field of a message, as protobuf writes it; for fields shorter than 128 bytes.
std::string field(int number, const std::string& text);

}  // namespace paddle::csi
