// SPDX-License-Identifier: Apache-2.0
//
// A mount and the session that serves it, in one process: what `paddlectl local` and tests use.
// Elsewhere the node mounts and keeps the descriptors, and the runtime only serves (attach.h).
//
//   TRY(auto mount, DataMount::start("/mnt/samples", files, metrics));
//
// start() returns after INIT was answered: the files are visible then. It first removes a dead
// mount that a killed predecessor left at the path. unmount() and the destructor unmount within
// `grace`, detach otherwise, and then end the connection, so that a process which still reads gets
// an error instead of waiting for ever.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "fuse/mount.h"
#include "fuse/session.h"

namespace paddle::fuse {

struct DataMountOptions {
  MountOptions mount{};
  SessionOptions session{};
  std::size_t channels = 2;  // descriptors of the connection; each has its own queue in the kernel
  std::chrono::milliseconds init_limit{10'000};
  std::chrono::milliseconds grace{2'000};
};

class DataMount {
 public:
  static Result<std::unique_ptr<DataMount>> start(const std::string& path,
                                                  samplefs::FileSystem& files, Metrics& metrics,
                                                  DataMountOptions options = {});
  ~DataMount();

  Result<Unmounted> unmount();  // idempotent

  Session& session() { return *session_; }
  const Negotiated& agreed() const { return agreed_; }
  const std::string& point() const { return point_; }
  const std::string& device() const { return device_; }

 private:
  DataMount() = default;

  std::string point_{};
  std::string device_{};
  std::chrono::milliseconds grace_{};
  Negotiated agreed_{};
  std::unique_ptr<Session> session_{};
};

}  // namespace paddle::fuse
