// SPDX-License-Identifier: Apache-2.0
//
// Carries out what a plan says, and tells users about it in events. Each call may be repeated:
// AlreadyExists with our mark is success, gone is deleted. Whatever is changed or deleted is named
// by its uid. Thread-safe.

#pragma once

#include <optional>

#include "api/sample_set.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/observe/world_observer.h"
#include "controllers/sample_set/options.h"
#include "controllers/sample_set/world.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"

namespace paddle::controllers::sample_set {

class PlanExecutor {
 public:
  PlanExecutor(kube::Cluster& cluster, kube::EventRecorder& events, WorldObserver& view,
               const Options& options, const Clock& clock)
      : cluster_(cluster), events_(events), observer_(view), options_(options), clock_(clock) {}

  // kNameConflict: a stranger has one of our names; `world` now shows it, and is worth another
  // plan.
  enum class Executed { kDone, kNameConflict };
  Result<Executed> execute(const Action& action, api::SampleSet& set, World& world,
                           const kube::Call& call);

 private:
  void tell(const api::SampleSet& set, const Tell& a);
  Result<> drop_finalizer(api::SampleSet& set, const kube::Call& call);
  Result<Executed> create(const CreateObject& a, const api::SampleSet& set, World& world,
                          const kube::Call& call);
  Result<> give_owner(api::Json& volume, const kube::Call& call);
  Result<> give_identity(const api::SampleSet& set, api::Json& secret);
  Result<> remove(const DeleteObject& a, const api::SampleSet& set, const kube::Call& call);
  Result<> change(OwnedKind kind, const api::ObjectKey& key, const kube::Patch& patch,
                  const std::string& doing, const kube::Call& call);
  Result<> patch(const PatchObject& a, const kube::Call& call);
  Result<> set_owners(const SetOwners& a, const kube::Call& call);
  Result<> update_credentials(const UpdateCredentials& a, const kube::Call& call);
  Result<> annotate(const Annotate& a, const kube::Call& call);
  Result<> free(const ClearClaimUid& a, const kube::Call& call);
  Result<> renew(const RenewToken& a, const api::SampleSet& set, const kube::Call& call);
  Result<> replace(const ReplaceRuntime& a, const kube::Call& call);
  Result<> annotate_secret_versions(const AnnotatePodSecrets& a, const kube::Call& call);
  Result<> put_job(const PutJob& a, const api::SampleSet& set, const World& world,
                   const kube::Call& call);
  Result<> cancel_job(const CancelJob& a, const api::SampleSet& set, const World& world,
                      const kube::Call& call);
  Result<> label(const LabelNode& a, const kube::Call& call);
  Result<> set_status(const SetStatus& a, const api::SampleSet& set, const kube::Call& call);

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  WorldObserver& observer_;
  const Options options_;
  const Clock& clock_;
};

}  // namespace paddle::controllers::sample_set
