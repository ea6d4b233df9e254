// SPDX-License-Identifier: Apache-2.0
#include "api/core/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::api {
namespace {

__extension__ using Int128 = __int128;

constexpr Int128 kUnit = 1'000'000'000;
constexpr Int128 kMost = Int128{std::numeric_limits<std::int64_t>::max()} * kUnit;

struct Suffix {
  std::string_view text{};
  Int128 billionths = 0;
};
// From the greatest to the least, as a canonical text prefers them.
constexpr std::array<Suffix, 10> kDecimals{{{"E", kUnit * 1'000'000'000'000'000'000},
                                            {"P", kUnit * 1'000'000'000'000'000},
                                            {"T", kUnit * 1'000'000'000'000},
                                            {"G", kUnit * 1'000'000'000},
                                            {"M", kUnit * 1'000'000},
                                            {"k", kUnit * 1'000},
                                            {"", kUnit},
                                            {"m", kUnit / 1'000},
                                            {"u", kUnit / 1'000'000},
                                            {"n", 1}}};
constexpr std::array<Suffix, 6> kBinaries{{{"Ei", kUnit << 60},
                                           {"Pi", kUnit << 50},
                                           {"Ti", kUnit << 40},
                                           {"Gi", kUnit << 30},
                                           {"Mi", kUnit << 20},
                                           {"Ki", kUnit << 10}}};

std::string digits(Int128 number) {
  const bool negative = number < 0;
  if (negative) number = -number;
  std::string out;
  do {
    out += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number != 0);
  if (negative) out += '-';
  std::ranges::reverse(out);
  return out;
}

Error no_quantity(std::string_view text) {
  return {Code::kInvalid, "\"" + std::string(text.substr(0, 60)) +
                              "\" is not a quantity; write it like 2, 500m, 1.5Gi or 2e3"};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// sign, digits before and after the point, and what follows.
struct Spelling {
  bool negative = false;
  std::string whole{};
  std::string fraction{};
  std::string_view suffix{};
};

std::optional<Spelling> spell(std::string_view text) {
  Spelling out;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    out.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  while (!text.empty() && is_digit(text[0])) {
    out.whole += text[0];
    text.remove_prefix(1);
  }
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    while (!text.empty() && is_digit(text[0])) {
      out.fraction += text[0];
      text.remove_prefix(1);
    }
  }
  if (out.whole.empty() && out.fraction.empty()) return std::nullopt;
  out.suffix = text;
  return out;
}

// "e3", "E-2": the exponent; nullopt when it is none.
std::optional<int> exponent_of(std::string_view suffix) {
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  suffix.remove_prefix(1);
  const bool negative = suffix[0] == '-';
  if (suffix[0] == '-' || suffix[0] == '+') suffix.remove_prefix(1);
  if (suffix.empty() || !std::ranges::all_of(suffix, is_digit)) return std::nullopt;
  int value = 0;
  for (const char c : suffix) value = std::min(value * 10 + (c - '0'), 1000);
  return negative ? -value : value;
}

// `decimal` times 1024, on its digits: exact whatever the length.
void multiply_by_1024(std::string& decimal) {
  int carry = 0;
  for (auto digit = decimal.rbegin(); digit != decimal.rend(); ++digit) {
    const int value = (*digit - '0') * 1024 + carry;
    *digit = static_cast<char>('0' + value % 10);
    carry = value / 10;
  }
  if (carry > 0) decimal.insert(0, std::to_string(carry));
}

// whole.fraction * 1024^kibis * 10^power in billionths, rounded up and kept within the bounds.
Int128 in_billionths(const Spelling& number, int kibis, int power) {
  std::string all = number.whole + number.fraction;
  for (; kibis > 0; --kibis) multiply_by_1024(all);
  all.erase(0, std::min(all.find_first_not_of('0'), all.size()));
  if (all.empty()) return 0;

  const int zeros = power + 9 - static_cast<int>(number.fraction.size());
  if (static_cast<int>(all.size()) + zeros > 28) return kMost;
  bool more = false;
  if (zeros >= 0) {
    all.append(static_cast<size_t>(zeros), '0');
  } else {
    const size_t kept = all.size() - std::min(all.size(), static_cast<size_t>(-zeros));
    more = all.find_first_not_of('0', kept) != std::string::npos;
    all.resize(kept);
  }
  Int128 value = 0;
  for (const char c : all) value = value * 10 + (c - '0');
  return std::min(value + (more ? 1 : 0), kMost);
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  constexpr size_t kLongest = 128;
  const auto number = text.size() <= kLongest ? spell(text) : std::nullopt;
  if (!number) return no_quantity(text);

  Quantity out;
  int kibis = 0;
  int power = 0;
  bool known = false;
  for (size_t i = 0; i < kDecimals.size() && !known; ++i) {
    known = kDecimals[i].text == number->suffix;
    if (known) power = 18 - 3 * static_cast<int>(i);
  }
  for (size_t i = 0; i < kBinaries.size() && !known; ++i) {
    known = kBinaries[i].text == number->suffix;
    if (known) kibis = 6 - static_cast<int>(i);
  }
  if (kibis > 0) out.format_ = Format::kBinary;
  if (!known) {
    const auto exponent = exponent_of(number->suffix);
    if (!exponent) return no_quantity(text);
    power = *exponent;
    out.format_ = Format::kExponent;
  }
  const Int128 value = in_billionths(*number, kibis, power);
  out.billionths_ = number->negative ? -value : value;
  return out;
}

Result<Quantity> Quantity::from_json(const Json& value) {
  if (value.is_string()) return parse(value.get_ref<const std::string&>());
  if (value.is_number()) return parse(value.dump());
  return Error{Code::kInvalid, "a quantity is a string or a number"};
}

std::string Quantity::text() const {
  if (billionths_ == 0) return "0";
  const auto with = [&](const Suffix& suffix) {
    return digits(billionths_ / suffix.billionths) + std::string(suffix.text);
  };
  if (format_ == Format::kBinary && billionths_ % kUnit == 0) {
    for (const Suffix& suffix : kBinaries) {
      if (billionths_ % suffix.billionths == 0) return with(suffix);
    }
    return digits(billionths_ / kUnit);
  }
  const Suffix* fitting = &kDecimals.back();
  for (const Suffix& suffix : kDecimals) {
    if (billionths_ % suffix.billionths != 0) continue;
    fitting = &suffix;
    break;
  }
  if (format_ != Format::kExponent || fitting->text.empty()) return with(*fitting);
  const auto place = static_cast<int>(fitting - kDecimals.data());
  return digits(billionths_ / fitting->billionths) + "e" + std::to_string(18 - 3 * place);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (zero()) format_ = other.format_;
  billionths_ = std::clamp(billionths_ + other.billionths_, -kMost, kMost);
  return *this;
}

Quantity Quantity::times(std::int64_t count) const {
  Quantity out = *this;
  // Both factors are below 2^94 and 2^63: compare before multiplying.
  const Int128 size = billionths_ < 0 ? -billionths_ : billionths_;
  const Int128 often = count < 0 ? -Int128{count} : Int128{count};
  const bool beyond = often != 0 && size > kMost / often;
  const Int128 product = beyond ? kMost : size * often;
  out.billionths_ = (billionths_ < 0) != (count < 0) ? -product : product;
  return out;
}

Result<Quantities> decode_quantities(const Json& object) {
  Quantities out;
  if (!object.is_object()) return out;
  for (const auto& [name, value] : object.items()) {
    auto quantity = Quantity::from_json(value);
    if (!quantity) return std::move(quantity).error().in(name);
    out[name] = *quantity;
  }
  return out;
}

Json encode(const Quantities& quantities) {
  Json out = Json::object();
  for (const auto& [name, quantity] : quantities) out[name] = quantity.text();
  return out;
}

void add(Quantities& sum, const Quantities& part) {
  for (const auto& [name, quantity] : part) sum[name] += quantity;
}

void raise_to(Quantities& most, const Quantities& part) {
  for (const auto& [name, quantity] : part) {
    const auto [at, fresh] = most.try_emplace(name, quantity);
    if (!fresh && at->second < quantity) at->second = quantity;
  }
}

namespace {

Result<Quantities> requests_of(const Json& container) {
  TRY(Quantities wanted, decode_quantities(look(container, "/resources/requests")));
  TRY(Quantities limits, decode_quantities(look(container, "/resources/limits")));
  wanted.merge(limits);  // a limit without a request is a request too
  return wanted;
}

}  // namespace

Result<Quantities> requests_of_pod(const Json& pod_spec) {
  Quantities together;
  if (const Json& containers = look(pod_spec, "containers"); containers.is_array()) {
    for (const Json& container : containers) {
      TRY(const Quantities wanted, requests_of(container));
      add(together, wanted);
    }
  }
  Quantities sidecars;
  Quantities starting;
  if (const Json& init = look(pod_spec, "initContainers"); init.is_array()) {
    for (const Json& container : init) {
      TRY(Quantities wanted, requests_of(container));
      if (look_text(container, "restartPolicy") == "Always") {
        add(sidecars, wanted);
        raise_to(starting, sidecars);
      } else {
        add(wanted, sidecars);
        raise_to(starting, wanted);
      }
    }
  }
  add(together, sidecars);
  raise_to(together, starting);
  TRY(const Quantities overhead, decode_quantities(look(pod_spec, "overhead")));
  add(together, overhead);
  return together;
}

}  // namespace paddle::api
