// SPDX-License-Identifier: Apache-2.0 Planted bug: memory that is no longer reachable.
// LeakSanitizer must report it at exit. There are many allocations, because a stale copy of an
// address in a register or on the stack would hide one.

#include <cstdio>

namespace {

int* volatile lost = nullptr;

}  // namespace

int main() {
  for (int i = 0; i < 100; ++i) lost = new int(i);
  std::printf("%d\n", *lost);
  lost = nullptr;
}
