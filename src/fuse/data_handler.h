// SPDX-License-Identifier: Apache-2.0
//
// Answers requests on a mount of the *data* kind: read-only, zero-message open, whole reads.
//
//   OPEN, FLUSH      ENOSYS once: from then on the kernel opens and closes without asking. A kernel
//   OPENDIR          that can not do so gets an empty handle and "keep the cache" instead.
//   READ             whole or an errno. A file system that answers short of the end of a file is a
//                    defect here, EIO there: the kernel would take it for the end of the file, cut
//                    the file's size and keep both. What this node does not have is not waited for
//                    by answer(), but by answer_from_source().
//   LOOKUP           "no such name" is an answer that the kernel may remember for a while.
//   INTERRUPT        ENOSYS: the kernel sends no more. A signal does not fail a read half-way; a
//                    process killed while it waits for read-ahead ends at once anyway.
//   writes           EROFS, should the superblock ever let one through.
//
// Thread-safe; holds no lock while the file system works. Requests may come in any order and twice
// (the kernel sends unanswered ones again to a successor): every answer depends on its request
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
  bool silent = false;        // the kernel expects nothing
  bool needs_source = false;  // no answer yet: a READ of bytes that this node does not have
  int error = 0;              // errno, positive
  std::array<std::byte, sizeof(fuse_entry_out)> small{};
  std::size_t small_size = 0;
  BufferPool::Lease large{};
  std::size_t large_size = 0;
  Error reason{};  // of an error the file system gave; for the log

  std::span<const std::byte> body() const {
    if (large) return {large.data(), large_size};
    return {small.data(), small_size};
  }
};

struct HandlerOptions {
  AttrOptions attr_options{};
  InitOptions init_options{};
  std::function<void(const Negotiated&)> on_init{};  // before the INIT is answered
  std::function<void()> on_skipped_name{};           // an entry that no kernel accepts was left out
};

class DataHandler {
 public:
  DataHandler(samplefs::FileSystem& files, HandlerOptions options, BufferPool& buffers);

  // A successor's start: what a predecessor agreed on. INIT will not come.
  void resume(const Negotiated& agreed);

  // Waits for no source.
  Answer answer(const Request& request);
  // Waits for it until then. REQUIRES: a READ, for which answer() has said needs_source.
  Answer answer_from_source(const Request& request, BootTime until);

 private:
  Answer init(const Init& offer);
  Answer lookup(samplefs::NodeId parent, std::string_view name);
  Answer get_attr(samplefs::NodeId node);
  Answer read(samplefs::NodeId node, const Read& want);
  // What a READ gave into `buffer`, as an answer.
  Answer whole(samplefs::NodeId node, const Read& want, BufferPool::Lease buffer,
               Result<std::size_t> got);
  Answer read_directory(samplefs::NodeId node, const ReadDirectory& want);

  samplefs::FileSystem& files_;
  const HandlerOptions options_;
  BufferPool& buffers_;
  std::atomic<bool> no_open_{false};
  std::atomic<bool> no_opendir_{false};
};

}  // namespace paddle::fuse
