// SPDX-License-Identifier: Apache-2.0
//
// How one field of a resource is described. Each struct of a resource has exactly one list of its
// fields, a function template found by argument-dependent lookup:
//
//   template <typename Visit>
//   void fields(Visit& visit, As<Role> auto& role) {
//     visit("replicas", role.replicas, {.doc = "How many pods.", .min = 0, .required = true});
//   }
//
// Everything else is derived by visiting it: decoding and encoding (codec.h), the CRD schema
// (schema.h) and, through the schema, validation (crd/validate.h). There is no second list of
// fields.
//
// A Field is cheap to construct: decoding constructs one per field and never reads it.

#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace paddle::api {

template <typename S, typename T>
concept As = std::same_as<std::remove_const_t<S>, T>;

// Schemas of the API server itself, taken from the distilled pod template (pod_schema.h).
enum class Foreign { kNone, kPodTemplate, kNodeAffinity, kTolerations, kQuantities };

struct Field {
  const char* doc = "";
  std::optional<std::int64_t> min{};
  std::optional<std::int64_t> max{};
  std::optional<int> min_length{};
  std::optional<int> max_length{};
  std::optional<int> min_items{};
  std::optional<int> max_items{};
  const char* pattern = nullptr;          // unanchored, RE2 syntax
  std::span<const char* const> one_of{};  // an enum
  bool required = false;                  // by the schema; decoding does not require it
  bool always = false;               // a number that is required, and written even when it is zero
  const char* list_key = nullptr;    // the key that identifies the objects of a list
  Foreign foreign = Foreign::kNone;  // for Opaque fields
};

}  // namespace paddle::api
