// SPDX-License-Identifier: Apache-2.0
#include "fuse/errno_table.h"

#include <cerrno>
#include <set>

#include <gtest/gtest.h>

namespace paddle::fuse {
namespace {

TEST(ErrnoTable, NoErrorBecomesSuccessOrAnErrnoOfTheProtocol) {
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) {
    const int error = errno_of(static_cast<Code>(code));
    EXPECT_GT(error, 0);
    EXPECT_LT(error, 512);  // the kernel refuses an answer beyond that
    EXPECT_FALSE((std::set<int>{ENOSYS, EINTR, EAGAIN, ENOTCONN, EROFS}.contains(error)))
        << name(static_cast<Code>(code));
  }
}

TEST(ErrnoTable, MapsCodesToErrnosThatProgramsCanActOn) {
  EXPECT_EQ(errno_of(Code::kNotFound), ENOENT);
  EXPECT_EQ(errno_of(Code::kForbidden), EACCES);
  EXPECT_EQ(errno_of(Code::kConflict), ESTALE);
  EXPECT_EQ(errno_of(Code::kDeadline), ETIMEDOUT);
  EXPECT_EQ(errno_of(Code::kUnavailable), EIO);
  EXPECT_EQ(errno_of(static_cast<Code>(999)), EIO);
}

}  // namespace
}  // namespace paddle::fuse
