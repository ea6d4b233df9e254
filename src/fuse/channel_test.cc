// SPDX-License-Identifier: Apache-2.0
#include "fuse/channel.h"

#include <cerrno>
#include <cstddef>
#include <iterator>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddle::fuse {
namespace {

// As the default seccomp profile of containers does.
bool forbid_kcmp() {
  sock_filter rules[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_kcmp},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{.len = std::size(rules), .filter = rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool kernel_answers() {
  const UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return ::fcntl(fd.get(), 1024 + 3, fd.get()) == 1;
}

TEST(Channel, KnowsItsOwnOpenFileAlsoInAContainer) {
  if (!kernel_answers()) GTEST_SKIP() << "this kernel is older than 6.10";
  const Channel channel{UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC))};
  const UniqueFd copy(::fcntl(channel.fd(), F_DUPFD_CLOEXEC, 3));
  const UniqueFd another(::open("/dev/null", O_RDONLY | O_CLOEXEC));  // of the same inode
  const pid_t child = ::fork();
  if (child == 0) {
    if (!forbid_kcmp()) ::_exit(1);
    if (!channel.is_file_of(channel.fd()) || !channel.is_file_of(copy.get())) ::_exit(2);
    ::_exit(channel.is_file_of(another.get()) ? 3 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace paddle::fuse
