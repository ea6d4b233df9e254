// SPDX-License-Identifier: Apache-2.0
#include "samplefs/read_through.h"

#include <cstring>

namespace paddle::samplefs {
namespace {

class OneSource final : public Sources {
 public:
  explicit OneSource(source::Source& source) : source_(source) {}
  Result<> read(const Block& block, std::span<std::byte> into,
                const source::CallContext& context) override {
    return source_.read(block.object, block.etag, block.offset, into, context);
  }

 private:
  source::Source& source_;
};

Error gave_up(const Block& block, const source::CallContext& context) {
  if (context.stop.stop_requested()) return {Code::kCancelled, "the read was stopped"};
  return {Code::kDeadline,
          "read " + std::string(block.path) + ": the source did not return it in time"};
}

}  // namespace

ReadThrough::ReadThrough(Store* store, source::Source& source, std::size_t recent_bytes,
                         const Clock& clock, std::uint64_t in_flight)
    : only_(std::make_unique<OneSource>(source)),
      store_(store),
      sources_(*only_),
      clock_(clock),
      budget_(std::max(in_flight, 4 * kBlockSize), clock),
      recent_(std::min<std::size_t>(recent_bytes, budget_.limit() / 2)),
      recent_failures_(clock) {}

// One download in progress. A finished flight stays in the map until its block can be found
// elsewhere, so that no second download starts in between.
struct ReadThrough::Flight {
  explicit Flight(Requester leader) : requester(leader) {}
  const Requester requester;
  Mutex mutex;
  CondVar landed;
  bool finished GUARDED_BY(mutex) = false;
  Bytes bytes GUARDED_BY(mutex);
  Error error GUARDED_BY(mutex){};

  void finish(const Result<Bytes>& outcome) EXCLUDES(mutex) {
    Lock lock(mutex);
    finished = true;
    if (outcome) {
      bytes = *outcome;
    } else {
      error = outcome.error();
    }
    landed.notify_all();
  }

