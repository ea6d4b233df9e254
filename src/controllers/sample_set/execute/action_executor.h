// SPDX-License-Identifier: Apache-2.0
//
// Executes one action of a plan: one call to the API server or to a runtime, and the events about
// it. Each may be repeated: AlreadyExists is success when the object belongs to the set, NotFound
// when it was to be deleted. Objects are changed and deleted by uid. Borrows all references.
// Thread-safe.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/sample_set.h"
#include "controllers/execute/object_writer.h"
#include "controllers/loop/manager.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/observe/world_observer.h"
#include "controllers/sample_set/world.h"
#include "kube/cluster.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_set {

class ActionExecutor {
 public:
  ActionExecutor(const ControllerContext& context, WorldObserver& observer,
                 const runtime::RuntimeSecretOptions& identity, const Clock& clock);

  struct Executed {
    // The object to create exists already and is foreign.
    std::optional<NameConflict> conflict{};
    // A runtime has not answered yet: the key of the set is woken.
    bool waits = false;
  };
  // Removing the finalizer changes `set` to what the server has stored. `world` is the one that the
  // plan was made for. Waits for no runtime.
  Result<Executed> execute(const Action& action, api::SampleSet& set, const World& world,
                           const kube::Call& call);
  Result<> write_status(const api::SampleSetStatus& status, const api::SampleSet& set,
                        const kube::Call& call);

 private:
  void emit(const api::SampleSet& set, const EmitEvent& event);
  Result<> remove_finalizer(api::SampleSet& set, const kube::Call& call);
  Result<Executed> create(const CreateObject& action, const api::SampleSet& set,
                          const kube::Call& call);
  Result<> set_volume_owner(api::Json& volume, const kube::Call& call);
  Result<> generate_identity(const api::SampleSet& set, api::Json& secret);
  Result<> remove(const DeleteObject& action, const api::SampleSet& set, const kube::Call& call);
  Result<> patch(OwnedKind kind, const api::ObjectKey& key, const kube::Patch& patch,
                 const std::string& doing, const kube::Call& call);
  Result<> patch(const PatchObject& action, const kube::Call& call);
  Result<> set_owners(const SetOwners& action, const kube::Call& call);
  Result<> annotate(const Annotate& action, const kube::Call& call);
  Result<> set_claim_uid(const SetClaimUid& action, const kube::Call& call);
  struct SecretChange {
    OwnedKind kind{};
    api::ObjectKey key{};
    std::string uid{};
    std::string name{};  // for errors: what is read
    std::string what{};  // for errors: what is done
  };
  Result<> change_secret(const SecretChange& action, const kube::Call& call,
                         const std::function<Result<>(api::Json&)>& change);
  Result<> update_credentials(const UpdateCredentials& action, const kube::Call& call);
  Result<> renew_token(const RenewToken& action, const api::SampleSet& set, const kube::Call& call);
  Result<> forget_previous_token(const ForgetPreviousToken& action, const kube::Call& call);
  Result<> replace_runtime(const ReplaceRuntime& action, const kube::Call& call);
  Result<> annotate_pod(const AnnotatePodSecrets& action, const kube::Call& call);
  Result<Executed> put_job(const PutJob& action, const api::SampleSet& set, const World& world);
  Result<Executed> cancel_job(const CancelJob& action, const api::SampleSet& set,
                              const World& world);
  Result<> label_node(const LabelNode& action, const kube::Call& call);

  kube::Cluster& cluster_;
  WorldObserver& observer_;
  const Clock& clock_;
  const runtime::RuntimeSecretOptions identity_;
  ObjectWriter writer_;
};

}  // namespace paddle::controllers::sample_set
