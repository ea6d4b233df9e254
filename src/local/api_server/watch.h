// SPDX-License-Identifier: Apache-2.0
//
// One watch: a cursor in the history of a collection, turned into the lines that a client reads.
// At most one piece is in memory, however slow the client; one that falls behind the compaction
// gets the event ERROR with 410 and lists again. Used by one thread at a time.

#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/rules/selector.h"
#include "local/api_server/kinds.h"
#include "local/api_server/reply.h"
#include "local/api_server/representation.h"
#include "local/api_server/storage.h"
#include "local/api_server/target.h"

namespace paddle::local {

struct WatchOptions {
  std::chrono::seconds bookmark_every{60};
  std::chrono::seconds longest{3600};  // when the client names no timeoutSeconds
};

// A reply with a stream, or the failure when the request makes no sense.
Reply start_watch(Storage& storage, const Clock& clock, const Kind& kind, const std::string& ns,
                  const Target& target, const Representation& representation,
                  const WatchOptions& options);

}  // namespace paddle::local
