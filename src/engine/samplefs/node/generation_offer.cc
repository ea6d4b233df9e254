// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/generation_offer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "os/read_file.h"

namespace paddle::engine::samplefs {
namespace {

constexpr std::chrono::milliseconds kNodePollInterval{10};

std::optional<sealed::DirectoryId> id_of(const std::string& directory) {
  struct stat seen {};
  if (::lstat(directory.c_str(), &seen) != 0 || !S_ISDIR(seen.st_mode)) return std::nullopt;
  return sealed::DirectoryId{.device = seen.st_dev, .inode = seen.st_ino};
}

std::uint64_t milliseconds_of(WallTime time) {
  const auto passed =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return passed > 0 ? static_cast<std::uint64_t>(passed) : 0;
}

}  // namespace

GenerationOffer::GenerationOffer(std::string session, std::string state,
                                 std::vector<std::string> tiers, const Clock& clock)
    : file_(session + "/" + sealed::kOfferFile),
      view_file_(session + "/" + sealed::kViewFile),
      state_(std::move(state)),
      tiers_(std::move(tiers)),
      clock_(clock) {
  const auto text = os::read_file(file_, sealed::kLongestOffer);
  if (!text) return;
  auto before = sealed::offer_from_text(*text);
  Lock lock(mutex_);
  if (!before) {
    ::unlink(file_.c_str());
    return;
  }
  last_number_ = before->number;
  current_ = *std::move(before);
}

bool GenerationOffer::offers(const ::paddle::samplefs::Index& index) const {
  Lock lock(mutex_);
  return current_ && current_->generation == index.generation() &&
         current_->digest == index.digest();
}

std::uint64_t GenerationOffer::round() const {
  Lock lock(mutex_);
  return round_;
}

void GenerationOffer::offer(const ::paddle::samplefs::Index& index, const std::string& file,
                            std::uint64_t round) {
  Lock lock(mutex_);
  if (withheld_ > 0 || round != round_) return;
  sealed::Offer next{.generation = index.generation(), .digest = index.digest(), .index = file};
  const auto state = id_of(state_);
  if (!state) return;
  next.state = *state;
  for (const std::string& each : tiers_) {
    const auto tier = id_of(each);
    if (!tier) return;
    next.tiers.push_back(*tier);
  }
  if (current_) {
    next.number = current_->number;
    if (next == *current_) return;
  }
  next.number = std::max(last_number_ + 1, milliseconds_of(clock_.wall()));
  if (!publish(next)) return;
  log::info("the cache has the whole generation", {{"generation", next.generation}});
  last_number_ = next.number;
  current_ = std::move(next);
}

bool GenerationOffer::publish(const sealed::Offer& next) const {
  const std::string early = file_ + ".tmp";
  std::ofstream out(early, std::ios::trunc);
  out << sealed::to_text(next);
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(early, file_, failed);
  if (out && !failed) return true;
  log::warn("cannot offer a complete generation to the node", {{"file", file_}});
  return false;
}

void GenerationOffer::withdraw() {
  Lock lock(mutex_);
  if (!current_) return;
  if (::unlink(file_.c_str()) != 0 && errno != ENOENT) {
    log::warn("cannot withdraw a generation",
              {{"file", file_}, {"reason", std::string(std::strerror(errno))}});
    return;
  }
  log::info("the generation is not offered any more", {{"generation", current_->generation}});
  current_.reset();
}

std::optional<sealed::ViewState> GenerationOffer::view() const {
  const auto text = os::read_file(view_file_, sealed::kLongestOffer);
  if (!text) return std::nullopt;
  const auto state = sealed::view_state_from_text(*text);
  if (!state) return std::nullopt;
  return *state;
}

GenerationOffer::Withheld::Withheld(GenerationOffer& offer) : offer_(offer) {
  {
    Lock lock(offer_.mutex_);
    ++offer_.withheld_;
    ++offer_.round_;
    number_ = offer_.last_number_;
  }
  offer_.withdraw();
}

GenerationOffer::Withheld::~Withheld() {
  Lock lock(offer_.mutex_);
  --offer_.withheld_;
}

bool GenerationOffer::Withheld::await_node(std::chrono::milliseconds limit) const {
  const BootTime deadline = offer_.clock_.boot() + limit;
  while (true) {
    const auto state = offer_.view();
    if (!state || !state->sealed || state->number > number_) return true;
    if (offer_.clock_.boot() >= deadline) return false;
    offer_.clock_.sleep(kNodePollInterval, {});
  }
}

}  // namespace paddle::engine::samplefs
