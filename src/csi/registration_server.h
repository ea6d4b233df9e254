// SPDX-License-Identifier: Apache-2.0
//
// Answers kubelet's two questions on a unix socket: what there is to register, and (told
// afterwards) whether it did.

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
      std::function<void(const RegistrationStatus&)>;  // on a thread of the server

  // Listens at `path`, in place of a socket that is there. kUnavailable when that can not be.
  static Result<std::unique_ptr<RegistrationServer>> start(const std::string& path,
                                                           Registration registration,
                                                           StatusCallback on_status);
  ~RegistrationServer();  // calls at work are answered

 private:
  class Impl;
  explicit RegistrationServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::csi
