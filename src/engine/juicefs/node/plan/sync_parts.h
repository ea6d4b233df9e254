// SPDX-License-Identifier: Apache-2.0
//
// How a sync is divided among runtimes: by ranges of keys, in the order in which JuiceFS lists
// them. Pure.
//
// What is to be copied is read from the log of a dry run. It only says where to cut: together the
// ranges are all keys there are, so what the log left out, or what has come since, is copied too.
// A cut is a key that nobody has ("!" behind one that is there): JuiceFS takes the end of a range
// in with some storages and not with others.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

struct KeyRange {
  std::string start{};  // empty: from the first
  std::string end{};    // empty: to the last
  bool operator==(const KeyRange&) const = default;
};
bool within(const KeyRange& range, const std::string& key);

struct SyncPart {
  std::string cut{};               // the same in all parts of one division
  std::vector<KeyRange> pieces{};  // done one after another; none: nothing is left to do
  std::int64_t files = 0;          // as planned
  std::int64_t bytes = 0;
  std::int64_t megabits = 0;  // its share of what the sync may take; 0: no limit
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

// What is to be copied, as it is told, in order. However much it is, it takes a bounded room:
// neighbours are put together.
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
  KeyRange all{};             // what the user restricts it to
  std::int64_t megabits = 0;  // of the whole sync
  // Nothing that was copied is seen as such when it is run again: small pieces bound what is
  // copied twice.
  bool in_pieces = false;
  std::string cut{};
};
// One for each part, also those for which nothing is left. About as many bytes each.
std::vector<SyncPart> divide(const CopyList& list, const Division& how);

}  // namespace paddle::engine::juicefs
