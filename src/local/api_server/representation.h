// SPDX-License-Identifier: Apache-2.0
//
// Content negotiation: the representation in which a client wants objects: complete, as a table, or
// metadata only. Parsed from the Accept header of kubectl and client-go. Pure.

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

// nullopt when no acceptable representation is supported (406). include_object is the parameter
// includeObject of table requests.
std::optional<Representation> parse_accept(std::string_view accept,
                                           std::string_view include_object);

// Returns one object in that representation.
api::Json represent(const Kind& kind, api::Json object, const Representation& representation,
                    WallTime now);
// The same from text to text; a complete object is returned without parsing.
std::string represent_text(const Kind& kind, std::string_view body,
                           const Representation& representation, WallTime now);

}  // namespace paddle::local
