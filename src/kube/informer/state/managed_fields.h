// SPDX-License-Identifier: Apache-2.0
//
// metadata.managedFields records which manager owns which field. We do not read it, and it is about
// half of the text of a pod: it is cut out before parsing, which costs almost nothing.

#pragma once

#include <string>
#include <string_view>

namespace paddle::kube {

// The same object with an empty list in that place: `object` itself when there is nothing to cut or
// the text is no object, otherwise a text that is stored in `room`.
std::string_view without_managed_fields(std::string_view object, std::string& room);

}  // namespace paddle::kube
