// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace paddle {

Metrics::Metrics() : registry_(std::make_unique<prometheus::Registry>()) {}
Metrics::~Metrics() = default;

prometheus::Counter& Metrics::counter(const std::string& name, const std::string& help,
                                      const Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Gauge& Metrics::gauge(const std::string& name, const std::string& help,
                                  const Labels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Histogram& Metrics::seconds(const std::string& name, const std::string& help,
                                        const Labels& labels) {
  static const prometheus::Histogram::BucketBoundaries kBounds{
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(*registry_)
      .Add(labels, kBounds);
}

prometheus::Histogram& Metrics::long_seconds(const std::string& name, const std::string& help,
                                             const Labels& labels) {
  static const prometheus::Histogram::BucketBoundaries kBounds{
      1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21'600, 86'400};
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(*registry_)
      .Add(labels, kBounds);
}

void Metrics::remove_gauge(const std::string& name, const std::string& help, const Labels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(*registry_);
  if (family.Has(labels)) family.Remove(&family.Add(labels));
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

}  // namespace paddle
