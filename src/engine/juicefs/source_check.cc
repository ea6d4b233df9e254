// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/source_check.h"

#include <algorithm>

#include "api/source_schemes.h"
#include "engine/juicefs/secret_text.h"

namespace paddle::engine::juicefs {
namespace {

Error wrong(std::string reason) { return {Code::kInvalid, "spec.source.uri " + std::move(reason)}; }

}  // namespace

Result<> check_source(const std::string& uri) {
  const auto mark = uri.find("://");
  if (mark == uri.npos || mark == 0 || uri.find("://", mark + 3) != uri.npos) {
    return wrong("is not NAME://BUCKET[.ENDPOINT][/PREFIX]; NAME is one of " +
                 api::juicefs_schemes());
  }
  const std::string scheme = uri.substr(0, mark);
  if (scheme == "file") {
    return wrong(
        "names a directory of one node, but any node may bring the samples; use nfs:// or an "
        "object store");
  }
  const api::SourceScheme* known = api::find_scheme(scheme);
  if (!known || known->juicefs == api::JuicefsSupport::kNone) {
    return wrong("begins with none of " + api::juicefs_schemes());
  }
  if (!api::is_built(*known)) return wrong("begins with " + scheme + "://, which " + kNotBuilt);
  if (known->storage_only) {
    return wrong("begins with " + scheme +
                 "://, where JuiceFS can keep a volume but not read samples from");
  }
  const std::string rest = uri.substr(mark + 3);
  const std::string authority = rest.substr(0, rest.find('/'));
  if (authority.empty()) return wrong("names no bucket or host after '" + scheme + "://'");
  const bool userinfo =
      authority.find('@') != authority.npos && authority.find(':') < authority.find('@');
  if (userinfo || holds_password(rest)) {
    return wrong("holds credentials; put them into the Secret as access-key and secret-key");
  }
  if (known->host_and_directory && authority.find(':') == authority.npos) {
    return wrong("is not " + scheme + "://HOST:/DIRECTORY, with a colon after the host");
  }
  const auto odd = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (std::any_of(uri.begin(), uri.end(), odd)) return wrong("has a blank or control character");
  return Done{};
}

}  // namespace paddle::engine::juicefs
