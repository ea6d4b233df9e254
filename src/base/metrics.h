// SPDX-License-Identifier: Apache-2.0
//
// Counters, gauges and histograms in the Prometheus text format. A thin layer over prometheus-cpp:
// two calls with the same name and labels return the same instrument. References stay valid for the
// life of the registry, unless a gauge is removed. Thread-safe. docs/METRICS.md lists names and
// help texts.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

namespace prometheus {
class Registry;
}

namespace paddle {

using Labels = std::map<std::string, std::string>;

class Metrics {
 public:
  Metrics();
  ~Metrics();

  prometheus::Counter& counter(const std::string& name, const std::string& help,
                               const Labels& labels);
  prometheus::Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels);
  // Buckets suit seconds: 1 ms to about a minute.
  prometheus::Histogram& seconds(const std::string& name, const std::string& help,
                                 const Labels& labels);

  // The same for what may take hours: 1 s to a day.
  prometheus::Histogram& long_seconds(const std::string& name, const std::string& help,
                                      const Labels& labels);
  // Of an object that is gone. References to this gauge become invalid.
  void remove_gauge(const std::string& name, const std::string& help, const Labels& labels);

  std::string text() const;  // the body of GET /metrics

 private:
  std::unique_ptr<prometheus::Registry> registry_;
};

}  // namespace paddle
