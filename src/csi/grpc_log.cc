// SPDX-License-Identifier: Apache-2.0
#include "csi/grpc_log.h"

#include <grpc/support/log.h>

#include "base/log.h"

namespace paddle::csi {

void redirect_grpc_log() {
  gpr_set_log_function([](gpr_log_func_args* line) {
    log::warn("gRPC reports", {{"text", line->message}});  // by default gRPC logs errors only
  });
}

}  // namespace paddle::csi
