// SPDX-License-Identifier: Apache-2.0
//
// One watch: a cursor in the history of a collection, which produces lines of events. At most one
// chunk is in memory, even for a slow client; a client that falls behind the compaction gets an
// ERROR event with 410 and lists again. Used by one thread at a time.

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
  std::chrono::seconds longest{3600};  // without timeoutSeconds
};

// A reply with a stream, or a failure for an invalid request.
Reply start_watch(Storage& storage, const Clock& clock, const Kind& kind, const std::string& ns,
                  const Target& target, const Representation& representation,
                  const WatchOptions& options);

}  // namespace paddle::local
