// SPDX-License-Identifier: Apache-2.0
//
// A small /dev for a container: the devices that every program may use, those of accelerators and
// InfiniBand, and pseudo terminals of its own. It has no disks and no other devices of the machine.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddle::local {

// Mounts it at `target`, an existing directory, while the machine's own /dev is still visible.
Result<> mount_devices(const std::string& target);

// A device, or a directory of devices, of an accelerator or of InfiniBand: GPUs, NPUs, XPUs. Pure.
bool is_accelerator(std::string_view name);

}  // namespace paddle::local
