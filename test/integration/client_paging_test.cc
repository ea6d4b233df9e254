// SPDX-License-Identifier: Apache-2.0
// 20,000 objects: created from eight threads, listed in pages. Prints the cost; asserts only what
// does not depend on the machine.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>

#include <sys/resource.h>

#include "test/integration/client_fixture.h"

namespace paddle::test {
namespace {

using namespace kube;
using namespace std::chrono_literals;
using resources::kConfigMaps;

using ClientPaging = ClientTest;

constexpr int kObjects = 20'000;
constexpr int kThreads = 8;

double seconds_since(BootTime start) {
  return std::chrono::duration<double>(system_clock().boot() - start).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmRSS:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  }
  return 0;
}

TEST_F(ClientPaging, TwentyThousandObjectsAreListedInPagesWithoutLossOrDuplicates) {
  auto api = client();
  std::atomic<int> next = 0;
  std::atomic<int> failures = 0;
  const std::string filler(500, 'x');
  BootTime start = system_clock().boot();
  double cpu = cpu_seconds();
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < kThreads; ++i) {
      writers.emplace_back([&] {
        for (int n = next++; n < kObjects; n = next++) {
          const auto made = api.create(kConfigMaps, config_map("c" + std::to_string(n), filler));
          if (!made && ++failures == 1) std::fprintf(stderr, "%s\n", why(made).c_str());
        }
      });
    }
  }
  ASSERT_EQ(failures, 0);
  double took = seconds_since(start);
  std::printf("created %d objects from %d threads in %.1f s: %.0f/s, %.0f us of our CPU each\n",
              kObjects, kThreads, took, kObjects / took, (cpu_seconds() - cpu) / kObjects * 1e6);

  for (const int page : {500, 0}) {
    std::set<std::string> names;
    size_t delivered = 0, bytes = 0;
    long peak = 0;
    const long before = resident_kib();
    start = system_clock().boot();
    cpu = cpu_seconds();
    const auto version = api.list(kConfigMaps, {.ns = ns_, .page_size = page},
                                  [&](std::string_view item) -> Result<> {
                                    ++delivered;
                                    bytes += item.size();
                                    const size_t at = item.find("\"name\":\"") + 8;
                                    names.emplace(item.substr(at, item.find('"', at) - at));
                                    if (delivered % 1000 == 0)
                                      peak = std::max(peak, resident_kib());
                                    return Done{};
                                  },
                                  {.timeout = 300s});
    ASSERT_TRUE(version) << why(version);
    std::printf(
        "listed %zu objects (%zu KiB) with page size %d in %.2f s, %.2f s of our CPU, "
        "resident %ld KiB before, %ld KiB at most\n",
        delivered, bytes / 1024, page, seconds_since(start), cpu_seconds() - cpu, before, peak);
    EXPECT_EQ(delivered, static_cast<size_t>(kObjects));
    EXPECT_EQ(names.size(), static_cast<size_t>(kObjects));
    EXPECT_FALSE(version->empty());
  }
}

}  // namespace
}  // namespace paddle::test
