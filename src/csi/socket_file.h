// SPDX-License-Identifier: Apache-2.0
//
// The published file of a listening socket. It appears atomically under its final name, listening
// and with mode 0600, and replaces what a killed predecessor left. Later it may vanish or be
// replaced by another process; state() detects both.

#pragma once

#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace paddle::csi {

class SocketFile {
 public:
  enum class State { kOurs, kGone, kReplaced };

  // `hidden` is a listening socket; it is renamed to `shown`.
  static Result<SocketFile> publish(const std::string& hidden, const std::string& shown);
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;
  ~SocketFile();  // removes the file unless it was replaced

  State state() const;

 private:
  SocketFile(std::string path, dev_t device, ino_t inode);

  std::string path_;  // empty: moved from
  dev_t device_;
  ino_t inode_;
};

}  // namespace paddle::csi
