// SPDX-License-Identifier: Apache-2.0
#include "local/node/sealed_volume.h"

#include <algorithm>
#include <filesystem>

#include <sys/mount.h>
#include <unistd.h>

#include "base/log.h"
#include "sealed/safe_open.h"
#include "sealed/view_mount.h"

namespace paddle::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kInterval{100};
constexpr seconds kRetry{10};
// Of one pod: each generation that was complete while it ran is a view and FUSE over it.
constexpr int kMostLayers = 40;

constexpr const char* kNoPod = "no pod on this node reads the set";
constexpr const char* kNotOffered =
    "the cache of this node does not have all samples of the set, which a sealed view needs";

}  // namespace

SealedVolume::SealedVolume(SealedVolumeOptions options) : options_(std::move(options)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

SealedVolume::~SealedVolume() {
  thread_ = {};  // stops and joins
  Lock lock(mutex_);
  build_.reset();
  for (auto& [user, target] : targets_) leaving_.push_back(std::move(target));
  targets_.clear();
  unmount_targets();
  for (const Target& each : leaving_) {
    log::warn("a process still uses what a pod had mounted", {{"path", each.path}});
    while (::umount2(each.path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) continue;
    forget(each);
  }
  if (current_) former_.push_back(std::move(current_));
  end_views();
}

Result<std::string> SealedVolume::publish(const std::string& user) {
  Lock lock(mutex_);
  if (const auto known = targets_.find(user); known != targets_.end()) return known->second.path;
  Target target{.path = options_.targets + "/" + user};
  std::error_code error;
  std::filesystem::create_directories(target.path, error);
  if (error) return Error{Code::kInternal, "create " + target.path + ": " + error.message()};
  if (auto bound = sealed::bind_view(options_.mount, target.path); !bound) {
    ::rmdir(target.path.c_str());
    return std::move(bound).error();
  }
  Target& added = targets_[user] = std::move(target);
  if (current_) show_at(added);
  wake_.notify_one();
  return added.path;
}

void SealedVolume::unpublish(const std::string& user) {
  Lock lock(mutex_);
  const auto found = targets_.find(user);
  if (found == targets_.end()) return;
  leaving_.push_back(std::move(found->second));
  targets_.erase(found);
  unmount_targets();
  wake_.notify_one();
}

bool SealedVolume::has_left() const {
  return !targets_.empty() || !leaving_.empty() || current_ || !former_.empty() || build_;
}

bool SealedVolume::is_idle() const {
  Lock lock(mutex_);
  return !has_left();
}

void SealedVolume::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    step();
    Lock lock(mutex_);
    if (has_left()) {
      wake_.wait_for(mutex_, stop, kInterval);
    } else {
      wake_.wait(mutex_, stop);
    }
  }
}

void SealedVolume::step() {
  Lock lock(mutex_);
  unmount_targets();
  end_views();
  if (!targets_.empty()) return follow(read_offer());
  finish_build(std::nullopt);
  if (current_) former_.push_back(std::move(current_));
  shown_.reset();
  end_views();
  report(false, 0, kNoPod);
}

void SealedVolume::unmount_targets() {
  std::vector<Target> in_use;
  for (Target& target : leaving_) {
    if (sealed::unmount_all(target.path, milliseconds{0}, options_.clock)) {
      forget(target);
    } else {
      in_use.push_back(std::move(target));
    }
  }
  leaving_ = std::move(in_use);
}

void SealedVolume::forget(const Target& target) {
  if (current_) current_->forget(target.path);
  for (const ViewPtr& view : former_) view->forget(target.path);
  ::rmdir(target.path.c_str());
}

void SealedVolume::end_views() {
  std::erase_if(former_, [](const ViewPtr& view) {
    return view->shown().empty() && static_cast<bool>(view->end());
  });
}

void SealedVolume::follow(const std::optional<sealed::Offer>& offer) {
  finish_build(offer);
  if (current_ && offer != shown_) {
    if (!cover(offer ? "another generation is complete" : kNotOffered)) return;
  }
  if (current_ || build_) return;
  if (!offer) {
    report(false, 0, kNotOffered);
    return;
  }
  const bool waits = failure_.offer == offer->number && options_.clock.boot() < failure_.until;
  if (!waits) begin(*offer);
}

