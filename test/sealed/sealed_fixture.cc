// SPDX-License-Identifier: Apache-2.0
#include "test/sealed/sealed_fixture.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "fuse/mountinfo.h"
#include "sealed/probe.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

std::string enter_own_namespace() {
  if (::geteuid() != 0) return "sealed views need root";
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return std::string("no mount namespace here: ") + std::strerror(errno);
  }
  const ScratchDir scratch;
  const auto result = sealed::probe(scratch.path(), scratch.path());
  return result.sealed ? "" : "no sealed views here: " + result.reason;
}

}  // namespace

const std::string& why_no_views() {
  static const std::string kReason = enter_own_namespace();
  return kReason;
}

SealedTest::SealedTest() { why_no_views(); }

SealedTest::~SealedTest() {
  const auto mounts = fuse::read_mountinfo();
  if (!mounts) return;
  for (auto at = mounts->rbegin(); at != mounts->rend(); ++at) {
    if (at->point.starts_with(scratch_.path() + "/")) ::umount2(at->point.c_str(), MNT_DETACH);
  }
}

std::string SealedTest::make_directory(const std::string& name) {
  std::filesystem::create_directories(path(name));
  return path(name);
}

std::string SealedTest::make_target(const std::string& name) {
  const std::string below = make_directory("below");
  EXPECT_TRUE(write_file(below + "/from-below", "x"));
  std::string target = make_directory(name);
  EXPECT_EQ(::mount(below.c_str(), target.c_str(), nullptr, MS_BIND, nullptr), 0);
  const auto own = sealed::make_own_peer_group(target);
  EXPECT_TRUE(own) << own.error().message;
  return target;
}

std::unique_ptr<sealed::SealedView> SealedTest::seal(const std::string& point) {
  auto view = sealed::SealedView::seal(cache_.request(), path(point), holds_, random_, {});
  EXPECT_TRUE(view) << view.error().message;
  return view ? *std::move(view) : nullptr;
}

Child::Child(const std::string& program, std::vector<std::string> arguments) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return;
  to_ = UniqueFd(in[1]);
  from_ = UniqueFd(out[0]);
  const UniqueFd child_in(in[0]);
  const UniqueFd child_out(out[1]);
  arguments.insert(arguments.begin(), program);
  auto child = spawn({.argv = std::move(arguments),
                      .env = clean_environment("/nonexistent"),
                      .input = child_in.get(),
                      .output = child_out.get(),
                      .errors = STDERR_FILENO});
  if (child) pid_ = *child;
}

std::string Child::line() {
  std::string text;
  for (char byte = 0; ::read(from_.get(), &byte, 1) == 1 && byte != '\n';) text += byte;
  return text;
}

std::string Child::ask(const std::string& question) {
  const std::string text = question + "\n";
  if (::write(to_.get(), text.data(), text.size()) < 0) return "cannot ask";
  return line();
}

void Child::kill() {
  if (pid_ > 0) kill_and_reap(pid_);
  pid_ = -1;
}

Content read_rest(int fd) {
  Content content;
  std::vector<char> part(100'000);
  while (true) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got < 0) return {errno, std::move(content.bytes)};
    if (got == 0) return content;
    content.bytes.append(part.data(), static_cast<std::size_t>(got));
  }
}

Content read_all(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_rest(fd.get()) : Content{errno};
}

std::vector<std::string> list(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), &::closedir);
  if (!open) return {"errno " + std::to_string(errno)};
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return {"errno " + std::to_string(errno)};
  std::sort(names.begin(), names.end());
  return names;
}

void drop_cache_of(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
}

std::vector<std::string> wrong_files(const std::string& root, const SampleCache& cache) {
  std::vector<std::string> wrong;
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_directory()) continue;
    ++found;
    const std::string name = entry.path().lexically_relative(root);
    const auto at = cache.files().find(name);
    if (at == cache.files().end() || read_all(entry.path()).bytes != at->second) {
      wrong.push_back(name);
    }
  }
  if (found != cache.files().size()) wrong.push_back(std::to_string(found) + " files");
  return wrong;
}

bool is_view(const std::string& path) {
  struct statfs kind {};
  return ::statfs(path.c_str(), &kind) == 0 && kind.f_type == 0xE0F5E1E2;
}

int count_views() {
  const auto mounts = fuse::read_mountinfo();
  return static_cast<int>(std::ranges::count(*mounts, "erofs", &fuse::MountEntry::type));
}

}  // namespace paddle::test
