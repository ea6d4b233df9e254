// SPDX-License-Identifier: Apache-2.0
//
// The file calls of a store in memory, for tests. Every change is recorded, so that crash() can
// make the disk as a power failure leaves it after any of them: what was synced is there, of the
// rest any part. fault() makes calls fail.
//
// A change is a write, a punch, or a change of names. A write that is lost may be lost from any
// sector on. Names are durable once their directory was synced, bytes once their file was.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/sync.h"
#include "samplefs/store/file_layer.h"

namespace paddle::samplefs {

class MemoryFiles final : public FileLayer {
 public:
  enum class Call { kOpen, kRead, kWrite, kSync, kPunch, kRemove };
  // Returns the errno of a call, 0 to let it happen. May be called by several threads.
  using Fault = std::function<int(Call call, const std::string& name)>;

  explicit MemoryFiles(std::uint64_t boot = 1) : boot_(boot) {}

  int open_directory(const std::string& path, bool create,
                     std::unique_ptr<StoreDirectory>& into) override;
  std::uint64_t boot() override { return boot_; }

  void fault(Fault fault) EXCLUDES(mutex_);
  // Changes and syncs so far.
  std::size_t steps() const EXCLUDES(mutex_);
  // The disk after a power failure behind `steps` steps, on a machine that started again. `keep`
  // decides which of the changes that were not synced are there: all bytes (1), none (0), a part.
  // `file` is the name under which the file was made; empty for a change of names.
  using Keep = std::function<double(const std::string& file)>;
  std::unique_ptr<MemoryFiles> crash(std::size_t steps, const Keep& keep) const EXCLUDES(mutex_);
  // The same machine after the process was killed: nothing is lost.
  std::unique_ptr<MemoryFiles> kill(std::size_t steps) const EXCLUDES(mutex_);

  std::string content(const std::string& name) const EXCLUDES(mutex_);
  void set_content(const std::string& name, const std::string& bytes) EXCLUDES(mutex_);
  std::vector<std::string> names() const EXCLUDES(mutex_);
  void unlink_all() EXCLUDES(mutex_);  // as `rm -rf` of the directory
  // From now on syncs succeed and do nothing.
  void lie_about_syncs() EXCLUDES(mutex_);

  // One file, with or without a name.
  struct Node {
    std::string bytes{};
    std::map<std::uint64_t, bool> holes{};  // pages that were punched or never written
    bool linked = true;
  };
  using NodePtr = std::shared_ptr<Node>;

 private:
  friend class MemoryFile;
  friend class MemoryDirectory;

  enum class Kind { kWrite, kPunch, kCreate, kRename, kRemove, kSyncFile, kSyncNames };
  struct Step {
    Kind kind = Kind::kWrite;
    std::size_t node = 0;  // its number
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::string bytes{};
    std::string name{};
    std::string to{};
  };

  int check(Call call, const std::string& name) const EXCLUDES(mutex_);
  void apply(const Step& step) REQUIRES(mutex_);
  void record(Step step) REQUIRES(mutex_);

  const std::uint64_t boot_;
  mutable Mutex mutex_;
  Fault fault_ GUARDED_BY(mutex_);
  std::vector<Step> steps_ GUARDED_BY(mutex_);
  std::vector<NodePtr> nodes_ GUARDED_BY(mutex_);
  std::map<std::string, std::size_t> names_ GUARDED_BY(mutex_);
  bool locked_ GUARDED_BY(mutex_) = false;
  bool in_place_ GUARDED_BY(mutex_) = true;
  bool lies_ GUARDED_BY(mutex_) = false;
};

}  // namespace paddle::samplefs
