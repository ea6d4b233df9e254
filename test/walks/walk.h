// SPDX-License-Identifier: Apache-2.0
//
// What the walks of all resources share: how many there are, their seeds, and how ends are
// compared.
//
// A walk edits the spec of one object at random, lets everything around it go on for a random while
// in between, and kills the operator now and then. Its end must equal that of an object which was
// created with the last spec, but for what the documents call history.
//
// One seed gives the same walk again:   PADDLE_WALK_SEED=7 build/release/tests/walks_test
// Seeds from 1000 on for some minutes:  PADDLE_WALK_SEED=1000 PADDLE_WALK_SECONDS=600 ...

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "test/walks/spec_editor.h"

namespace paddle::walks {

// Objects in normal form, by "kind/name".
using EndState = std::map<std::string, api::Json>;

void replace_all(std::string& text, const std::string& what, const std::string& by);

// A line for each difference; empty: the same.
std::string difference(const EndState& walked, const EndState& fresh);

struct WalkResult {
  int edits = 0;
  std::string complaint{};   // empty: it ended as it must
  bool comparable = true;    // false: there is nothing to compare the end with
  std::uint64_t digest = 0;  // of everything that was written
};

inline constexpr int kEdits = 30;  // of each walk, at least

// Runs the walks with these seeds, or those that the environment asks for, and prints how many
// edits there were. A complaint fails the test, with its seed; so do walks of which most have
// nothing to compare.
void run_walks(const char* resource, std::uint64_t walks,
               const std::function<WalkResult(std::uint64_t seed)>& walk);

// Fails unless one of these walks complains; prints which.
void expect_found(const char* resource, std::uint64_t walks,
                  const std::function<WalkResult(std::uint64_t seed)>& walk);

// Prints the fields that no edit has changed.
void report_edited(const char* resource, const EditCoverage& coverage);
// And there must be none, unless the environment chose the
// walks.
void expect_all_edited(const char* resource, const EditCoverage& coverage);

}  // namespace paddle::walks
