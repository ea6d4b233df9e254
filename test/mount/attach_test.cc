// SPDX-License-Identifier: Apache-2.0
//
// A mount whose owner attaches the connection to one server after the other.

#include "fuse/attach.h"

#include <thread>

#include <poll.h>

#include "base/log.h"
#include "test/mount/mount_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

constexpr std::chrono::milliseconds kLong{20'000};

// What a runtime does with an attachment.
class Runtime {
 public:
  Runtime(const std::string& directory, samplefs::FileSystem& files) : files_(files) {
    auto server = fuse::AttachServer::start(
        directory, [this](fuse::Attachment attachment) { return serve(std::move(attachment)); });
    EXPECT_TRUE(server) << server.error().message;
    if (server) server_ = *std::move(server);
  }
  ~Runtime() {
    server_.reset();
    session_.reset();
  }

 private:
  Result<fuse::Negotiated> serve(fuse::Attachment attachment) {
    TRY(session_, fuse::Session::start(std::move(attachment.channels), files_, metrics_, {},
                                       attachment.resumed));
    link_ = std::move(attachment.link);
    return session_->wait_ready(kLong, attachment.stop);
  }

  samplefs::FileSystem& files_;
  Metrics metrics_;
  std::unique_ptr<fuse::Session> session_;
  UniqueFd link_;
  std::unique_ptr<fuse::AttachServer> server_;
};

class MountAttachTest : public MountTest {
 protected:
  MountAttachTest() { log::set_level(log::Level::kError); }
  ~MountAttachTest() override { log::set_level(log::Level::kInfo); }

  ScratchDir session_;
};

TEST_F(MountAttachTest, FilesAreVisibleWhenAttachReturnsAndSurviveTheirServers) {
  for (std::uint64_t i = 0; i < 8; ++i) files_.add_pattern(std::to_string(i), 110'000, i);
  auto mounted = fuse::mount_data(point_.path(), {});
  ASSERT_TRUE(mounted) << mounted.error().message;
  const std::vector<int> channels{mounted->channel.get()};
  const auto attach = [&](const std::optional<fuse::Negotiated>& resumed) {
    return fuse::attach(session_.path(), "set", channels, resumed, kLong);
  };
  ASSERT_TRUE(attach({}).is(Code::kUnavailable)) << "no server listens yet";

  auto runtime = std::make_unique<Runtime>(session_.path(), files_);
  auto attached = attach({});
  ASSERT_TRUE(attached) << attached.error().message;
  EXPECT_EQ(read_all(point_ / "0").bytes, pattern(0, 0, 110'000));
  if (!attached->agreed.can_resend()) {
    GTEST_SKIP() << "this kernel has no FUSE_NOTIFY_RESEND (Linux 6.9)";
  }

  for (std::uint64_t round = 1; round < 8; ++round) {
    runtime.reset();
    pollfd wait{attached->link.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&wait, 1, 20'000), 1) << "the end of the server is noticed";
    Content content;
    std::jthread reader([&] { content = read_all(point_ / std::to_string(round)); });
    runtime = std::make_unique<Runtime>(session_.path(), files_);
    auto next = attach(attached->agreed);
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->agreed, attached->agreed);
    attached = std::move(next);
    reader.join();
    EXPECT_EQ(content.error, 0);
    EXPECT_EQ(content.bytes, pattern(round, 0, 110'000));
  }
  EXPECT_NE(*fuse::unmount(mounted->point, mounted->device, kLong), fuse::Unmounted::kNothing);
}

TEST_F(MountAttachTest, WithoutAServerReadersWaitUntilTheDescriptorIsClosed) {
  files_.add_file("f", "x");
  auto mounted = fuse::mount_data(point_.path(), {});
  ASSERT_TRUE(mounted) << mounted.error().message;
  const FuseControl control;
  {
    const Runtime runtime(session_.path(), files_);
    ASSERT_TRUE(fuse::attach(session_.path(), "set", {mounted->channel.get()}, {}, kLong));
  }
  int error = 0;
  std::jthread reader([&] { error = read_all(point_ / "f").error; });
  EXPECT_TRUE(eventually([&] { return control.waiting(mounted->device) > 0; }));
  mounted->channel.reset();
  reader.join();
  EXPECT_NE(error, 0);
}

}  // namespace
}  // namespace paddle::test
