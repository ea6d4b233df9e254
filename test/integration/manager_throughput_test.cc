// SPDX-License-Identifier: Apache-2.0
//
// 1,000 reconciles per second with a reconciler that does nothing cost less than one core: CPU time
// per 1,000 reconciles is below one second. CPU time of this process, not wall time.

#include <atomic>
#include <iostream>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "controllers/loop/controller.h"

namespace paddle::controllers {
namespace {

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

TEST(ManagerThroughput, AThousandReconcilesCostLessThanASecondOfCpu) {
  Metrics metrics;
  std::atomic<int> passes{0};
  Controller controller(
      {.name = "noop", .workers = 4},
      [&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
        ++passes;
        return ReconcileResult{};
      },
      system_clock(), system_random(), metrics);
  controller.start();
  constexpr int kTotal = 5000;
  const double before = cpu_seconds();
  for (int i = 0; i < kTotal; ++i) {  // one every millisecond: the rate of the requirement
    controller.queue().add({"ns", "object-" + std::to_string(i)});
    system_clock().sleep(std::chrono::milliseconds{1}, {});
  }
  while (passes < kTotal) system_clock().sleep(std::chrono::milliseconds{1}, {});
  const double per_thousand = (cpu_seconds() - before) * 1000.0 / kTotal;
  std::cout << "CPU seconds per 1,000 reconciles: " << per_thousand << "\n";
  EXPECT_LT(per_thousand, 1.0);
}

}  // namespace
}  // namespace paddle::controllers
