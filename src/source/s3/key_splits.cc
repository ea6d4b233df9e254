// SPDX-License-Identifier: Apache-2.0
#include "source/s3/key_splits.h"

#include <deque>
#include <map>
#include <set>
#include <string_view>

namespace paddle::source {
namespace {

// After every character that keys have: the last one that XML can carry.
constexpr std::string_view kLast = "\xf4\x8f\xbf\xbd";

// The end of the UTF-8 character at `at`: keys are not cut within one.
std::size_t character_end(std::string_view key, std::size_t at) {
  do {
    ++at;
  } while (at < key.size() && (static_cast<unsigned char>(key[at]) & 0xc0) == 0x80);
  return at;
}

class Split {
 public:
  Split(std::size_t parts, std::size_t probes, const NextKey& next_key)
      : parts_(parts), probes_(probes), next_key_(next_key) {}

  Result<std::vector<std::string>> run(const std::string& after) {
    TRY(const std::optional<std::string> first, next(after));
    if (first) waiting_.push_back({.prefix = "", .first = *first});
    for (; !waiting_.empty() && !enough(); waiting_.pop_front()) {
      const Group group = waiting_.front();
      CHECK_DONE(divide(group));
    }
    return std::vector<std::string>(borders_.begin(), borders_.end());
  }

 private:
  // The keys that begin with `prefix`, from `first` on.
  struct Group {
    std::string prefix{};
    std::string first{};
  };

  bool enough() const { return borders_.size() + 1 >= parts_ || answers_.size() >= probes_; }

  Result<std::optional<std::string>> next(const std::string& after) {
    if (const auto known = answers_.find(after); known != answers_.end()) return known->second;
    TRY(std::optional<std::string> found, next_key_(after));
    // A server that ignores the question must not be believed.
    if (found && *found <= after) found.reset();
    return answers_.emplace(after, std::move(found)).first->second;
  }

  // The first key of the group behind all that begin with `prefix`.
  Result<std::optional<std::string>> behind(const Group& group, std::string_view prefix) {
    TRY(std::optional<std::string> found, next(std::string(prefix).append(kLast)));
    if (found && (!found->starts_with(group.prefix) || found->starts_with(prefix))) found.reset();
    return found;
  }

  // What all keys of the group begin with.
  Result<std::string> shared_prefix(const Group& group) {
    std::vector<std::size_t> ends{group.prefix.size()};
    while (ends.back() < group.first.size()) {
      ends.push_back(character_end(group.first, ends.back()));
    }
    std::size_t low = 0;  // they do up to here
    std::size_t high = ends.size();
    while (high - low > 1 && !enough()) {
      const std::size_t middle = low + (high - low) / 2;
      TRY(const auto other, behind(group, std::string_view(group.first).substr(0, ends[middle])));
      (other ? high : low) = middle;
    }
    return group.first.substr(0, ends[low]);
  }

  Result<> divide(const Group& group) {
    TRY(const std::string shared, shared_prefix(group));
    std::string key = group.first;
    if (key.size() == shared.size()) {  // one key is what the others begin with
      TRY(const auto longer, next(key));
      if (!longer || !longer->starts_with(shared)) return Done{};
      key = *longer;
    }
    while (!enough()) {
      const std::string beginning = key.substr(0, character_end(key, shared.size()));
      waiting_.push_back({.prefix = beginning, .first = key});
      TRY(const auto other, behind({.prefix = shared, .first = key}, beginning));
      if (!other) return Done{};
      borders_.insert(beginning + std::string(kLast));
      key = *other;
    }
    return Done{};
  }

  const std::size_t parts_;
  const std::size_t probes_;
  const NextKey& next_key_;
  std::deque<Group> waiting_{};
  std::set<std::string> borders_{};
  std::map<std::string, std::optional<std::string>> answers_{};
};

}  // namespace

Result<std::vector<std::string>> split_keys(const std::string& after, std::size_t parts,
                                            std::size_t probes, const NextKey& next_key) {
  return Split(parts, probes, next_key).run(after);
}

}  // namespace paddle::source
