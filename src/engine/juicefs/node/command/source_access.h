// SPDX-License-Identifier: Apache-2.0
//
// How `juicefs sync` is given a source: its URI, and credentials by environment. Pure.
//
// Keys are passed in the variables of api/source_schemes.h. A scheme that takes keys only as
// "user:password@" in the URI would show them in a list of processes and is refused when there are
// keys. s3 without keys is read anonymously.
//
// A Secret may hold `endpoint`: it is appended to a URI that has only a bucket, and "http://" in
// front of it means a server without TLS. `region`, where the storage wants one. `ca.crt`: who
// signs its certificates.

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
