// SPDX-License-Identifier: Apache-2.0
#include "samplefs/byte_budget.h"

#include <algorithm>

namespace paddle::samplefs {

std::optional<ByteBudget::Hold> ByteBudget::take(std::uint64_t bytes, Priority priority,
                                                 const source::CallContext& context) {
  Lock lock(mutex_);
  auto& queue = priority == Priority::kReader ? readers_ : background_;
  Waiter waiter{.bytes = bytes};
  queue.push_back(&waiter);
  grant();
  while (!waiter.granted) {
    const auto left = context.left(clock_);
    if (context.stop.stop_requested() || left.count() == 0) {
      queue.remove(&waiter);
      grant();  // it may have held up the next one
      return std::nullopt;
    }
    if (context.limited()) {
      changed_.wait_for(mutex_, context.stop, left);
    } else {
      changed_.wait(mutex_, context.stop);
    }
  }
  return Hold(this, bytes);
}

void ByteBudget::grant() {
  bool any = false;
  for (auto* queue : {&readers_, &background_}) {
    while (!queue->empty() && fits(queue->front()->bytes)) {
      held_ += queue->front()->bytes;
      queue->front()->granted = true;
      queue->pop_front();
      any = true;
    }
    if (!queue->empty()) break;
  }
  peak_ = std::max(peak_, held_);
  if (any) changed_.notify_all();
}

void ByteBudget::give_back(std::uint64_t bytes) {
  Lock lock(mutex_);
  held_ -= bytes;
  grant();
}

std::uint64_t ByteBudget::held() const {
  Lock lock(mutex_);
  return held_;
}

std::uint64_t ByteBudget::peak() const {
  Lock lock(mutex_);
  return peak_;
}

std::size_t ByteBudget::waiting() const {
  Lock lock(mutex_);
  return readers_.size() + background_.size();
}

}  // namespace paddle::samplefs
