// SPDX-License-Identifier: Apache-2.0
//
// The read verbs: get, and list in pages of one revision.
//
// A page's continue token contains the start of the next page and the revision; a token whose
// revision is compacted is 410, and the client lists again. Thread-safe.

#pragma once

#include <string>

#include "base/clock.h"
#include "local/api_server/kinds.h"
#include "local/api_server/reply.h"
#include "local/api_server/representation.h"
#include "local/api_server/storage.h"
#include "local/api_server/target.h"

namespace paddle::local {

class Reader {
 public:
  Reader(Storage& storage, const Clock& clock) : storage_(storage), clock_(clock) {}

  Reply get(const Kind& kind, const api::ObjectKey& key, const std::string& subresource,
            const Representation& representation);
  Reply list(const Kind& kind, const std::string& ns, const Target& target,
             const Representation& representation);

 private:
  Storage& storage_;
  const Clock& clock_;
};

// Parses a resourceVersion; nullopt when it is not a number. Empty is 0.
std::optional<std::uint64_t> parse_revision(const std::string& text);

}  // namespace paddle::local
