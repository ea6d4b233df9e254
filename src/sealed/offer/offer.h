// SPDX-License-Identifier: Apache-2.0
//
// What a runtime and its node tell each other about a sealed view, each in a file of the session
// directory, which is replaced by rename. Pure.
//
//   complete   by the runtime: the generation of which the cache has every byte. Its absence
//              withdraws it: the node shows no view of it to anybody who opens a file from then on
//   view       by the node: what pods read through, since when, and why it is not a view
//
// Paths differ between the two (a container has its own), so that directories are named by device
// and inode. The node opens only directories that it gave to the runtime itself, and trusts nothing
// else in an offer either (docs/design/0016).
//
// Order, so that a withdrawn generation is never shown: the node writes `view` with sealed = true,
// reads the offer again, and shows the view only if it is still the same. The runtime removes the
// offer, then reads `view`, and waits while it names what was offered.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::sealed {

inline constexpr const char* kOfferFile = "complete";
inline constexpr const char* kViewFile = "view";
inline constexpr std::size_t kLongestOffer = 8192;  // bytes, of either file

struct DirectoryId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const DirectoryId&) const = default;
};

struct Offer {
  std::uint64_t number = 0;  // grows: the same generation may be complete, damaged and complete
  std::uint64_t generation = 0;
  std::string digest{};              // of the index
  DirectoryId state{};               // the directory of the index
  std::string index{};               // its name there
  std::vector<DirectoryId> tiers{};  // of the store, in its order
  bool operator==(const Offer&) const = default;
};

struct ViewState {
  bool sealed = false;       // false: FUSE
  std::uint64_t number = 0;  // of the offer that it is about; 0: of none
  WallTime since{};          // in whole seconds
  std::string reason{};      // one sentence when it is not sealed
  bool operator==(const ViewState&) const = default;
};

std::string to_text(const Offer& offer);
std::string to_text(const ViewState& state);
// kInvalid for what to_text() does not make.
Result<Offer> offer_from_text(std::string_view text);
Result<ViewState> view_state_from_text(std::string_view text);

}  // namespace paddle::sealed
