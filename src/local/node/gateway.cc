// SPDX-License-Identifier: Apache-2.0
#include "local/node/gateway.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/unique_fd.h"
#include "local/node/command.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForwarding = "/proc/sys/net/ipv4/ip_forward";
// Exists while the machine forwards because one of our processes enabled it.
constexpr const char* kOurs = "/run/paddle-ip-forward";
constexpr const char* kBridgePrefix = "pdl";

Result<> write_text(const char* path, const char* text) {
  const UniqueFd fd(::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd || ::write(fd.get(), text, 1) != 1) return os_error(std::string("write ") + path);
  return Done{};
}

Result<> forward() {
  char now = 0;
  std::ifstream(kForwarding) >> now;
  if (now == '1') return Done{};
  CHECK_DONE(write_text(kOurs, "1"));
  return write_text(kForwarding, "1");
}

void stop_forwarding(const std::string& bridge) {
  std::error_code error;
  if (!fs::exists(kOurs, error)) return;
  for (const auto& entry : fs::directory_iterator("/sys/class/net", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kBridgePrefix) && name != bridge) return;
  }
  if (auto done = write_text(kForwarding, "0"); !done) {
    log::warn("cannot disable IP forwarding again", {{"error", done.error().message}});
  }
  fs::remove(kOurs, error);
}

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::open(const std::string& bridge,
                                               const std::string& range) {
  [[maybe_unused]] auto left = run_command({"nft", "delete", "table", "ip", bridge});
  CHECK_DONE(run_command({"nft", "add", "table", "ip", bridge}));
  std::unique_ptr<Gateway> gateway(new Gateway(bridge));
  CHECK_DONE(run_command({"nft", "add", "chain", "ip", bridge, "out", "{", "type", "nat", "hook",
                          "postrouting", "priority", "100", ";", "}"}));
  CHECK_DONE(run_command({"nft", "add", "rule", "ip", bridge, "out", "ip", "saddr", range,
                          "oifname", "!=", bridge, "masquerade"}));
  CHECK_DONE(forward());
  return gateway;
}

Gateway::~Gateway() {
  if (auto gone = run_command({"nft", "delete", "table", "ip", bridge_}); !gone) {
    log::warn("cannot remove the nftables table of the pods", {{"error", gone.error().message}});
  }
  stop_forwarding(bridge_);
}

}  // namespace paddle::local
