// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sessions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>

#include "base/log.h"
#include "engine/samplefs/node/generation_diff.h"
#include "engine/samplefs/node/index_files.h"

namespace paddle::engine::samplefs {
namespace {

// The kernel sends INIT at mount(2), so it is in the connection already.
constexpr std::chrono::seconds kInitLimit{3};

// What a mount has to invalidate to show `now`, if the generation with that digest was announced to
// it.
GenerationDiff changes_since(const std::optional<std::string>& announced, const IndexPtr& now,
                             const std::vector<IndexPtr>& known) {
  const auto before = std::find_if(known.begin(), known.end(), [&](const IndexPtr& index) {
    return announced && index->digest() == *announced;
  });
  if (before != known.end()) return diff_generations(**before, *now);
  GenerationDiff everything;
  for (const IndexPtr& index : known) add_everything(*index, everything);
  return everything;
}

Result<> forget(const fuse::Channel& channel, const GenerationDiff& changes) {
  Result<> sent = Done{};
  if (auto epoch = channel.increase_epoch(); !epoch) {
    for (const ChangedName& each : changes.names) {
      if (auto done = channel.invalidate_entry(each.directory, each.name); !done) sent = done;
    }
  }
  for (const auto directory : changes.listings) {
    if (auto done = channel.invalidate_listing(directory); !done) sent = done;
  }
  return sent;
}

}  // namespace

// One session, and the link by which the node sees that it lives.
class Sessions::Served {
 public:
  explicit Served(std::unique_ptr<fuse::Session> session) : session_(std::move(session)) {}
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
      log::info("a mount is no longer served");
      Lock ending(mutex_);
      link_.reset();
    });
  }
  std::optional<fuse::Negotiated> agreed_on(int channel) const EXCLUDES(mutex_) {
    Lock lock(mutex_);
    if (session_->ended() || !session_->channel().is_file_of(channel)) return std::nullopt;
    return agreed_;
  }
  const fuse::Session& session() const { return *session_; }
  bool alive() const { return !session_->ended(); }

 private:
  const std::unique_ptr<fuse::Session> session_;
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
  retire(attachment.name);
  // A new mount has cached nothing; an entry of its name belongs to an earlier one.
  if (!attachment.resumed) announced_.drop(attachment.name);
  const std::string current = files_.current()->digest();
  bool fresh = !attachment.resumed;
  std::vector<UniqueFd> spare;
  for (const UniqueFd& each : attachment.channels) {
    spare.emplace_back(::fcntl(each.get(), F_DUPFD_CLOEXEC, 3));
  }
  auto started = start(std::move(attachment.channels), attachment.resumed, attachment.stop);
  if (const auto before = saved_negotiated();
      started.is(Code::kDeadline) && !attachment.resumed && before) {
    log::warn("the mount was negotiated by an earlier process; continuing with its parameters");
    fresh = false;
    started = start(std::move(spare), before, attachment.stop);
  }
  if (!started) return std::move(started).error();
  save_negotiated(started->agreed);
  if (fresh) announced_.note(attachment.name, current);
  const fuse::Negotiated agreed = started->agreed;
  auto served = std::make_shared<Served>(std::move(started->session));
  served->keep(std::move(attachment.link), agreed);
  {
    Lock lock(mutex_);
    served_[attachment.name] = served;
  }
  // After announce() can see the session, so that no generation is missed.
  announce_to(attachment.name, *served);
  log::info("serves a mount",
            {{"name", attachment.name}, {"resumed", attachment.resumed.has_value()}});
  return agreed;
}

// Its last requests may wait for a slow source, so it ends on a thread of its own.
void Sessions::retire(const std::string& name) {
  Lock lock(mutex_);
  std::erase_if(served_, [&](const auto& each) {
    if (each.second->alive()) return false;
    if (each.first != name) announced_.drop(each.first);
    return true;
  });
  const auto found = served_.find(name);
  if (found == served_.end()) return;
  std::erase_if(retiring_, [](const Retiring& each) { return each.ended->load(); });
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  retiring_.push_back(
      {.ended = ended, .thread = std::jthread([ended, old = std::move(found->second)]() mutable {
                         old.reset();
                         ended->store(true);
                       })});
  served_.erase(found);
}

Result<Sessions::Started> Sessions::start(std::vector<UniqueFd> channels,
                                          const std::optional<fuse::Negotiated>& resumed,
                                          const std::stop_token& stop) {
  Started started;
  fuse::SessionOptions options;
  options.read_limit = read_limit_;
  TRY(started.session,
      fuse::Session::start(std::move(channels), files_, metrics_, options, resumed));
  TRY(started.agreed, started.session->wait_ready(kInitLimit, stop));
  return started;
}

void Sessions::save_negotiated(const fuse::Negotiated& agreed) const {
  if (saved_negotiated() == agreed) return;
  const std::string early = negotiated_file_ + ".tmp";
  std::ofstream(early, std::ios::trunc) << fuse::to_text(agreed);
  std::error_code failed;
  std::filesystem::rename(early, negotiated_file_, failed);
  if (failed) log::warn("cannot store the negotiated parameters", {{"reason", failed.message()}});
}

std::optional<fuse::Negotiated> Sessions::saved_negotiated() const {
  std::ifstream file(negotiated_file_);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto agreed = fuse::negotiated_from_text(line + "\n");
  if (!agreed) return std::nullopt;
  return *agreed;
}

void Sessions::announce() {
  std::map<std::string, ServedPtr> all;
  {
    Lock lock(mutex_);
    all = served_;
  }
  for (const auto& [name, served] : all) announce_to(name, *served);
}

void Sessions::announce_to(const std::string& name, const Served& served) {
  const IndexPtr now = files_.current();
  const auto before = announced_.of(name);
  if (before == now->digest() || !served.alive()) return;
  const GenerationDiff changes = changes_since(before, now, files_.generations());
  if (const auto done = forget(served.session().channel(), changes); done) {
    announced_.note(name, now->digest());
  } else if (served.alive()) {
    log::warn("a mount may show old names", {{"name", name}, {"reason", done.error().message}});
  }
}

std::int64_t Sessions::count() const {
  Lock lock(mutex_);
  std::int64_t alive = 0;
  for (const auto& [name, served] : served_) alive += served->alive() ? 1 : 0;
  return alive;
}

}  // namespace paddle::engine::samplefs
