// SPDX-License-Identifier: Apache-2.0
//
// The three resources as data: identity, schema, rules, columns. Derived from the types once, then
// constant; thread-safe. CRDs (crd.h) and validation (validate.h) both read only this.

#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/expr.h"

namespace paddle::api {

enum class Kind { kPaddleJob, kSampleSet, kSampleJob };
inline constexpr std::array kAllKinds{Kind::kPaddleJob, Kind::kSampleSet, Kind::kSampleJob};
inline constexpr const char* kGroup = "batch.paddlepaddle.org";

struct Column {
  std::string name{};
  std::string type{};
  std::string path{};
  int priority = 0;  // 1: only with -o wide
};

struct Scale {
  std::string spec_replicas{};
  std::string status_replicas{};
  std::string selector{};
};

struct Description {
  std::string kind{};
  std::string version{};
  std::string singular{};
  std::string plural{};
  std::string short_name{};
  std::vector<Column> columns{};
  std::optional<Scale> scale{};
  Opaque schema{};                      // structural, apiextensions/v1
  std::map<std::string, Expr> rules{};  // by their CEL text in the schema

  std::string api_version() const { return std::string(kGroup) + "/" + version; }
};

const Description& describe(Kind kind);
std::optional<Kind> kind_named(std::string_view kind);  // "PaddleJob" and so on

}  // namespace paddle::api
