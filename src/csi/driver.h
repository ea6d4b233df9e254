// SPDX-License-Identifier: Apache-2.0
//
// Asks a CSI driver on its socket who it is, and whether it is ready.

#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "csi/registration.h"

namespace paddle::csi {

// kUnavailable with the reason while it does not listen, does not answer or is not ready;
// kDeadline: no answer within `limit`; kCancelled: `stop`.
Result<DriverInfo> get_driver_info(const std::string& socket, std::chrono::milliseconds limit,
                                   std::stop_token stop);

}  // namespace paddle::csi
