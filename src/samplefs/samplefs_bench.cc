// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks of the engine without a mount: `samplefs_bench index 100000`, `samplefs_bench store
// 4000`, `samplefs_bench slots 1000000`. Prints one line per result. "Cold": the files were dropped
// from the page cache.
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
#include "base/unique_fd.h"
#include "samplefs/filler.h"
#include "samplefs/index_builder.h"
#include "samplefs/merge.h"
#include "samplefs/sample_files.h"
#include "samplefs/store/store.h"
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

// The listing of everything again, beside the generation before.
void bench_sync_again(const Index& base, const std::vector<std::string>& paths,
                      const std::string& directory) {
  const long before = rss_anon_kib();
  IndexBuilder builder(directory);
  const double again = seconds([&] {
    for (const std::string& path : paths) {
      require(bool(builder.add({.path = path,
                                .size = 110'000,
                                .etag = "d41d8cd98f00b204e9800998ecf8427e",
                                .modified = {}})),
              "add");
    }
    keep_beside(base, {}, builder);
    require(bool(builder.write(directory + "/again", 2)), "write");
  });
  std::printf("index of the same files again, beside the previous ones: %.3fs, RssAnon %+ld KiB\n",
              again, rss_anon_kib() - before);
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
    IndexBuilder builder(scratch.path());
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
  const double verify = seconds([&] { require(bool(index->verify()), "verify"); });
  const auto size = static_cast<double>(std::filesystem::file_size(file));
  std::uint64_t names = 0;
  for (Index::Position i = 0; i < index->size(); ++i) names += index->at(i).name.size();
  std::printf("index files=%zu add=%.3fs write=%.3fs open=%.1fms verify=%.3fs file=%.0f KiB\n",
              count, add, write, open * 1e3, verify, size / 1024);
  std::printf("index bytes per file, without names: %.1f\n",
              (size - static_cast<double>(names)) / static_cast<double>(count));
  std::printf("index RssAnon: building %+ld KiB, afterwards %+ld KiB\n", peak - before,
              rss_anon_kib() - before);

  bench_sync_again(*index, paths, scratch.path());
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
                  index->at(i).id, 0,
                  [&](std::string_view, const Attr&, std::uint64_t) { return ++listed > 0; })),
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
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back("d/" + std::to_string(i));
    files.push_back(scratch.path() + "/plain." + std::to_string(i));
    std::ofstream(files.back(), std::ios::binary) << bytes;
  }
  auto store = *Store::open({.directory = scratch.path() + "/cache", .limit = 1ull << 40});
  const auto block = [&](std::size_t i) { return block_at(names[i], "etag", size, 0); };
  const double put = seconds([&] {
    for (std::size_t i = 0; i < count; ++i) {
      require(store->put(block(i), std::as_bytes(std::span(bytes))), "put");
    }
    require(bool(store->flush()), "flush");
  });
  const auto report = [&](const char* what, double time) {
    std::printf("store %-28s %7.0f files/s %7.0f MB/s\n", what, static_cast<double>(count) / time,
                static_cast<double>(count * size) / time / 1e6);
  };
  report("put, synced:", put);
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  const AlignedBytes into = aligned_bytes(size);
  const auto through_store = [&] {
    for (const std::size_t i : order) {
      require(store->read(block(i), 0, {into.get(), size}), "hit");
    }
  };
  const auto plain = [&] {
    for (const std::size_t i : order) {
      const UniqueFd fd(::open(files[i].c_str(), O_RDONLY | O_CLOEXEC));
      require(::pread(fd.get(), into.get(), size, 0) == static_cast<ssize_t>(size), "pread");
    }
  };
  for (int round = 0; round < 3; ++round) {
    report("read, verified:", seconds(through_store));
    drop(files);
    report("plain open and pread, cold:", seconds(plain));
  }
  const double look = seconds([&] {
    for (const std::size_t i : order) require(store->holds(block(i)), "held");
  });
  std::printf("store %-28s %7.2f us\n", "lookup:", look / static_cast<double>(count) * 1e6);
  return 0;
}

// How long it takes to open a store of that many blocks. The blocks have no data.
int bench_slots(std::size_t count) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/cache";
  { require(bool(Store::open({.directory = path, .limit = 1ull << 40})), "create"); }
  std::filesystem::remove(path + "/slots");
  std::uint64_t slots = kMinSlots;
  while (slots < count * 2) slots *= 2;
  const double fill = seconds([&] {
    std::unique_ptr<StoreDirectory> directory;
    std::unique_ptr<SlotTable> table;
    require(disk_files().open_directory(path, false, directory) == 0, "directory");
    require(SlotTable::create(*directory, "slots", slots, 1, disk_files().boot(), table) == 0,
            "table");
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      const Block block = block_at(name, "etag", 110'000, 0);
      std::optional<std::uint64_t> index;
      require(table->insert({.key_high = block.key.high,
                             .key_low = block.key.low,
                             .file_size = block.file_size,
                             .segment = 1,
                             .length = 110'000,
                             .state = SlotState::kSynced},
                            index) == 0,
              "insert");
    }
    require(table->sync() == 0, "sync");
  });
  std::printf("slots %-24s %zu in %.2f s, %llu MiB\n", "filled:", count, fill,
              static_cast<unsigned long long>(table_size(slots) >> 20));
  for (const bool cold : {false, true}) {
    if (cold) drop({path + "/slots"});
    const long before = rss_anon_kib();
    std::unique_ptr<Store> store;
    const double open = seconds([&] {
      auto opened = Store::open({.directory = path, .limit = 1ull << 40});
      require(bool(opened), "open");
      store = *std::move(opened);
    });
    const double stats = seconds([&] { (void)store->stats(); });
    const double counted = seconds([&] {
      while (!store->stats().counted) system_clock().sleep(std::chrono::milliseconds(1), {});
    });
    // The scrub has dropped some already: they have no data.
    require(store->stats().blocks + 100 > count, "all blocks");
    std::printf(
        "slots %-24s %.2f ms, stats %.3f ms, counted in the background after %.0f ms, "
        "RssAnon %+ld KiB\n",
        cold ? "open, not in page cache:" : "open:", open * 1e3, stats * 1e3, counted * 1e3,
        rss_anon_kib() - before);
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
  if (what == "slots") return paddle::samplefs::bench_slots(count ? count : 1'000'000);
  std::fprintf(stderr, "usage: samplefs_bench index|store|slots [files]\n");
  return 2;
}
