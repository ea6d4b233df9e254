// SPDX-License-Identifier: Apache-2.0
//
// The embedded API server as a Cluster in this process, without sockets, for tests that decide
// themselves what happens when. Its validation, defaults, conflicts and garbage collection are
// those of users; its times are the test's.
//
//   EmbeddedServer server(clock);
//   EmbeddedCluster watched(server), direct(server);   // informers; everything else
//   server.deliver();   // every watch has handed over every change
//
// Watches deliver in deliver() only, one after another in the order of what they watch, so that the
// same test sees the same order on a slow machine.
//
// A Defect takes the mend of one known defect out of what a controller writes: a test that does not
// notice it would not have found the defect.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/sync.h"
#include "kube/cluster.h"
#include "local/api_server/api.h"
#include "local/api_server/storage.h"
#include "local/api_server/writer.h"
#include "test/support/scratch_dir.h"

namespace paddle::walks {

// How fast the informers' threads are: what a test does must not depend on it.
enum class Pace { kUsual, kSlowInformers };

class EmbeddedServer {
 public:
  EmbeddedServer(const std::string& directory, const Clock& clock, std::uint64_t seed,
                 Pace pace = Pace::kUsual);
  ~EmbeddedServer();

  local::Reply handle(const local::Request& request);
  std::uint64_t revision();
  // Of all writes and their answers until now, but for what certificates are made of.
  std::uint64_t digest() const { return digest_; }
  // Waits until as many watches are open as lists were made for one; then each delivers all changes
  // on the caller's thread, which is also the one that writes.
  void deliver() EXCLUDES(mutex_);
  void slow_down() const;  // a thread of an informer
  // How many informers there are to wait for: called by the cluster that they use.
  void expect_watch() EXCLUDES(mutex_);
  void forget_watch() EXCLUDES(mutex_);
  void forget_watches() EXCLUDES(mutex_);  // of an operator that has ended
  using Sink = std::function<Result<>(std::string_view)>;
  // Registers a watch and waits until it ends or `stop`. `what`: its place in the order.
  Result<> stream(const std::string& what, local::Stream& changes, const Sink& sink,
                  const std::stop_token& stop) EXCLUDES(mutex_);

 private:
  struct Watcher {
    local::Stream& changes;
    const Sink& sink;
    bool behind = true;  // there may be changes
    std::optional<Result<>> end{};
  };
  std::vector<Watcher*> behind() EXCLUDES(mutex_);
  void deliver(Watcher& watcher) EXCLUDES(mutex_);

  const Pace pace_;
  Random random_;
  std::unique_ptr<local::Storage> storage_;
  local::Writer writer_;
  local::Api api_;

  std::uint64_t digest_ = 0;

  Mutex mutex_;
  CondVar changed_;
  std::multimap<std::string, Watcher> watchers_ GUARDED_BY(mutex_){};  // by what they watch
  size_t expected_ GUARDED_BY(mutex_) = 0;
};

enum class Defect {
  kNone,
  kForgetsSuccess,    // A2: the status does not remember which pods have succeeded
  kMergesTemplates,   // A4: what is removed from a SampleSet stays in its StatefulSet
  kIgnoresTemplates,  // A5: pods do not know from which template they were made
};

class EmbeddedCluster final : public kube::Cluster {
 public:
  explicit EmbeddedCluster(EmbeddedServer& server, Defect defect = Defect::kNone,
                           bool for_informers = false)
      : server_(server), defect_(defect), for_informers_(for_informers) {}

  Result<kube::Json> get(const kube::Resource&, const kube::ObjectKey&,
                         const kube::Call& = {}) override;
  Result<std::string> list(const kube::Resource&, const kube::ListOptions&,
                           const kube::ItemSink& sink, const kube::Call& = {}) override;
  Result<> watch(const kube::Resource&, const kube::WatchOptions&, const kube::EventSink& sink,
                 const kube::Call& = {}) override;
  Result<kube::Json> create(const kube::Resource&, const kube::Json& object,
                            const kube::Call& = {}) override;
  Result<kube::Json> update(const kube::Resource&, const kube::Json& object,
                            const std::string& sub = {}, const kube::Call& = {}) override;
  Result<kube::Json> patch(const kube::Resource&, const kube::ObjectKey&, const kube::Patch&,
                           const std::string& sub = {}, const kube::Call& = {}) override;
  Result<> remove(const kube::Resource&, const kube::ObjectKey&, const kube::DeleteOptions& = {},
                  const kube::Call& = {}) override;
  Result<kube::Json> get_sub(const kube::Resource&, const kube::ObjectKey&, const std::string& sub,
                             const kube::Call& = {}) override;

  // Calls are refused from now on, as to an operator that was killed.
  void cut() { cut_ = true; }

 private:
  Result<kube::Json> exchange(const local::Request& request) const;

  EmbeddedServer& server_;
  const Defect defect_;
  const bool for_informers_;
  std::atomic<bool> cut_{false};
};

// Every object of the resource.
std::vector<kube::Json> all(kube::Cluster& cluster, const kube::Resource& resource);

}  // namespace paddle::walks
