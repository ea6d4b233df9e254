// SPDX-License-Identifier: Apache-2.0
//
// The limits that decisions about SampleJobs depend on. The options of the controller are in
// reconciler.h.

#pragma once

#include <chrono>

namespace paddle::controllers::sample_job {

struct Config {
  // A blocked job is planned again after this time. Watches usually wake it earlier; this is for
  // what no watch reports, such as a Secret.
  std::chrono::seconds blocked_poll{10};
  // How often the runtimes are queried while they work on a job.
  std::chrono::nanoseconds progress_poll = std::chrono::seconds{2};
  // The pause before a failed attempt is repeated doubles from the first to the longest.
  std::chrono::seconds first_retry{5};
  std::chrono::seconds longest_retry{320};
  // How many jobs of one type the runtimes of a set have at once. They run them one by one; more
  // than one, so that no runtime is idle between two.
  int sent_at_once = 4;
  // A schedule is planned again after this time, although its next run is later: the clock may have
  // been changed.
  std::chrono::seconds longest_sleep{3600};
  bool polls_in_passes =
      false;  // no thread polls runtimes: for tests that decide when things happen
};

}  // namespace paddle::controllers::sample_job