  // Nothing: the caller was stopped or its deadline passed.
  std::optional<Result<Bytes>> outcome(const source::CallContext& context, const Clock& clock)
      EXCLUDES(mutex) {
    Lock lock(mutex);
    while (!finished) {
      const auto left = context.left(clock);
      if (context.stop.stop_requested() || left.count() == 0) return std::nullopt;
      if (context.limited()) {
        landed.wait_for(mutex, context.stop, left);
      } else {
        landed.wait(mutex, context.stop);
      }
    }
    if (bytes) return Result<Bytes>(bytes);
    return Result<Bytes>(error);
  }
};

Result<bool> ReadThrough::read_local(const Block& block, std::uint64_t offset,
                                     std::span<std::byte> into) {
  if (store_ && store_->read(block, offset, into)) {
    from_cache_.fetch_add(into.size(), std::memory_order_relaxed);
    return true;
  }
  if (const Bytes bytes = recent_.find(block.key)) {
    std::memcpy(into.data(), bytes->data.get() + offset, into.size());
    // The disk may take it now: otherwise it is downloaded again when memory has forgotten it.
    if (store_ && store_->has_room(block)) store_->put(block, {bytes->data.get(), bytes->size});
    from_memory_.fetch_add(into.size(), std::memory_order_relaxed);
    return true;
  }
  if (auto failure = recent_failures_.find(block.key)) return *std::move(failure);
  return false;
}

Result<> ReadThrough::read(const Block& block, std::uint64_t offset, std::span<std::byte> into,
                           const source::CallContext& context) {
  TRY(const bool local, read_local(block, offset, into));
  if (local) return Done{};
  {
    Lock lock(mutex_);
    ++readers_;
  }
  auto fetched = fetch(block, Requester::kReader, context);
  {
    Lock lock(mutex_);
    if (--readers_ == 0) readers_done_.notify_all();
  }
  if (!fetched) {
    recent_failures_.add(block.key, fetched.error());
    return std::move(fetched).error();
  }
  std::memcpy(into.data(), (*fetched)->data.get() + offset, into.size());
  from_source_.fetch_add(into.size(), std::memory_order_relaxed);
  return Done{};
}

Result<> ReadThrough::fetch_ahead(const Block& block, const std::stop_token& stop) {
  if ((store_ && store_->holds(block)) || recent_.find(block.key)) return Done{};
  TRY(const Bytes bytes, fetch(block, Requester::kAhead, stop));
  (void)bytes;
  return Done{};
}

Result<ReadThrough::Filled> ReadThrough::fill(const Block& block, const std::stop_token& stop) {
  if (!store_) return Filled::kNoRoom;
  if (store_->holds(block)) return Filled::kPresent;
  if (!store_->has_room(block)) return Filled::kNoRoom;
  if (const Bytes kept = recent_.find(block.key)) {
    return store_->put(block, {kept->data.get(), kept->size}) ? Filled::kPresent : Filled::kNoRoom;
  }
  TRY(const Bytes bytes, fetch(block, Requester::kFiller, stop));
  (void)bytes;
  return store_->holds(block) ? Filled::kDownloaded : Filled::kNoRoom;
}

Result<Bytes> ReadThrough::fetch(const Block& block, Requester requester,
                                 const source::CallContext& context) {
  // The background waits for its bytes before it leads a download that readers may join.
  std::optional<ByteBudget::Hold> hold{std::in_place};
  if (requester != Requester::kReader) {
    hold = budget_.take(block.length, ByteBudget::Priority::kBackground, context);
    if (!hold) return gave_up(block, context);
  }
  for (;;) {
    std::shared_ptr<Flight> flight;
    bool leader = false;
    {
      Lock lock(mutex_);
      auto& entry = flights_[block.key];
      if (!entry) {
        entry = std::make_shared<Flight>(requester);
        leader = true;
      }
      flight = entry;
    }
    if (leader) {
      auto outcome = lead(block, *flight, requester, *std::move(hold), context);
      Lock lock(mutex_);
      flights_.erase(block.key);
      return outcome;
    }
    hold->release();
    auto outcome = flight->outcome(context, clock_);
    if (!outcome) return gave_up(block, context);
    // Another caller's stop does not apply here, and readers have other deadlines than the
    // background.
    const bool alike =
        (requester == Requester::kReader) == (flight->requester == Requester::kReader);
    if (*outcome || (alike && !outcome->is(Code::kCancelled))) return *std::move(outcome);
    if (context.stop.stop_requested() || context.left(clock_).count() == 0)
      return gave_up(block, context);
  }
}

Result<Bytes> ReadThrough::lead(const Block& block, Flight& flight, Requester requester,
                                ByteBudget::Hold hold, const source::CallContext& context) {
  // The block may have arrived since the caller looked.
  if (Bytes known = recent_.find(block.key)) {
    flight.finish(known);
    return known;
  }
  auto outcome = obtain(block, std::move(hold), context);
  flight.finish(outcome);  // readers continue while the block is stored
  if (!outcome) return outcome;
  const std::span data((*outcome)->data.get(), (*outcome)->size);
  const bool stored = store_ && store_->put(block, data);
  if (!stored && requester != Requester::kFiller) recent_.add(block.key, *outcome);
  return outcome;
}

Result<Bytes> ReadThrough::obtain(const Block& block, ByteBudget::Hold hold,
                                  const source::CallContext& context) {
  if (!hold) {
    auto granted = budget_.take(block.length, ByteBudget::Priority::kReader, context);
    if (!granted) return gave_up(block, context);
    hold = *std::move(granted);
  }
  auto bytes = std::make_shared<BlockBytes>(block.length, std::move(hold));
  const std::span into(bytes->data.get(), bytes->size);
  if (store_ && store_->holds(block) && store_->read(block, 0, into))
    return Bytes(std::move(bytes));
  auto done = sources_.read(block, into, context);
  if (!done) {
    if (!done.is(Code::kCancelled)) failures_.fetch_add(1, std::memory_order_relaxed);
    return std::move(done).error().in("read " + std::string(block.path));
  }
  downloads_.fetch_add(1, std::memory_order_relaxed);
  downloaded_.fetch_add(block.length, std::memory_order_relaxed);
  return Bytes(std::move(bytes));
}

void ReadThrough::wait_for_readers(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (readers_ > 0 && !stop.stop_requested()) readers_done_.wait(mutex_, stop);
}

std::optional<std::uint32_t> ReadThrough::tier_of(const Block& block) const {
  const auto extent = store_ ? store_->locate(block) : std::nullopt;
  if (!extent) return std::nullopt;
  return extent->segment.tier;
}

ReadCounters ReadThrough::counters() const {
  return {.from_cache = from_cache_.load(std::memory_order_relaxed),
          .from_memory = from_memory_.load(std::memory_order_relaxed),
          .from_source = from_source_.load(std::memory_order_relaxed),
          .downloaded = downloaded_.load(std::memory_order_relaxed),
          .downloads = downloads_.load(std::memory_order_relaxed),
          .failures = failures_.load(std::memory_order_relaxed)};
}

}  // namespace paddle::samplefs
