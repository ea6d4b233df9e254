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

local::ClusterDirectory CommonFlags::cluster_directory() const {
  namespace fs = std::filesystem;
  const std::string named = directory.empty() ? default_directory() : directory;
  std::error_code error;
  const fs::path path = fs::absolute(named, error).lexically_normal();
  std::string text = error ? named : path.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return {.path = text};
}

Error not_running(const local::ClusterDirectory& directory) {
  if (::geteuid() != 0 && ::access(directory.path.c_str(), F_OK) == 0 &&
      ::access(directory.path.c_str(), X_OK) != 0) {
    return {Code::kForbidden,
            directory.path + " belongs to another user: run the same command with sudo"};
  }
  return {Code::kUnavailable,
          "no local cluster is running in " + directory.path +
              ": start it with 'paddlectl local up'" +
              (directory.path == default_directory() ? "" : " --directory " + directory.path)};
}

Result<Session> Session::open(const local::ClusterDirectory& directory,
                              const CommandContext& context) {
  if (!local::find_lock_holder(directory)) return not_running(directory);
  auto config = kube::load_config({.path = directory.kubeconfig()}, {});
  if (!config) {
    return Error{config.error().code,
                 "the local cluster in " + directory.path + " is still starting or damaged (" +
                     config.error().message + "): try again, or see " + directory.log()};
  }
  config->proxy = "";  // no proxy for this machine
  auto client = std::make_unique<kube::Client>(
      *std::move(config), kube::ClientOptions{.field_manager = "paddlectl",
                                              .user_agent = std::string("paddlectl/") + kVersion});
  return Session(directory, context, std::move(client));
}

Result<const Kinds*> Session::kinds() {
  if (!kinds_) {
    auto discovered = Kinds::discover(*client_, call());
    if (!discovered) return explained(std::move(discovered).error());
    kinds_ = std::make_unique<Kinds>(*std::move(discovered));
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
  if (lost && !local::find_lock_holder(directory_)) return not_running(directory_);
  return error;
}

Result<std::vector<ObjectName>> parse_object_names(const std::vector<std::string>& words) {
  std::vector<ObjectName> names;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto slash = words[i].find('/');
    if (slash != std::string::npos) {
      names.push_back({words[i].substr(0, slash), words[i].substr(slash + 1)});
    } else if (i > 0 && words[0].find('/') == std::string::npos) {
      names.push_back({words[0], words[i]});
    } else if (i > 0) {
      return Error{Code::kInvalid,
                   "'" + words[i] + "' is not KIND/NAME like the argument before it"};
    }
    if (!names.empty() && (names.back().kind.empty() || names.back().name.empty())) {
      return Error{Code::kInvalid, "'" + words[i] + "' is not KIND/NAME"};
    }
  }
  if (names.empty()) {
    return Error{Code::kInvalid, "KIND NAME or KIND/NAME is required, like 'paddlejob train'"};
  }
  return names;
}

}  // namespace paddle::cli
