// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sessions.h"

#include <utility>

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

namespace paddle::engine::samplefs {
namespace {

constexpr std::chrono::seconds kInitLimit{10};

// The same open connection, through whichever descriptor.
bool same_file(int a, int b) {
  const pid_t self = ::getpid();
  return ::syscall(SYS_kcmp, self, self, KCMP_FILE, a, b) == 0;
}

}  // namespace

// One session and the link that tells the node how long it lives.
class Sessions::Served {
 public:
  Served(std::unique_ptr<fuse::Session> session, int channel)
      : session_(std::move(session)), channel_(channel) {}
  ~Served() {
    watcher_ = {};  // stops and joins before the session goes
    session_->stop();
  }

  void keep(UniqueFd link, const fuse::Negotiated& agreed) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    agreed_ = agreed;
    link_ = std::move(link);
    if (watcher_.joinable()) return;
    watcher_ = std::jthread([this](const std::stop_token& stop) {
      if (!session_->wait_end(stop)) return;
      log::info("a mount is served no longer");
      Lock ending(mutex_);
      link_.reset();
    });
  }
  std::optional<fuse::Negotiated> agreed_on(int channel) const EXCLUDES(mutex_) {
    Lock lock(mutex_);
    if (session_->ended() || !same_file(channel, channel_)) return std::nullopt;
    return agreed_;
  }
  fuse::Session& session() { return *session_; }
  bool alive() const { return !session_->ended(); }

 private:
  const std::unique_ptr<fuse::Session> session_;
  const int channel_;  // the session's
  mutable Mutex mutex_;
  std::optional<fuse::Negotiated> agreed_ GUARDED_BY(mutex_);
  UniqueFd link_ GUARDED_BY(mutex_);
  std::jthread watcher_;
};

Sessions::~Sessions() = default;

Sessions::ServedPtr Sessions::find(const std::string& name) const {
  Lock lock(mutex_);
  const auto found = served_.find(name);
  return found == served_.end() ? nullptr : found->second;
}

Result<fuse::Negotiated> Sessions::attach(fuse::Attachment attachment) {
  if (const ServedPtr known = find(attachment.name)) {
    if (const auto agreed = known->agreed_on(attachment.channels.front().get())) {
      known->keep(std::move(attachment.link), *agreed);
      return *agreed;
    }
  }
  {
    ServedPtr gone;
    Lock lock(mutex_);
    std::erase_if(served_, [](const auto& each) { return !each.second->alive(); });
    if (const auto found = served_.find(attachment.name); found != served_.end()) {
      gone = std::move(found->second);
      served_.erase(found);
    }
    // Its last requests may wait for a slow source; nobody else waits for them.
    if (gone) retiring_.emplace_back([old = std::move(gone)]() mutable { old.reset(); });
  }
  const int channel = attachment.channels.front().get();
  TRY(auto session, fuse::Session::start(std::move(attachment.channels), files_, metrics_, {},
                                         attachment.resumed));
  TRY(const fuse::Negotiated agreed, session->wait_ready(kInitLimit, attachment.stop));
  auto served = std::make_shared<Served>(std::move(session), channel);
  served->keep(std::move(attachment.link), agreed);
  Lock lock(mutex_);
  served_[attachment.name] = std::move(served);
  log::info("serves a mount",
            {{"name", attachment.name}, {"resumed", attachment.resumed.has_value()}});
  return agreed;
}

void Sessions::forget(const Changes& changes) {
  std::vector<ServedPtr> all;
  {
    Lock lock(mutex_);
    for (const auto& [name, served] : served_) all.push_back(served);
  }
  for (const ServedPtr& served : all) {
    if (!served->alive()) continue;
    const fuse::Channel& channel = served->session().channel();
    Result<> told = Done{};
    if (auto epoch = channel.increase_epoch(); !epoch) {
      for (const ChangedName& each : changes.names) {
        if (auto done = channel.invalidate_entry(each.directory, each.name); !done) told = done;
      }
    }
    for (const auto directory : changes.listings) {
      if (auto done = channel.invalidate_listing(directory); !done) told = done;
    }
    if (!told && served->alive()) {
      log::warn("a mount may show old names", {{"reason", told.error().message}});
    }
  }
}

std::int64_t Sessions::count() const {
  Lock lock(mutex_);
  std::int64_t alive = 0;
  for (const auto& [name, served] : served_) alive += served->alive() ? 1 : 0;
  return alive;
}

}  // namespace paddle::engine::samplefs
