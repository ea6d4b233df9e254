// SPDX-License-Identifier: Apache-2.0
//
// What a cache engine does for the operator: it builds the objects that a SampleSet needs, as pure
// values. What it does on a node is in node_engine.h. Controllers and runtimes know engines only
// through these two interfaces: a third engine is one more class and one more line where programs
// are put together.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/job_kinds.h"
#include "api/json/json.h"
#include "api/sample_set.h"
#include "base/result.h"

namespace paddle::engine {

// Where data disks are usually mounted, and memory. Not /mnt and /data: on many nodes they hold the
// directories of other programs, kubelet's among them.
inline std::vector<std::string> default_cache_roots() {
  return {"/dev/shm", "/dev/ssd", "/ssd", "/nvme", "/cache", "/var/cache", "/var/jfsCache"};
}

struct RuntimeOptions {
  std::string image{};                   // of the runtime's pods
  std::string program = "paddle-cache";  // in that image
  // Caches must be beneath these directories of nodes; the first one is the default.
  std::vector<std::string> cache_roots = default_cache_roots();
  // On clusters file:// sources must be beneath these directories of nodes; empty: there are none.
  std::vector<std::string> source_roots{};
  // Pods of this namespace may call runtimes, beside the set's own runtimes.
  std::string operator_namespace = "paddle-system";
  // CSI drivers, which are privileged, read their Secrets here. Only the operator may write
  // to this namespace.
  std::string volume_secrets_namespace = "paddle-volumes";
  // More variables of the runtimes' containers.
  std::map<std::string, std::string> environment{};
  // One machine without images: runtimes read directories of any owner.
  bool one_machine = false;
  bool operator==(const RuntimeOptions&) const = default;
};

// The decoded keys and values of the user's Secret; never printed.
using Credentials = std::map<std::string, std::string>;

// Each object has its name, labels and owner (names.h) and is created as it is. Objects that an
// engine does not need are null.
struct Manifests {
  api::Opaque volume{};    // PersistentVolume
  api::Opaque claim{};     // PersistentVolumeClaim
  api::Opaque service{};   // Service
  api::Opaque runtimes{};  // StatefulSet
  // Secret: the user's credentials in the form that the engine needs. Updated with the user's.
  api::Opaque credentials{};
  // Secret for the CSI driver, in RuntimeOptions::volume_secrets_namespace. Its owner is the
  // volume. Updated with the user's.
  api::Opaque driver_credentials{};
  // Pod that must succeed once, after the credentials and before the runtimes.
  api::Opaque preparation{};
  // The same for a volume that was prepared with other credentials; null: like the first time.
  api::Opaque preparation_again{};
  api::Opaque policy{};          // NetworkPolicy: who may call the runtimes
  std::string csi_driver{};      // nodes must have it; empty: none
  std::string without_driver{};  // advice for a cluster without that driver
  bool operator==(const Manifests&) const = default;
};

class ManifestBuilder {
 public:
  virtual ~ManifestBuilder() = default;
  virtual std::string name() const = 0;  // as in spec.csi.driver
  // The runtimes share one volume: the first one divides a sync and provides the lists of a
  // warm-up. Otherwise each has an index of its own, syncs for itself, and derives its own part.
  virtual bool shares_volume() const { return false; }
  // Its runtimes serve TLS, with the certificates of their Secret.
  virtual bool serves_tls() const { return false; }
  // Why its runtimes run no jobs of that kind, and what to do instead; empty: they run them.
  virtual std::string refusal(api::JobKind) const { return {}; }
  // The largest cache that the set may have on one node, in MiB. kInvalid: as manifests().
  virtual Result<std::int64_t> cache_mib(const api::SampleSet& set,
                                         const RuntimeOptions& options) const = 0;
  // kInvalid: one sentence about what in the spec this engine cannot do, and what to do instead.
  virtual Result<Manifests> manifests(const api::SampleSet& set, const Credentials& credentials,
                                      const RuntimeOptions& options) const = 0;
};
using ManifestBuilders = std::vector<std::shared_ptr<const ManifestBuilder>>;

// The metadata of an object of a set. `ns` empty: an object without a namespace.
api::Json metadata(const api::SampleSet& set, const std::string& engine, const std::string& ns,
                   const std::string& name);
// The headless Service of the runtimes, the same for every engine.
api::Json runtime_service(const api::SampleSet& set, const std::string& engine);
// The NetworkPolicy of the runtimes, the same for every engine.
api::Json runtime_policy(const api::SampleSet& set, const std::string& engine,
                         const RuntimeOptions& options);
// The PersistentVolume with the source `csi`, its claim, and the StatefulSet of the runtimes with a
// pod of `pod_spec` for each partition.
api::Json volume_by(const api::SampleSet& set, const std::string& engine, const api::Json& csi);
api::Json claim_of(const api::SampleSet& set, const std::string& engine);
api::Json runtimes_like(const api::SampleSet& set, const std::string& engine,
                        const api::Json& pod_spec);
// The variables of a runtime's container: POD_IP, and those of the options.
api::Json runtime_environment(const RuntimeOptions& options);
// Labels that select the runtimes' pods.
std::map<std::string, std::string> runtime_labels(const api::SampleSet& set,
                                                  const std::string& engine);

// The volumes of a pod, and where its container mounts them.
struct Mounts {
  api::Opaque volumes{};  // of the pod
  api::Opaque mounts{};   // of the container
  void add(const api::Json& volume, const std::string& path);
  // `how`: more fields of the mount.
  void add(const api::Json& volume, const std::string& path, const api::Json& how);
  void add_read_only(const api::Json& volume, const std::string& path);
};

}  // namespace paddle::engine
