// SPDX-License-Identifier: Apache-2.0
//
// Objects as rows of the Table that kubectl prints: our kinds with the columns of their CRDs, core
// kinds with kubectl's usual columns. Pure: ages are relative to `now`.

#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/clock.h"
#include "local/api_server/kinds.h"

namespace paddle::local {

using Cell = std::function<api::Json(const api::Json& object, WallTime now)>;

struct TableColumn {
  std::string name{};
  std::string type = "string";
  int priority = 0;  // 1: only with -o wide
  Cell cell{};
};

const std::vector<TableColumn>& columns_of(const Kind& kind);

// How much of the object a row carries.
enum class RowObject { kMetadata, kWhole, kNone };

api::Json table_row(const Kind& kind, const api::Json& object, RowObject carries, WallTime now);
// The columns and no rows yet.
api::Json empty_table(const Kind& kind, const std::string& version);

// The object reduced to its metadata, as meta.k8s.io/v1 PartialObjectMetadata.
api::Json partial(const api::Json& object);

}  // namespace paddle::local
