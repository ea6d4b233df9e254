// SPDX-License-Identifier: Apache-2.0
//
// How `juicefs sync` is given a source: its URI, and credentials by environment. Pure.
//
// Each kind of storage has variables of its own; those that know none but "user:password@" in the
// URI would show the keys in a list of processes and are refused when there are keys.
//
//   s3, minio               AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; s3 without
//                           keys is asked anonymously
//   bos, oss, cos, obs, eos, scw, wasb, hdfs   their own
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
