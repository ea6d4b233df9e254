// SPDX-License-Identifier: Apache-2.0
//
// The server's Table (meta.k8s.io/v1) as aligned columns, the way kubectl prints it. Pure.

#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"

namespace paddle::cli {

struct TableStyle {
  bool wide = false;            // columns of lower priority too
  bool with_namespace = false;  // adds a first column NAMESPACE
  bool heading = true;
};

// Aligned columns, each line ended; empty when there is no row.
std::string print_table(const api::Json& table, const TableStyle& style);

// Columns three spaces apart, no blanks at the end of a line.
std::string align(const std::vector<std::vector<std::string>>& lines);

}  // namespace paddle::cli
