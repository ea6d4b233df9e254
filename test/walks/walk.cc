// SPDX-License-Identifier: Apache-2.0
#include "test/walks/walk.h"

#include <cstdlib>
#include <iostream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace paddle::walks {
namespace {

using api::Json;

constexpr std::uint64_t kEnough = 10;  // walks, to say anything about most of them

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

void compare(const Json& walked, const Json& fresh, const std::string& at, std::string& out) {
  if (walked == fresh) return;
  if (walked.is_object() && fresh.is_object()) {
    std::set<std::string> names;
    for (const auto& [name, value] : walked.items()) names.insert(name);
    for (const auto& [name, value] : fresh.items()) names.insert(name);
    for (const std::string& name : names) {
      compare(walked.value(name, Json()), fresh.value(name, Json()), at + "." + name, out);
    }
    return;
  }
  out += "  " + at + "\n    after the walk: " + walked.dump() +
         "\n    created so:     " + fresh.dump() + "\n";
}

}  // namespace

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

std::string difference(const EndState& walked, const EndState& fresh) {
  std::string out;
  for (const auto& [name, object] : walked) {
    const auto found = fresh.find(name);
    if (found == fresh.end()) {
      out += "  " + name + " exists only after the walk\n";
    } else {
      compare(object, found->second, name, out);
    }
  }
  for (const auto& [name, object] : fresh) {
    if (!walked.contains(name)) out += "  " + name + " is missing after the walk\n";
  }
  return out;
}

void run_walks(const char* resource, std::uint64_t walks,
               const std::function<WalkResult(std::uint64_t)>& walk) {
  const std::uint64_t first = setting("PADDLE_WALK_SEED", 1);
  const bool one = std::getenv("PADDLE_WALK_SEED") && !std::getenv("PADDLE_WALK_SECONDS");
  const std::chrono::seconds limit{setting("PADDLE_WALK_SECONDS", 0)};
  const BootTime start = system_clock().boot();
  std::uint64_t done = 0;
  std::uint64_t ended = 0;
  std::uint64_t edits = 0;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first;; ++seed) {
    const bool enough =
        limit.count() > 0 ? system_clock().boot() - start >= limit : done >= (one ? 1 : walks);
    if (enough) break;
    const WalkResult result = walk(seed);
    ++done;
    edits += static_cast<std::uint64_t>(result.edits);
    ended += result.comparable ? 0 : 1;
    EXPECT_GE(result.edits, kEdits) << "seed " << seed;
    if (!result.complaint.empty()) {
      ++failed;
      ADD_FAILURE() << resource << ", PADDLE_WALK_SEED=" << seed << ":\n" << result.complaint;
    }
  }
  if (done >= kEnough) {
    EXPECT_LT(2 * ended, done) << "most walks compare nothing";
  }
  std::cout << "walks " << resource << ": " << done << " walks, seeds " << first << " to "
            << first + done - 1 << ", " << edits << " edits, " << ended << " without a comparison, "
            << failed << " failed" << std::endl;
}

void expect_found(const char* resource, std::uint64_t walks,
                  const std::function<WalkResult(std::uint64_t)>& walk) {
  for (std::uint64_t seed = 1; seed <= walks; ++seed) {
    const WalkResult result = walk(seed);
    if (result.complaint.empty()) continue;
    std::cout << "walks " << resource << ": found by seed " << seed << "\n"
              << result.complaint << std::endl;
    return;
  }
  ADD_FAILURE() << "no walk noticed that a mend is missing";
}

void report_edited(const char* resource, const EditCoverage& coverage) {
  std::string never;
  for (const std::string& field : coverage.never_edited()) never += " " + field;
  std::cout << "walks " << resource << ": fields never edited:" << (never.empty() ? " none" : never)
            << std::endl;
}

void expect_all_edited(const char* resource, const EditCoverage& coverage) {
  report_edited(resource, coverage);
  if (!std::getenv("PADDLE_WALK_SEED")) {
    EXPECT_TRUE(coverage.never_edited().empty());
  }
}

}  // namespace paddle::walks
