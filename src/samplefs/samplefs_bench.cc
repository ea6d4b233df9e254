// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks of the engine without a mount: `samplefs_bench index 100000`, `samplefs_bench store
// 4000`. Prints one line per result. "Cold": the files were dropped from the page cache.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/scratch.h"
#include "samplefs/block_format.h"
#include "samplefs/file_io.h"
#include "samplefs/filler.h"
#include "samplefs/index_builder.h"
#include "samplefs/sample_files.h"
#include "samplefs/store_files.h"
#include "source/memory_source.h"

namespace paddle::samplefs {
namespace {

double seconds(const std::function<void()>& work) {
  const BootTime start = system_clock().boot();
  work();
  return std::chrono::duration<double>(system_clock().boot() - start).count();
}

long rss_anon_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  }
  return 0;
}

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

int bench_index(std::size_t count) {
  const Scratch scratch;
  const std::string file = scratch.path() + "/index";
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < count; ++i) {
    char path[80];
    std::snprintf(path, sizeof path, "train/n%08zu/n%08zu_%06zu.JPEG", i / 1000, i / 1000, i);
    paths.emplace_back(path);
  }
  const long before = rss_anon_kib();
  long peak = 0;
  double add = 0;
  double write = 0;
  {
    IndexBuilder builder;
    add = seconds([&] {
      for (const std::string& path : paths) {
        require(bool(builder.add({.path = path,
                                  .size = 110'000,
                                  .etag = "d41d8cd98f00b204e9800998ecf8427e",
                                  .modified = {}})),
                "add");
      }
    });
    write = seconds([&] { require(bool(builder.write(file, 1)), "write"); });
    peak = rss_anon_kib();
  }
  std::shared_ptr<const Index> index;
  const double open = seconds([&] { index = *Index::open(file); });
  std::printf("index files=%zu add=%.3fs write=%.3fs open+verify=%.3fs file=%ld KiB\n", count, add,
              write, open, static_cast<long>(std::filesystem::file_size(file) >> 10));
  std::printf("index RssAnon: building %+ld KiB, afterwards %+ld KiB\n", peak - before,
              rss_anon_kib() - before);

  source::MemorySource none;
  ReadThrough data(nullptr, none);
  SampleFiles files(index, data);
  std::shuffle(paths.begin(), paths.end(), std::mt19937(1));
  std::uint64_t bytes = 0;
  const double look = seconds([&] {
    for (const std::string& path : paths) {
      NodeId at = kRootId;
      for (std::size_t from = 0; from < path.size();) {
        const std::size_t slash = std::min(path.find('/', from), path.size());
        at = files.lookup(at, std::string_view(path).substr(from, slash - from))->id;
        from = slash + 1;
      }
      bytes += files.stat(at)->size;
    }
  });
  require(bytes == count * 110'000, "sizes");
  std::printf("index lookup of 3 components + stat, shuffled: %.0f files/s\n",
              static_cast<double>(count) / look);
  std::size_t listed = 0;
  const double list = seconds([&] {
    for (Index::Position i = 0; i < index->size(); ++i) {
      if (!index->at(i).directory) continue;
      require(bool(files.read_directory(
                  index->at(i).id, 0, [&](std::string_view, const Attr&) { return ++listed > 0; })),
              "list");
    }
  });
  std::printf("index read_directory of everything: %.0f entries/s\n",
              static_cast<double>(listed) / list);
  return 0;
}

void drop(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    ::fdatasync(fd.get());
    ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

int bench_store(std::size_t count) {
  const Scratch scratch;
  const std::size_t size = 110'000;
  std::string bytes(size, '\0');
  std::mt19937 random(1);
  for (char& c : bytes) c = static_cast<char>(random());
  std::vector<std::string> names;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < count; ++i) names.push_back("d/" + std::to_string(i));
  const auto open = [&] {
    return *Store::open({.directory = scratch.path(), .limit = std::uint64_t{1} << 40});
  };
  auto store = open();
  const auto block = [&](std::size_t i) { return block_at(names[i], "etag", size, 0); };
  const double put = seconds([&] {
    for (std::size_t i = 0; i < count; ++i) {
      require(store->put(block(i), std::as_bytes(std::span(bytes)), ReadBack::kUnlikely), "put");
    }
  });
  std::printf("store put (no fsync): %.0f files/s, %.0f MB/s\n", static_cast<double>(count) / put,
              static_cast<double>(count * size) / put / 1e6);
  for (std::size_t i = 0; i < count; ++i) {
    files.push_back(scratch.path() + "/" + block_file(block(i).key));
  }
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::string into(size, '\0');
  const auto through_store = [&] {
    for (const std::size_t i : order) {
      require(store->read(block(i), 0, std::as_writable_bytes(std::span(into))), "hit");
    }
  };
  const auto plain = [&] {
    for (const std::size_t i : order) {
      const UniqueFd fd(::open(files[i].c_str(), O_RDONLY | O_CLOEXEC));
      require(::pread(fd.get(), into.data(), size, 0) == static_cast<ssize_t>(size), "pread");
    }
  };
  const auto report = [&](const char* what, double time) {
    std::printf("store %-28s %7.0f files/s %7.0f MB/s\n", what, static_cast<double>(count) / time,
                static_cast<double>(count * size) / time / 1e6);
  };
  for (int round = 0; round < 3; ++round) {
    store.reset();
    drop(files);
    store = open();
    report("read cold, first serve:", seconds(through_store));
    drop(files);
    report("read cold, verified:", seconds(through_store));
    drop(files);
    report("plain pread, cold:", seconds(plain));
    report("plain pread, page cache:", seconds(plain));
    report("read verified, page cache:", seconds(through_store));
  }
  return 0;
}

}  // namespace
}  // namespace paddle::samplefs

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto count = static_cast<std::size_t>(argc > 2 ? std::atol(argv[2]) : 0);
  if (what == "index") return paddle::samplefs::bench_index(count ? count : 100'000);
  if (what == "store") return paddle::samplefs::bench_store(count ? count : 4'000);
  std::fprintf(stderr, "usage: samplefs_bench index|store [files]\n");
  return 2;
}
