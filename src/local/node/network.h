// SPDX-License-Identifier: Apache-2.0
//
// Addresses for pods on one machine. Two ways, chosen once:
//
//   bridge    each pod has a network namespace of its own, a veth on a bridge of ours and an
//             address that the machine and the other pods reach, and a way to the outside through
//             the machine (gateway.h) where that can be had; needs the right to make them.
//   loopback  pods share the machine's network and get an address 127.x.y.z each; works everywhere,
//             but nothing keeps two pods from wanting the same port on 0.0.0.0.
//
// Thread-safe. The bridge goes when the object goes; a bridge left by a killed process of the same
// name is taken over.

#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "base/sync.h"
#include "local/node/gateway.h"

namespace paddle::local {

// Hands out host numbers of a /16 that are not in use; lowest first after the last one given, so
// that an address is not used again at once. Pure.
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

// Second bytes of 10.x/16 that we choose from: away from what people usually configure.
inline constexpr unsigned kFirstRange = 64;
inline constexpr unsigned kRanges = 64;
// The one wanted, or the next that nobody uses; the one wanted when all are used. Pure.
unsigned free_range(unsigned wanted, const std::set<unsigned>& used);

class Network {
 public:
  // `instance` keeps two local clusters apart: interface names and the address range follow from
  // it.
  static std::unique_ptr<Network> bridge_or_loopback(const std::string& instance);
  static std::unique_ptr<Network> loopback(const std::string& instance, std::string why);
  ~Network();

  bool bridged() const { return bridged_; }
  const std::string& why_not_bridged() const { return why_not_; }  // one sentence when loopback
  const std::string& why_closed() const { return why_closed_; }    // no way out: one sentence
  std::string host_address() const;
  std::string range() const;  // "10.70.0.0/16"

  Result<std::string> take_address() EXCLUDES(mutex_);
  void give_back(const std::string& address) EXCLUDES(mutex_);
  // Plugs the namespace of `pid` into the bridge under `address`.
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
