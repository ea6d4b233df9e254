// SPDX-License-Identifier: Apache-2.0
//
// Warm and cached epochs of many small files: a FUSE data mount of a directory beside the directory
// itself. A measurement, not a test.
//
//   fuse_warm DIR [files] [bytes] [rounds]     DIR: on the disk to compare with; filled and kept
//
// An epoch opens, reads and closes every file once in a shuffled order, by 1 or 4 processes that
// share the files. "warm": the page cache holds everything. "disk": its pages were dropped before
// (posix_fadvise, on both sides); the daemon reads the directory's files without leaving a second
// copy in memory. Rounds alternate native and FUSE; medians are printed, and last one line of JSON.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/metrics.h"
#include "fuse/data_mount.h"
#include "fuse/fake/delegating_file_system.h"
#include "fuse/fake/memory_file_system.h"

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x00000080
#endif

namespace paddle {
namespace {

struct Plan {
  std::string directory{};
  std::uint64_t files = 5000;
  std::size_t bytes = 110'000;
  int rounds = 9;
};

std::string name_of(std::uint64_t i) { return "s" + std::to_string(i); }

// The directory's files, read the way a disk cache should: no second copy in the page cache.
class DirectoryFileSystem final : public fuse::DelegatingFileSystem {
 public:
  // `index` has the names; its content is not read.
  DirectoryFileSystem(samplefs::FileSystem& index, const Plan& plan)
      : DelegatingFileSystem(index), directory_(plan.directory + "/data/") {}
  Result<std::size_t> read(samplefs::NodeId, std::uint64_t, std::span<std::byte>,
                           BootTime) override {
    return Error{Code::kUnavailable, "all of it is local"};
  }
  Result<std::optional<std::size_t>> read_local(samplefs::NodeId node, std::uint64_t offset,
                                                std::span<std::byte> into) override {
    const std::string path = directory_ + name_of(node - samplefs::kRootId - 1);
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const iovec piece{into.data(), into.size()};
    ssize_t got = ::preadv2(fd.get(), &piece, 1, static_cast<off_t>(offset), RWF_DONTCACHE);
    if (got < 0) got = ::preadv(fd.get(), &piece, 1, static_cast<off_t>(offset));
    if (got < 0) return Error{Code::kUnavailable, "read " + path};
    return std::optional<std::size_t>(static_cast<std::size_t>(got));
  }

