// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/metrics.h"

namespace paddle::runtime {

void StatusMetrics::gauge(const std::string& name, const std::string& help, std::int64_t value) {
  metrics_.gauge(name, help, {}).Set(static_cast<double>(value));
}

void StatusMetrics::counter(const std::string& name, const std::string& help, const Labels& labels,
                            std::int64_t value) {
  auto& counter = metrics_.counter(name, help, labels);
  std::int64_t& update_progress = exported_[{name, labels}];
  // A lower value is all new: the counting process was restarted.
  const std::int64_t more = value >= update_progress ? value - update_progress : value;
  update_progress = value;
  if (more > 0) counter.Increment(static_cast<double>(more));
}

std::string StatusMetrics::text(const engine::Status& status) {
  Lock lock(mutex_);  // two calls at once must not count twice
  if (status.cached_files) {
    gauge("paddle_cache_files", "files of the set in the cache", *status.cached_files);
  }
  gauge("paddle_cache_bytes", "bytes of the set in the cache", status.cached_bytes);
  gauge("paddle_cache_limit_bytes", "limit of the cache", status.limit);
  gauge("paddle_cache_mounts", "mounts being served", status.mounts);
  const auto index = status.index.value_or(engine::Status::Index{});
  gauge("paddle_index_generation", "generation of the set; 0 before the first", index.generation);
  gauge("paddle_index_files", "files of the set", index.files);
  gauge("paddle_index_bytes", "bytes of the set", index.bytes);
  const std::string read = "paddle_cache_read_bytes_total";
  const std::string help = "bytes that readers have read, by their origin";
  counter(read, help, {{"from", "cache"}}, status.from_cache);
  counter(read, help, {{"from", "memory"}}, status.from_memory);
  counter(read, help, {{"from", "source"}}, status.from_source);
  counter("paddle_cache_downloaded_bytes_total", "bytes downloaded for any reason", {},
          status.downloaded);
  return metrics_.text();
}

}  // namespace paddle::runtime
