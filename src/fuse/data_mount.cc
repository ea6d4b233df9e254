// SPDX-License-Identifier: Apache-2.0
#include "fuse/data_mount.h"

#include <utility>

#include "base/log.h"

namespace paddle::fuse {

Result<std::unique_ptr<DataMount>> DataMount::start(const std::string& path,
                                                    samplefs::FileSystem& files, Metrics& metrics,
                                                    DataMountOptions options) {
  TRY(const int dead, clear_dead(path));
  if (dead > 0) log::info("removed a dead mount", {{"path", path}, {"count", dead}});

  options.mount.max_read = options.session.init_options.max_read;
  TRY(Mounted mounted, mount_data(path, options.mount));

  // From here on the destructor unmounts.
  std::unique_ptr<DataMount> mount(new DataMount);
  mount->point_ = mounted.point;
  mount->device_ = mounted.device;
  mount->grace_ = options.grace;

  std::vector<UniqueFd> channels;
  if (options.channels > 1) {
    if (auto clones = clone_device(mounted.channel.get(), options.channels - 1)) {
      channels = *std::move(clones);
    } else {
      log::info("one FUSE channel only", {{"reason", clones.error().message}});
    }
  }
  channels.insert(channels.begin(), std::move(mounted.channel));
  TRY(mount->session_, Session::start(std::move(channels), files, metrics, options.session));
  TRY(mount->agreed_, mount->session_->wait_ready(options.init_limit));
  return mount;
}

DataMount::~DataMount() {
  if (auto done = unmount(); !done) {
    log::error("cannot unmount", {{"path", point_}, {"reason", done.error().message}});
  }
}

Result<Unmounted> DataMount::unmount() {
  if (point_.empty()) return Unmounted::kNothing;
  auto done = fuse::unmount(point_, device_, grace_);
  if (session_) session_->stop();
  session_.reset();
  if (done) point_.clear();
  return done;
}

}  // namespace paddle::fuse
