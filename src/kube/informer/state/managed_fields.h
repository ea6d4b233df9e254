// SPDX-License-Identifier: Apache-2.0
//
// Objects as informers need them. metadata.managedFields says who owns which field, nobody here
// reads it, and of a pod's text it is about half: cut out before parsing, it costs next to nothing.

#pragma once

#include <string>
#include <string_view>

namespace paddle::kube {

// The same object with an empty list in that place. Either `object` itself, when there is nothing
// to cut or the text is no object, or a text kept in `room`.
std::string_view without_managed_fields(std::string_view object, std::string& room);

}  // namespace paddle::kube
