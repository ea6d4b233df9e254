// SPDX-License-Identifier: Apache-2.0
//
// The caches of one sample set on this machine, as the node that gave their directories to the
// runtime sees them: what an offer means by its numbers of directories, and the flag that sealed
// views leave on segments. Not thread-safe; opens everything again in each call.

#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "sealed/immutable.h"
#include "sealed/offer/offer.h"
#include "sealed/sealed_view.h"

namespace paddle::local {

struct SetCaches {
  std::vector<std::string> directories{};  // of all partitions; a store is in <directory>/store
  std::string views{};                     // where views of this set alone are mounted aside

  // Ends what an earlier node left: views, and the immutable flag of segments. kConflict while a
  // process still uses such a view; then nothing is lifted. REQUIRES: no view of this process.
  Result<> lift_leftovers() const;

  // The view of an offer, mounted at <views>/<name>, and shown nowhere yet. kNotFound: the cache
  // does not have what was offered.
  Result<std::unique_ptr<sealed::SealedView>> seal(const sealed::Offer& offer,
                                                   const std::string& name,
                                                   sealed::ImmutableSegments& holds,
                                                   std::stop_token stop) const;
};

// Replaces a file of a session directory, in which the runtime writes, too: follows no links.
Result<> write_view_state(const std::string& session, const sealed::ViewState& state);

}  // namespace paddle::local
