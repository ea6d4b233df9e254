// SPDX-License-Identifier: Apache-2.0
#include "sampler/shuffle.h"

#include <bit>
#include <random>
#include <utility>

namespace paddle::sampler {
namespace {

// A number from 0 to `most`: as many low bits as `most` has, drawn again until they are not above
// it.
std::uint32_t below_or_at(std::uint32_t most, std::mt19937& numbers) {
  const auto bits = static_cast<unsigned>(std::bit_width(most));
  const std::uint32_t mask = bits >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1;
  std::uint32_t drawn = 0;
  do {
    drawn = static_cast<std::uint32_t>(numbers()) & mask;
  } while (drawn > most);
  return drawn;
}

}  // namespace

void numpy_shuffle(std::vector<std::uint32_t>& values, std::uint32_t seed) {
  std::mt19937 numbers(seed);  // seeded as numpy's legacy generator is
  for (std::size_t i = values.size(); i-- > 1;) {
    std::swap(values[i], values[below_or_at(static_cast<std::uint32_t>(i), numbers)]);
  }
}

}  // namespace paddle::sampler
