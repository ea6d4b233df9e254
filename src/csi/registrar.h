// SPDX-License-Identifier: Apache-2.0
//
// Registers a CSI driver with the kubelet of its node, and keeps it registered (`paddle-cache
// register`).
//
//   wait until the driver answers -> publish a socket in kubelet's registry -> kubelet registers it
//
// kubelet finds the socket by itself, also after a restart; if the socket vanishes, it is published
// again. While another process has replaced it, the registrar waits until that one leaves. A driver
// that goes away stays registered: mounts of its volumes wait for it.

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
  std::string name{};          // of the driver; empty: the driver's own name
  bool operator==(const RegistrarOptions&) const = default;
};

// Runs until `stop`, then removes the socket and returns Done. An error if kubelet rejected the
// driver, or if the options are invalid (kInvalid). The caller restarts it after a pause.
Result<> run_registrar(const RegistrarOptions& options, const Clock& clock, std::stop_token stop);

}  // namespace paddle::csi
