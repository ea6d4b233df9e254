// SPDX-License-Identifier: Apache-2.0
#include "fuse/request.h"

#include <cstring>
#include <optional>

namespace paddle::fuse {
namespace {

// The first bytes of a body as one of the kernel's structures. Later protocol versions only append.
template <typename T>
std::optional<T> head(std::span<const std::byte> body) {
  if (body.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, body.data(), sizeof value);
  return value;
}

Operation init(std::span<const std::byte> body) {
  // Before 7.36 the structure ended after `flags`.
  fuse_init_in in{};
  if (body.size() < offsetof(fuse_init_in, flags2)) return Malformed{};
  std::memcpy(&in, body.data(), std::min(body.size(), sizeof in));
  std::uint64_t flags = in.flags;
  if (flags & FUSE_INIT_EXT) flags |= static_cast<std::uint64_t>(in.flags2) << 32;
  return Init{in.major, in.minor, in.max_readahead, flags};
}

// Up to its NUL; empty when there is none.
std::string_view name_in(std::span<const std::byte> body) {
  const auto* text = reinterpret_cast<const char*>(body.data());
  const void* end = body.empty() ? nullptr : std::memchr(text, 0, body.size());
  if (end == nullptr) return {};
  return {text, static_cast<std::size_t>(static_cast<const char*>(end) - text)};
}

Operation lookup(std::span<const std::byte> body) {
  const std::string_view name = name_in(body);
  if (name.empty()) return Malformed{};
  return Lookup{name};
}

Operation get_xattr(std::span<const std::byte> body) {
  const auto in = head<fuse_getxattr_in>(body);
  const std::string_view name = in ? name_in(body.subspan(sizeof *in)) : std::string_view{};
  if (name.empty()) return Malformed{};
  return GetXattr{name, in->size};
}

Operation list_xattr(std::span<const std::byte> body) {
  const auto in = head<fuse_getxattr_in>(body);
  if (!in) return Malformed{};
  return ListXattr{in->size};
}

Operation read(std::span<const std::byte> body) {
  const auto in = head<fuse_read_in>(body);
  if (!in) return Malformed{};
  return Read{in->offset, in->size};
}

Operation read_directory(std::span<const std::byte> body, bool plus) {
  const auto in = head<fuse_read_in>(body);
  if (!in) return Malformed{};
  return ReadDirectory{in->offset, in->size, plus};
}

Operation batch_forget(std::span<const std::byte> body) {
  const auto in = head<fuse_batch_forget_in>(body);
  if (!in) return Malformed{};
  const std::size_t room = (body.size() - sizeof *in) / sizeof(fuse_forget_one);
  if (in->count > room) return Malformed{};
  return Forget{in->count};
}

Operation operation(std::uint32_t opcode, std::span<const std::byte> body) {
  switch (opcode) {
    case FUSE_INIT:
      return init(body);
    case FUSE_LOOKUP:
      return lookup(body);
    case FUSE_GETATTR:
      return GetAttr{};
    case FUSE_STATFS:
      return StatFs{};
    case FUSE_OPEN:
      return Open{};
    case FUSE_OPENDIR:
      return OpenDirectory{};
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
      return Release{};
    case FUSE_READ:
      return read(body);
    case FUSE_READDIR:
      return read_directory(body, false);
    case FUSE_READDIRPLUS:
      return read_directory(body, true);
    case FUSE_GETXATTR:
      return get_xattr(body);
    case FUSE_LISTXATTR:
      return list_xattr(body);
    case FUSE_FORGET:
      return Forget{1};
    case FUSE_BATCH_FORGET:
      return batch_forget(body);
    case FUSE_NOTIFY_REPLY:
      return NoReply{};
    case FUSE_DESTROY:
      return Destroy{};
    case FUSE_SETATTR:
    case FUSE_SYMLINK:
    case FUSE_MKNOD:
    case FUSE_MKDIR:
    case FUSE_UNLINK:
    case FUSE_RMDIR:
    case FUSE_RENAME:
    case FUSE_RENAME2:
    case FUSE_LINK:
    case FUSE_WRITE:
    case FUSE_SETXATTR:
    case FUSE_REMOVEXATTR:
    case FUSE_CREATE:
    case FUSE_FALLOCATE:
    case FUSE_COPY_FILE_RANGE:
    case kOpCopyFileRange64:
    case FUSE_TMPFILE:
      return Change{};
    default:
      return Unsupported{};
  }
}

}  // namespace

Result<Request> decode(std::span<const std::byte> bytes) {
  const auto header = head<fuse_in_header>(bytes);
  if (!header) return Error{Code::kInvalid, "request is shorter than its header"};
  Request request{header->opcode, header->unique, header->nodeid, Malformed{}};
  if (header->len == bytes.size()) {
    request.operation = operation(header->opcode, bytes.subspan(sizeof *header));
  }
  return request;
}

}  // namespace paddle::fuse
