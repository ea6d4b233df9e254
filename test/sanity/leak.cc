// SPDX-License-Identifier: Apache-2.0
// Planted bug: memory that nobody can reach any more. LeakSanitizer must report it at exit.

#include <cstdio>

namespace {

int* volatile lost = nullptr;

}  // namespace

int main() {
  lost = new int(7);
  std::printf("%d\n", *lost);
  lost = nullptr;
}
