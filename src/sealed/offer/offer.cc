// SPDX-License-Identifier: Apache-2.0
#include "sealed/offer/offer.h"

#include <algorithm>
#include <charconv>

namespace paddle::sealed {
namespace {

constexpr std::string_view kOfferHead = "offer1";
constexpr std::string_view kViewHead = "view1";
constexpr std::size_t kMostTiers = 64;
constexpr std::size_t kLongestReason = 1000;

// The next line, split at spaces. Empty at the end.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    if (end == rest_.npos) {
      complete_ = complete_ && rest_.empty();
      return std::exchange(rest_, {});
    }
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  bool at_end() const { return rest_.empty(); }
  bool complete() const { return complete_; }  // each line has its end

 private:
  std::string_view rest_;
  bool complete_ = true;
};

std::string_view word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view found = line.substr(0, end);
  line = end == line.npos ? std::string_view() : line.substr(end + 1);
  return found;
}

bool read_number(std::string_view text, std::uint64_t& into) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, into);
  return !text.empty() && read.ec == std::errc{} && read.ptr == end;
}

bool read_directory(std::string_view& line, DirectoryId& into) {
  return read_number(word(line), into.device) && read_number(word(line), into.inode);
}

bool is_digest(std::string_view text) {
  return text.size() == 32 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= 255 && text.front() != '.' &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127 && c != '/'; });
}

// One line for people.
std::string in_one_line(std::string_view text) {
  std::string line(text.substr(0, kLongestReason));
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

std::string text_of(const DirectoryId& id) {
  return std::to_string(id.device) + " " + std::to_string(id.inode);
}

}  // namespace

std::string to_text(const Offer& offer) {
  std::string text = std::string(kOfferHead) + " " + std::to_string(offer.number) + " " +
                     std::to_string(offer.generation) + " " + offer.digest + "\nindex " +
                     text_of(offer.state) + " " + offer.index + "\n";
  for (const DirectoryId& tier : offer.tiers) text += "tier " + text_of(tier) + "\n";
  return text;
}

Result<Offer> offer_from_text(std::string_view text) {
  const Error bad{Code::kInvalid, "not the offer of a runtime of this version"};
  Offer offer;
  Lines lines(text);
  std::string_view line = lines.line();
  if (word(line) != kOfferHead || !read_number(word(line), offer.number) || offer.number == 0 ||
      !read_number(word(line), offer.generation) || !is_digest(line)) {
    return bad;
  }
  offer.digest = line;
  line = lines.line();
  if (word(line) != "index" || !read_directory(line, offer.state) || !is_plain_name(line)) {
    return bad;
  }
  offer.index = line;
  while (!lines.at_end()) {
    line = lines.line();
    DirectoryId tier;
    if (word(line) != "tier" || !read_directory(line, tier) || !line.empty()) return bad;
    if (offer.tiers.size() == kMostTiers) return bad;
    offer.tiers.push_back(tier);
  }
  if (offer.tiers.empty() || !lines.complete()) return bad;
  return offer;
}

std::string to_text(const ViewState& state) {
  const auto since =
      std::chrono::duration_cast<std::chrono::seconds>(state.since.time_since_epoch());
  return std::string(kViewHead) + (state.sealed ? " sealed " : " fuse ") +
         std::to_string(state.number) + " " + std::to_string(std::max<long>(0, since.count())) +
         "\n" + in_one_line(state.reason) + "\n";
}

Result<ViewState> view_state_from_text(std::string_view text) {
  const Error bad{Code::kInvalid, "not the view of a node of this version"};
  ViewState state;
  Lines lines(text);
  std::string_view line = lines.line();
  if (word(line) != kViewHead) return bad;
  const std::string_view kind = word(line);
  std::uint64_t since = 0;
  if ((kind != "sealed" && kind != "fuse") || !read_number(word(line), state.number) ||
      !read_number(line, since) || since > std::uint64_t{1} << 40) {
    return bad;
  }
  state.sealed = kind == "sealed";
  state.since = WallTime{std::chrono::seconds{static_cast<std::int64_t>(since)}};
  if (lines.at_end()) return bad;
  const std::string_view reason = lines.line();
  if (!lines.at_end() || !lines.complete()) return bad;
  if (reason.size() > kLongestReason) return bad;
  state.reason = in_one_line(reason);
  return state;
}

}  // namespace paddle::sealed
