// SPDX-License-Identifier: Apache-2.0
//
// The session of every verb except `up` and `down`: the terminal, and an API client that uses the
// kubeconfig in the cluster's directory, like any other client.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/kinds.h"
#include "cli/terminal.h"
#include "kube/client/client.h"
#include "local/machine/cluster_directory.h"

namespace paddle::cli {

// What a command uses from its process.
struct CommandContext {
  Terminal& terminal;
  const Clock& clock;
};

// Flags that all verbs share.
struct CommonFlags {
  std::string directory{};  // empty: default_directory()
  std::string ns{};         // empty: default
  bool operator==(const CommonFlags&) const = default;

  local::ClusterDirectory cluster_directory() const;
  std::string namespace_or_default() const { return ns.empty() ? "default" : ns; }
};

// $PADDLE_LOCAL_DIR, else /var/lib/paddle-operator/local.
std::string default_directory();

// kUnavailable: "no local cluster is running in DIR: start it with 'paddlectl local up'".
Error not_running(const local::ClusterDirectory& directory);

class Session {
 public:
  static Result<Session> open(const local::ClusterDirectory& directory,
                              const CommandContext& context);

  kube::Client& client() { return *client_; }
  kube::Call call() const { return {.stop = terminal_->stop()}; }
  Result<KnownKind> kind(const std::string& name);
  Result<KnownKind> kind_of(const api::Json& object);
  const local::ClusterDirectory& directory() const { return directory_; }
  Terminal& terminal() { return *terminal_; }
  const Clock& clock() const { return *clock_; }

  // Replaces the error of a call that could not reach the server by not_running() if the cluster
  // has ended.
  Error explained(Error error) const;

 private:
  Session(local::ClusterDirectory directory, const CommandContext& context,
          std::unique_ptr<kube::Client> client)
      : directory_(std::move(directory)),
        terminal_(&context.terminal),
        clock_(&context.clock),
        client_(std::move(client)) {}
  Result<const Kinds*> kinds();

  local::ClusterDirectory directory_;
  Terminal* terminal_;
  const Clock* clock_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<Kinds> kinds_{};
};

// From "pdj/train" or two words; kInvalid explains the syntax.
struct ObjectName {
  std::string kind{};
  std::string name{};
  bool operator==(const ObjectName&) const = default;
};
Result<std::vector<ObjectName>> parse_object_names(const std::vector<std::string>& words);

}  // namespace paddle::cli
