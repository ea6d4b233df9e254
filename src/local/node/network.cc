// SPDX-License-Identifier: Apache-2.0
#include "local/node/network.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include "base/log.h"
#include "local/node/command.h"

namespace paddle::local {
namespace {

// FNV-1a: stable between runs, so that a restart finds its own bridge.
unsigned hash(const std::string& text) {
  unsigned value = 2166136261u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619u;
  return value;
}

Result<> ip(std::initializer_list<std::string> args) {
  std::vector<std::string> words{"ip"};
  words.insert(words.end(), args);
  return run_command(std::move(words));
}

Result<> ip_inside(int pid, std::initializer_list<std::string> args) {
  std::vector<std::string> words{"nsenter", "--net=/proc/" + std::to_string(pid) + "/ns/net", "ip"};
  words.insert(words.end(), args);
  return run_command(std::move(words));
}

// Second bytes of the addresses 10.x.y.z that this machine has.
std::set<unsigned> ranges_in_use() {
  std::set<unsigned> used;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return used;
  for (const ifaddrs* each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, each->ifa_addr, sizeof address);
    const unsigned bytes = ntohl(address.sin_addr.s_addr);
    if (bytes >> 24 == 10) used.insert((bytes >> 16) & 255);
  }
  freeifaddrs(all);
  return used;
}

}  // namespace

unsigned free_range(unsigned wanted, const std::set<unsigned>& used) {
  for (unsigned i = 0; i < kRanges; ++i) {
    const unsigned range = kFirstRange + (wanted - kFirstRange + i) % kRanges;
    if (!used.contains(range)) return range;
  }
  return wanted;
}

Result<unsigned> AddressPool::take() {
  for (unsigned tried = 0; tried < size_; ++tried) {
    last_ = last_ % size_ + 1;
    if (taken_.insert(last_).second) return last_;
  }
  return Error{Code::kUnavailable, "no free pod address"};
}

Network::Network(const std::string& instance, unsigned range)
    : bridge_("pdl" +
              [&] {
                char text[16];
                std::snprintf(text, sizeof text, "%08x", hash(instance));
                return std::string(text);
              }()),
      range_(range) {}

std::unique_ptr<Network> Network::loopback(const std::string& instance, std::string why) {
  std::unique_ptr<Network> network(new Network(instance, kFirstRange + hash(instance) % kRanges));
  network->why_not_ = std::move(why);
  return network;
}

std::unique_ptr<Network> Network::bridge_or_loopback(const std::string& instance) {
  auto network = loopback(instance, "");
  if (auto made = network->make_bridge(); !made) {
    network->why_not_ = made.error().message;
    return network;
  }
  network->bridged_ = true;
  if (auto opened = Gateway::open(network->bridge_, network->range()); opened) {
    network->gateway_ = *std::move(opened);
  } else {
    network->why_closed_ = opened.error().message;
  }
  return network;
}

std::string Network::range() const {
  return (bridged_ ? "10." : "127.") + std::to_string(range_) + ".0.0/16";
}

Network::~Network() {
  gateway_.reset();
  if (!bridged_) return;
  if (auto gone = ip({"link", "del", bridge_}); !gone) {
    log::warn("cannot remove the bridge of the pods",
              {{"bridge", bridge_}, {"error", gone.error().message}});
  }
}

Result<> Network::make_bridge() {
  if (geteuid() != 0) return Error{Code::kForbidden, "a bridge needs root"};
  if (auto left = ip({"link", "del", bridge_}); left) {
    log::warn("removed a bridge that an earlier run left", {{"bridge", bridge_}});
  }
  range_ = free_range(range_, ranges_in_use());
  CHECK_DONE(ip({"link", "add", bridge_, "type", "bridge"}));
  const std::string own = "10." + std::to_string(range_) + ".0.1/16";
  // A fixed MAC address: otherwise it changes with the ports, and ARP caches of pods become stale.
  char mac[32];
  std::snprintf(mac, sizeof mac, "02:00:0a:%02x:00:01", range_);
  for (const auto& done :
       {ip({"link", "set", bridge_, "address", mac}), ip({"addr", "add", own, "dev", bridge_}),
        ip({"link", "set", bridge_, "up"})}) {
    if (done) continue;
    [[maybe_unused]] auto gone = ip({"link", "del", bridge_});
    return Error{done.error()};
  }
  return Done{};
}

std::string Network::host_address() const {
  return bridged_ ? "10." + std::to_string(range_) + ".0.1" : "127.0.0.1";
}

std::string Network::address_of(unsigned number) const {
  const unsigned host = number + 1;  // .0.1 is the machine
  return (bridged_ ? "10." : "127.") + std::to_string(range_) + "." + std::to_string(host >> 8) +
         "." + std::to_string(host & 255);
}

Result<std::string> Network::take_address() {
  Lock lock(mutex_);
  TRY(const unsigned number, pool_.take());
  return address_of(number);
}

void Network::give_back(const std::string& address) {
  unsigned high = 0, low = 0;
  if (std::sscanf(address.c_str(), "%*u.%*u.%u.%u", &high, &low) != 2) return;
  Lock lock(mutex_);
  pool_.give_back((high << 8 | low) - 1);
}

Result<> Network::plug(int pid, const std::string& address) {
  const std::string outer = "pdv" + std::to_string(pid);
  const std::string target = std::to_string(pid);
  CHECK_DONE(ip({"link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", target}));
  CHECK_DONE(ip({"link", "set", outer, "master", bridge_}));
  CHECK_DONE(ip({"link", "set", outer, "up"}));
  CHECK_DONE(ip_inside(pid, {"addr", "add", address + "/16", "dev", "eth0"}));
  CHECK_DONE(ip_inside(pid, {"link", "set", "eth0", "up"}));
  return ip_inside(pid, {"route", "add", "default", "via", host_address()});
}

}  // namespace paddle::local
