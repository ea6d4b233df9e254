// SPDX-License-Identifier: Apache-2.0
// Planted bug: signed overflow. UndefinedBehaviorSanitizer must stop it.

#include <cstdio>
#include <limits>

int main() {
  volatile int largest = std::numeric_limits<int>::max();
  const int beyond = largest + 1;
  std::printf("%d\n", beyond);
}
