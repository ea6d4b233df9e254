// SPDX-License-Identifier: Apache-2.0
//
// The manifest builder of samplefs. Its runtimes need no privilege: cache and session directories
// are inline volumes of our CSI driver (docs/design/0006), credentials are mounted Secrets. A
// file:// source is a read-only hostPath: on a cluster only beneath RuntimeOptions::source_roots,
// because the user who writes the set chooses it. Pure.

#pragma once

#include "engine/manifests.h"

namespace paddle::engine::samplefs {

class SamplefsManifestBuilder final : public ManifestBuilder {
 public:
  // On one machine runtimes listen on the machine's own bridge, without TLS.
  explicit SamplefsManifestBuilder(bool one_machine = false) : one_machine_(one_machine) {}

  std::string name() const override { return "samplefs"; }
  bool serves_tls() const override { return !one_machine_; }
  // 0: what the disk has.
  Result<std::int64_t> cache_mib(const api::SampleSet& set,
                                 const RuntimeOptions& options) const override;
  Result<Manifests> manifests(const api::SampleSet& set, const Credentials& credentials,
                              const RuntimeOptions& options) const override;

 private:
  const bool one_machine_;
};

}  // namespace paddle::engine::samplefs
