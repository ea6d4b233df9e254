// SPDX-License-Identifier: Apache-2.0
#include "fuse/protocol.h"

namespace paddle::fuse {

std::string_view opcode_name(std::uint32_t opcode) {
  switch (opcode) {
    case FUSE_LOOKUP:
      return "lookup";
    case FUSE_FORGET:
      return "forget";
    case FUSE_GETATTR:
      return "getattr";
    case FUSE_SETATTR:
      return "setattr";
    case FUSE_READLINK:
      return "readlink";
    case FUSE_SYMLINK:
      return "symlink";
    case FUSE_MKNOD:
      return "mknod";
    case FUSE_MKDIR:
      return "mkdir";
    case FUSE_UNLINK:
      return "unlink";
    case FUSE_RMDIR:
      return "rmdir";
    case FUSE_RENAME:
      return "rename";
    case FUSE_LINK:
      return "link";
    case FUSE_OPEN:
      return "open";
    case FUSE_READ:
      return "read";
    case FUSE_WRITE:
      return "write";
    case FUSE_STATFS:
      return "statfs";
    case FUSE_RELEASE:
      return "release";
    case FUSE_FSYNC:
      return "fsync";
    case FUSE_SETXATTR:
      return "setxattr";
    case FUSE_GETXATTR:
      return "getxattr";
    case FUSE_LISTXATTR:
      return "listxattr";
    case FUSE_REMOVEXATTR:
      return "removexattr";
    case FUSE_FLUSH:
      return "flush";
    case FUSE_INIT:
      return "init";
    case FUSE_OPENDIR:
      return "opendir";
    case FUSE_READDIR:
      return "readdir";
    case FUSE_RELEASEDIR:
      return "releasedir";
    case FUSE_FSYNCDIR:
      return "fsyncdir";
    case FUSE_ACCESS:
      return "access";
    case FUSE_CREATE:
      return "create";
    case FUSE_INTERRUPT:
      return "interrupt";
    case FUSE_DESTROY:
      return "destroy";
    case FUSE_IOCTL:
      return "ioctl";
    case FUSE_POLL:
      return "poll";
    case FUSE_BATCH_FORGET:
      return "batch_forget";
    case FUSE_FALLOCATE:
      return "fallocate";
    case FUSE_READDIRPLUS:
      return "readdirplus";
    case FUSE_RENAME2:
      return "rename2";
    case FUSE_LSEEK:
      return "lseek";
    case FUSE_COPY_FILE_RANGE:
      return "copy_file_range";
    case FUSE_SYNCFS:
      return "syncfs";
    case FUSE_TMPFILE:
      return "tmpfile";
    case kOpStatx:
      return "statx";
    case kOpCopyFileRange64:
      return "copy_file_range_64";
    default:
      return "other";
  }
}

}  // namespace paddle::fuse
