// SPDX-License-Identifier: Apache-2.0
//
// Derives the structural OpenAPI schema of described structs (field.h) together with the rules that
// belong to them (expr.h). Internal to api/: included by describe.cc only.

#pragma once

#include <map>
#include <string>
#include <utility>

#include "api/schema/codec.h"
#include "api/schema/expr.h"
#include "api/schema/field.h"
#include "api/schema/pod_schema.h"

namespace paddle::api::schema {

// The rules that were found, by their CEL text: the schema has the text, this map the expression.
using RuleBook = std::map<std::string, Expr>;

template <typename T>
Json schema_of(const Field& field, RuleBook& book);

// The server does not check the format of a number, and JSON numbers are exact only up to this
// value. Without bounds the server would store numbers that decoding refuses.
inline constexpr std::int64_t kMostExact = (std::int64_t{1} << 53) - 1;
void bound(Json& schema, std::int64_t most);
void add_limits(Json& schema, const Field& field);
void add_list_limits(Json& schema, const Field& field);
void add_rules(Json& schema, const Rules& rules, RuleBook& book);

class Builder {
 public:
  explicit Builder(RuleBook& book) : book_(book) {}

  template <typename T>
  void operator()(const char* key, const T&, const Field& field) {
    Json described = schema_of<T>(field, book_);
    if (*field.doc) described["description"] = field.doc;
    properties_[key] = std::move(described);
    if (field.required) required_.push_back(key);
  }

  Json take() {
    Json out{{"type", "object"}, {"properties", std::move(properties_)}};
    if (!required_.empty()) out["required"] = std::move(required_);
    return out;
  }

 private:
  RuleBook& book_;
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

template <typename T>
struct Inner {
  using Type = T;
};
template <typename T>
struct Inner<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct Inner<std::vector<T>> {
  using Type = T;
};
template <typename T>
struct Inner<std::map<std::string, T>> {
  using Type = T;
};

template <typename T>
Json schema_of(const Field& field, RuleBook& book) {
  using codec::kIsInteger, codec::kIsList, codec::kIsOptional;
  Json out;
  if constexpr (kIsOptional<T>) {
    return schema_of<typename Inner<T>::Type>(field, book);
  } else if constexpr (kIsList<T>) {
    out = {{"type", "array"}, {"items", schema_of<typename Inner<T>::Type>(field, book)}};
    add_list_limits(out, field);
    return out;
  } else if constexpr (codec::kIsMap<T>) {
    return {{"type", "object"},
            {"additionalProperties", schema_of<typename Inner<T>::Type>({}, book)}};
  } else if constexpr (std::is_same_v<T, Opaque>) {
    return foreign_schema(field.foreign);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out = {{"type", "string"}};
  } else if constexpr (std::is_same_v<T, bool>) {
    out = {{"type", "boolean"}};
  } else if constexpr (kIsInteger<T>) {
    out = {{"type", "integer"}, {"format", sizeof(T) == 4 ? "int32" : "int64"}};
    bound(out, sizeof(T) == 4 ? std::numeric_limits<std::int32_t>::max() : kMostExact);
  } else if constexpr (std::is_same_v<T, WallTime>) {
    out = {{"type", "string"}, {"format", "date-time"}};
  } else {
    Builder build(book);
    const T example{};
    fields(build, example);
    out = build.take();
    add_rules(out, rules(Tag<T>{}), book);
    return out;
  }
  add_limits(out, field);
  return out;
}

}  // namespace paddle::api::schema
