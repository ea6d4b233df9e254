// SPDX-License-Identifier: Apache-2.0
//
// Divides a sync among runtimes by ranges of keys, in the order in which JuiceFS lists them. Pure.
//
// The log of a dry run tells where to cut. Together, the ranges cover all keys, so objects that the
// log leaves out or that appear later are copied as well. A cut is a key that no object has (an
// existing key with "!" appended), because with some storages JuiceFS includes the end of a range
// and with others it does not.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

struct KeyRange {
  std::string start{};  // empty: the first key
  std::string end{};    // empty: the last key
  bool operator==(const KeyRange&) const = default;
};
bool within(const KeyRange& range, const std::string& key);

struct SyncPart {
  std::string cut{};               // the same in all parts of one division
  std::vector<KeyRange> pieces{};  // synced one after another; empty: nothing to do
  std::int64_t files = 0;          // planned
  std::int64_t bytes = 0;
  std::int64_t megabits = 0;  // its share of the rate limit, per second; 0: no limit
  bool operator==(const SyncPart&) const = default;
};
std::string to_text(const SyncPart& part);  // no key has a newline
Result<SyncPart> parse_part(std::string_view text);

// A line of the log of a dry run: "<DEBUG>: Will copy KEY (N bytes) [...]".
struct ToCopy {
  std::string key{};
  std::int64_t bytes = 0;
  bool operator==(const ToCopy&) const = default;
};
std::optional<ToCopy> to_copy(std::string_view line);

// What is to be copied, in the order of keys. Its memory is bounded: beyond `most` groups, adjacent
// ones are merged.
class CopyList {
 public:
  explicit CopyList(std::size_t most = 20'000) : most_(most) {}
  void add(const ToCopy& next);

  struct Group {
    std::string last{};  // its last key
    std::int64_t files = 0;
    std::int64_t bytes = 0;
  };
  const std::vector<Group>& groups() const { return groups_; }
  std::int64_t files() const { return files_; }

 private:
  const std::size_t most_;
  std::int64_t per_group_ = 1;
  std::int64_t files_ = 0;
  std::vector<Group> groups_{};
};

struct Division {
  std::int32_t parts = 1;
  KeyRange all{};             // the range that the user gives
  std::int64_t megabits = 0;  // rate limit of the whole sync
  // Divide parts into small pieces: a sync that copies everything again after a restart then
  // repeats at most one piece.
  bool in_pieces = false;
  std::string cut{};
};
// One for each part, of about as many bytes each; a part may have nothing to do.
std::vector<SyncPart> divide(const CopyList& list, const Division& how);

}  // namespace paddle::engine::juicefs
