// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/list_store.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "os/read_file.h"

namespace paddle::engine::juicefs {
namespace {

constexpr const char* kEarly = "~";  // suffix of a file that is being written
constexpr const char* kWhole = ".whole";
constexpr const char* kDone = ".done";
constexpr const char* kPart = "/part";
constexpr const char* kSyncing = "/syncing";
constexpr std::size_t kLongestList = std::size_t{1} << 30;

Error failed(const std::string& doing) {
  return {Code::kUnavailable, doing + ": " + std::strerror(errno)};
}

// Ids come from the journal, which accepts no others. No path is made of anything else.
bool is_id(const std::string& job) {
  const auto sound = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '.'; };
  return !job.empty() && job[0] != '.' && std::all_of(job.begin(), job.end(), sound);
}

Result<> write_durably(const std::string& path, const std::string& text) {
  const std::string early = path + kEarly;
  const auto give_up = [&] {
    const int number = errno;
    ::unlink(early.c_str());  // on a full disk it takes room that others need
    errno = number;
    return failed("write a list");
  };
  const UniqueFd fd(
      ::open(early.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return failed("write a list");
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd.get(), text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return give_up();
    written += static_cast<std::size_t>(n);
  }
  if (::fsync(fd.get()) != 0 || ::rename(early.c_str(), path.c_str()) != 0) {
    return give_up();
  }
  return Done{};
}

}  // namespace

Result<ListStore> ListStore::open(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return failed("create the directory of lists '" + directory + "'");
  }
  std::error_code ignored;
  std::vector<std::filesystem::path> early;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.path().native().ends_with(kEarly)) early.push_back(entry.path());
  }
  for (const auto& each : early) std::filesystem::remove(each, ignored);
  ListStore store(directory);
  store.forget_old();
  return store;
}

bool ListStore::whole(const std::string& job) const {
  return is_id(job) && ::access((directory_ + "/" + job + kWhole).c_str(), F_OK) == 0;
}

Result<std::string> ListStore::read(const std::string& job, std::int32_t partition) const {
  if (!whole(job)) return Error{Code::kNotFound, "there are no lists of '" + job + "' yet"};
  const std::string path = directory_ + "/" + job + "." + std::to_string(partition);
  auto text = os::read_file(path, kLongestList);
  if (text.is(Code::kNotFound)) {
    return Error{Code::kNotFound, "'" + job + "' has no partition " + std::to_string(partition)};
  }
  return text;
}

std::size_t ListStore::done(const std::string& job) const {
  std::size_t pieces = 0;
  if (!is_id(job)) return 0;
  if (const auto text = os::read_file(directory_ + "/" + job + kDone, kLongestList)) {
    std::from_chars(text->data(), text->data() + text->size(), pieces);
  }
  return pieces;
}

void ListStore::note_done(const std::string& job, std::size_t pieces) const {
  // If it is lost, a piece is synced once more.
  if (is_id(job)) (void)!write_durably(directory_ + "/" + job + kDone, std::to_string(pieces));
}

Result<> ListStore::write_part(const std::string& text) const {
  return write_durably(directory_ + kPart, text);
}

std::string ListStore::part() const {
  auto text = os::read_file(directory_ + kPart, kLongestList);
  return text ? *std::move(text) : std::string();
}

bool ListStore::begin_sync() const {
  const std::string path = directory_ + kSyncing;
  if (::access(path.c_str(), F_OK) == 0) return true;
  (void)!write_durably(path, "");  // if it is lost, leftovers may stay
  return false;
}

void ListStore::end_sync() const { ::unlink((directory_ + kSyncing).c_str()); }

Result<> ListStore::write(const std::string& job, std::int32_t partition,
                          const std::string& text) const {
  if (!is_id(job)) return Error{Code::kInvalid, "'" + job + "' is not the id of a job"};
  return write_durably(directory_ + "/" + job + "." + std::to_string(partition), text);
}

Result<> ListStore::finish(const std::string& job) const {
  if (!is_id(job)) return Error{Code::kInvalid, "'" + job + "' is not the id of a job"};
  CHECK_DONE(write_durably(directory_ + "/" + job + kWhole, ""));
  const UniqueFd fd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
  forget_old();
  return Done{};
}

std::shared_ptr<void> ListStore::hold(const std::string& job) const {
  Lock lock(at_work_->mutex);
  at_work_->jobs.insert(job);
  return {nullptr, [all = at_work_, job](void*) {
            Lock done(all->mutex);
            all->jobs.extract(job);
          }};
}

void ListStore::forget_old() const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::set<std::string> held;
  {
    Lock lock(at_work_->mutex);
    held = {at_work_->jobs.begin(), at_work_->jobs.end()};
  }
  std::map<std::string, std::vector<fs::path>> files;  // by job
  std::vector<std::pair<fs::file_time_type, std::string>> jobs;
  for (const auto& entry : fs::directory_iterator(directory_, ignored)) {
    const std::string name = entry.path().filename();
    const std::size_t dot = name.rfind('.');
    if (dot == name.npos) continue;
    const std::string job = name.substr(0, dot);
    files[job].push_back(entry.path());
    if (name.ends_with(kWhole)) jobs.emplace_back(entry.last_write_time(ignored), job);
  }
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(jobs.begin(), jobs.end() - static_cast<std::ptrdiff_t>(std::min(jobs.size(), kKept)));
  for (const auto& [time, job] : jobs) files.erase(job);
  for (const auto& [job, all] : files) {
    if (held.contains(job)) continue;
    // First the mark: an incomplete set of lists must not count as complete.
    fs::remove(directory_ + "/" + job + kWhole, ignored);
    for (const auto& each : all) fs::remove(each, ignored);
  }
}

}  // namespace paddle::engine::juicefs
