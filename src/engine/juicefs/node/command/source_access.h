// SPDX-License-Identifier: Apache-2.0
//
// How a source is passed to `juicefs sync`: its URI, and its credentials in the environment. Pure.
//
// Keys are passed in the variables of api/source_schemes.h. A scheme that takes keys only as
// "user:password@" in the URI would show them in a list of processes and is refused when there are
// keys. s3 without keys is read anonymously.
//
// Keys of the Secret: `access-key`, `secret-key`, `session-token`; `endpoint`, appended to a URI
// that has only a bucket, where "http://" means a server without TLS; `region`; `ca.crt`, the
// authority of the server's certificates.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/juicefs/node/command/secret_values.h"

namespace paddle::engine::juicefs {

struct SourceAccess {
  std::string uri{};               // without credentials
  std::vector<std::string> env{};  // "NAME=value"
  bool no_https = false;
  bool operator==(const SourceAccess&) const = default;
};

// kInvalid: one sentence, without a value of the Secret.
Result<SourceAccess> source_access(const std::string& uri, const SecretValues& secret);

}  // namespace paddle::engine::juicefs
