// SPDX-License-Identifier: Apache-2.0
#include "fuse/data_handler.h"

#include <cerrno>
#include <set>

#include <gtest/gtest.h>

#include "fuse/fake/delegating_file_system.h"
#include "fuse/fake/memory_file_system.h"
#include "fuse/fake/wire.h"

namespace paddle::fuse {
namespace {

using samplefs::Attr;
using samplefs::kRootId;

class DataHandlerTest : public testing::Test {
 protected:
  Answer ask(const std::vector<std::byte>& bytes) { return handler_.answer(*decode(bytes)); }
  Answer ask(std::uint32_t opcode, std::uint64_t node = kRootId) {
    return ask(raw_request(opcode, 1, node, std::span<const std::byte>{}));
  }

  // All entries, in pages of `size` bytes, as the kernel asks for them.
  std::vector<std::string> list(std::uint64_t node, std::uint32_t size, bool plus) {
    std::vector<std::string> all;
    std::uint64_t offset = 0;
    while (true) {
      const Answer page =
          ask(raw_read(1, node, offset, size, plus ? FUSE_READDIRPLUS : FUSE_READDIR));
      EXPECT_EQ(page.error, 0);
      EXPECT_LE(page.body().size(), size);
      if (page.error != 0 || page.body().empty()) return all;
      for (std::size_t at = 0; at < page.body().size();) {
        if (plus) at += sizeof(fuse_entry_out);
        const auto dirent = take<fuse_dirent>(page.body(), at);
        all.emplace_back(as_text(page.body()).substr(at + sizeof dirent, dirent.namelen));
        at += FUSE_REC_ALIGN(sizeof dirent + dirent.namelen);
        offset = dirent.off;
      }
    }
  }

