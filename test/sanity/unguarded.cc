// SPDX-License-Identifier: Apache-2.0
// Planted bug: reads a guarded member without its lock. Must not compile under clang; with
// -DLOCKED it must, which shows that nothing else is wrong with this file.

#include "base/sync.h"

namespace paddle {

class Counter {
 public:
  int read() {
#ifdef LOCKED
    Lock lock(mutex_);
#endif
    return count_;
  }

 private:
  Mutex mutex_;
  int count_ GUARDED_BY(mutex_) = 0;
};

int read_counter() {
  Counter counter;
  return counter.read();
}

}  // namespace paddle
