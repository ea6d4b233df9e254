// SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions made from the descriptions (describe.h), and the files of deploy/ that
// contain them. Deterministic: the same source gives the same bytes.

#pragma once

#include <map>
#include <string>

#include "api/crd/describe.h"
#include "api/json/json.h"

namespace paddle::api {

// apiextensions.k8s.io/v1, with CEL.
Json crd(Kind kind);

// apiextensions.k8s.io/v1beta1 for servers before 1.16: the same schema without what they do not
// support (CEL, defaults, list types).
Json crd_v1beta1(Kind kind);

// Path beneath deploy/ -> text of the file.
std::map<std::string, std::string> deploy_files();

}  // namespace paddle::api
