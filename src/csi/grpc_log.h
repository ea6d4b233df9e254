// SPDX-License-Identifier: Apache-2.0
//
// Redirects gRPC's warnings and errors from standard error to base/log.h, so that all log lines of
// a program have one format.

#pragma once

namespace paddle::csi {

void redirect_grpc_log();  // idempotent

}  // namespace paddle::csi
