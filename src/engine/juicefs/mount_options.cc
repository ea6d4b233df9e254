// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/mount_options.h"

#include <cstdlib>
#include <map>
#include <optional>

#include "api/schema/pattern.h"

namespace paddle::engine::juicefs {
namespace {

constexpr double kLeastFree = 0.05;

// Collects options, and the first error.
class Gatherer {
 public:
  void number(const char* name, const std::optional<std::int64_t>& value) {
    if (!value) return;
    if (*value < 0) fail(name, "is less than 0");
    all_[name] = std::to_string(*value);
  }
  // `wanted`: the pattern in words, for the error.
  void text(const char* name, const std::optional<std::string>& value, const char* pattern,
            const char* wanted, const char* as = nullptr) {
    if (!value) return;
    if (value->empty()) return fail(name, "is empty");
    if (!api::matches_pattern(*value, pattern)) return fail(name, wanted);
    all_[as ? as : name] = *value;
  }
  void flag(const char* name, const std::optional<bool>& value) {
    if (value.value_or(false)) all_[name] = "";
  }
  void fail(const std::string& name, const std::string& reason) {
    if (!error_) {
      error_ = Error{Code::kInvalid, "spec.csi.juiceFSMountOptions." + name + " " + reason};
    }
  }
  Result<std::string> done() const {
    if (error_) return *error_;
    std::string joined;
    for (const auto& [name, value] : all_) {
      joined += (joined.empty() ? "" : ",") + name + (value.empty() ? "" : "=" + value);
    }
    return joined;
  }

 private:
  std::map<std::string, std::string> all_{};
  std::optional<Error> error_{};
};

}  // namespace

Result<std::string> mount_options(const api::SampleSet& set, const Tiers& tiers) {
  Gatherer gather;
  std::string directories;
  for (const auto& each : tiers.directories) directories += (directories.empty() ? "" : ":") + each;
  if (set.spec.csi && set.spec.csi->juicefs) {
    const api::JuiceFSMountOptions& given = *set.spec.csi->juicefs;
    gather.text("metrics", given.metrics, api::kMountAddress, "is not host:port");
    gather.number("attr-cache", given.attr_cache);
    gather.number("entry-cache", given.entry_cache);
    gather.number("dir-entry-cache", given.dir_entry_cache);
    gather.flag("enable-xattr", given.enable_xattr);
    gather.number("get-timeout", given.get_timeout);
    gather.number("put-timeout", given.put_timeout);
    gather.number("io-retries", given.io_retries);
    gather.number("max-uploads", given.max_uploads);
    gather.number("buffer-size", given.buffer_size);
    gather.number("prefetch", given.prefetch);
    gather.flag("writeback", given.writeback);
    gather.flag("cache-partial-only", given.cache_partial_only);
    gather.number("open-cache", given.open_cache);
    gather.text("sub-dir", given.sub_dir, api::kMountSubDir,
                "has other characters than letters, digits and . _ / -", "subdir");
    if (given.sub_dir && api::matches_pattern(*given.sub_dir, api::kUpwards)) {
      gather.fail("sub-dir", "has a segment '..', which would lead out of the volume");
    }
    gather.text("free-space-ratio", given.free_space_ratio, api::kMountRatio,
                "is not a number of at least 0 and less than 1");
    if (given.free_space_ratio &&
        std::strtod(given.free_space_ratio->c_str(), nullptr) < kLeastFree) {
      gather.fail("free-space-ratio",
                  "is less than 0.05: a cache must leave its node's disk some room");
    }
  }
  gather.text("cache-dir", directories, api::kMountCacheDir,
              "has other characters than letters, digits and . _ / @ % + -");
  gather.number("cache-size", tiers.mib);
  return gather.done();
}

}  // namespace paddle::engine::juicefs
