// SPDX-License-Identifier: Apache-2.0
//
// Addresses for pods on one machine, in one of two modes:
//
//   bridge    each pod has its own network namespace, a veth on our bridge, and an address that the
//             machine and the other pods reach; other networks are reached through the machine
//             (gateway.h) if possible. Needs the permission to create these.
//   loopback  pods share the machine's network and get an address 127.x.y.z each. Works everywhere,
//             but two pods cannot listen on the same port of 0.0.0.0.
//
// Thread-safe. The destructor removes the bridge; a bridge that a killed process of the same name
// left is replaced.

#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "base/sync.h"
#include "local/node/gateway.h"

namespace paddle::local {

// Allocates unused host numbers of a /16, ascending from the last one, so that an address is not
// reused at once. Pure.
class AddressPool {
 public:
  explicit AddressPool(unsigned size) : size_(size) {}
  Result<unsigned> take();
  void give_back(unsigned number) { taken_.erase(number); }

 private:
  unsigned size_;
  unsigned last_ = 0;
  std::set<unsigned> taken_{};
};

// The candidates for the second byte of 10.x/16: rarely used by others.
inline constexpr unsigned kFirstRange = 64;
inline constexpr unsigned kRanges = 64;
// Returns `wanted` or the next unused range; `wanted` when all are used. Pure.
unsigned free_range(unsigned wanted, const std::set<unsigned>& used);

class Network {
 public:
  // `instance` distinguishes local clusters: interface names and the address range are derived from
  // it.
  static std::unique_ptr<Network> bridge_or_loopback(const std::string& instance);
  static std::unique_ptr<Network> loopback(const std::string& instance, std::string why);
  ~Network();

  bool bridged() const { return bridged_; }
  const std::string& why_not_bridged() const { return why_not_; }  // set in loopback mode
  const std::string& why_closed() const { return why_closed_; }    // set when there is no gateway
  std::string host_address() const;
  std::string range() const;  // "10.70.0.0/16"

  Result<std::string> take_address() EXCLUDES(mutex_);
  void give_back(const std::string& address) EXCLUDES(mutex_);
  // Connects the network namespace of `pid` to the bridge with `address`.
  Result<> plug(int pid, const std::string& address);

 private:
  Network(const std::string& instance, unsigned range);
  std::string address_of(unsigned number) const;
  Result<> make_bridge();

  const std::string bridge_;
  unsigned range_;  // second byte of 10.x/16 or 127.x/16; constant once there is a bridge
  bool bridged_ = false;
  std::string why_not_{};
  std::string why_closed_{};
  std::unique_ptr<Gateway> gateway_{};
  Mutex mutex_;
  AddressPool pool_ GUARDED_BY(mutex_){65'000};
};

}  // namespace paddle::local
