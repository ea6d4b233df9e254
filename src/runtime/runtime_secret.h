// SPDX-License-Identifier: Apache-2.0
//
// The Secret `<set>-runtime`, by which the runtimes of a set and their callers authenticate each
// other: a token of the callers, and a serving certificate of the runtimes. Its authority is made
// with it, and the authority's key is discarded.
//
// A renewed Secret also has the previous token and authority: it reaches the runtimes' files only
// after a minute or so, and calls must succeed meanwhile. After kPreviousSecretLifetime they are
// taken out. Thread-safe.

#pragma once

#include <chrono>
#include <map>
#include <string>

#include "api/json/json.h"
#include "base/clock.h"
#include "base/result.h"
#include "engine/names.h"
#include "engine/time_limits.h"
#include "runtime/client.h"

namespace paddle::runtime {

using SecretData = std::map<std::string, std::string>;  // not encoded

// The decoded data of a Secret; values that are not base64 are left out.
SecretData secret_values(const api::Json& secret);

// Keys of the Secret, beside engine::kTokenKey.
inline constexpr const char* kTokenBefore = engine::kTokenBeforeKey;
inline constexpr const char* kAuthority = engine::kAuthorityKey;
inline constexpr const char* kCertificate = "tls.crt";
inline constexpr const char* kKey = "tls.key";

// How long token and certificate are valid; they are renewed in the middle of that time. A lifetime
// of less than kShortestSecretLifetime would lock callers out of a cluster (engine/time_limits.h).
struct RuntimeSecretOptions {
  std::chrono::seconds lifetime = engine::kRuntimeSecretLifetime;
  bool operator==(const RuntimeSecretOptions&) const = default;
};

// The DNS name in the certificate of each runtime of the set: "<set>-runtime.<ns>".
std::string server_name(const std::string& ns, const std::string& set);

// `before`: the current data of the Secret; empty for the first one.
Result<SecretData> make_runtime_secret(const std::string& ns, const std::string& set,
                                       const SecretData& before, WallTime now,
                                       const RuntimeSecretOptions& options = {});
// The same Secret without the previous token and authority.
SecretData without_previous(SecretData data);

// The credentials for calls to the runtimes of a set with this Secret. `tls`: its engine serves TLS
// (engine/manifests.h).
RuntimeCredentials credentials_from(const SecretData& data, const std::string& ns,
                                    const std::string& set, bool tls);
// Whether a runtime can be called with them: there is a token and, with TLS, a valid authority.
bool is_complete(const RuntimeCredentials& access);

// When the Secret is due for renewal: in the middle of its lifetime, or in the past when something
// is missing or damaged.
WallTime renewal_of(const SecretData& data);
bool needs_renewal(const SecretData& data, WallTime now);

}  // namespace paddle::runtime
