// SPDX-License-Identifier: Apache-2.0
#include "api/schema/pattern.h"

#include <algorithm>
#include <map>
#include <memory>

#include <re2/re2.h>

#include "base/sync.h"

namespace paddle::api {
namespace {

class Compiled {
 public:
  const re2::RE2& of(const std::string& pattern) {
    Lock lock(mutex_);
    auto& slot = kept_[pattern];
    if (!slot) {
      re2::RE2::Options options;
      options.set_log_errors(false);
      slot = std::make_unique<re2::RE2>(pattern, options);
    }
    return *slot;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<re2::RE2>> kept_ GUARDED_BY(mutex_);
};

}  // namespace

bool matches_pattern(std::string_view text, const std::string& pattern) {
  static Compiled compiled;
  const re2::RE2& expression = compiled.of(pattern);
  return expression.ok() &&
         re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression);
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

}  // namespace paddle::api