  MemoryFileSystem files_;
  BufferPool buffers_{128UL * 1024, 2};
  int skipped_ = 0;
  DataHandler handler_{files_, HandlerOptions{.on_skipped_name = [this] { ++skipped_; }}, buffers_};
};

TEST_F(DataHandlerTest, OpensNeedNoMessageOnceNegotiated) {
  EXPECT_EQ(ask(FUSE_OPEN).error, 0) << "a kernel that offers nothing gets a handle";
  EXPECT_EQ(take<fuse_open_out>(ask(FUSE_OPEN).body()).open_flags, std::uint32_t{FOPEN_KEEP_CACHE});
  EXPECT_EQ(ask(FUSE_OPENDIR).error, 0);

  const Answer init = ask(raw_init(45, kModernOffer));
  EXPECT_EQ(init.error, 0);
  EXPECT_EQ(init.body().size(), sizeof(fuse_init_out));
  EXPECT_EQ(ask(FUSE_OPEN).error, ENOSYS);
  EXPECT_EQ(ask(FUSE_OPENDIR).error, ENOSYS);
  EXPECT_EQ(ask(FUSE_FLUSH).error, ENOSYS);
  EXPECT_EQ(ask(FUSE_ACCESS).error, ENOSYS);
  EXPECT_EQ(ask(FUSE_RELEASE).error, 0);
}

TEST_F(DataHandlerTest, ASuccessorOpensAsItsPredecessorNegotiated) {
  handler_.resume(*negotiate({kMajor, 45, 0, kModernOffer}, {}));
  EXPECT_EQ(ask(FUSE_OPEN).error, ENOSYS);
}

TEST_F(DataHandlerTest, ANewerMajorVersionIsAnsweredWithOurs) {
  fuse_init_in in{};
  in.major = 8;
  const Answer answer = ask(raw_request(FUSE_INIT, 1, 0, in));
  EXPECT_EQ(answer.error, 0);
  EXPECT_EQ(take<fuse_init_out>(answer.body()).major, kMajor);
}

TEST_F(DataHandlerTest, AnOlderProtocolIsRejected) {
  EXPECT_EQ(ask(raw_init(12, 0)).error, EPROTO);
}

TEST_F(DataHandlerTest, AMissingNameIsANegativeEntryAndABrokenIndexIsAnError) {
  const Answer missing = ask(raw_lookup(1, kRootId, "nothing"));
  EXPECT_EQ(missing.error, 0);
  EXPECT_EQ(take<fuse_entry_out>(missing.body()).nodeid, 0u);
  EXPECT_GT(take<fuse_entry_out>(missing.body()).entry_valid, 0u);

  files_.add_raw(kRootId, "zero", Attr{0, false, 1});
  EXPECT_EQ(ask(raw_lookup(1, kRootId, "zero")).error, EIO);
  EXPECT_EQ(ask(raw_lookup(1, kRootId, "..")).error, EINVAL);
  EXPECT_EQ(ask(raw_lookup(1, kRootId, std::string(256, 'x').c_str())).error, ENAMETOOLONG);
}

TEST_F(DataHandlerTest, AttributesOfAnUnknownNodeAreAnError) {
  EXPECT_EQ(ask(FUSE_GETATTR, 777).error, ENOENT);
  EXPECT_EQ(take<fuse_attr_out>(ask(FUSE_GETATTR).body()).attr.ino, kRootId);
}

TEST_F(DataHandlerTest, ReadsAreCompleteUpToTheEndOfTheFile) {
  const auto id = files_.add_file("f", "0123456789");
  EXPECT_EQ(as_text(ask(raw_read(1, id, 2, 3)).body()), "234");
  EXPECT_EQ(as_text(ask(raw_read(1, id, 8, 4096)).body()), "89");
  const Answer beyond = ask(raw_read(1, id, 10, 4096));
  EXPECT_EQ(beyond.error, 0);
  EXPECT_TRUE(beyond.body().empty());
  EXPECT_TRUE(ask(raw_read(1, id, ~0ULL, 4096)).body().empty());
}

TEST_F(DataHandlerTest, AShortReadIsAnErrorNotAnEndOfFile) {
  const auto id = files_.add_file("f", std::string(8192, 'x'));
  files_.cut_reads(id, true);
  EXPECT_EQ(ask(raw_read(1, id, 0, 4096)).error, EIO);
  EXPECT_EQ(ask(raw_read(1, id, 4096, 65536)).error, EIO) << "also in the last part";
  files_.cut_reads(id, false);
  EXPECT_EQ(ask(raw_read(1, id, 4096, 65536)).body().size(), 4096u);
}

TEST_F(DataHandlerTest, AReadLargerThanNegotiatedIsRejected) {
  const auto id = files_.add_file("f", "x");
  EXPECT_EQ(ask(raw_read(1, id, 0, 128 * 1024 + 1)).error, EINVAL);
}

TEST_F(DataHandlerTest, AnswerDoesNotWaitForTheSource) {
  const auto id = files_.add_file("f", "0123456789");
  files_.hold_reads(id);
  const auto bytes = raw_read(1, id, 2, 3);
  const Answer later = ask(bytes);
  EXPECT_TRUE(later.needs_source);
  EXPECT_TRUE(later.body().empty());
  EXPECT_EQ(handler_.answer_from_source(*decode(bytes), system_clock().boot()).error, ETIMEDOUT);
  files_.release_reads(id);
  const Answer come = handler_.answer_from_source(*decode(bytes), system_clock().boot());
  EXPECT_FALSE(come.needs_source);
  EXPECT_EQ(as_text(come.body()), "234");
  files_.cut_reads(id, true);
  EXPECT_EQ(handler_.answer_from_source(*decode(bytes), BootTime::max()).error, EIO)
      << "whole or an errno, wherever it comes from";
}

TEST_F(DataHandlerTest, AFailingReadCarriesItsReasonAndNoBytes) {
  const auto id = files_.add_file("f", "x");
  files_.fail_reads(id, Code::kDeadline);
  const Answer answer = ask(raw_read(1, id, 0, 1));
  EXPECT_EQ(answer.error, ETIMEDOUT);
  EXPECT_EQ(answer.reason.code, Code::kDeadline);
  EXPECT_TRUE(answer.body().empty());
}

TEST_F(DataHandlerTest, ADirectoryIsListedOnceWithAnyPageSize) {
  std::set<std::string> expected{".", ".."};
  for (int i = 0; i < 500; ++i) {
    const std::string name = std::to_string(i) + std::string(static_cast<std::size_t>(i % 90), 'n');
    files_.add_file("d/" + name, "x");
    expected.insert(name);
  }
  const auto node = files_.lookup(kRootId, "d")->id;
  for (const bool plus : {false, true}) {
    for (const std::uint32_t size : {512u, 4096u, 4097u, 1u << 20}) {
      const auto all = list(node, size, plus);
      EXPECT_EQ(all.size(), expected.size());
      EXPECT_EQ(std::set<std::string>(all.begin(), all.end()), expected);
    }
  }
}

TEST_F(DataHandlerTest, HostileEntriesAreLeftOutAndCounted) {
  files_.add_file("good", "x");
  files_.add_raw(kRootId, "a/b", Attr{50, false, 1});
  files_.add_raw(kRootId, "", Attr{51, false, 1});
  files_.add_raw(kRootId, "..", Attr{52, true, 0});
  files_.add_raw(kRootId, std::string("n\0l", 3), Attr{53, false, 1});
  files_.add_raw(kRootId, std::string(300, 'l'), Attr{54, false, 1});
  files_.add_raw(kRootId, "root-again", Attr{kRootId, true, 0});
  files_.add_raw(kRootId, "huge", Attr{55, false, ~0ULL});
  files_.add_file("last", "x");
  EXPECT_EQ(list(kRootId, 4096, true), (std::vector<std::string>{".", "..", "good", "last"}));
  EXPECT_EQ(skipped_, 7);
}

TEST_F(DataHandlerTest, APageTooSmallForOneEntryIsAnErrorNotAnEnd) {
  EXPECT_EQ(ask(raw_read(1, kRootId, 0, 16, FUSE_READDIR)).error, EINVAL);
}

TEST_F(DataHandlerTest, AnOffsetFarBeyondTheEndListsNothing) {
  const Answer answer = ask(raw_read(1, kRootId, ~0ULL, 4096, FUSE_READDIR));
  EXPECT_EQ(answer.error, 0);
  EXPECT_TRUE(answer.body().empty());
}

TEST_F(DataHandlerTest, ForgetsHaveNoReplyEvenWhenMalformed) {
  EXPECT_TRUE(ask(FUSE_FORGET).silent);
  EXPECT_TRUE(ask(FUSE_BATCH_FORGET).silent);
  auto lying = raw_request(FUSE_FORGET, 1, 1, std::span<const std::byte>{});
  lying.push_back(std::byte{});
  EXPECT_TRUE(ask(lying).silent);
}

class WithXattrs final : public DelegatingFileSystem {
 public:
  using DelegatingFileSystem::DelegatingFileSystem;
  Result<std::vector<samplefs::Xattr>> xattrs(samplefs::NodeId node) override {
    if (node != kRootId) return Error{Code::kNotFound, "no such node"};
    return std::vector<samplefs::Xattr>{{"user.a", std::string(300, 'x')}, {"user.b", ""}};
  }
};

TEST_F(DataHandlerTest, AnXattrIsItsSizeOrItsValueAndNeverCutOff) {
  WithXattrs files(files_);
  DataHandler handler(files, {}, buffers_);
  const auto get = [&](std::string_view name, std::uint32_t size, std::uint64_t node = kRootId) {
    return handler.answer(*decode(raw_get_xattr(1, node, name, size)));
  };
  EXPECT_EQ(take<fuse_getxattr_out>(get("user.a", 0).body()).size, 300u);
  EXPECT_EQ(get("user.a", 299).error, ERANGE);
  EXPECT_EQ(as_text(get("user.a", 300).body()), std::string(300, 'x'));
  EXPECT_EQ(get("user.b", 10).error, 0);
  EXPECT_TRUE(get("user.b", 10).body().empty());
  EXPECT_EQ(get("user.c", 10).error, ENODATA);
  EXPECT_EQ(get("user.a", 10, 99).error, ENOENT);
  // `ls -l` asks for these of each file until it hears that there are none.
  EXPECT_EQ(get("system.posix_acl_access", 0).error, EOPNOTSUPP);
  EXPECT_EQ(get("security.selinux", 255).error, EOPNOTSUPP);

  const auto list_names = [&](std::uint32_t size) {
    fuse_getxattr_in in{};
    in.size = size;
    return handler.answer(*decode(raw_request(FUSE_LISTXATTR, 1, kRootId, in)));
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(take<fuse_getxattr_out>(list_names(0).body()).size, 14u);
  EXPECT_EQ(list_names(13).error, ERANGE);
  EXPECT_EQ(as_text(list_names(100).body()), "user.a\0user.b\0"sv);
}

TEST_F(DataHandlerTest, WritesFailOnAReadOnlyFileSystem) {
  EXPECT_EQ(ask(FUSE_UNLINK).error, EROFS);
  EXPECT_EQ(ask(FUSE_SETATTR).error, EROFS);
}

}  // namespace
}  // namespace paddle::fuse
