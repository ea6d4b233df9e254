// SPDX-License-Identifier: Apache-2.0
#include "local/node/container_privileges.h"

#include <cerrno>
#include <vector>

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "local/node/os_error.h"

namespace paddle::local {
namespace {

bool has(Capabilities set, int number) { return (set >> number & 1) != 0; }

// No program that the container starts can get another capability.
Result<Capabilities> bound(Capabilities wanted) {
  Capabilities known = 0;
  for (int number = 0; number < 64; ++number) {
    const int held = prctl(PR_CAPBSET_READ, number);
    if (held < 0) break;  // unknown to this kernel
    if (held == 1 && has(wanted, number)) known |= Capabilities{1} << number;
    if (held == 1 && !has(wanted, number) && prctl(PR_CAPBSET_DROP, number) != 0) {
      return os_error("drop a capability");
    }
  }
  return known;
}

Result<> set_capabilities(Capabilities set) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2]{};
  for (int half = 0; half < 2; ++half) {
    data[half].permitted = static_cast<std::uint32_t>(set >> (32 * half));
    data[half].effective = data[half].permitted;
  }
  if (syscall(SYS_capset, &header, data) != 0) return os_error("set the container's capabilities");
  return Done{};
}

}  // namespace

Result<> drop_privileges(const SecurityContext& context) {
  TRY(const Capabilities allowed, bound(context.capabilities));
  if (context.user != 0) {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      [[maybe_unused]] const int changed = fchown(fd, context.user, context.group);
    }
  }
  const std::vector<gid_t> groups(context.groups.begin(), context.groups.end());
  if (setgroups(groups.size(), groups.data()) != 0) return os_error("set the container's groups");
  if (setresgid(context.group, context.group, context.group) != 0) {
    return os_error("set the container's group");
  }
  if (setresuid(context.user, context.user, context.user) != 0) {
    return os_error("set the container's user");
  }
  if (context.user == 0) CHECK_DONE(set_capabilities(allowed));
  if (context.no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return os_error("forbid new privileges");
  }
  return Done{};
}

}  // namespace paddle::local
