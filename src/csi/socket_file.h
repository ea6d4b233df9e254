// SPDX-License-Identifier: Apache-2.0
//
// The file of a socket that somebody else finds by its name. It is published ready: listening and
// 0600 under its final name from the first moment, in place of whatever a killed predecessor left.
// From then on it may vanish or be taken over by another process; state() tells.

#pragma once

#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace paddle::csi {

class SocketFile {
 public:
  enum class State { kOurs, kGone, kReplaced };

  // `hidden` is a socket that listens already; it is renamed to `shown`.
  static Result<SocketFile> publish(const std::string& hidden, const std::string& shown);
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;
  ~SocketFile();  // removes it when it is still ours

  State state() const;

 private:
  SocketFile(std::string path, dev_t device, ino_t inode);

  std::string path_;  // empty: moved from
  dev_t device_;
  ino_t inode_;
};

}  // namespace paddle::csi
