// SPDX-License-Identifier: Apache-2.0
//
// Processes to be killed, and pods with a mount namespace of their own:
//
//   sealed_child seal DIRECTORY TARGET   seals the known set of DIRECTORY and shows it at TARGET,
//                                        printing a line after each step; then waits
//   sealed_child pod TARGET POINT        a pod with mountPropagation HostToContainer: binds TARGET
//                                        at POINT; for each line on standard input, a path, it
//                                        prints the file system's type and the number of bytes, or
//                                        of names, or an errno
//   sealed_child read FILE...            reads them for ever
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "sealed/sealed_view.h"
#include "test/sealed/sample_cache.h"

namespace paddle::test {
namespace {

int seal(const std::string& directory, const std::string& target) {
  SampleCache cache(directory);
  add_known_samples(cache);
  sealed::ImmutableSegments holds;
  Random random(1);
  std::puts("begins");
  std::fflush(stdout);
  const auto view =
      sealed::SealedView::seal(cache.request(), directory + "/view", holds, random, {});
  if (!view) {
    std::fprintf(stderr, "%s\n", view.error().message.c_str());
    return 1;
  }
  std::puts("sealed");
  std::fflush(stdout);
  if (const auto shown = (*view)->show(target); !shown) {
    std::fprintf(stderr, "%s\n", shown.error().message.c_str());
    return 1;
  }
  std::puts("shown");
  std::fflush(stdout);
  while (true) ::pause();
}

std::string answer(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return "errno " + std::to_string(errno);
  struct statfs kind {};
  if (::fstatfs(fd.get(), &kind) != 0) return "errno " + std::to_string(errno);
  std::size_t count = 0;
  std::vector<char> part(65536);
  ssize_t got = 0;
  while ((got = ::read(fd.get(), part.data(), part.size())) > 0)
    count += static_cast<std::size_t>(got);
  if (got < 0 && errno == EISDIR) {
    DIR* entries = ::opendir(path.c_str());
    while (entries != nullptr && ::readdir(entries) != nullptr) ++count;
    if (entries != nullptr) ::closedir(entries);
  } else if (got < 0) {
    return "errno " + std::to_string(errno);
  }
  return (kind.f_type == 0xE0F5E1E2 ? "erofs " : "other ") + std::to_string(count);
}

int pod(const std::string& target, const std::string& point) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0 ||
      ::mount(target.c_str(), point.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0 ||
      ::mount("", point.c_str(), nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    std::perror("pod");
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string path; std::getline(std::cin, path);) {
    std::cout << answer(path.starts_with("/") ? path : point + "/" + path) << std::endl;
  }
  return 0;
}

[[noreturn]] void read_for_ever(const std::vector<std::string>& files) {
  std::vector<char> part(65536);
  for (std::size_t i = 0;; i = (i + 7) % files.size()) {
    const UniqueFd fd(::open(files[i].c_str(), O_RDONLY | O_CLOEXEC));
    while (::read(fd.get(), part.data(), part.size()) > 0) {
    }
  }
}

}  // namespace
}  // namespace paddle::test

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() == 3 && given[0] == "seal") return paddle::test::seal(given[1], given[2]);
  if (given.size() == 3 && given[0] == "pod") return paddle::test::pod(given[1], given[2]);
  if (given.size() > 1 && given[0] == "read") {
    paddle::test::read_for_ever({given.begin() + 1, given.end()});
  }
  return 2;
}
