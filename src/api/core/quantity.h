// SPDX-License-Identifier: Apache-2.0
//
// Kubernetes quantities ("500m", "1.5Gi", "2e3"), exactly: kept as billionths in 128 bits, as the
// API machinery does. What is finer than a billionth is rounded up, what exceeds 2^63-1 is that.
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
  // A sum is written in the manner of its first part that is not zero.
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
  enum class Manner { kDecimal, kBinary, kExponent };

  Int128 billionths_ = 0;
  Manner manner_ = Manner::kDecimal;
};

// Resource name -> quantity, as in requests, limits and minResources.
using Quantities = std::map<std::string, Quantity>;

// kInvalid with the name of the resource whose quantity is none. Not an object: empty.
Result<Quantities> decode_quantities(const Json& object);
Json encode(const Quantities& quantities);

void add(Quantities& sum, const Quantities& part);
void raise_to(Quantities& most, const Quantities& part);  // the greater of both, each

// What the scheduler reserves for a pod: the greater of the sum over containers and of the greatest
// init container (sidecars among them add to both), plus overhead. A resource with a limit and no
// request is requested as much as its limit, as the API server fills it in.
Result<Quantities> requests_of_pod(const Json& pod_spec);

}  // namespace paddle::api
