// SPDX-License-Identifier: Apache-2.0
#include "source/memory_source.h"

#include <cstring>
#include <vector>

#include "source/path_rules.h"

namespace paddle::source {

void MemorySource::put(const std::string& path, std::string bytes) {
  Lock lock(mutex_);
  const auto version = ++versions_;
  objects_[path] = Version{.bytes = std::move(bytes),
                           .etag = "v" + std::to_string(version),
                           .modified = WallTime{std::chrono::seconds{1'700'000'000 + version}}};
}

void MemorySource::remove(const std::string& path) {
  Lock lock(mutex_);
  objects_.erase(path);
}

std::uint64_t MemorySource::reads() const {
  Lock lock(mutex_);
  return reads_;
}

std::uint64_t MemorySource::bytes_read() const {
  Lock lock(mutex_);
  return bytes_read_;
}

Result<Listed> MemorySource::list(const ObjectSink& sink, std::stop_token stop) {
  std::vector<Object> found;
  Listed listed;
  {
    Lock lock(mutex_);
    for (const auto& [path, version] : objects_) {
      if (const auto why = why_no_path(path); !why.empty()) {
        listed.left_out.add(path, why);
        continue;
      }
      found.push_back({.path = path,
                       .size = version.bytes.size(),
                       .etag = version.etag,
                       .modified = version.modified});
    }
  }
  for (Object& object : found) {
    if (stop.stop_requested()) return Error{Code::kCancelled, "the listing was stopped"};
    ++listed.objects;
    listed.bytes += object.size;
    CHECK_DONE(sink(std::move(object)));
  }
  return listed;
}

Result<> MemorySource::read(std::string_view path, std::string_view etag, std::uint64_t offset,
                            std::span<std::byte> into, const CallContext& context) {
  if (context.stop.stop_requested()) return Error{Code::kCancelled, "the read was stopped"};
  if (into.empty()) return Done{};
  Lock lock(mutex_);
  const auto found = objects_.find(path);
  if (found == objects_.end()) return Error{Code::kNotFound, "no such object"};
  const Version& version = found->second;
  if (version.etag != etag) return Error{Code::kConflict, "the object has changed"};
  if (offset > version.bytes.size() || into.size() > version.bytes.size() - offset) {
    return Error{Code::kInvalid, "the range is past the end of the object"};
  }
  std::memcpy(into.data(), version.bytes.data() + offset, into.size());
  ++reads_;
  bytes_read_ += into.size();
  return Done{};
}

}  // namespace paddle::source
