// SPDX-License-Identifier: Apache-2.0 Planted bug: reads memory after it was freed.
// AddressSanitizer must stop it.

#include <cstdio>
#include <memory>

int main() {
  auto owner = std::make_unique<int>(7);
  volatile int* const stale = owner.get();
  owner.reset();
  std::printf("%d\n", *stale);
}
