// SPDX-License-Identifier: Apache-2.0
//
// Metrics about PaddleJobs, SampleSets and SampleJobs. Each change of an object costs a few
// lookups, whatever the number of objects; a scrape reads only numbers. Gauges start with the first
// list. Histograms and counters count transitions that this process has seen, with the times that
// the status has: what happened while no process ran is left out, and nothing is counted twice.
//
// change() is called for the changes of one informer, which come one at a time. Metrics must
// outlive the informers.

#pragma once

#include <string>

#include "api/paddle_job.h"
#include "api/sample_job.h"
#include "api/sample_set.h"
#include "base/metrics.h"
#include "kube/informer/store.h"

namespace paddle::controllers {

// `before` is null when the object is new, `after` when it is gone.
class PaddleJobMetrics {
 public:
  explicit PaddleJobMetrics(Metrics& metrics) : metrics_(&metrics) {}
  void change(const api::PaddleJob* before, const api::PaddleJob* after) const;

 private:
  Metrics* metrics_;
};

class SampleSetMetrics {
 public:
  explicit SampleSetMetrics(Metrics& metrics) : metrics_(&metrics) {}
  void change(const api::SampleSet* before, const api::SampleSet* after) const;

 private:
  Metrics* metrics_;
};

class SampleJobMetrics {
 public:
  explicit SampleJobMetrics(Metrics& metrics) : metrics_(&metrics) {}
  void change(const api::SampleJob* before, const api::SampleJob* after) const;

 private:
  Metrics* metrics_;
};

// Calls reporter.change() for every change of the store.
template <typename T, typename Reporter>
void report_metrics(const kube::Store<T>& store, Reporter reporter) {
  store.on_change([reporter](const api::ObjectKey&, const T* before, const T* after) {
    reporter.change(before, after);
  });
}

}  // namespace paddle::controllers
