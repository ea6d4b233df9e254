// SPDX-License-Identifier: Apache-2.0
//
// Kubernetes quantities ("500m", "1.5Gi", "2e3"), exactly: as billionths in 128 bits, like the API
// machinery. What is finer than a billionth is rounded up; what exceeds 2^63-1 becomes 2^63-1.
// Pure.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::api {

class Quantity {
 public:
  Quantity() = default;  // "0"

  static Result<Quantity> parse(std::string_view text);
  // A string, or a JSON number as users write it.
  static Result<Quantity> from_json(const Json& value);

  // Canonical, as the API server writes it: "1500m" -> "1500m", "1024Ki" -> "1Mi", "0.5" -> "500m".
  // A sum is written in the format of its first summand that is not zero.
  std::string text() const;

  Quantity& operator+=(const Quantity& other);
  Quantity times(std::int64_t count) const;
  bool zero() const { return billionths_ == 0; }

  // By value: 1 and 1000m are the same.
  friend bool operator==(const Quantity& a, const Quantity& b) {
    return a.billionths_ == b.billionths_;
  }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.billionths_ <=> b.billionths_;
  }

 private:
  __extension__ using Int128 = __int128;
  enum class Format { kDecimal, kBinary, kExponent };

  Int128 billionths_ = 0;
  Format format_ = Format::kDecimal;
};

// Resource name -> quantity, as in requests, limits and minResources.
using Quantities = std::map<std::string, Quantity>;

// kInvalid with the name of the resource whose quantity cannot be parsed. Empty when `object` is
// not an object.
Result<Quantities> decode_quantities(const Json& object);
Json encode(const Quantities& quantities);

void add(Quantities& sum, const Quantities& part);
void raise_to(Quantities& most, const Quantities& part);  // the maximum of each resource

// What the scheduler reserves for a pod: the greater of the sum over the containers and of the
// greatest init container (sidecars among them add to both), plus the overhead. A resource with a
// limit and without a request is requested up to its limit, as the API server fills it in.
Result<Quantities> requests_of_pod(const Json& pod_spec);

}  // namespace paddle::api
