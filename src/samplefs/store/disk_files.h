// SPDX-License-Identifier: Apache-2.0
//
// The file calls of a store on a real file system. Files are opened without following links.

#pragma once

#include "samplefs/store/file_layer.h"

namespace paddle::samplefs {

FileLayer& disk_files();

}  // namespace paddle::samplefs
