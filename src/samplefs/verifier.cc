// SPDX-License-Identifier: Apache-2.0
#include "samplefs/verifier.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "samplefs/store/aligned_bytes.h"
#include "source/checksum.h"

namespace paddle::samplefs {
namespace {

constexpr const char* kStopped = "the verification was stopped";

void add_first(std::vector<VerifyFinding>& first, VerifyFinding finding) {
  if (first.size() < VerifyProgress::kMostNamed) first.push_back(finding);
}

}  // namespace

Verifier::Verifier(VerifyFiles files, Store& store, Sources& sources, ReadThrough& data,
                   VerifyOptions options)
    : files_(std::move(files)),
      store_(store),
      sources_(sources),
      data_(data),
      options_(options),
      etags_(files_.index->origins(), EtagIs::kUnknown) {
  for (const Index::Position each : files_.files) bytes_total_ += files_.index->at(each).size;
}

Result<> Verifier::run(std::stop_token stop) {
  {
    std::vector<std::jthread> workers;
    for (int number = 0; number < std::max(options_.workers, 1); ++number) {
      workers.emplace_back([this, number, &stop] { work(number, stop); });
    }
  }
  if (stop.stop_requested()) return Error{Code::kCancelled, kStopped};
  return Done{};
}

void Verifier::work(int number, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (number >= options_.workers_beside_readers) data_.wait_for_readers(stop);
    const std::size_t place = next_.fetch_add(1, std::memory_order_relaxed);
    if (place >= files_.files.size() || !verify(files_.files[place], stop)) return;
  }
}

bool Verifier::verify(Index::Position position, const std::stop_token& stop) {
  const Index::Entry entry = files_.index->at(position);
  const std::string path = files_.index->path_of(position);
  Examined file = examine(entry, path, stop);
  if (file.stopped) return false;
  const bool expected = files_.expected[position];
  const bool missing = file.absent && expected && !file.corrupt;

  Repair repaired = Repair::kFailed;
  const bool repairs = options_.repair && file.error.empty() && (file.corrupt || missing);
  if (repairs) {
    repaired = repair(entry, path, stop, file.error);
    if (repaired == Repair::kStopped) return false;
  }

  Lock lock(mutex_);
  ++counted_.files_done;
  if (!file.error.empty()) {
    ++counted_.failed;
    if (counted_.first_error.empty()) counted_.first_error = file.error;
  }
  if (!file.cached && !file.corrupt && !expected) return true;
  ++counted_.checked;
  if (file.compared) ++counted_.compared;
  if (!file.corrupt && !missing) return true;
  const bool is_right = repairs && repaired == Repair::kDone;
  if (is_right) ++counted_.repaired;
  if (repairs && repaired == Repair::kNoRoom) ++counted_.no_room;
  ++(file.corrupt ? counted_.corrupt : counted_.missing);
  add_first(file.corrupt ? counted_.first_corrupt : counted_.first_missing, {position, is_right});
  return true;
}

Verifier::Examined Verifier::examine(const Index::Entry& entry, const std::string& path,
                                     const std::stop_token& stop) {
  Examined file{.cached = entry.size == 0};
  const std::string digest =
      etag_is(entry.origin) == EtagIs::kNoMd5 ? "" : source::md5_in_etag(entry.etag);
  source::RunningMd5 md5;
  for (std::uint64_t at = 0; at < entry.size; at += kBlockSize) {
    const Block block = files_.index->block(entry, path, at);
    auto hold = data_.budget().take(block.length, ByteBudget::Priority::kBackground, stop);
    if (!hold || stop.stop_requested()) return {.stopped = true};
    const BlockBytes bytes(block.length, *std::move(hold));
    const std::span<std::byte> into(bytes.data.get(), bytes.size);
    const auto state = store_.check(block, into);
    if (!state) {
      file.absent = true;
    } else if (*state == ExtentState::kBusy) {
      file.error = "read " + path + " from the cache: too little memory or too many open files";
    } else if (*state == ExtentState::kRight) {
      file.cached = true;
      if (!digest.empty()) md5.add(into);
    } else {
      file.corrupt = true;
    }
    Lock lock(mutex_);
    counted_.bytes_done += block.length;
  }
  const bool whole = !file.absent && !file.corrupt && file.error.empty();
  if (!whole || digest.empty()) return file;
  const std::string seen = md5.digest();
  if (seen.empty()) return file;  // this system has no MD5
  if (seen == digest) {
    learn(entry.origin, EtagIs::kMd5);
    file.compared = true;
    return file;
  }
  decide_by_source(entry, path, stop, file);
  return file;
}

