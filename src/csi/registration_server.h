// SPDX-License-Identifier: Apache-2.0
//
// Serves kubelet's plugin registration API on a unix socket: GetInfo, and NotifyRegistrationStatus
// afterwards.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "csi/registration.h"

namespace paddle::csi {

class RegistrationServer {
 public:
  using StatusCallback =
      std::function<void(const RegistrationStatus&)>;  // called on a thread of the server

  // Listens at `path` and replaces an existing socket. kUnavailable when it cannot listen.
  static Result<std::unique_ptr<RegistrationServer>> start(const std::string& path,
                                                           Registration registration,
                                                           StatusCallback on_status);
  ~RegistrationServer();  // finishes calls in progress

 private:
  class Impl;
  explicit RegistrationServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::csi
