// SPDX-License-Identifier: Apache-2.0
//
// A real etcd and a real kube-apiserver for one test: a private directory, ports on loopback that
// the kernel chooses, a certificate authority of its own so that clients verify TLS, RBAC, and
// three users by token: admin (system:masters), alice and bob (no rights until a test grants some).
//
// There is no controller manager until start_controllers(): service accounts are not created (their
// admission is off, so that pods can be created), garbage is not collected, pods do not run, and
// aggregated cluster roles (admin, edit, view) are empty.
//
// Nothing is left behind, even when the test process is killed; a failed test keeps the directory
// with the logs and prints its path and how to run that test again. Thread-safe, except that only
// one thread at a time may stop and start the API server.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "test/support/pki.h"
#include "test/support/process.h"

namespace paddle::test {

class Keeper;

struct ControlPlaneOptions {
  bool audit = false;
  std::vector<std::string> api_server_flags{};  // added last: they override ours
};

class ControlPlane {
 public:
  static Result<std::unique_ptr<ControlPlane>> start(ControlPlaneOptions options = {});
  ~ControlPlane();  // stops everything
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  std::string url() const;      // https://127.0.0.1:PORT
  std::string ca_path() const;  // the CA that verifies it
  std::string token() const;    // admin's
  std::string token_of(std::string_view user) const;
  std::string kubeconfig() const;  // path of admin's kubeconfig (CA verified, token)
  std::string directory() const;   // logs and data
  std::string audit_log() const;   // path; one JSON line per finished request

  // Issues client certificates that the API server accepts.
  const Authority& authority() const;

  Result<> stop_api_server();   // SIGKILL; returns when it is gone
  Result<> start_api_server();  // same port, same etcd; returns when ready
  Result<> compact_etcd();      // to the current revision

  // A real kube-controller-manager with these controllers, e.g. "garbage-collector-controller". It
  // begins to work some time after this call has returned.
  Result<> start_controllers(const std::vector<std::string>& names);

  using Ran = test::Ran;
  // As admin. A call that hangs is killed after two minutes.
  Ran kubectl(const std::vector<std::string>& args, const std::string& input = {}) const;

  // For children that must end together with this control plane, e.g. a second manager.
  Keeper& keeper() const;

 private:
  class Parts;
  explicit ControlPlane(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace paddle::test
