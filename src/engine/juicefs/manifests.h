// SPDX-License-Identifier: Apache-2.0
//
// The manifest builder of JuiceFS: the objects of docs/design/0010, for JuiceFS 1.3 and later and
// its CSI driver. Pure.

#pragma once

#include "engine/manifests.h"

namespace paddle::engine::juicefs {

inline constexpr const char* kDriver = "csi.juicefs.com";

// Both halves refuse a job of type verify: what the client caches are blocks of its own, of which
// no source has a digest.
inline constexpr const char* kNoVerification =
    "type verify is for sets of the engine samplefs; with JuiceFS run a SampleJob of type clear "
    "and then one of type warmup, which fetches the samples again";

class JuicefsManifestBuilder final : public ManifestBuilder {
 public:
  std::string name() const override { return "juicefs"; }
  bool shares_volume() const override { return true; }
  bool serves_tls() const override { return true; }
  std::string refusal(api::JobKind kind) const override {
    return kind == api::JobKind::kVerify ? kNoVerification : "";
  }
  Result<std::int64_t> cache_mib(const api::SampleSet& set,
                                 const RuntimeOptions& options) const override;
  Result<Manifests> manifests(const api::SampleSet& set, const Credentials& credentials,
                              const RuntimeOptions& options) const override;
};

}  // namespace paddle::engine::juicefs
