// SPDX-License-Identifier: Apache-2.0
//
// For LD_PRELOAD: the program is killed, as by kill -9, as soon as it has renamed a file to a path
// that ends with $KILL_AFTER_RENAME_TO. So the rename has happened and nothing after it. Without
// that variable it does nothing.

#include <csignal>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int rename(const char* from,
                                                             const char* to) noexcept {
  using Rename = int (*)(const char*, const char*);
  static const auto kReal = reinterpret_cast<Rename>(::dlsym(RTLD_NEXT, "rename"));
  const int result = kReal(from, to);
  const char* last = std::getenv("KILL_AFTER_RENAME_TO");
  if (result == 0 && last != nullptr && std::string_view(to).ends_with(last)) {
    ::kill(::getpid(), SIGKILL);
    ::pause();
  }
  return result;
}
