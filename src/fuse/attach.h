// SPDX-License-Identifier: Apache-2.0
//
// How the one who mounted gives a FUSE connection to the one who answers it: over a unix socket
// `attach.sock` in a directory that both can see, with the descriptors as ancillary data.
//
//   node     TRY(agreed, attach(directory, channels, {}, limit));        after mount(2)
//            TRY(agreed, attach(directory, channels, agreed, limit));    to a successor
//   runtime  AttachServer::start(directory, [](Attachment a) { Session::start(...) ... })
//
// One request per connection. The answer comes after INIT was answered (or taken over), so that
// whoever looks at the mount then sees the files. The channels stay the caller's: it keeps them as
// long as the mount is to survive its servers. The socket is 0600 in a directory of 0700; only the
// same user or root is heard (SO_PEERCRED).

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

struct Attachment {
  std::string name{};  // of the mount: a later one of the same name replaces it
  std::vector<UniqueFd> channels{};
  std::optional<Negotiated> resumed{};  // what a predecessor agreed on
};

// kUnavailable: nobody listens (yet). The server's own error otherwise.
Result<Negotiated> attach(const std::string& directory, const std::string& name,
                          const std::vector<int>& channels,
                          const std::optional<Negotiated>& resumed, std::chrono::milliseconds limit,
                          std::stop_token stop = {});

class AttachServer {
 public:
  // Runs on the server's one thread.
  using Handler = std::function<Result<Negotiated>(Attachment)>;

  // A socket left by a killed predecessor is replaced.
  static Result<std::unique_ptr<AttachServer>> start(const std::string& directory, Handler handler);
  ~AttachServer();

 private:
  class Impl;
  explicit AttachServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::fuse
