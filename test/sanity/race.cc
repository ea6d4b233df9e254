// SPDX-License-Identifier: Apache-2.0
// Planted bug: two threads write one variable without a lock. ThreadSanitizer must report it.

#include <cstdio>
#include <thread>

namespace {

int shared = 0;

void count() {
  for (int i = 0; i < 1000; ++i) shared = shared + 1;
}

}  // namespace

int main() {
  std::thread other(count);
  count();
  other.join();
  std::printf("%d\n", shared);
}
