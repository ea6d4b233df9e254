// SPDX-License-Identifier: Apache-2.0
//
// Replaces the registrar in a build without gRPC.
#include "csi/registrar.h"

namespace paddle::csi {

Result<> run_registrar(const RegistrarOptions&, const Clock&, std::stop_token) {
  return Error{
      Code::kInvalid,
      "this build has no CSI; configure it with -DPADDLE_WITH_CSI=ON, as 'make build' does"};
}

}  // namespace paddle::csi