void SealedVolume::begin(const sealed::Offer& offer) {
  const SetCaches caches = options_.caches();
  if (!lifted_) {
    if (auto done = caches.lift_leftovers(); !done) return fail(offer, done.error());
    lifted_ = true;
  }
  report(false, offer.number, "every byte of the cache is being read before it is sealed");
  build_ = std::make_unique<Build>();
  build_->offer = offer;
  const std::string name = std::to_string(++views_made_);
  build_->thread =
      std::jthread([this, caches, name, build = build_.get()](const std::stop_token& stop) {
        build->result.emplace(caches.seal(build->offer, name, holds_, stop));
        build->done = true;
        wake_.notify_one();
      });
}

// `offer` is the current one: a build of another is given up.
void SealedVolume::finish_build(const std::optional<sealed::Offer>& offer) {
  if (!build_) return;
  if (offer != build_->offer) build_->thread.request_stop();
  if (!build_->done) return;
  build_->thread.join();
  const std::unique_ptr<Build> built = std::move(build_);
  Result<ViewPtr>& result = *built->result;
  if (offer != built->offer) return;  // the destructor ends the view
  if (!result) return fail(built->offer, result.error());
  show(*std::move(result), built->offer);
}

void SealedVolume::show(ViewPtr view, const sealed::Offer& offer) {
  // In this order: the runtime withdraws the offer, and then waits while the report says sealed.
  const bool reported = report(true, offer.number, "");
  if (!reported || read_offer() != offer) {
    report(false, offer.number, reported ? kNotOffered : "the session directory cannot be written");
    return;
  }
  current_ = std::move(view);
  shown_ = offer;
  for (auto& [user, target] : targets_) show_at(target);
  log::info("pods read a sealed view", {{"mount", options_.mount},
                                        {"generation", current_->generation()},
                                        {"files", current_->files()},
                                        {"bytes", current_->bytes()},
                                        {"targets", current_->shown().size()}});
}

void SealedVolume::show_at(Target& target) {
  if (target.layers >= kMostLayers) return;
  if (auto shown = current_->show(target.path); !shown) {
    log::warn("a pod stays on FUSE", {{"path", target.path}, {"reason", shown.error().message}});
    return;
  }
  ++target.layers;
}

bool SealedVolume::cover(const std::string& why) {
  const auto shown = current_->shown();
  bool all = true;
  for (auto& [user, target] : targets_) {
    if (!shown.contains(target.path) || target.layers % 2 == 0) continue;
    if (auto bound = sealed::bind_view(options_.mount, target.path); !bound) {
      log::error("a pod still reads a view that was withdrawn",
                 {{"path", target.path}, {"reason", bound.error().message}});
      all = false;
      continue;
    }
    ++target.layers;
  }
  if (!all) return false;
  log::info("a sealed view was withdrawn",
            {{"mount", options_.mount}, {"generation", current_->generation()}, {"reason", why}});
  former_.push_back(std::move(current_));
  shown_.reset();
  report(false, 0, why);
  return true;
}

void SealedVolume::fail(const sealed::Offer& offer, const Error& error) {
  failure_ = {.offer = offer.number, .until = options_.clock.boot() + kRetry};
  report(false, offer.number, error.message);
}

bool SealedVolume::report(bool sealed, std::uint64_t number, const std::string& reason) {
  if (reported_ && reported_->sealed == sealed && reported_->number == number &&
      reported_->reason == reason) {
    return true;
  }
  sealed::ViewState next{.sealed = sealed, .number = number, .reason = reason};
  const bool same_kind = reported_ && reported_->sealed == sealed;
  next.since = same_kind ? reported_->since : options_.clock.wall();
  if (const auto written = write_view_state(options_.session, next); !written) {
    log::warn("cannot report how pods read a set",
              {{"session", options_.session}, {"reason", written.error().message}});
    return false;
  }
  if (!sealed && !reason.empty()) {
    log::info("pods read through FUSE", {{"mount", options_.mount}, {"reason", reason}});
  }
  reported_ = std::move(next);
  return true;
}

std::optional<sealed::Offer> SealedVolume::read_offer() const {
  const auto directory = sealed::open_directory(options_.session);
  if (!directory) return std::nullopt;
  const auto file = sealed::open_beneath(directory->get(), sealed::kOfferFile);
  if (!file) return std::nullopt;
  const auto text = sealed::copy_of(file->get(), sealed::kLongestOffer);
  if (!text) return std::nullopt;
  auto offer = sealed::offer_from_text(*text);
  return offer ? std::optional(*std::move(offer)) : std::nullopt;
}

}  // namespace paddle::local
