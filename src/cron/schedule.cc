// SPDX-License-Identifier: Apache-2.0
#include "cron/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace paddle::cron {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::array kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                             "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array kWeekdays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr int kHorizon = 8 * 366;  // February 29 comes after eight years at the latest

struct FieldRule {
  const char* name = "";
  int least = 0;
  int most = 0;
};

Error wrong(const FieldRule& rule, std::string_view text) {
  return {Code::kInvalid, "'" + std::string(text) + "' is not a " + rule.name + " of a schedule (" +
                              std::to_string(rule.least) + " to " + std::to_string(rule.most) +
                              ", with lists, ranges and steps)"};
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

template <typename Names>
std::optional<int> value_of(const std::string& text, const Names& names, int first) {
  const std::string name = lower(text);
  for (size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<int>(i) + first;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

constexpr std::array<const char*, 0> kNoNames{};

// One element of a list: "*", "a", "a-b", each with an optional "/step". "a/step" means up to the
// end.
template <typename Names>
Result<> read_part(const std::string& part, const FieldRule& rule, const Names& names,
                   std::vector<int>& values) {
  const auto halves = split(part, '/');
  if (halves.size() > 2) return wrong(rule, part);
  int step = 1;
  if (halves.size() == 2) {
    const auto given = value_of(halves[1], kNoNames, 0);
    if (!given || *given < 1 || *given > rule.most) return wrong(rule, part);
    step = *given;
  }
  int from = rule.least, to = rule.most;
  if (halves[0] != "*" && halves[0] != "?") {
    const auto ends = split(halves[0], '-');
    const auto first = value_of(ends[0], names, rule.least);
    const auto last = ends.size() == 2 ? value_of(ends[1], names, rule.least) : first;
    if (ends.size() > 2 || !first || !last) return wrong(rule, part);
    from = *first;
    if (ends.size() == 2 || halves.size() == 1) to = *last;
  }
  if (from < rule.least || to > rule.most || from > to) return wrong(rule, part);
  for (int value = from; value <= to; value += step) values.push_back(value);
  return Done{};
}

template <typename Bits, typename Names>
Result<> read_field(const std::string& text, const FieldRule& rule, const Names& names,
                    Bits& bits) {
  std::vector<int> values;
  for (const auto& part : split(text, ',')) CHECK_DONE(read_part(part, rule, names, values));
  for (const int value : values) bits.set(static_cast<size_t>(value) % bits.size());
  return Done{};
}

bool is_any(const std::string& text) { return text.starts_with('*') || text.starts_with('?'); }

Result<std::string> spelled_out(const std::string& text) {
  if (!text.starts_with('@')) return text;
  if (text == "@yearly" || text == "@annually") return std::string("0 0 1 1 *");
  if (text == "@monthly") return std::string("0 0 1 * *");
  if (text == "@weekly") return std::string("0 0 * * 0");
  if (text == "@daily" || text == "@midnight") return std::string("0 0 * * *");
  if (text == "@hourly") return std::string("0 * * * *");
  return Error{Code::kInvalid,
               "'" + text +
                   "' is not a schedule; there are @yearly, @monthly, @weekly, @daily and "
                   "@hourly"};
}

}  // namespace

Result<Schedule> Schedule::parse(const std::string& text) {
  TRY(const std::string plain, spelled_out(text));
  std::vector<std::string> fields;
  for (auto& field : split(plain, ' ')) {
    if (!field.empty()) fields.push_back(std::move(field));
  }
  if (fields.size() != 5 || plain.find('=') != plain.npos) {
    return Error{Code::kInvalid,
                 "a schedule has five fields: minute, hour, day of the month, month and day of the "
                 "week, such as \"30 2 * * *\""};
  }
  Schedule out;
  std::bitset<8> weekdays;
  CHECK_DONE(read_field(fields[0], {"minute", 0, 59}, kNoNames, out.minutes_));
  CHECK_DONE(read_field(fields[1], {"hour", 0, 23}, kNoNames, out.hours_));
  CHECK_DONE(read_field(fields[2], {"day of the month", 1, 31}, kNoNames, out.days_));
  CHECK_DONE(read_field(fields[3], {"month", 1, 12}, kMonths, out.months_));
  CHECK_DONE(read_field(fields[4], {"day of the week", 0, 7}, kWeekdays, weekdays));
  for (size_t day = 0; day < 8; ++day) {
    if (weekdays.test(day)) out.weekdays_.set(day % 7);
  }
  out.any_hour_ = is_any(fields[1]);
  out.any_day_ = is_any(fields[2]);
  out.any_weekday_ = is_any(fields[4]);
  return out;
}

bool Schedule::day_matches(sys_days day) const {
  const std::chrono::year_month_day date(day);
  if (!months_.test(static_cast<unsigned>(date.month()))) return false;
  const bool by_date = days_.test(static_cast<unsigned>(date.day()));
  const bool by_weekday = weekdays_.test(std::chrono::weekday(day).c_encoding());
  if (any_day_ || any_weekday_) return by_date && by_weekday;
  return by_date || by_weekday;
}

std::optional<WallTime> Schedule::first_of(sys_days day, WallTime after, const Zone& zone) const {
  std::optional<WallTime> first;
  for (size_t hour = 0; hour < hours_.size(); ++hour) {
    if (!hours_.test(hour)) continue;
    for (size_t minute = 0; minute < minutes_.size(); ++minute) {
      if (!minutes_.test(minute)) continue;
      const LocalMinutes local = std::chrono::duration_cast<LocalMinutes>(day.time_since_epoch()) +
                                 LocalMinutes(static_cast<std::int64_t>(hour * 60 + minute));
      const auto all = zone.moments(local);
      // Schedules of every hour follow the hours that pass: a skipped hour is left out, a repeated
      // one counts twice.
      if (any_hour_ && all.skipped) continue;
      const size_t counted = any_hour_ ? all.times.size() : 1;
      for (size_t i = 0; i < counted; ++i) {
        if (all.times[i] > after && (!first || all.times[i] < *first)) first = all.times[i];
      }
    }
  }
  return first;
}

std::optional<WallTime> Schedule::next(WallTime after, const Zone& zone) const {
  // One day early: where clocks are set back over midnight, a day can end after the next one has
  // begun.
  const sys_days today(std::chrono::floor<days>(zone.local(after)));
  for (sys_days day = today - days(1); day <= today + days(kHorizon); day += days(1)) {
    if (!day_matches(day)) continue;
    const auto found = first_of(day, after, zone);
    if (!found) continue;
    if (!day_matches(day + days(1))) return found;
    const auto other = first_of(day + days(1), after, zone);
    return other ? std::min(*found, *other) : *found;
  }
  return std::nullopt;
}

Schedule::Missed Schedule::missed(WallTime since, WallTime now, const Zone& zone) const {
  Missed seen;
  for (auto due = next(since, zone); due && *due <= now; due = next(*due, zone)) {
    seen.latest = due;
    if (++seen.count < kMany) continue;
    // Too many to count one by one: search backwards from now.
    for (auto span = std::chrono::minutes(1);; span *= 2) {
      const WallTime from = std::max(now - span, *seen.latest);
      auto found = next(from, zone);
      const bool hit = found && *found <= now;
      while (found && *found <= now) {
        seen.latest = found;
        found = next(*found, zone);
      }
      if (hit || from == *seen.latest) break;
    }
    break;
  }
  return seen;
}

}  // namespace paddle::cron
