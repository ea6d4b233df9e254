// SPDX-License-Identifier: Apache-2.0
//
// The reader of all benchmarks, so that each subject is read by the same code.
//
//   read_files ROOT ORDER READERS [sum]
//
// ORDER: names beneath ROOT, one per line, in the order of reading. READERS processes (as a data
// loader has workers) share them: reader i takes lines i, i + READERS, ... Each file is opened,
// fstat'ed, read whole and closed. Prints one line of JSON; "sum" adds a checksum over names and
// bytes that does not depend on the order. The clock starts when all readers are ready and stops
// with the last of them. Files that fail are counted; the first one is printed on standard error.

#define XXH_INLINE_ALL
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace paddle {
namespace {

struct Tally {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t errors = 0;
  std::uint64_t sum = 0;
};

struct Job {
  std::string root{};
  std::vector<std::string> order{};
  std::size_t readers = 1;
  bool checks = false;
};

// The bytes of a file in `into`; -1 with errno otherwise.
ssize_t read_whole(const std::string& path, std::vector<char>& into) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat attr {};
  if (!fd || ::fstat(fd.get(), &attr) != 0) return -1;
  const auto size = static_cast<std::size_t>(attr.st_size);
  if (into.size() < size) into.resize(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(fd.get(), into.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;  // shorter than its size
    if (got <= 0) return -1;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

Tally read_share(const Job& job, std::size_t reader) {
  Tally tally;
  std::vector<char> buffer(1 << 20);
  for (std::size_t i = reader; i < job.order.size(); i += job.readers) {
    const std::string& name = job.order[i];
    const ssize_t got = read_whole(job.root + "/" + name, buffer);
    if (got < 0) {
      if (++tally.errors == 1) {
        std::fprintf(stderr, "read_files: %s: %s\n", name.c_str(), std::strerror(errno));
      }
      continue;
    }
    tally.files += 1;
    tally.bytes += static_cast<std::uint64_t>(got);
    if (job.checks) {
      const auto seed = XXH3_64bits(name.data(), name.size());
      tally.sum += XXH3_64bits_withSeed(buffer.data(), static_cast<std::size_t>(got), seed);
    }
  }
  return tally;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

int run(const Job& job) {
  void* shared = ::mmap(nullptr, job.readers * sizeof(Tally), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int gate[2];
  if (shared == MAP_FAILED || ::pipe(gate) != 0) return 1;
  auto* tallies = static_cast<Tally*>(shared);
  std::vector<pid_t> children;
  for (std::size_t reader = 0; reader < job.readers; ++reader) {
    const pid_t child = ::fork();
    if (child < 0) return 1;
    if (child == 0) {
      ::close(gate[1]);
      char never = 0;
      if (::read(gate[0], &never, 1) == 0) tallies[reader] = read_share(job, reader);
      ::_exit(0);
    }
    children.push_back(child);
  }
  const BootTime begin = system_clock().boot();
  ::close(gate[1]);  // starts all readers
  Tally total;
  for (std::size_t reader = 0; reader < job.readers; ++reader) {
    int status = 0;
    if (::waitpid(children[reader], &status, 0) < 0 || status != 0) total.errors += 1;
    total.files += tallies[reader].files;
    total.bytes += tallies[reader].bytes;
    total.errors += tallies[reader].errors;
    total.sum += tallies[reader].sum;
  }
  const std::chrono::duration<double> took = system_clock().boot() - begin;
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  std::printf("{\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"errors\":%" PRIu64
              ",\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"sum\":\"%016" PRIx64 "\"}\n",
              total.files, total.bytes, total.errors, took.count(),
              seconds(used.ru_utime) + seconds(used.ru_stime), total.sum);
  return total.errors == 0 ? 0 : 1;
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  paddle::Job job;
  if (argc >= 4) job.readers = std::strtoull(argv[3], nullptr, 10);
  if (argc < 4 || argc > 5 || job.readers == 0 || job.readers > 1024) {
    std::fprintf(stderr, "usage: read_files ROOT ORDER READERS [sum]\n");
    return 2;
  }
  job.root = argv[1];
  job.checks = argc == 5;
  std::ifstream lines(argv[2]);
  for (std::string line; std::getline(lines, line);) job.order.push_back(line);
  if (job.order.empty()) {
    std::fprintf(stderr, "read_files: %s names no file\n", argv[2]);
    return 2;
  }
  return paddle::run(job);
}
