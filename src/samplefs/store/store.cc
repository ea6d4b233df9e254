// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/store.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"

namespace paddle::samplefs {
namespace {

constexpr std::chrono::seconds kUpkeepInterval{1};
constexpr std::uint64_t kMostScrubbed = std::uint64_t{1} << 40;  // a second
// A seal of another process ends unseen.
constexpr std::uint64_t kRoundsPerRetry = 60;

}  // namespace

Store::Store(Tiers tiers, const Clock& clock, FileLayer& files)
    : clock_(clock), files_(files), tiers_(std::move(tiers)) {
  scrub_.counted = clock_.boot();
  thread_ = std::jthread([this](const std::stop_token& stop) { keep_up(stop); });
}

Store::~Store() {
  thread_ = {};
  (void)flush();
}

Result<std::unique_ptr<Store>> Store::open(TierOptions tier, const Clock& clock, FileLayer& files) {
  return open(std::vector<TierOptions>{std::move(tier)}, clock, files);
}

Result<std::unique_ptr<Store>> Store::open(std::vector<TierOptions> tiers, const Clock& clock,
                                           FileLayer& files) {
  if (tiers.empty()) return Error{Code::kInvalid, "the cache has no directory"};
  Tiers opened;
  for (TierOptions& each : tiers) {
    TRY(opened.emplace_back(), Tier::open(std::move(each), files, clock));
  }
  return std::unique_ptr<Store>(new Store(std::move(opened), clock, files));
}

Store::Tiers Store::tiers() const {
  Lock lock(mutex_);
  return tiers_;
}

std::shared_ptr<Tier> Store::tier(std::uint32_t number) const {
  Lock lock(mutex_);
  return number < tiers_.size() ? tiers_[number] : nullptr;
}

bool Store::read(const Block& block, std::uint64_t offset, std::span<std::byte> into) {
  for (const auto& tier : tiers()) {
    if (tier->read(block, offset, into)) return true;
  }
  return false;
}

bool Store::holds(const Block& block) const {
  const Tiers all = tiers();
  return std::any_of(all.begin(), all.end(), [&](const auto& tier) { return tier->holds(block); });
}

std::optional<ExtentState> Store::check(const Block& block, std::span<std::byte> into) {
  std::optional<ExtentState> worst;
  for (const auto& tier : tiers()) {
    const auto state = tier->check(block, into);
    if (state == ExtentState::kRight) return state;
    if (state) worst = state;
  }
  return worst;
}

bool Store::has_room(const Block& block) const {
  const Tiers all = tiers();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& tier) { return tier->has_room(block); });
}

bool Store::put(const Block& block, std::span<const std::byte> data) {
  if (data.size() != block.length || holds(block)) return data.size() == block.length;
  for (const auto& tier : tiers()) {
    const Tier::Put done = tier->put(block, data);
    if (done == Tier::Put::kRefused) continue;
    if (tier->batch_is_full()) {
      Lock lock(mutex_);
      urgent_ = true;
      wake_.notify_one();
    }
    return true;
  }
  return false;
}

std::vector<BlockKey> Store::keys() const {
  std::vector<BlockKey> all;
  for (const auto& tier : tiers()) tier->append_keys(all);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void Store::drop_all(const std::vector<BlockKey>& keys) {
  for (const auto& tier : tiers()) tier->drop_all(keys);
}

Result<> Store::flush() {
  Lock upkeep(upkeep_mutex_);
  Result<> done = Done{};
  for (const auto& tier : tiers()) {
    const int number = tier->flush_table();
    if (number != 0) {
      done = Error{Code::kUnavailable, std::string("sync the cache: ") + std::strerror(number)};
    }
  }
  return done;
}

std::optional<Extent> Store::locate(const Block& block) const {
  const Tiers all = tiers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto extent = all[i]->locate(block);
    if (!extent) continue;
    extent->segment.tier = static_cast<std::uint32_t>(i);
    return extent;
  }
  return std::nullopt;
}

std::string Store::path_of(SegmentId segment) const {
  const auto of = tier(segment.tier);
  return of ? of->options().directory + "/" + segment_file(segment.number) : "";
}

void Store::seal(std::span<const SegmentId> segments) {
  for (const SegmentId& each : segments) {
    if (const auto of = tier(each.tier)) of->seal(each.number);
  }
}

void Store::unseal(std::span<const SegmentId> segments) {
  for (const SegmentId& each : segments) {
    if (const auto of = tier(each.tier)) of->unseal(each.number);
  }
}

StoreStats Store::stats() const {
  StoreStats sum;
  {
    Lock lock(mutex_);
    sum.notice = notice_;
  }
  for (const auto& tier : tiers()) tier->add_stats(sum);
  sum.scrubbed = scrubbed_.load(std::memory_order_relaxed);
  return sum;
}

void Store::keep_up(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    upkeep();
    Lock lock(mutex_);
    if (!urgent_) wake_.wait_for(mutex_, stop, kUpkeepInterval);
    urgent_ = false;
  }
}

void Store::upkeep() {
  Lock upkeep(upkeep_mutex_);
  const bool retry = rounds_++ % kRoundsPerRetry == 0;
  const Tiers all = tiers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (retry) all[i]->retry_held();
    if (!all[i]->maintain()) begin_again(i);
  }
  scrub_some();
}

void Store::begin_again(std::size_t number) {
  const auto lost = tier(static_cast<std::uint32_t>(number));
  lost->abandon();
  auto next = Tier::open(lost->options(), files_, clock_);
  if (!next) return;  // tried again; what is open is served further
  const std::string said = "the cache directory '" + lost->options().directory +
                           "' was removed or emptied; it is filled again";
  log::warn(said);
  Lock lock(mutex_);
  tiers_[number] = *std::move(next);
  notice_ = said;
}

void Store::set_scrub_rate(std::uint64_t rate) {
  Lock upkeep(upkeep_mutex_);
  scrub_.rate = std::min<std::uint64_t>(rate, kMostScrubbed);
  scrub_.allowed = static_cast<std::int64_t>(scrub_.rate);
}

// What a pause saves up is a second's bytes. A block that exceeds them is paid for later.
void Store::scrub_some() {
  const BootTime now = clock_.boot();
  const std::chrono::duration<double> passed =
      std::min<std::chrono::nanoseconds>(now - scrub_.counted, std::chrono::seconds{1});
  scrub_.counted = now;
  const auto rate = static_cast<std::int64_t>(scrub_.rate);
  scrub_.allowed = std::min(
      rate, scrub_.allowed + static_cast<std::int64_t>(static_cast<double>(rate) * passed.count()));
  if (rate == 0 || scrub_.allowed <= 0) return;
  const Tiers all = tiers();
  if (scrub_.tier >= all.size()) scrub_.tier = scrub_.slot = 0;
  const Tier::Scrubbed done =
      all[scrub_.tier]->scrub(scrub_.slot, static_cast<std::uint64_t>(scrub_.allowed));
  scrub_.allowed -= static_cast<std::int64_t>(done.bytes);
  scrubbed_.fetch_add(done.bytes, std::memory_order_relaxed);
  scrub_.slot = done.next;
  if (scrub_.slot == 0) scrub_.tier = (scrub_.tier + 1) % all.size();
}

}  // namespace paddle::samplefs
