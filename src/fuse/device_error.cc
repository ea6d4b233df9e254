// SPDX-License-Identifier: Apache-2.0
#include "fuse/device_error.h"

#include <cerrno>
#include <system_error>

namespace paddle::fuse {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENXIO:
      return Code::kNotFound;
    case EPERM:
    case EACCES:
      return Code::kForbidden;
    case EINVAL:
    case ENOTTY:
    case ENOTDIR:
    case ENAMETOOLONG:
      return Code::kInvalid;
    case EBUSY:
      return Code::kConflict;
    case ENODEV:
    case ENOTCONN:
    case ECONNABORTED:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kUnavailable;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Error device_error(std::string_view doing, int error) {
  return Error{code_of(error), std::string(doing) + ": " + std::generic_category().message(error)};
}

}  // namespace paddle::fuse
