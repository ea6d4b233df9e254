// SPDX-License-Identifier: Apache-2.0
//
// How the one who mounted gives a FUSE connection to the one who answers it: over a unix socket
// `attach.sock` in a directory that both can see, with the descriptors as ancillary data.
//
//   node     TRY(Attached first, attach(directory, name, channels, {}, limit));   after mount(2)
//            ... poll(first.link): readable = nobody serves this mount any more ...
//            TRY(Attached next, attach(directory, name, channels, first.agreed, limit));
//   runtime  AttachServer::start(directory, [](Attachment a) { Session::start(...) ... })
//
// One request per connection. The answer comes after INIT was answered (or taken over), so that
// whoever looks at the mount then sees the files. The channels stay the caller's: it keeps them as
// long as the mount is to survive its servers.
//
// After the answer the connection stays open while the mount is served, and says nothing more. It
// ends (POLLIN and POLLHUP at the caller's `link`) when the server is killed, stops, or serves this
// name no longer: it was replaced by a later attach() of that name, or the mount is gone. Closing
// the caller's end has no effect on what is served.
//
// The socket is 0600 in a directory of 0700; only the same user or root is heard (SO_PEERCRED).
// Paths of any length work (/proc/self/fd).

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
  Negotiated agreed{};  // to be given to the successor
  UniqueFd link{};      // readable once nobody serves; poll it, read nothing
};

// What the server's handler gets.
struct Attachment {
  std::string name{};  // of the mount: a later one of the same name replaces it
  std::vector<UniqueFd> channels{};
  std::optional<Negotiated> resumed{};  // what a predecessor agreed on
  UniqueFd link{};         // to be kept as long as it is served: its end tells the node
  std::stop_token stop{};  // the server ends: whatever waits should not
};

// kUnavailable: nobody listens (yet), or it died over the request; kDeadline: no answer within
// `limit`; kCancelled: `stop`; kInvalid: no or too many channels, or a name that is no short line.
// The server's own error otherwise. After any failure the same call may be made again.
Result<Attached> attach(const std::string& directory, const std::string& name,
                        const std::vector<int>& channels, const std::optional<Negotiated>& resumed,
                        std::chrono::milliseconds limit, std::stop_token stop = {});

class AttachServer {
 public:
  // Runs on the server's one thread.
  using Handler = std::function<Result<Negotiated>(Attachment)>;

  // A socket left by a killed predecessor is replaced; the directory has to be there.
  static Result<std::unique_ptr<AttachServer>> start(const std::string& directory, Handler handler);
  // Removes the socket, unless it is a successor's. Links that the handler kept stay open.
  ~AttachServer();

 private:
  class Impl;
  explicit AttachServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::fuse
