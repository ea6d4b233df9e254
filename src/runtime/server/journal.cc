// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/journal.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include <dirent.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/log.h"
#include "os/read_file.h"

namespace paddle::runtime {
namespace {

using api::Json;

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kEarly = ".json.tmp";
constexpr std::string_view kStarts = ".starts";
constexpr std::size_t kLongest = std::size_t{8} << 20;
constexpr std::size_t kMostStrangers = 100;  // counts of jobs that are not written

Error failed(const std::string& doing) {
  return {Code::kUnavailable, doing + ": " + std::strerror(errno)};
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Result<std::string> read_whole(int directory, const std::string& name) {
  const UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return failed("open " + name);
  return os::read_to_end(fd.get(), name, kLongest);
}

Result<Job> decode_job(const std::string& text) {
  TRY(const Json json, api::parse_json(text));
  if (!json.is_object() || !json.contains("request") || !json.contains("report") ||
      !json.contains("number") || !json["number"].is_number_unsigned()) {
    return Error{Code::kInvalid, "not a job"};
  }
  Job job;
  job.number = json["number"].get<std::uint64_t>();
  TRY(job.request, decode_job_request(json["request"]));
  TRY(job.report, decode_job_report(json["report"]));
  job.cancelled = json.contains("cancelled") && json["cancelled"] == true;
  return job;
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return failed("create the journal '" + directory + "'");
  }
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return failed("open the journal '" + directory + "'");
  return std::unique_ptr<Journal>(new Journal(std::move(fd)));
}

Result<std::vector<Job>> Journal::load() const {
  UniqueFd again(::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseDirectory> listing(::fdopendir(again.get()));
  if (!listing) return failed("list the journal");
  (void)again.release();  // owned by the stream
  std::vector<Job> jobs;
  std::set<std::string> counted;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name.ends_with(kEarly) && is_job_id(name.substr(0, name.size() - kEarly.size()))) {
      ::unlinkat(directory_.get(), name.c_str(), 0);
      continue;
    }
    if (name.ends_with(kStarts)) counted.insert(name.substr(0, name.size() - kStarts.size()));
    if (!name.ends_with(kSuffix)) continue;
    const std::string id = name.substr(0, name.size() - kSuffix.size());
    if (!is_job_id(id)) continue;
    const auto text = read_whole(directory_.get(), name);
    auto job = text ? decode_job(*text) : Result<Job>(text.error());
    if (!job || job->report.id != id) {
      log::warn("skipped a damaged entry of the journal",
                {{"file", name}, {"reason", job ? "another id" : job.error().message}});
      continue;
    }
    jobs.push_back(*std::move(job));
  }
  for (const Job& job : jobs) counted.erase(job.report.id);
  if (counted.size() > kMostStrangers) {
    for (const std::string& id : counted) forget_starts(id);
  }
  return jobs;
}

Result<> Journal::write(const Job& job) const {
  const std::string name = job.report.id + std::string(kSuffix);
  const std::string early = job.report.id + std::string(kEarly);
  Json record{
      {"number", job.number}, {"request", encode(job.request)}, {"report", encode(job.report)}};
  if (job.cancelled) record["cancelled"] = true;
  const std::string text = api::dump_json(record);
  const auto fail = [&] {
    const int number = errno;
    ::unlinkat(directory_.get(), early.c_str(), 0);
    errno = number;
    return failed("write the journal");
  };
  const UniqueFd fd(::openat(directory_.get(), early.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return fail();
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd.get(), text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail();
    written += static_cast<std::size_t>(n);
  }
  if (::fsync(fd.get()) != 0) return fail();
  if (::renameat(directory_.get(), early.c_str(), directory_.get(), name.c_str()) != 0) {
    return fail();
  }
  ::fsync(directory_.get());
  return Done{};
}

void Journal::remove(const std::string& id) const {
  ::unlinkat(directory_.get(), (id + std::string(kSuffix)).c_str(), 0);
  forget_starts(id);
}

Result<std::int64_t> Journal::count_start(const std::string& id) const {
  const UniqueFd fd(::openat(directory_.get(), (id + std::string(kStarts)).c_str(),
                             O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat file {};
  if (!fd || ::write(fd.get(), "+", 1) != 1 || ::fstat(fd.get(), &file) != 0) {
    return failed("count the starts of a job");
  }
  return std::int64_t{file.st_size};
}

void Journal::forget_starts(const std::string& id) const {
  ::unlinkat(directory_.get(), (id + std::string(kStarts)).c_str(), 0);
}

}  // namespace paddle::runtime
