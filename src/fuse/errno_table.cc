// SPDX-License-Identifier: Apache-2.0
#include "fuse/errno_table.h"

#include <cerrno>

namespace paddle::fuse {

int errno_of(Code code) {
  switch (code) {
    case Code::kNotFound:
      return ENOENT;
    case Code::kAlreadyExists:
      return EEXIST;
    case Code::kConflict:  // the source holds other content than the index
    case Code::kExpired:
      return ESTALE;
    case Code::kInvalid:
      return EINVAL;
    case Code::kUnauthorized:
    case Code::kForbidden:
      return EACCES;
    case Code::kDeadline:
      return ETIMEDOUT;
    case Code::kThrottled:
    case Code::kUnavailable:
    case Code::kUntrusted:
    case Code::kCancelled:
    case Code::kInternal:
      return EIO;
  }
  return EIO;
}

}  // namespace paddle::fuse
