// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/sync_parts.h"

#include <algorithm>
#include <charconv>

namespace paddle::engine::juicefs {
namespace {

using Group = CopyList::Group;

// The cost of a file beside its bytes: requests to both sides.
constexpr std::int64_t kPerFile = 64 << 10;
constexpr std::int64_t kSmallestPiece = 16 << 20;
constexpr std::int64_t kMostPieces = 24;

std::int64_t weight(const Group& group) { return group.bytes + group.files * kPerFile; }

// Where spans of about the same weight end, among groups [from, to): at most `count` ends, growing,
// the last of them `to`.
std::vector<std::size_t> ends_of_spans(const std::vector<Group>& groups, std::size_t from,
                                       std::size_t to, std::int64_t count) {
  std::int64_t all = 0;
  for (std::size_t i = from; i < to; ++i) all += weight(groups[i]);
  std::vector<std::size_t> ends;
  std::int64_t sum = 0;
  for (std::size_t i = from; i < to; ++i) {
    sum += weight(groups[i]);
    const auto done = static_cast<double>(sum) * static_cast<double>(count);
    const auto due = static_cast<double>(all) * static_cast<double>(ends.size() + 1);
    const auto left = static_cast<std::size_t>(count) - ends.size();
    if (left > 1 && i + 1 < to && done >= due) ends.push_back(i + 1);
  }
  if (from < to) ends.push_back(to);
  return ends;
}

// Whether a cut behind this group divides the range; it does not when the log was not in order.
bool may_cut(const std::vector<Group>& groups, std::size_t end, const std::string& after) {
  return groups[end - 1].last + "!" > after;
}

bool take_line(std::string_view& text, std::string_view& name, std::string_view& value) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return false;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  const std::size_t space = line.find(' ');
  if (space == line.npos) return false;
  name = line.substr(0, space);
  value = line.substr(space + 1);
  return true;
}

bool read_number(std::string_view text, std::int64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size() && into >= 0;
}

}  // namespace

bool within(const KeyRange& range, const std::string& key) {
  return key >= range.start && (range.end.empty() || key <= range.end);
}

std::string to_text(const SyncPart& part) {
  std::string text = "cut " + part.cut + "\nfiles " + std::to_string(part.files) + "\nbytes " +
                     std::to_string(part.bytes) + "\nmegabits " + std::to_string(part.megabits) +
                     "\n";
  for (const auto& piece : part.pieces) {
    text += "from " + piece.start + "\nto " + piece.end + "\n";
  }
  return text;
}

Result<SyncPart> parse_part(std::string_view text) {
  const Error wrong{Code::kInvalid, "the first runtime sent an invalid part of a sync"};
  SyncPart part;
  std::string_view name, value;
  while (!text.empty()) {
    if (!take_line(text, name, value)) return wrong;
    bool sound = true;
    if (name == "cut") {
      part.cut = value;
    } else if (name == "files") {
      sound = read_number(value, part.files);
    } else if (name == "bytes") {
      sound = read_number(value, part.bytes);
    } else if (name == "megabits") {
      sound = read_number(value, part.megabits);
    } else if (name == "from") {
      part.pieces.push_back({.start = std::string(value)});
      std::string_view next;
      sound = take_line(text, next, value) && next == "to";
      part.pieces.back().end = value;
    } else {
      sound = false;
    }
    if (!sound) return wrong;
  }
  if (part.cut.empty()) return wrong;
  return part;
}

std::optional<ToCopy> to_copy(std::string_view line) {
  constexpr std::string_view kBefore = "<DEBUG>: Will copy ";
  constexpr std::string_view kPermissions = "permissions for ";
  const std::size_t at = line.find(kBefore);
  if (at == line.npos) return std::nullopt;
  line.remove_prefix(at + kBefore.size());
  const std::size_t location = line.rfind(" [");
  if (location == line.npos) return std::nullopt;
  line = line.substr(0, location);
  if (!line.ends_with(" bytes)")) {
    if (!line.starts_with(kPermissions)) return std::nullopt;
    return ToCopy{.key = std::string(line.substr(kPermissions.size()))};
  }
  const std::size_t open = line.rfind(" (");
  if (open == line.npos || open == 0) return std::nullopt;
  ToCopy found{.key = std::string(line.substr(0, open))};
  std::string_view number = line.substr(open + 2);
  number.remove_suffix(std::string_view(" bytes)").size());
  if (!read_number(number, found.bytes)) return std::nullopt;
  return found;
}

void CopyList::add(const ToCopy& next) {
  ++files_;
  if (!groups_.empty() && (groups_.back().files < per_group_ || next.key <= groups_.back().last)) {
    Group& last = groups_.back();
    last.last = std::max(last.last, next.key);
    ++last.files;
    last.bytes += next.bytes;
    return;
  }
  groups_.push_back({next.key, 1, next.bytes});
  if (groups_.size() < most_) return;
  per_group_ *= 2;
  std::vector<Group> halved;
  for (std::size_t i = 0; i < groups_.size(); i += 2) {
    halved.push_back(std::move(groups_[i]));
    if (i + 1 == groups_.size()) break;
    halved.back().last = std::move(groups_[i + 1].last);
    halved.back().files += groups_[i + 1].files;
    halved.back().bytes += groups_[i + 1].bytes;
  }
  groups_ = std::move(halved);
}

std::vector<SyncPart> divide(const CopyList& list, const Division& how) {
  const auto& groups = list.groups();
  // JuiceFS has no rate limit below one megabit per second: fewer parts share a lower one.
  std::int64_t count = std::max(how.parts, 1);
  if (how.megabits > 0) count = std::min(count, how.megabits);
  const auto ends = ends_of_spans(groups, 0, groups.size(), count);
  const auto busy = static_cast<std::int64_t>(ends.size());

  std::vector<SyncPart> parts(static_cast<std::size_t>(std::max(how.parts, 1)));
  for (auto& part : parts) part.cut = how.cut;
  std::string from = how.all.start;
  std::size_t begin = 0;
  for (std::size_t p = 0; p < ends.size(); ++p) {
    SyncPart& part = parts[p];
    for (std::size_t i = begin; i < ends[p]; ++i) {
      part.files += groups[i].files;
      part.bytes += groups[i].bytes;
    }
    if (how.megabits > 0) {
      const auto at = static_cast<std::int64_t>(p);
      part.megabits = how.megabits / busy + (at < how.megabits % busy ? 1 : 0);
    }
    const std::int64_t pieces =
        how.in_pieces ? std::clamp<std::int64_t>(part.bytes / kSmallestPiece, 1, kMostPieces) : 1;
    const bool last = p + 1 == ends.size();
    for (const std::size_t end : ends_of_spans(groups, begin, ends[p], pieces)) {
      const bool to_the_end = last && end == ends[p];
      if (!to_the_end && !may_cut(groups, end, from)) continue;
      const std::string to = to_the_end ? how.all.end : groups[end - 1].last + "!";
      part.pieces.push_back({from, to});
      from = to;
    }
    begin = ends[p];
  }
  return parts;
}

}  // namespace paddle::engine::juicefs
