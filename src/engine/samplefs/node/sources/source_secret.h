// SPDX-License-Identifier: Apache-2.0
//
// What the Secret of a source says: credentials, and how its server is to be used. Its keys:
//
//   access-key, secret-key, session-token   credentials; none: anonymous
//   endpoint, region                        scheme://host[:port]; absent: AWS
//   ca.crt          PEM: the authority of the server's certificate, instead of the system's
//   address-style   path (http://host/bucket/key, the default) or virtual (http://bucket.host/key)
//   bwlimit         Mbit/s: the budget of all that this runtime transfers from the source
//   list-threads    how many parts of a listing are fetched at the same time: 1 to 64
//   version-ids     true: list version ids, so that overwritten versions of a versioned bucket stay
//                   readable
//   etag-is-md5     false: ETags of the server only look like MD5s, and are not checked
//
// Pure, but for read_source_secret().

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/samplefs/node/sources/source_keys.h"
#include "source/s3/sigv4.h"

namespace paddle::engine::samplefs {

struct SourceSecret {
  source::S3Credentials credentials{};
  std::string endpoint{};
  std::string region{};
  std::string ca_pem{};
  bool path_style = true;
  std::uint64_t bytes_per_second = 0;  // 0: no limit
  std::optional<std::size_t> list_threads{};
  bool version_ids = false;
  bool etag_is_md5 = true;
  bool operator==(const SourceSecret& other) const;
};

// kInvalid: one sentence about a value that is wrong, without the values of credentials.
Result<SourceSecret> source_secret_of(KeyValues keys);

// From the files of a directory (a mounted Secret), each of which may be missing.
Result<SourceSecret> read_source_secret(const std::string& directory);

}  // namespace paddle::engine::samplefs
