// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/source_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/juicefs/secret_text.h"

namespace paddle::engine::juicefs {
namespace {

// What `juicefs sync` knows, but for what lives on one machine (file, mem, sqlite3) and what its
// usual build leaves out (bunny, gluster). ceph needs a build of its own; it says so itself.
constexpr auto kSchemes = std::to_array<std::string_view>(
    {"b2",       "bos",      "ceph",  "cifs",  "cos",   "dragonfly", "eos",  "etcd",  "gs",
     "hdfs",     "ibmcos",   "ks3",   "minio", "mysql", "nfs",       "obs",  "oos",   "oss",
     "postgres", "qingstor", "qiniu", "redis", "s3",    "scw",       "sftp", "smb",   "space",
     "storj",    "swift",    "tikv",  "tos",   "ufile", "wasabi",    "wasb", "webdav"});

std::string known_schemes() {
  std::string all;
  for (const auto scheme : kSchemes) all += (all.empty() ? "" : ", ") + std::string(scheme);
  return all;
}

Error wrong(std::string reason) { return {Code::kInvalid, "spec.source.uri " + std::move(reason)}; }

}  // namespace

Result<> check_source(const std::string& uri) {
  const auto mark = uri.find("://");
  if (mark == uri.npos || mark == 0 || uri.find("://", mark + 3) != uri.npos) {
    return wrong("is not NAME://BUCKET[.ENDPOINT][/PREFIX]; NAME is one of " + known_schemes());
  }
  const std::string scheme = uri.substr(0, mark);
  if (scheme == "file") {
    return wrong(
        "names a directory of one node, but any node may bring the samples; use nfs:// or an "
        "object store, or the samplefs engine");
  }
  if (std::find(kSchemes.begin(), kSchemes.end(), scheme) == kSchemes.end()) {
    return wrong("begins with none of " + known_schemes());
  }
  const std::string rest = uri.substr(mark + 3);
  const std::string authority = rest.substr(0, rest.find('/'));
  if (authority.empty()) return wrong("names no bucket or host after '" + scheme + "://'");
  const bool userinfo =
      authority.find('@') != authority.npos && authority.find(':') < authority.find('@');
  if (userinfo || holds_password(rest)) {
    return wrong("holds credentials; put them into the Secret as access-key and secret-key");
  }
  const auto odd = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (std::any_of(uri.begin(), uri.end(), odd)) return wrong("has a blank or control character");
  return Done{};
}

}  // namespace paddle::engine::juicefs
