// SPDX-License-Identifier: Apache-2.0
#include "kube/client/exec_source.h"

#include <algorithm>

#include <unistd.h>

#include "kube/config/exec_credential.h"
#include "os/read_file.h"
#include "os/subprocess.h"

namespace paddle::kube {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kRestAfterFailure = 1s;

// Our own environment; the variables of the plugin replace ours of the same name.
std::vector<std::string> environment_for(const ExecPlugin& plugin, const std::string& info) {
  std::vector<std::string> out{"KUBERNETES_EXEC_INFO=" + info};
  for (const auto& [name, value] : plugin.env) out.push_back(name + "=" + value);
  const size_t own = out.size();
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(own),
                                      [&](const auto& mine) { return mine.starts_with(name); });
    if (!replaced) out.emplace_back(text);
  }
  return out;
}

// The end of its error output, as one line.
std::string end_of_errors(const std::string& err) {
  std::string line;
  for (const char c : err) line += c >= ' ' && c <= '~' ? c : ' ';
  while (!line.empty() && line.back() == ' ') line.pop_back();
  constexpr size_t kLongest = 300;
  if (line.size() > kLongest) line = "..." + line.substr(line.size() - kLongest);
  return line.empty() ? "" : ": " + line;
}

}  // namespace

// Renewed a little early, so that no request carries a credential that expires on the way.
bool ExecSource::fresh() const {
  if (!credential_) return false;
  if (!credential_->expires) return true;
  const auto lifetime = *credential_->expires - obtained_;
  const auto early = std::clamp<WallTime::duration>(lifetime / 4, 0s, 10s);
  return clock_.wall() < *credential_->expires - early;
}

Result<Credential> ExecSource::current(milliseconds timeout, std::stop_token stop) {
  const BootTime deadline = clock_.boot() + timeout;
  {
    const Lock lock(mutex_);
    while (running_ && !fresh()) {
      const auto left = deadline - clock_.boot();
      if (stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
      if (left <= 0s) return Error{Code::kDeadline, "the credential plugin is still running"};
      done_.wait_for(mutex_, stop, left);
    }
    if (fresh()) return *credential_;
    if (failure_ && clock_.boot() < failed_at_ + kRestAfterFailure) return *failure_;
    running_ = true;
  }
  auto made = run_plugin(timeout, std::move(stop));
  const Lock lock(mutex_);
  running_ = false;
  done_.notify_all();
  if (made) {
    credential_ = *made;
    obtained_ = clock_.wall();
    failure_.reset();
  } else if (!made.is(Code::kCancelled)) {
    failure_ = made.error();
    failed_at_ = clock_.boot();
  }
  return made;
}

bool ExecSource::refused(const Credential& used) {
  const Lock lock(mutex_);
  if (credential_ == used) credential_.reset();
  return true;
}

Result<Credential> ExecSource::run_plugin(milliseconds timeout, std::stop_token stop) const {
  const ExecPlugin& plugin = *config_.exec;
  std::string ca_pem;
  if (plugin.provide_cluster_info && !config_.tls.ca_file.empty()) {
    TRY(ca_pem, os::read_file(config_.tls.ca_file, size_t{4} << 20));
  }
  os::Command command{.argv = {plugin.command},
                      .env = environment_for(plugin, exec_info(config_, plugin, ca_pem)),
                      .timeout = std::min<milliseconds>(timeout, 60s)};
  command.argv.insert(command.argv.end(), plugin.args.begin(), plugin.args.end());
  const std::string doing = "credential plugin '" + plugin.command + "'";

  auto ran = os::run_subprocess(command, clock_, std::move(stop));
  if (ran.is(Code::kNotFound)) {
    const std::string hint = plugin.install_hint.empty() ? "" : "; " + plugin.install_hint;
    return Error{Code::kUnauthorized, doing + " is not installed" + hint};
  }
  if (!ran) return std::move(ran).error().in(doing);
  if (ran->exit_code != 0) {
    return Error{Code::kUnauthorized, doing + " failed with exit code " +
                                          std::to_string(ran->exit_code) + end_of_errors(ran->err)};
  }
  auto credential = parse_exec_credential(ran->out, plugin.api_version);
  if (!credential) return std::move(credential).error().in(doing);
  return credential;
}

}  // namespace paddle::kube
