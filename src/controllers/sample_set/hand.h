// SPDX-License-Identifier: Apache-2.0
//
// Carries out what a plan says, and tells users about it in events. Each call may be repeated:
// AlreadyExists with our mark is success, gone is deleted. Whatever is changed or deleted is named
// by its uid. Thread-safe.

#pragma once

#include <optional>

#include "api/sample_set.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/options.h"
#include "controllers/sample_set/view.h"
#include "controllers/sample_set/world.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"

namespace paddle::controllers::sample_sets {

class Hand {
 public:
  Hand(kube::Cluster& cluster, kube::EventRecorder& events, View& view,
       const SampleSetOptions& options, const Clock& clock)
      : cluster_(cluster), events_(events), view_(view), options_(options), clock_(clock) {}

  // kSeeAgain: a stranger has one of our names; `world` now shows it, and is worth another plan.
  enum class Carried { kDone, kSeeAgain };
  Result<Carried> carry_out(const Action& action, api::SampleSet& set, World& world,
                            const kube::Call& call);

 private:
  void tell(const api::SampleSet& set, const Tell& a);
  Result<> drop_finalizer(api::SampleSet& set, const kube::Call& call);
  Result<Carried> create(const CreateChild& a, const api::SampleSet& set, World& world,
                         const kube::Call& call);
  Result<> give_owner(api::Json& volume, const kube::Call& call);
  Result<> give_identity(const api::SampleSet& set, api::Json& secret);
  Result<> remove(const DeleteChild& a, const api::SampleSet& set, const kube::Call& call);
  Result<> change(ChildKind kind, const api::ObjectKey& key, const kube::Patch& patch,
                  const std::string& doing, const kube::Call& call);
  Result<> patch(const PatchChild& a, const kube::Call& call);
  Result<> set_owners(const SetOwners& a, const kube::Call& call);
  Result<> update_credentials(const UpdateCredentials& a, const kube::Call& call);
  Result<> annotate(const Annotate& a, const kube::Call& call);
  Result<> free(const FreeVolume& a, const kube::Call& call);
  Result<> renew(const RenewToken& a, const api::SampleSet& set, const kube::Call& call);
  Result<> replace(const ReplaceRuntime& a, const kube::Call& call);
  Result<> tell_of_keys(const TellOfKeys& a, const kube::Call& call);
  Result<> put_job(const PutJob& a, const api::SampleSet& set, const World& world,
                   const kube::Call& call);
  Result<> cancel_job(const CancelJob& a, const api::SampleSet& set, const World& world,
                      const kube::Call& call);
  Result<> label(const LabelNode& a, const kube::Call& call);
  Result<> set_status(const SetStatus& a, const api::SampleSet& set, const kube::Call& call);

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  View& view_;
  const SampleSetOptions options_;
  const Clock& clock_;
};

}  // namespace paddle::controllers::sample_sets