void Verifier::decide_by_source(const Index::Entry& entry, const std::string& path,
                                const std::stop_token& stop, Examined& file) {
  const auto like = is_like_source(entry, path, stop);
  if (like.is(Code::kCancelled)) {
    file.stopped = true;
    return;
  }
  if (like && *like) {
    if (etag_is(entry.origin) == EtagIs::kUnknown) learn(entry.origin, EtagIs::kNoMd5);
    file.compared = true;
    return;
  }
  file.corrupt = like || etag_is(entry.origin) == EtagIs::kMd5;
  file.compared = file.corrupt;
  if (file.corrupt) drop(entry, path);
}

Result<bool> Verifier::is_like_source(const Index::Entry& entry, const std::string& path,
                                      const std::stop_token& stop) {
  for (std::uint64_t at = 0; at < entry.size; at += kBlockSize) {
    const Block block = files_.index->block(entry, path, at);
    auto hold = data_.budget().take(2 * block.length, ByteBudget::Priority::kBackground, stop);
    if (!hold) return Error{Code::kCancelled, kStopped};
    const BlockBytes cached(block.length, *std::move(hold)), fetched(block.length);
    const std::span<std::byte> into(fetched.data.get(), fetched.size);
    CHECK_DONE(sources_.read(block, into, stop));
    if (!store_.read(block, 0, {cached.data.get(), cached.size})) {
      return Error{Code::kUnavailable, "read " + path + ": it was dropped from the cache"};
    }
    if (std::memcmp(cached.data.get(), fetched.data.get(), block.length) != 0) return false;
  }
  return true;
}

Verifier::Repair Verifier::repair(const Index::Entry& entry, const std::string& path,
                                  const std::stop_token& stop, std::string& error) {
  for (std::uint64_t at = 0; at < entry.size; at += kBlockSize) {
    const auto filled = data_.fill(files_.index->block(entry, path, at), stop);
    if (filled.is(Code::kCancelled)) return Repair::kStopped;
    if (!filled) {
      error = filled.error().message;
      return Repair::kFailed;
    }
    if (*filled == ReadThrough::Filled::kNoRoom) return Repair::kNoRoom;
  }
  const Examined again = examine(entry, path, stop);
  {
    Lock lock(mutex_);
    counted_.bytes_done -= entry.size;  // counted twice
  }
  if (again.stopped) return Repair::kStopped;
  if (!again.absent && !again.corrupt && again.error.empty()) return Repair::kDone;
  error = !again.error.empty() ? again.error
          : again.corrupt ? "read " + path + ": it was corrupt again after it was fetched again"
                          : "read " + path + ": it was dropped from the cache";
  return Repair::kFailed;
}

void Verifier::drop(const Index::Entry& entry, const std::string& path) {
  std::vector<BlockKey> keys;
  for (std::uint64_t at = 0; at < entry.size; at += kBlockSize) {
    keys.push_back(files_.index->block(entry, path, at).key);
  }
  store_.drop_all(keys);
}

Verifier::EtagIs Verifier::etag_is(std::uint32_t origin) const {
  Lock lock(mutex_);
  return etags_[origin];
}

void Verifier::learn(std::uint32_t origin, EtagIs what) {
  Lock lock(mutex_);
  etags_[origin] = what;
}

VerifyProgress Verifier::progress() const {
  Lock lock(mutex_);
  VerifyProgress progress = counted_;
  progress.files_total = files_.files.size();
  progress.bytes_total = bytes_total_;
  return progress;
}

}  // namespace paddle::samplefs
