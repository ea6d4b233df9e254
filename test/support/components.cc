// SPDX-License-Identifier: Apache-2.0
#include "test/support/components.h"

#include <cstdlib>

#include <unistd.h>

#include "test/support/process.h"

namespace paddle::test {
namespace {

Error missing(const std::string& name) {
  return {Code::kNotFound, name + " is not installed; run: tools/components install " + name};
}

}  // namespace

Result<std::string> component(const std::string& name) {
  if (const char* given = std::getenv("PADDLE_COMPONENTS"); given != nullptr && *given != '\0') {
    const std::string path = std::string(given) + "/bin/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
    return missing(name);
  }
  // The tool decides by the same variables as the user's shell, so it gets our environment.
  Command ask{.argv = {PADDLE_SOURCE_DIR "/tools/components", "path", name}};
  for (char** each = environ; *each != nullptr; ++each) ask.env.emplace_back(*each);
  const Ran ran = run(ask);
  if (ran.exit_code != 0 || ran.out.empty()) return missing(name);
  return ran.out.substr(0, ran.out.find('\n'));
}

}  // namespace paddle::test
