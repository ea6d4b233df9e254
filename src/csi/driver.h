// SPDX-License-Identifier: Apache-2.0
//
// Queries name and readiness of a CSI driver on its socket.

#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "csi/registration.h"

namespace paddle::csi {

// kUnavailable with the reason while the driver does not listen, fails or is not ready; kDeadline:
// no answer within `limit`; kCancelled: `stop`.
Result<DriverInfo> get_driver_info(const std::string& socket, std::chrono::milliseconds limit,
                                   std::stop_token stop);

}  // namespace paddle::csi
