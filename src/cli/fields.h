// SPDX-License-Identifier: Apache-2.0
//
// Reading other people's JSON without being surprised by it: what is not there, or is something
// else, is empty. Pure.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "api/json/json.h"

namespace paddle::cli {

using Path = std::initializer_list<const char*>;

const api::Json* find_at(const api::Json& in, Path path);  // null when it is not there
std::string text_at(const api::Json& in, Path path);
std::int64_t number_at(const api::Json& in, Path path);
bool is_true_at(const api::Json& in, Path path);
const api::Json& list_at(const api::Json& in, Path path);  // an empty list when it is none

// The condition of that type in status.conditions, or null.
const api::Json* condition_of(const api::Json& object, const std::string& type);

}  // namespace paddle::cli
