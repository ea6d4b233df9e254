// SPDX-License-Identifier: Apache-2.0
//
// For tests: a SampleSet, and the engines that plans for it are made with.

#pragma once

#include "api/sample_set.h"
#include "controllers/sample_set/config.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

// An engine that needs every object an engine may need, and whose runtimes share one volume.
class SharedVolumeEngine final : public engine::ManifestBuilder {
 public:
  static constexpr const char* kDriver = "csi.example.org";
  std::string name() const override { return "juicefs"; }
  bool shares_volume() const override { return true; }
  Result<std::int64_t> cache_mib(const api::SampleSet& set,
                                 const engine::RuntimeOptions& options) const override;
  // kInvalid without a metaurl.
  Result<engine::Manifests> manifests(const api::SampleSet& set,
                                      const engine::Credentials& credentials,
                                      const engine::RuntimeOptions& options) const override;
};

// Has samplefs and the engine above.
Config model_config();
// Has the engine samplefs; with `shares_volume` a Secret, with which it has the engine above.
api::SampleSet model_set(int partitions = 1, bool shares_volume = false);

}  // namespace paddle::controllers::sample_set
