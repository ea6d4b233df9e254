// SPDX-License-Identifier: Apache-2.0
//
// The operator's face of a cache engine: the objects that a SampleSet needs with this engine, as
// pure values. The node's face is engine.h. A controller knows engines only through these two: a
// third engine is one more class here and one more line where programs are put together.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/sample_set.h"
#include "base/result.h"

namespace paddle::engine {

struct RuntimeOptions {
  std::string image{};                   // of the runtime's pods
  std::string program = "paddle-cache";  // in that image
  // Directories of nodes beneath which caches may be; empty: everywhere but the system's own.
  std::vector<std::string> cache_roots{};
  // Whose pods may call runtimes, beside the set's own runtimes.
  std::string operator_namespace = "paddle-system";
  // More variables of the runtimes' containers.
  std::map<std::string, std::string> environment{};
  bool operator==(const RuntimeOptions&) const = default;
};

// What the user's Secret holds, decoded; never printed.
using Credentials = std::map<std::string, std::string>;

// All have names, labels and owners (names.h); each is created as it is. What an engine does not
// need is null.
struct Manifests {
  api::Opaque volume{};    // PersistentVolume
  api::Opaque claim{};     // PersistentVolumeClaim
  api::Opaque service{};   // Service
  api::Opaque runtimes{};  // StatefulSet
  // Secret: the user's credentials as the engine wants them. Kept in step with the user's.
  api::Opaque credentials{};
  // Pod that has to succeed once, after the credentials and before the runtimes.
  api::Opaque preparation{};
  // The same for a volume that was prepared with other credentials; null: as the first time.
  api::Opaque preparation_again{};
  api::Opaque policy{};          // NetworkPolicy: who may ask the runtimes
  std::string csi_driver{};      // that nodes must have; empty: none
  std::string without_driver{};  // what to do where the cluster has no such driver
  bool operator==(const Manifests&) const = default;
};

class ManifestBuilder {
 public:
  virtual ~ManifestBuilder() = default;
  virtual std::string name() const = 0;  // as in spec.csi.driver
  // The first runtime syncs for all of them and hands out the lists of a warm-up. Otherwise each
  // has an index of its own, syncs for itself, and deals the files out as all the others do.
  virtual bool shares_volume() const { return false; }
  // Its runtimes answer over TLS, with the certificates of their Secret.
  virtual bool serves_tls() const { return false; }
  // kInvalid: one sentence about what in the spec this engine can not do, and the way out.
  virtual Result<Manifests> manifests(const api::SampleSet& set, const Credentials& credentials,
                                      const RuntimeOptions& options) const = 0;
};
using ManifestBuilders = std::vector<std::shared_ptr<const ManifestBuilder>>;

// Metadata that every object of a set has. `ns` empty: an object without a namespace.
api::Json metadata(const api::SampleSet& set, const std::string& engine, const std::string& ns,
                   const std::string& name);
// The headless Service of the runtimes: the same for every engine.
api::Json runtime_service(const api::SampleSet& set, const std::string& engine);
// The NetworkPolicy of the runtimes: as well.
api::Json runtime_policy(const api::SampleSet& set, const std::string& engine,
                         const RuntimeOptions& options);
// The volume that nodes mount by `csi`, its claim, and the runtimes, a pod like `pod_spec` for each
// partition: as well.
api::Json volume_by(const api::SampleSet& set, const std::string& engine, const api::Json& csi);
api::Json claim_of(const api::SampleSet& set, const std::string& engine);
api::Json runtimes_like(const api::SampleSet& set, const std::string& engine,
                        const api::Json& pod_spec);
// The variables of a runtime's container: POD_IP, and those of the options.
api::Json runtime_environment(const RuntimeOptions& options);
// What selects the runtimes' pods.
std::map<std::string, std::string> runtime_labels(const api::SampleSet& set,
                                                  const std::string& engine);

// Everything a container mounts, with where.
struct Mounts {
  api::Opaque volumes{};  // of the pod
  api::Opaque mounts{};   // of the container
  void add(const api::Json& volume, const std::string& path);
  // `how`: other fields of the mount.
  void add(const api::Json& volume, const std::string& path, const api::Json& how);
  void add_read_only(const api::Json& volume, const std::string& path);
};

}  // namespace paddle::engine
