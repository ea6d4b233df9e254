// SPDX-License-Identifier: Apache-2.0
//
// Makes a CSI driver known to the kubelet of its node, and keeps it known (`paddle-cache
// register`).
//
//   wait until the driver answers -> socket in kubelet's registry -> kubelet asks, and says yes
//
// kubelet finds the socket by itself, also when it starts again; a registry socket that vanishes is
// put back. While another process has taken our place there, we wait until it leaves. A driver that
// goes away stays registered: only whoever mounts a volume meanwhile has to wait for it.

#pragma once

#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::csi {

struct RegistrarOptions {
  std::string csi_socket{};    // the driver's, as we see it
  std::string kubelet_path{};  // the same socket, as kubelet sees it
  std::string registry{};      // kubelet's directory of plugin sockets
  std::string name{};          // of the driver; empty: it is asked
  bool operator==(const RegistrarOptions&) const = default;
};

// Until `stop`, then Done, and the socket is gone from the registry. An error otherwise: kubelet
// refused the driver, or the options can never work (kInvalid). Start it again after a pause.
Result<> run_registrar(const RegistrarOptions& options, const Clock& clock, std::stop_token stop);

}  // namespace paddle::csi
