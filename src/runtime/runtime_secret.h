// SPDX-License-Identifier: Apache-2.0
//
// By what the runtimes of a set and those who ask them know each other: the data of the Secret
// `<set>-runtime`. A token for who asks; a certificate for who answers, of an authority that is
// made with it and whose key nobody keeps.
//
// Renewed, it holds the token and the authority before as well: a Secret reaches the runtimes'
// files only after a minute or so, and nobody may be locked out meanwhile. Thread-safe.

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

// What a Secret holds; a value that is no base64 is left out.
SecretData secret_values(const api::Json& secret);

// Its keys, beside engine::kTokenKey.
inline constexpr const char* kTokenBefore = engine::kTokenBeforeKey;
inline constexpr const char* kAuthority = engine::kAuthorityKey;
inline constexpr const char* kCertificate = "tls.crt";
inline constexpr const char* kKey = "tls.key";

// How long an identity is good; it is renewed in about the middle of that. A Secret reaches the
// files of pods after a minute or two, and only the one before is good beside it: on a cluster a
// life of less than ten minutes locks callers out.
struct RuntimeSecretOptions {
  std::chrono::seconds lifetime = engine::kRuntimeSecretLifetime;
  bool operator==(const RuntimeSecretOptions&) const = default;
};

// In the certificate of each runtime of the set: "<set>-runtime.<ns>".
std::string server_name(const std::string& ns, const std::string& set);

// `before`: what the Secret holds; empty for the first one.
Result<SecretData> make_runtime_secret(const std::string& ns, const std::string& set,
                                       const SecretData& before, WallTime now,
                                       const RuntimeSecretOptions& options = {});

// How to speak to the runtimes of a set whose Secret this is; `tls`: theirs is an engine that
// serves it (engine/manifests.h).
RuntimeCredentials credentials_from(const SecretData& data, const std::string& ns,
                                    const std::string& set, bool tls);
// Whether a runtime could be spoken to with it: there is a token and, with TLS, an authority that
// can be read.
bool is_complete(const RuntimeCredentials& access);

// When it is time: in the middle of its life. Long ago when something is missing or can not be
// read.
WallTime renewal_of(const SecretData& data);
bool needs_renewal(const SecretData& data, WallTime now);

}  // namespace paddle::runtime
