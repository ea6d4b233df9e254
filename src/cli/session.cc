// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "base/version.h"
#include "kube/client/load_config.h"

namespace paddle::cli {

std::string default_directory() {
  const char* named = std::getenv("PADDLE_LOCAL_DIR");
  return named && *named ? named : "/var/lib/paddle-operator/local";
}

local::Home Where::home() const {
  namespace fs = std::filesystem;
  const std::string named = directory.empty() ? default_directory() : directory;
  std::error_code error;
  const fs::path path = fs::absolute(named, error).lexically_normal();
  std::string text = error ? named : path.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return {.directory = text};
}

Error not_running(const local::Home& home) {
  if (::geteuid() != 0 && ::access(home.directory.c_str(), F_OK) == 0 &&
      ::access(home.directory.c_str(), X_OK) != 0) {
    return {Code::kForbidden,
            home.directory + " belongs to another user: run the same command with sudo"};
  }
  return {Code::kUnavailable,
          "no local cluster is running in " + home.directory +
              ": start it with 'paddlectl local up'" +
              (home.directory == default_directory() ? "" : " --directory " + home.directory)};
}

Result<Session> Session::open(const local::Home& home, const Around& around) {
  if (!local::keeper_of(home)) return not_running(home);
  auto config = kube::load_config({.path = home.kubeconfig()}, {});
  if (!config) {
    return Error{config.error().code,
                 "the local cluster in " + home.directory + " is still starting or damaged (" +
                     config.error().message + "): try again, or see " + home.log()};
  }
  config->proxy = "";  // whatever the environment says: it is this machine
  auto client = std::make_unique<kube::Client>(
      *std::move(config), kube::ClientOptions{.field_manager = "paddlectl",
                                              .user_agent = std::string("paddlectl/") + kVersion});
  return Session(home, around, std::move(client));
}

Result<const Kinds*> Session::kinds() {
  if (!kinds_) {
    auto asked = Kinds::ask(*client_, call());
    if (!asked) return explained(std::move(asked).error());
    kinds_ = std::make_unique<Kinds>(*std::move(asked));
  }
  return kinds_.get();
}

Result<KnownKind> Session::kind(const std::string& name) {
  TRY(const Kinds* known, kinds());
  return known->named(name);
}

Result<KnownKind> Session::kind_of(const api::Json& object) {
  TRY(const Kinds* known, kinds());
  return known->of_object(object);
}

Error Session::explained(Error error) const {
  const bool lost = error.code == Code::kUnavailable || error.code == Code::kDeadline;
  if (lost && !local::keeper_of(home_)) return not_running(home_);
  return error;
}

Result<std::vector<Named>> names_of(const std::vector<std::string>& words) {
  std::vector<Named> names;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto slash = words[i].find('/');
    if (slash != std::string::npos) {
      names.push_back({words[i].substr(0, slash), words[i].substr(slash + 1)});
    } else if (i > 0 && words[0].find('/') == std::string::npos) {
      names.push_back({words[0], words[i]});
    } else if (i > 0) {
      return Error{Code::kInvalid, "'" + words[i] + "' is not KIND/NAME like the word before it"};
    }
    if (!names.empty() && (names.back().kind.empty() || names.back().name.empty())) {
      return Error{Code::kInvalid, "'" + words[i] + "' is not KIND/NAME"};
    }
  }
  if (names.empty()) {
    return Error{Code::kInvalid, "it needs KIND NAME or KIND/NAME, like 'paddlejob train'"};
  }
  return names;
}

}  // namespace paddle::cli
