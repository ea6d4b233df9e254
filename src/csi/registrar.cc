// SPDX-License-Identifier: Apache-2.0
#include "csi/registrar.h"

#include <deque>
#include <memory>
#include <utility>

#include "base/log.h"
#include "base/sync.h"
#include "csi/driver.h"
#include "csi/grpc_log.h"
#include "csi/registration_server.h"
#include "csi/socket_file.h"

namespace paddle::csi {
namespace {

constexpr std::chrono::milliseconds kProbeTimeout{2'000};
constexpr std::chrono::milliseconds kProbeInterval{200};
constexpr std::chrono::seconds kProgressInterval{10};
constexpr std::chrono::milliseconds kCheckInterval{500};
constexpr std::size_t kMaxErrorLength = 2'000;

// kCancelled when `stop` is requested.
Result<DriverInfo> wait_for_driver(const std::string& socket, const Clock& clock,
                                   std::stop_token stop) {
  const BootTime start = clock.boot();
  BootTime last_log = start;
  while (true) {
    auto driver = get_driver_info(socket, kProbeTimeout, stop);
    if (driver || driver.is(Code::kCancelled)) return driver;
    if (const BootTime now = clock.boot(); now - last_log >= kProgressInterval) {
      using std::chrono::duration_cast, std::chrono::seconds;
      log::info("waiting for the driver to answer",
                {{"socket", socket},
                 {"seconds", duration_cast<seconds>(now - start).count()},
                 {"last", driver.error().message}});
      last_log = now;
    }
    if (!clock.sleep(kProbeInterval, stop)) return Error{Code::kCancelled, "stopped"};
  }
}

// Passes kubelet's registration statuses from the server's threads to the registrar's.
class StatusQueue {
 public:
  void add(const RegistrationStatus& status) {
    const Lock lock(mutex_);
    waiting_.push_back(status);
    wake_.notify_all();
  }

  // Returns the next status within `limit`, or nothing.
  std::optional<RegistrationStatus> next(std::chrono::milliseconds limit, std::stop_token stop) {
    const Lock lock(mutex_);
    if (waiting_.empty()) wake_.wait_for(mutex_, stop, limit);
    if (waiting_.empty()) return std::nullopt;
    RegistrationStatus status = std::move(waiting_.front());
    waiting_.pop_front();
    return status;
  }

 private:
  Mutex mutex_;
  CondVar wake_;
  std::deque<RegistrationStatus> waiting_ GUARDED_BY(mutex_);
};

// The registration server and its published socket file. The file is removed first.
struct PublishedServer {
  std::unique_ptr<RegistrationServer> server{};
  SocketFile file;
};

Result<PublishedServer> publish_server(const RegistryPaths& paths, const Registration& registration,
                                       StatusQueue& statuses) {
  TRY(auto server,
      RegistrationServer::start(paths.hidden, registration,
                                [&](const RegistrationStatus& status) { statuses.add(status); }));
  TRY(SocketFile file, SocketFile::publish(paths.hidden, paths.shown));
  log::info("waiting for kubelet", {{"driver", registration.name}, {"socket", paths.shown}});
  return PublishedServer{.server = std::move(server), .file = std::move(file)};
}

Result<> check_status(const RegistrationStatus& status, const Registration& registration) {
  if (status.registered) {
    log::info("registered", {{"driver", registration.name}, {"endpoint", registration.endpoint}});
    return Done{};
  }
  return Error{Code::kUnavailable, "kubelet did not register " + registration.name + ": " +
                                       status.error.substr(0, kMaxErrorLength)};
}

// Returns Done when the file vanishes or `stop` is requested; an error when kubelet rejects the
// driver.
Result<> keep_published(const PublishedServer& published, const Registration& registration,
                        StatusQueue& statuses, std::stop_token stop) {
  bool replaced = false;
  while (!stop.stop_requested()) {
    if (const auto status = statuses.next(kCheckInterval, stop)) {
      CHECK_DONE(check_status(*status, registration));
    }
    const auto state = published.file.state();
    if (state == SocketFile::State::kGone) return Done{};
    if (state == SocketFile::State::kReplaced && !std::exchange(replaced, true)) {
      log::warn("another process has replaced our socket in the registry; waiting until it leaves",
                {{"driver", registration.name}});
    }
  }
  return Done{};
}

std::string choose_name(const RegistrarOptions& options, const DriverInfo& driver) {
  if (options.name.empty()) return driver.name;
  if (options.name != driver.name) {
    log::warn("the driver reports another name",
              {{"given", options.name}, {"driver", driver.name}});
  }
  return options.name;
}

}  // namespace

Result<> run_registrar(const RegistrarOptions& options, const Clock& clock, std::stop_token stop) {
  redirect_grpc_log();
  CHECK_DONE(check_socket_path("--csi-socket", options.csi_socket));
  CHECK_DONE(check_socket_path("--kubelet-registration-path", options.kubelet_path));
  if (!options.name.empty()) CHECK_DONE(registry_paths(options.registry, options.name));

  const auto driver = wait_for_driver(options.csi_socket, clock, stop);
  if (!driver) return Done{};  // stop was requested
  const Registration registration{.name = choose_name(options, *driver),
                                  .endpoint = options.kubelet_path};
  TRY(const RegistryPaths paths, registry_paths(options.registry, registration.name));
  log::info("the driver answers", {{"driver", registration.name}, {"version", driver->version}});

  StatusQueue statuses;
  while (!stop.stop_requested()) {
    TRY(const PublishedServer published, publish_server(paths, registration, statuses));
    CHECK_DONE(keep_published(published, registration, statuses, stop));
    if (!stop.stop_requested())
      log::warn("the socket in the registry is gone; publishing it again");
  }
  return Done{};
}

}  // namespace paddle::csi
