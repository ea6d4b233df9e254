// SPDX-License-Identifier: Apache-2.0
//
// The names of what a killed `juicefs sync` leaves behind: ".jfs.<name>.tmp.<number>" beside the
// file that it was going to be. Pure. file_list.h finds them.

#pragma once

#include <string>

namespace paddle::engine::juicefs {

bool is_leftover_name(const std::string& name);

// "a/.jfs.b.jpg.tmp.42" -> "a/b.jpg": the file that it was going to be. A path that is no leftover
// is returned as it is.
std::string file_of_leftover(const std::string& path);

}  // namespace paddle::engine::juicefs
