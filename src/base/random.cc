// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

namespace paddle {

std::uint64_t Random::next() {
  Lock lock(mutex_);
  return engine_();
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t limit) {
  Lock lock(mutex_);
  return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(engine_);
}

std::string Random::hex(size_t length) {
  std::string text;
  text.reserve(length);
  while (text.size() < length) {
    for (std::uint64_t bits = next(), i = 0; i < 16 && text.size() < length; ++i, bits >>= 4) {
      text += "0123456789abcdef"[bits & 15];
    }
  }
  return text;
}

Random& system_random() {
  static Random random([] {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
  }());
  return random;
}

}  // namespace paddle
