// SPDX-License-Identifier: Apache-2.0
//
// Any text in a user's Secret: it is refused, or what reaches the command lines and the environment
// of a privileged pod is a URL of a known scheme without its password and variables of one line.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/juicefs/client_variables.h"
#include "engine/juicefs/metadata_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle::engine::juicefs;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto url = read_metadata_url(text, ""); url) {
    const std::size_t scheme = url->bare.find("://");
    if (scheme == url->bare.npos || scheme == 0) std::abort();
    if (url->bare.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+") != scheme)
      std::abort();
    if (url->bare.find_first_of(" \t\r\n") != url->bare.npos) std::abort();
    if (url->password.size() >= 12 && url->bare.find(url->password) != url->bare.npos &&
        url->whole.find(url->password) == url->whole.rfind(url->password)) {
      std::abort();
    }
    (void)static_cast<bool>(check_metadata_url(url->bare));
  }
  if (const auto variables = read_variables(text); variables) {
    for (const auto& [name, value] : *variables) {
      if (name == "LD_PRELOAD" || name == "PATH" || name == "jfsSettings") std::abort();
      if (value.find('\n') != value.npos || value.find('\0') != value.npos) std::abort();
    }
  }
  return 0;
}
