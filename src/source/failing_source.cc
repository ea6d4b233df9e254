// SPDX-License-Identifier: Apache-2.0
#include "source/failing_source.h"

#include <algorithm>

namespace paddle::source {

Result<Listed> FailingSource::list(const ObjectSink& sink, std::stop_token stop) {
  if (auto failed = script_(FaultPoint::kList, {})) return *std::move(failed);
  return real_.list(sink, std::move(stop));
}

Result<> FailingSource::read(std::string_view path, std::string_view etag, std::uint64_t offset,
                             std::span<std::byte> into, const CallContext& context) {
  if (auto failed = script_(FaultPoint::kBeforeRead, path)) return *std::move(failed);
  CHECK_DONE(real_.read(path, etag, offset, into, context));
  if (auto failed = script_(FaultPoint::kAfterRead, path)) {
    std::fill(into.begin(), into.end(), std::byte{0xee});  // undefined after an error
    return *std::move(failed);
  }
  return Done{};
}

}  // namespace paddle::source
