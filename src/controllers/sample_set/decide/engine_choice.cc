// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/engine_choice.h"

namespace paddle::controllers::sample_set {

const api::SecretReference* credentials_of(const api::SampleSet& set) {
  if (set.spec.secret) return &*set.spec.secret;
  const auto* of_source =
      set.spec.source && set.spec.source->secret ? &*set.spec.source->secret : nullptr;
  return of_source && !may_be_missing(*of_source) ? of_source : nullptr;
}

Result<std::string> choose_engine(const api::SampleSet& set,
                                  const std::optional<SecretSummary>& secret) {
  if (!set.status.engine.empty()) return set.status.engine;
  if (set.spec.csi && !set.spec.csi->driver.empty()) return set.spec.csi->driver;
  if (!secret) return std::string("samplefs");
  if (!secret->exists) {
    return Error{Code::kUnavailable, "the engine depends on a secret that is not there"};
  }
  if (secret->values.contains("metaurl")) return std::string("juicefs");
  if (secret->values.contains("storage") || secret->values.contains("bucket")) {
    return Error{Code::kInvalid,
                 "the secret has storage or bucket but no metaurl; add metaurl for the juicefs "
                 "engine, or set spec.csi.driver to samplefs"};
  }
  return std::string("samplefs");
}

const engine::ManifestBuilder* find_engine(const engine::ManifestBuilders& builders,
                                           const std::string& name) {
  for (const auto& builder : builders) {
    if (builder->name() == name) return builder.get();
  }
  return nullptr;
}

}  // namespace paddle::controllers::sample_set
