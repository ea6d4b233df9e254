// SPDX-License-Identifier: Apache-2.0
//
// Another source with faults in it, for tests: a script is asked before each call, and again after
// each read that went well (when a failure has already moved bytes). It may also wait.

#pragma once

#include <functional>
#include <optional>

#include "source/source.h"

namespace paddle::source {

enum class FaultPoint { kList, kBeforeRead, kAfterRead };

class FailingSource final : public Source {
 public:
  // Called on any thread, at once. An Error is the answer of the call.
  using Script = std::function<std::optional<Error>(FaultPoint point, std::string_view path)>;

  FailingSource(Source& real, Script script) : real_(real), script_(std::move(script)) {}

  Result<Listed> list(const ObjectSink& sink, std::stop_token stop) override;
  Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                std::span<std::byte> into, const CallContext& context) override;

 private:
  Source& real_;
  const Script script_;
};

}  // namespace paddle::source
