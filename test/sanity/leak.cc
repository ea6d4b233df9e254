// SPDX-License-Identifier: Apache-2.0
// Planted bug: memory that nobody can reach any more. LeakSanitizer must report it at exit. Many
// pieces, because a stale copy of one address in a register or on the stack would hide that one.

#include <cstdio>

namespace {

int* volatile lost = nullptr;

}  // namespace

int main() {
  for (int i = 0; i < 100; ++i) lost = new int(i);
  std::printf("%d\n", *lost);
  lost = nullptr;
}
