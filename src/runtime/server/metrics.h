// SPDX-License-Identifier: Apache-2.0
//
// The metrics of an engine's status in GET /metrics, beside those of others in the same registry:
//
//   paddle_cache_files, paddle_cache_bytes, paddle_cache_limit_bytes     gauges
//   paddle_index_generation, paddle_index_files, paddle_index_bytes      gauges
//   paddle_cache_mounts                                                  gauge
//   paddle_cache_read_bytes_total{from="cache|memory|source"}            counter
//   paddle_cache_downloaded_bytes_total                                  counter
//
// Thread-safe.

#pragma once

#include <map>
#include <string>

#include "base/metrics.h"
#include "base/sync.h"
#include "engine/node_engine.h"

namespace paddle::runtime {

class StatusMetrics {
 public:
  explicit StatusMetrics(Metrics& metrics) : metrics_(metrics) {}
  // Updates the metrics and returns the text of the whole registry.
  std::string text(const engine::Status& status) EXCLUDES(mutex_);

 private:
  void gauge(const std::string& name, const std::string& help, std::int64_t value);
  void counter(const std::string& name, const std::string& help, const Labels& labels,
               std::int64_t value) REQUIRES(mutex_);

  Metrics& metrics_;
  Mutex mutex_;
  std::map<std::pair<std::string, Labels>, std::int64_t> exported_ GUARDED_BY(mutex_);
};

}  // namespace paddle::runtime
