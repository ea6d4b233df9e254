// SPDX-License-Identifier: Apache-2.0
//
// Wraps a source and injects faults, for tests: it calls a script before each call, and after each
// successful read (where a failure comes after bytes were transferred). The script may also block.

#pragma once

#include <functional>
#include <optional>

#include "source/source.h"

namespace paddle::source {

enum class FaultPoint { kList, kBeforeRead, kAfterRead };

class FailingSource final : public Source {
 public:
  // Called concurrently from any thread. A returned Error becomes the result of the call.
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
