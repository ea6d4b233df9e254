// SPDX-License-Identifier: Apache-2.0
#include "fuse/data_handler.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/match.h"
#include "fuse/errno_table.h"

namespace paddle::fuse {
namespace {

// READDIR offsets: 0 and 1 are "." and "..", cookies of the file system follow, each kDots higher.
constexpr std::uint64_t kDots = 2;

Answer fail(int error) {
  Answer answer;
  answer.error = error;
  return answer;
}

Answer fail(Error error) {
  Answer answer;
  answer.error = errno_of(error.code);
  answer.reason = std::move(error);
  return answer;
}

Answer no_reply() {
  Answer answer;
  answer.silent = true;
  return answer;
}

template <typename T>
Answer give(const T& value) {
  Answer answer;
  static_assert(sizeof value <= sizeof answer.small);
  std::memcpy(answer.small.data(), &value, sizeof value);
  answer.small_size = sizeof value;
  return answer;
}

Answer give_handle(std::uint32_t open_flags) {
  fuse_open_out out{};
  out.open_flags = open_flags;
  return give(out);
}

}  // namespace

DataHandler::DataHandler(samplefs::FileSystem& files, HandlerOptions options, BufferPool& buffers)
    : files_(files), options_(std::move(options)), buffers_(buffers) {}

void DataHandler::resume(const Negotiated& agreed) {
  no_open_ = agreed.no_open();
  no_opendir_ = agreed.no_opendir();
}

Answer DataHandler::answer(const Request& request) {
  // These two have no reply, even when malformed.
  if (request.opcode == FUSE_FORGET || request.opcode == FUSE_BATCH_FORGET) return no_reply();
  return std::visit(
      Match{
          [&](const Init& op) { return init(op); },
          [&](const Lookup& op) { return lookup(request.node, op.name); },
          [&](const GetAttr&) { return get_attr(request.node); },
          [&](const StatFs&) { return give(encode_statfs(files_.totals())); },
          [&](const Open&) { return no_open_ ? fail(ENOSYS) : give_handle(FOPEN_KEEP_CACHE); },
          [&](const OpenDirectory&) {
            return no_opendir_ ? fail(ENOSYS) : give_handle(FOPEN_KEEP_CACHE | FOPEN_CACHE_DIR);
          },
          [&](const Release&) { return Answer{}; },
          [&](const Read& op) { return read(request.node, op); },
          [&](const ReadDirectory& op) { return read_directory(request.node, op); },
          [&](const GetXattr& op) { return get_xattr(request.node, op); },
          [&](const ListXattr& op) { return list_xattr(request.node, op); },
          [&](const Forget&) { return no_reply(); },
          [&](const NoReply&) { return no_reply(); },
          [&](const Destroy&) { return Answer{}; },
          [&](const Change&) { return fail(EROFS); },
          [&](const Unsupported&) { return fail(ENOSYS); },
          [&](const Malformed&) { return fail(EINVAL); },
      },
      request.operation);
}

Answer DataHandler::init(const Init& offer) {
  if (offer.major > kMajor) {
    // The kernel sends INIT again, in our major version.
    fuse_init_out out{};
    out.major = kMajor;
    out.minor = kMinor;
    return give(out);
  }
  auto agreed = negotiate(offer, options_.init_options);
  if (!agreed) {
    Answer refusal = fail(EPROTO);
    refusal.reason = std::move(agreed).error();
    return refusal;
  }
  resume(*agreed);
  if (options_.on_init) options_.on_init(*agreed);
  return give(encode_init(*agreed));
}

Answer DataHandler::lookup(samplefs::NodeId parent, std::string_view name) {
  if (name.size() > kNameMax) return fail(ENAMETOOLONG);
  if (!usable_name(name)) return fail(EINVAL);
  auto found = files_.lookup(parent, name);
  if (found.is(Code::kNotFound)) return give(encode_no_entry(options_.attr_options));
  if (!found) return fail(std::move(found).error());
  if (!usable(*found)) return fail(Error{Code::kInternal, "the index contains an invalid entry"});
  return give(encode_entry(*found, options_.attr_options));
}

Answer DataHandler::get_attr(samplefs::NodeId node) {
  auto found = files_.stat(node);
  if (!found) return fail(std::move(found).error());
  found->id = node;
  return give(encode_attr_out(*found, options_.attr_options));
}

Answer DataHandler::read(samplefs::NodeId node, const Read& want) {
  if (want.size > buffers_.buffer_size()) return fail(EINVAL);
  auto buffer = buffers_.lend();
  if (!buffer) return fail(ENOMEM);
  auto got = files_.read_local(node, want.offset, {buffer.data(), want.size});
  if (!got) return fail(std::move(got).error());
  if (!*got) {
    Answer later;
    later.needs_source = true;
    return later;
  }
  return whole(node, want, std::move(buffer), **got);
}

Answer DataHandler::answer_from_source(const Request& request, BootTime until) {
  const Read& want = std::get<Read>(request.operation);
  auto buffer = buffers_.lend();
  if (!buffer) return fail(ENOMEM);
  auto got = files_.read(request.node, want.offset, {buffer.data(), want.size}, until);
  return whole(request.node, want, std::move(buffer), std::move(got));
}

Answer DataHandler::whole(samplefs::NodeId node, const Read& want, BufferPool::Lease buffer,
                          Result<std::size_t> got) {
  if (!got) return fail(std::move(got).error());
  if (*got != want.size) {
    // A short read is valid only at the end of the file.
    auto now = files_.stat(node);
    if (!now) return fail(std::move(now).error());
    const std::uint64_t left = now->size > want.offset ? now->size - want.offset : 0;
    if (*got != std::min<std::uint64_t>(left, want.size)) {
      return fail(
          Error{Code::kInternal, "a read returned " + std::to_string(*got) + " bytes of " +
                                     std::to_string(std::min<std::uint64_t>(left, want.size))});
    }
  }
  Answer answer;
  answer.large = std::move(buffer);
  answer.large_size = *got;
  return answer;
}

Answer DataHandler::read_directory(samplefs::NodeId node, const ReadDirectory& want) {
  Answer answer;
  answer.large = buffers_.lend();
  if (!answer.large) return fail(ENOMEM);
  const std::size_t room = std::min<std::size_t>(want.size, buffers_.buffer_size());
  DirectoryPage page({answer.large.data(), room}, want.plus, options_.attr_options);

  bool full = false;
  // The file system does not know the parent's id; programs resolve ".." by path, not by this
  // number.
  if (want.offset == 0) full = !page.add_dot(".", node, 1);
  if (!full && want.offset <= 1) full = !page.add_dot("..", node, 2);

  const std::uint64_t start = std::max(want.offset, kDots) - kDots;
  auto done = full ? Result<>(Done{})
                   : files_.read_directory(node, start,
                                           [&](std::string_view name, const samplefs::Attr& attr,
                                               std::uint64_t cookie) {
                                             if (usable_name(name) && usable(attr)) {
                                               if (!page.add(name, attr, cookie + kDots)) {
                                                 full = true;
                                                 return false;
                                               }
                                               return true;
                                             }
                                             if (options_.on_skipped_name)
                                               options_.on_skipped_name();
                                             return true;
                                           });
  if (!done) return fail(std::move(done).error());
  if (full && page.size() == 0) return fail(EINVAL);  // no room for even one entry
  answer.large_size = page.size();
  return answer;
}

Answer DataHandler::give_text(std::string_view text, std::uint32_t room) {
  if (room == 0) {
    fuse_getxattr_out out{};
    out.size = static_cast<std::uint32_t>(text.size());
    return give(out);
  }
  if (text.size() > room) return fail(ERANGE);
  if (text.size() > buffers_.buffer_size()) return fail(E2BIG);
  Answer answer;
  answer.large = buffers_.lend();
  if (!answer.large) return fail(ENOMEM);
  if (!text.empty()) std::memcpy(answer.large.data(), text.data(), text.size());
  answer.large_size = text.size();
  return answer;
}

Answer DataHandler::get_xattr(samplefs::NodeId node, const GetXattr& want) {
  if (!want.name.starts_with("user.")) return fail(EOPNOTSUPP);
  const auto all = files_.xattrs(node);
  if (!all) return fail(all.error());
  for (const samplefs::Xattr& each : *all) {
    if (each.name == want.name) return give_text(each.value, want.size);
  }
  return fail(ENODATA);
}

Answer DataHandler::list_xattr(samplefs::NodeId node, const ListXattr& want) {
  const auto all = files_.xattrs(node);
  if (!all) return fail(all.error());
  std::string names;
  for (const samplefs::Xattr& each : *all) names.append(each.name).push_back('\0');
  return give_text(names, want.size);
}

}  // namespace paddle::fuse
