// SPDX-License-Identifier: Apache-2.0
//
// The manifest builder of samplefs. Its runtimes need no privilege: cache and session directories
// are inline volumes of our CSI driver (docs/design/0006), credentials are mounted Secrets. A
// file:// source is a read-only hostPath. Pure.

#pragma once

#include "engine/manifests.h"

namespace paddle::engine::samplefs {

class SamplefsManifestBuilder final : public ManifestBuilder {
 public:
  std::string name() const override { return "samplefs"; }
  Result<Manifests> manifests(const api::SampleSet& set, const Credentials& credentials,
                              const RuntimeOptions& options) const override;
};

}  // namespace paddle::engine::samplefs
