// SPDX-License-Identifier: Apache-2.0
//
// Addresses for pods on one machine. Two ways, chosen once:
//
//   bridge    each pod has a network namespace of its own, a veth on a bridge of ours and an
//   address
//             that the machine and the other pods reach; needs the right to make them.
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

class Network {
 public:
  // `instance` keeps two local clusters apart: interface names and the address range follow from
  // it.
  static std::unique_ptr<Network> bridge_or_loopback(const std::string& instance);
  ~Network();

  bool bridged() const { return bridged_; }
  const std::string& why_not_bridged() const { return why_not_; }  // one sentence when loopback
  std::string host_address() const;

  Result<std::string> take_address() EXCLUDES(mutex_);
  void give_back(const std::string& address) EXCLUDES(mutex_);
  // Plugs the namespace of `pid` into the bridge under `address`.
  Result<> plug(int pid, const std::string& address);

 private:
  Network(const std::string& instance, unsigned range);
  std::string address_of(unsigned number) const;
  Result<> make_bridge();

  const std::string bridge_;
  const unsigned range_;  // second byte of 10.x/16 or 127.x/16
  bool bridged_ = false;
  std::string why_not_{};
  Mutex mutex_;
  AddressPool pool_ GUARDED_BY(mutex_){65'000};
};

}  // namespace paddle::local
