// SPDX-License-Identifier: Apache-2.0
//
// What every verb but `up` and `down` works with: the terminal and a client of the local cluster's
// API, made from the kubeconfig in its directory as any other program would.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/kinds.h"
#include "cli/terminal.h"
#include "kube/client/client.h"
#include "local/machine/home.h"

namespace paddle::cli {

// Who runs the command, and how.
struct Around {
  Terminal& terminal;
  const Clock& clock;
};

// Flags that all verbs share.
struct Where {
  std::string directory{};  // empty: as default_directory() says
  std::string ns{};         // empty: default
  bool operator==(const Where&) const = default;

  local::Home home() const;
  std::string namespace_or_default() const { return ns.empty() ? "default" : ns; }
};

// $PADDLE_LOCAL_DIR, else /var/lib/paddle-operator/local.
std::string default_directory();

// kUnavailable: "no local cluster is running in DIR: start it with 'paddlectl local up'".
Error not_running(const local::Home& home);

class Session {
 public:
  static Result<Session> open(const local::Home& home, const Around& around);

  kube::Client& client() { return *client_; }
  kube::Call call() const { return {.stop = terminal_->stop()}; }
  Result<KnownKind> kind(const std::string& name);
  Result<KnownKind> kind_of(const api::Json& object);
  const local::Home& home() const { return home_; }
  Terminal& terminal() { return *terminal_; }
  const Clock& clock() const { return *clock_; }

  // A call that could not reach the server, said with the next step.
  Error explained(Error error) const;

 private:
  Session(local::Home home, const Around& around, std::unique_ptr<kube::Client> client)
      : home_(std::move(home)),
        terminal_(&around.terminal),
        clock_(&around.clock),
        client_(std::move(client)) {}
  Result<const Kinds*> kinds();

  local::Home home_;
  Terminal* terminal_;
  const Clock* clock_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<Kinds> kinds_{};
};

// "pdj/train" or two words; kInvalid says how to write it.
struct Named {
  std::string kind{};
  std::string name{};
  bool operator==(const Named&) const = default;
};
Result<std::vector<Named>> names_of(const std::vector<std::string>& words);

}  // namespace paddle::cli
