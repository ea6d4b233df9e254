// SPDX-License-Identifier: Apache-2.0
//
// Answers requests on a *data* mount: read-only, open without a message, complete reads.
//
//   OPEN, FLUSH      ENOSYS once: from then on the kernel opens and closes without a request. A
//   OPENDIR          kernel that cannot gets an empty handle and "keep the cache" instead.
//   READ             complete, or an errno. A short read before the end of a file is a defect of
//                    the file system and becomes EIO: the kernel would take it for the end of the
//                    file, cut the file's size and cache both. answer() does not wait for data that
//                    is not on this node; answer_from_source() does.
//   LOOKUP           "no such name" is a negative entry that the kernel may cache for a while.
//   GETXATTR         those of the file system; of other namespaces than "user." EOPNOTSUPP, after
//   LISTXATTR        which `ls -l` asks no more. Never ENOSYS: the kernel would remember it.
//   INTERRUPT        ENOSYS: the kernel sends no more. A signal does not fail a running read; a
//                    process killed while it waits for read-ahead ends at once anyway.
//   writes           EROFS, if the superblock ever lets one through.
//
// Thread-safe; holds no lock during calls of the file system. Requests may arrive in any order and
// twice (the kernel resends unanswered ones to a successor): every answer depends on its request
// only.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "fuse/buffer_pool.h"
#include "fuse/negotiate.h"
#include "fuse/reply.h"
#include "fuse/request.h"
#include "samplefs/file_system.h"

namespace paddle::fuse {

struct Answer {
  bool silent = false;        // the kernel expects no reply
  bool needs_source = false;  // no answer yet: a READ of bytes that are not on this node
  int error = 0;              // errno, positive
  std::array<std::byte, sizeof(fuse_entry_out)> small{};
  std::size_t small_size = 0;
  BufferPool::Lease large{};
  std::size_t large_size = 0;
  Error reason{};  // why the file system failed; for the log

  std::span<const std::byte> body() const {
    if (large) return {large.data(), large_size};
    return {small.data(), small_size};
  }
};

struct HandlerOptions {
  AttrOptions attr_options{};
  InitOptions init_options{};
  std::function<void(const Negotiated&)> on_init{};  // called before INIT is answered
  std::function<void()> on_skipped_name{};           // called when an invalid entry was left out
};

class DataHandler {
 public:
  DataHandler(samplefs::FileSystem& files, HandlerOptions options, BufferPool& buffers);

  // Starts as a successor with what a predecessor negotiated. No INIT will arrive.
  void resume(const Negotiated& agreed);

  // Never waits for the source.
  Answer answer(const Request& request);
  // Waits for the source until `until`. REQUIRES: a READ for which answer() returned needs_source.
  Answer answer_from_source(const Request& request, BootTime until);

 private:
  Answer init(const Init& offer);
  Answer lookup(samplefs::NodeId parent, std::string_view name);
  Answer get_attr(samplefs::NodeId node);
  Answer read(samplefs::NodeId node, const Read& want);
  // Turns the result of a READ into `buffer` into an answer.
  Answer whole(samplefs::NodeId node, const Read& want, BufferPool::Lease buffer,
               Result<std::size_t> got);
  Answer read_directory(samplefs::NodeId node, const ReadDirectory& want);
  Answer get_xattr(samplefs::NodeId node, const GetXattr& want);
  Answer list_xattr(samplefs::NodeId node, const ListXattr& want);
  Answer give_text(std::string_view text, std::uint32_t room);  // of an xattr

  samplefs::FileSystem& files_;
  const HandlerOptions options_;
  BufferPool& buffers_;
  std::atomic<bool> no_open_{false};
  std::atomic<bool> no_opendir_{false};
};

}  // namespace paddle::fuse
