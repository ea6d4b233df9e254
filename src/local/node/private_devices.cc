// SPDX-License-Identifier: Apache-2.0
#include "local/node/private_devices.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

constexpr std::array kPlain{"full", "null", "random", "tty", "urandom", "zero"};
constexpr std::array<std::string_view, 10> kAccelerators{
    "accel",      "davinci", "devmm_svm", "dri", "hisi_hdc",
    "infiniband", "kfd",     "nvidia",    "xpu", "dxg"};

// Binds one device, or a directory of devices. A device that the machine does not have is left out.
Result<> add(const std::string& name, const std::string& target) {
  const std::string from = "/dev/" + name;
  const std::string to = target + "/" + name;
  struct stat found {};
  if (stat(from.c_str(), &found) != 0) return Done{};
  if (S_ISDIR(found.st_mode)) {
    if (mkdir(to.c_str(), 0755) != 0) return os_error("create " + to);
  } else if (const UniqueFd file(open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)); !file) {
    return os_error("create " + to);
  }
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return os_error("bind " + from);
  }
  return Done{};
}

Result<> link(const char* to, const std::string& at) {
  return symlink(to, at.c_str()) == 0 ? Result<>(Done{}) : os_error("create " + at);
}

}  // namespace

bool is_accelerator(std::string_view name) {
  return std::ranges::any_of(kAccelerators,
                             [&](std::string_view each) { return name.starts_with(each); });
}

Result<> mount_devices(const std::string& target) {
  // Without MS_NODEV a container with MKNOD could create disks here. What is bound keeps the flags
  // of the machine's /dev.
  if (mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
            "mode=0755,size=64k") != 0) {
    return os_error("mount /dev");
  }
  for (const char* name : kPlain) CHECK_DONE(add(name, target));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (is_accelerator(name)) CHECK_DONE(add(name, target));
  }
  for (const char* name : {"pts", "shm", "mqueue"}) {
    const std::string path = target + "/" + name;
    if (mkdir(path.c_str(), 0755) != 0) return os_error("create " + path);
  }
  if (chmod((target + "/shm").c_str(), 01777) != 0) return os_error("set the mode of /dev/shm");
  if (mount("devpts", (target + "/pts").c_str(), "devpts", MS_NOSUID | MS_NOEXEC,
            "newinstance,ptmxmode=0666,mode=0620") != 0) {
    return os_error("mount /dev/pts");
  }
  // Not every kernel has message queues.
  [[maybe_unused]] const int queues = mount("mqueue", (target + "/mqueue").c_str(), "mqueue",
                                            MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  CHECK_DONE(link("pts/ptmx", target + "/ptmx"));
  CHECK_DONE(link("/proc/self/fd", target + "/fd"));
  CHECK_DONE(link("/proc/self/fd/0", target + "/stdin"));
  CHECK_DONE(link("/proc/self/fd/1", target + "/stdout"));
  return link("/proc/self/fd/2", target + "/stderr");
}

}  // namespace paddle::local
