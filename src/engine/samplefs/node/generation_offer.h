// SPDX-License-Identifier: Apache-2.0
//
// Offers a generation to the node as soon as the cache has every byte of it, for a sealed view
// (sealed/offer/offer.h), and withdraws it before that ends.
//
// An offer outlives the process: the next one, which finds the same generation complete, leaves it
// as it is, so that a node keeps its view when the runtime is restarted.
//
// Thread-safe.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "samplefs/index.h"
#include "sealed/offer/offer.h"

namespace paddle::engine::samplefs {

class GenerationOffer {
 public:
  // `session`: shared with the node. `state`: of the indexes. `tiers`: directories of the store.
  GenerationOffer(std::string session, std::string state, std::vector<std::string> tiers,
                  const Clock& clock = system_clock());

  // Whether this generation is offered.
  bool offers(const ::paddle::samplefs::Index& index) const EXCLUDES(mutex_);
  // Offers the generation whose index file has this name. REQUIRES: the cache has all of it,
  // synced; `round` is round() from before that was found out. Nothing happens when offers were
  // withheld since.
  void offer(const ::paddle::samplefs::Index& index, const std::string& file, std::uint64_t round)
      EXCLUDES(mutex_);
  std::uint64_t round() const EXCLUDES(mutex_);
  void withdraw() EXCLUDES(mutex_);

  // While it lives, nothing is offered: for what changes the generation or drops blocks.
  class Withheld {
   public:
    explicit Withheld(GenerationOffer& offer);  // withdraws
    ~Withheld();
    Withheld(const Withheld&) = delete;
    Withheld& operator=(const Withheld&) = delete;
    // Returns when the node shows no view of what was withdrawn to those who open a file from then
    // on, and false when `limit` has passed before.
    bool await_node(std::chrono::milliseconds limit) const;

   private:
    GenerationOffer& offer_;
    std::uint64_t number_ = 0;
  };

  // What the node has written; nothing when it has written nothing yet.
  std::optional<sealed::ViewState> view() const;

 private:
  bool publish(const sealed::Offer& next) const;

  const std::string file_;
  const std::string view_file_;
  const std::string state_;
  const std::vector<std::string> tiers_;
  const Clock& clock_;

  mutable Mutex mutex_;
  int withheld_ GUARDED_BY(mutex_) = 0;
  std::uint64_t round_ GUARDED_BY(mutex_) = 0;  // how often offers were withheld
  std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
  std::optional<sealed::Offer> current_ GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
