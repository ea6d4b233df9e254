// SPDX-License-Identifier: Apache-2.0
//
// Hands a FUSE connection from the process that mounted it to the process that serves it: over the
// unix socket `attach.sock` in a directory that both can see, with the descriptors as ancillary
// data (SCM_RIGHTS).
//
//   node     TRY(Attached first, attach(directory, name, channels, {}, limit));   after mount(2)
//            ... poll(first.link): readable = no process serves the mount ...
//            TRY(Attached next, attach(directory, name, channels, first.agreed, limit));
//   runtime  AttachServer::start(directory, [](Attachment a) { Session::start(...) ... })
//
// One request per connection. The server replies after INIT was answered (or taken over), so that
// the files are visible when attach() returns. The caller keeps the channels: they must stay open
// as long as the mount is to survive its servers.
//
// After the reply the connection stays open and silent while the mount is served. It ends (POLLIN
// and POLLHUP at the caller's `link`) when the server is killed, stops, or no longer serves this
// name: a later attach() of that name replaced it, or the mount is gone. Closing the caller's end
// has no effect on the mount.
//
// The socket is 0600 in a directory of 0700; requests are accepted from the same user and from root
// only (SO_PEERCRED). Paths of any length work (/proc/self/fd).

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "fuse/negotiate.h"

namespace paddle::fuse {

// What attach() returns.
struct Attached {
  Negotiated agreed{};  // pass it to the successor's attach()
  UniqueFd link{};      // readable once no process serves; poll it, do not read
};

// What the server's handler gets.
struct Attachment {
  std::string name{};  // of the mount; a later attachment of the same name replaces it
  std::vector<UniqueFd> channels{};
  std::optional<Negotiated> resumed{};  // negotiated by a predecessor
  UniqueFd link{};         // keep it open while the mount is served: its end notifies the node
  std::stop_token stop{};  // requested when the server ends: stop waiting
};

// kUnavailable: no server listens (yet), or it died during the request; kDeadline: no reply within
// `limit`; kCancelled: `stop`; kInvalid: no channels, too many, or an invalid name
// (is_attach_name). Otherwise the server's own error. The same call may be repeated after any
// failure.
Result<Attached> attach(const std::string& directory, const std::string& name,
                        const std::vector<int>& channels, const std::optional<Negotiated>& resumed,
                        std::chrono::milliseconds limit, std::stop_token stop = {});

class AttachServer {
 public:
  // Called on the server's only thread.
  using Handler = std::function<Result<Negotiated>(Attachment)>;

  // Replaces a socket that a killed predecessor left. The directory must exist.
  static Result<std::unique_ptr<AttachServer>> start(const std::string& directory, Handler handler);
  // Removes the socket, unless a successor has replaced it. Links that the handler keeps stay open.
  ~AttachServer();

 private:
  class Impl;
  explicit AttachServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::fuse
