// SPDX-License-Identifier: Apache-2.0
#include "csi/registration.h"

#include <gtest/gtest.h>

namespace paddle::csi {
namespace {

TEST(RegistryPaths, ContainTheDriversNameHiddenAndShown) {
  const auto paths = registry_paths("/registration", "csi.juicefs.com");
  ASSERT_TRUE(paths) << paths.error().message;
  EXPECT_EQ(*paths, (RegistryPaths{.hidden = "/registration/.csi.juicefs.com-reg.sock",
                                   .shown = "/registration/csi.juicefs.com-reg.sock"}));
}

TEST(RegistryPaths, RejectNamesThatLeaveTheRegistryOrHideInIt) {
  for (const std::string& name :
       {std::string(""), std::string(".."), std::string("../../etc/x"), std::string("a/b"),
        std::string(".hidden"), std::string("a\nb"), std::string("-a"), std::string(64, 'a')}) {
    const auto paths = registry_paths("/registration", name);
    ASSERT_TRUE(paths.is(Code::kInvalid)) << name;
  }
  EXPECT_TRUE(registry_paths("/registration", std::string(63, 'a')));
}

TEST(RegistryPaths, FitIntoASocketsAddressOrAreRejectedInOneSentence) {
  const std::string file = "/.a-reg.sock";
  EXPECT_TRUE(registry_paths("/" + std::string(106 - file.size(), 'd'), "a"));
  const auto paths = registry_paths("/" + std::string(107 - file.size(), 'd'), "a");
  ASSERT_TRUE(paths.is(Code::kInvalid));
  EXPECT_NE(paths.error().message.find("108 bytes"), std::string::npos) << paths.error().message;
}

TEST(SocketPath, IsAbsoluteAndShortEnough) {
  EXPECT_TRUE(check_socket_path("--csi-socket", "/" + std::string(106, 'a')));
  EXPECT_TRUE(check_socket_path("--csi-socket", "/" + std::string(107, 'a')).is(Code::kInvalid));
  const auto relative = check_socket_path("--csi-socket", "unix:/csi/csi.sock");
  ASSERT_TRUE(relative.is(Code::kInvalid));
  EXPECT_EQ(relative.error().message, "--csi-socket=unix:/csi/csi.sock is not an absolute path");
}

}  // namespace
}  // namespace paddle::csi
