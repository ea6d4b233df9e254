// SPDX-License-Identifier: Apache-2.0
//
// The shape in which a client wants objects: whole, as a table for people, or metadata only. Read
// from the Accept header as kubectl and client-go write it. Pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "local/api_server/table.h"

namespace paddle::local {

struct Representation {
  enum class Shape { kWhole, kTable, kMetadata };
  Shape shape = Shape::kWhole;
  RowObject rows = RowObject::kMetadata;
};

// nullopt when the client takes nothing that we can give (406). include_object is the parameter
// includeObject of table requests.
std::optional<Representation> parse_accept(std::string_view accept,
                                           std::string_view include_object);

// One object in that shape.
api::Json represent(const Kind& kind, api::Json object, const Representation& representation,
                    WallTime now);
// The same from text to text; a whole object is passed on without being read.
std::string represent_text(const Kind& kind, std::string_view body,
                           const Representation& representation, WallTime now);

}  // namespace paddle::local