 private:
  const std::string directory_;
};

void fill(const Plan& plan) {
  const std::string data = plan.directory + "/data/";
  ::mkdir(data.c_str(), 0755);
  ::mkdir((plan.directory + "/mnt").c_str(), 0755);
  std::string bytes(plan.bytes, '\0');
  for (std::uint64_t i = 0; i < plan.files; ++i) {
    fuse::fill_pattern(i, 0, std::as_writable_bytes(std::span(bytes)));
    const UniqueFd fd(::open((data + name_of(i)).c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644));
    if (::write(fd.get(), bytes.data(), bytes.size()) < 0) std::abort();
  }
  ::sync();
}

// The daemon: mounts, answers 'c' with how many requests it got (forgets left out: they follow the
// kernel's memory, not the readers), 'q' by unmounting.
void serve(const Plan& plan, int commands, int answers) {
  fuse::MemoryFileSystem index;
  for (std::uint64_t i = 0; i < plan.files; ++i) index.add_pattern(name_of(i), plan.bytes, i);
  DirectoryFileSystem files(index, plan);
  Metrics metrics;
  auto mount = fuse::DataMount::start(plan.directory + "/mnt", files, metrics);
  if (!mount) {
    std::fprintf(stderr, "%s\n", mount.error().message.c_str());
    ::_exit(1);
  }
  char command = 'c';
  do {
    if (command == 'q') break;
    const fuse::Counters& counters = (*mount)->session().counters();
    const std::uint64_t count = counters.all_requests() - counters.requests(FUSE_FORGET) -
                                counters.requests(FUSE_BATCH_FORGET);
    for (std::uint32_t op = 0; op < fuse::kKnownOpcodes; ++op) {
      if (std::getenv("FUSE_WARM_OPS") && counters.requests(op) > 0) {
        std::fprintf(stderr, "%s=%lu ", std::string(fuse::opcode_name(op)).c_str(),
                     static_cast<unsigned long>(counters.requests(op)));
      }
    }
    if (std::getenv("FUSE_WARM_OPS")) std::fprintf(stderr, "\n");
    if (::write(answers, &count, sizeof count) < 0) break;
  } while (::read(commands, &command, 1) == 1);
  mount = Error{};
  ::_exit(0);
}

void read_share(const std::string& directory, const std::vector<std::uint64_t>& order,
                std::size_t reader, std::size_t readers, std::size_t bytes) {
  std::vector<char> buffer(bytes + 1);
  for (std::size_t i = reader; i < order.size(); i += readers) {
    const UniqueFd fd(::open((directory + "/" + name_of(order[i])).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat attr {};
    if (::fstat(fd.get(), &attr) != 0) ::_exit(1);
    if (::read(fd.get(), buffer.data(), buffer.size()) != static_cast<ssize_t>(bytes)) ::_exit(1);
  }
}

void drop(const std::string& directory, std::uint64_t files) {
  for (std::uint64_t i = 0; i < files; ++i) {
    const UniqueFd fd(::open((directory + "/" + name_of(i)).c_str(), O_RDONLY | O_CLOEXEC));
    ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

struct Speed {
  double files_per_second = 0;
  double cpu_us_per_file = 0;  // of the readers; more meaningful than wall time on a busy machine
};

Speed epoch(const Plan& plan, const std::string& side, std::size_t readers, unsigned seed) {
  std::vector<std::uint64_t> order(plan.files);
  for (std::uint64_t i = 0; i < plan.files; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  const BootTime begin = system_clock().boot();
  std::vector<pid_t> children;
  for (std::size_t reader = 0; reader < readers; ++reader) {
    const pid_t child = ::fork();
    if (child == 0) {
      read_share(plan.directory + side, order, reader, readers, plan.bytes);
      ::_exit(0);
    }
    children.push_back(child);
  }
  double cpu_us = 0;
  for (const pid_t child : children) {
    int status = 0;
    rusage used{};
    if (::wait4(child, &status, 0, &used) != child || status != 0) {
      std::fprintf(stderr, "a reader failed\n");
    }
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      cpu_us += static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    }
  }
  const std::chrono::duration<double> took = system_clock().boot() - begin;
  const auto files = static_cast<double>(plan.files);
  return {files / took.count(), cpu_us / files};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::uint64_t requests(int commands, int answers) {
  std::uint64_t count = 0;
  if (::write(commands, "c", 1) != 1 || ::read(answers, &count, sizeof count) != sizeof count) {
    return 0;
  }
  return count;
}

int run(const Plan& plan) {
  fill(plan);
  int commands[2], answers[2];
  if (::pipe(commands) != 0 || ::pipe(answers) != 0) return 1;
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::close(commands[1]);
    serve(plan, commands[0], answers[1]);
  }
  std::uint64_t ready = 0;
  ::close(answers[1]);
  if (::read(answers[0], &ready, sizeof ready) != sizeof ready) return 1;

  // Pages left by writing lie in larger pieces than pages read from a disk, which is what a
  // training meets: both sides start from the disk.
  drop(plan.directory + "/data", plan.files);
  epoch(plan, "/data", 1, 0);
  epoch(plan, "/mnt", 1, 0);  // the first epoch: looks up and reads everything
  const std::uint64_t after_first = requests(commands[1], answers[0]);
  std::string json = "{\"requests_first_epoch\":" + std::to_string(after_first);
  for (const bool warm : {true, false}) {
    const std::uint64_t before = requests(commands[1], answers[0]);
    for (const std::size_t readers : {std::size_t{1}, std::size_t{4}}) {
      std::vector<double> native, mounted, ratio, native_cpu, mounted_cpu;
      for (int round = 0; round < plan.rounds; ++round) {
        const auto seed = static_cast<unsigned>(round);
        const auto one = [&](const std::string& side) {
          if (!warm) drop(plan.directory + "/mnt", plan.files);
          if (!warm) drop(plan.directory + "/data", plan.files);
          return epoch(plan, side, readers, seed);
        };
        // The order alternates every round.
        Speed ours, theirs;
        if (round % 2 == 0) {
          theirs = one("/data");
          ours = one("/mnt");
        } else {
          ours = one("/mnt");
          theirs = one("/data");
        }
        native.push_back(theirs.files_per_second);
        mounted.push_back(ours.files_per_second);
        ratio.push_back(ours.files_per_second / theirs.files_per_second);
        native_cpu.push_back(theirs.cpu_us_per_file);
        mounted_cpu.push_back(ours.cpu_us_per_file);
      }
      const auto [low, high] = std::minmax_element(ratio.begin(), ratio.end());
      const char* kind = warm ? "warm" : "disk";
      std::printf(
          "%s, %zu reader(s): native %.0f files/s %.1f cpu us, FUSE %.0f files/s %.1f cpu us\n",
          kind, readers, median(native), median(native_cpu), median(mounted), median(mounted_cpu));
      std::printf("  ratio %.3f (%.3f to %.3f)\n", median(ratio), *low, *high);
      char part[64];
      std::snprintf(part, sizeof part, ",\"%s_%zu\":%.3f", kind, readers, median(ratio));
      json += part;
    }
    if (warm) {
      json +=
          ",\"requests_warm_epochs\":" + std::to_string(requests(commands[1], answers[0]) - before);
    }
  }
  if (::write(commands[1], "q", 1) != 1) return 1;
  int status = 0;
  ::waitpid(daemon, &status, 0);
  std::printf("%s}\n", json.c_str());
  return status;
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fuse_warm DIR [files] [bytes] [rounds]\n");
    return 2;
  }
  paddle::Plan plan{argv[1]};
  if (argc > 2) plan.files = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) plan.bytes = std::strtoull(argv[3], nullptr, 10);
  if (argc > 4) plan.rounds = std::atoi(argv[4]);
  return paddle::run(plan);
}
