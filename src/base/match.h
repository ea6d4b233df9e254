// SPDX-License-Identifier: Apache-2.0
//
// An overload set for std::visit: one lambda per alternative, and a missing one does not compile.

#pragma once

namespace paddle {

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

}  // namespace paddle
