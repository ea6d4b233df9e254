// SPDX-License-Identifier: Apache-2.0
#include "test/local/machine_main.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "engine/samplefs/volumes.h"
#include "fuse/attach.h"
#include "fuse/fake/delegating_file_system.h"
#include "fuse/fake/memory_file_system.h"
#include "fuse/session.h"
#include "local/node/container_init.h"

namespace paddle::local {
namespace {

void add_samples(fuse::MemoryFileSystem& files) {
  for (int i = 0; i < 400; ++i) files.add_file(std::to_string(i), std::to_string(i) + "\n");
  files.add_file("train/a", "deep\n");
}

int serve_samples() {
  struct Served {
    std::unique_ptr<fuse::Session> session{};
    UniqueFd link{};
  };
  fuse::MemoryFileSystem samples;
  add_samples(samples);
  fuse::SlowFileSystem files(samples);
  Metrics metrics;
  std::map<std::string, Served> served;
  auto server = fuse::AttachServer::start(
      engine::samplefs::kSessionPath, [&](fuse::Attachment attachment) -> Result<fuse::Negotiated> {
        TRY(auto session, fuse::Session::start(std::move(attachment.channels), files, metrics, {},
                                               attachment.resumed));
        TRY(const auto agreed, session->wait_ready(std::chrono::seconds{10}, attachment.stop));
        served[attachment.name] = {std::move(session), std::move(attachment.link)};
        return agreed;
      });
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::ofstream("/cache/0/starts", std::ios::app) << "started\n";
  std::puts("serving");
  std::fflush(stdout);
  while (true) ::pause();
}

}  // namespace
}  // namespace paddle::local

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == paddle::local::kContainerInitCommand) return paddle::local::container_init();
  if (command == paddle::local::kPodPauseCommand) return paddle::local::pod_pause();
  if (command == paddle::local::kServeSamplesCommand) return paddle::local::serve_samples();
  // As paddlectl does: what a test mounts goes with it.
  if (::geteuid() == 0 && ::unshare(CLONE_NEWNS) == 0) {
    ::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
