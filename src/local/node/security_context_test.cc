// SPDX-License-Identifier: Apache-2.0
#include "local/node/security_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <nlohmann/json.hpp>

#include "local/node/private_devices.h"

namespace paddle::local {
namespace {

using api::Json;

bool has(const SecurityContext& context, int capability) {
  return (context.capabilities >> capability & 1) != 0;
}

SecurityContext decoded(const Json& pod, const Json& container) {
  auto context =
      decode_security_context(Json{{"securityContext", pod}}, Json{{"securityContext", container}});
  EXPECT_TRUE(context) << context.error().message;
  return context ? *context : SecurityContext{};
}

TEST(SecurityContext, WithoutOneAContainerIsRootWithFewCapabilities) {
  const auto context = decode_security_context(Json::object(), Json::object());
  ASSERT_TRUE(context);
  EXPECT_EQ(*context, SecurityContext{});
  EXPECT_TRUE(has(*context, CAP_CHOWN));
  EXPECT_TRUE(has(*context, CAP_NET_BIND_SERVICE));
  for (const int capability : {CAP_SYS_ADMIN, CAP_MKNOD, CAP_SYS_PTRACE, CAP_SYS_MODULE}) {
    EXPECT_FALSE(has(*context, capability)) << capability;
  }
}

TEST(SecurityContext, AContainerOverridesItsPod) {
  const Json pod = {{"runAsUser", 1000},
                    {"runAsGroup", 1001},
                    {"fsGroup", 2000},
                    {"supplementalGroups", {3000, 3001}}};
  const auto inherited = decoded(pod, Json::object());
  EXPECT_EQ(inherited.user, 1000u);
  EXPECT_EQ(inherited.group, 1001u);
  EXPECT_EQ(inherited.fs_group, 2000u);
  EXPECT_THAT(inherited.groups, testing::ElementsAre(3000, 3001, 2000));
  const auto own = decoded(pod, {{"runAsUser", 0}, {"runAsGroup", 7}});
  EXPECT_EQ(own.user, 0u);
  EXPECT_EQ(own.group, 7u);
}

TEST(SecurityContext, NonRootWithoutAUserIsTheUnprivilegedOne) {
  const auto context = decoded({{"runAsNonRoot", true}}, Json::object());
  EXPECT_EQ(context.user, kUnprivileged);
  EXPECT_EQ(context.group, kUnprivileged);
  const auto contradiction =
      decode_security_context(Json{{"securityContext", {{"runAsNonRoot", true}}}},
                              Json{{"securityContext", {{"runAsUser", 0}}}});
  ASSERT_TRUE(contradiction.is(Code::kInvalid));
  EXPECT_THAT(contradiction.error().message, testing::HasSubstr("runAsNonRoot"));
}

TEST(SecurityContext, CapabilitiesAreDroppedFirstAndAddedThen) {
  const auto context =
      decoded(Json::object(),
              {{"capabilities", {{"drop", {"ALL"}}, {"add", {"NET_ADMIN", "CAP_IPC_LOCK"}}}}});
  EXPECT_EQ(context.capabilities,
            Capabilities{1} << CAP_NET_ADMIN | Capabilities{1} << CAP_IPC_LOCK);
  const auto without = decoded(Json::object(), {{"capabilities", {{"drop", {"NET_RAW"}}}}});
  EXPECT_FALSE(has(without, CAP_NET_RAW));
  EXPECT_TRUE(has(without, CAP_CHOWN));
  EXPECT_TRUE(has(decoded(Json::object(), {{"capabilities", {{"add", {"CHECKPOINT_RESTORE"}}}}}),
                  CAP_CHECKPOINT_RESTORE));
}

TEST(SecurityContext, UnknownNamesAndNumbersAreRefusedByTheirPath) {
  const auto name = decode_security_context(
      Json::object(), Json{{"securityContext", {{"capabilities", {{"add", {"FLY"}}}}}}});
  ASSERT_TRUE(name.is(Code::kInvalid));
  EXPECT_THAT(name.error().message, testing::HasSubstr("capabilities.add"));
  EXPECT_THAT(name.error().message, testing::HasSubstr("FLY"));
  for (const Json& id : {Json(-1), Json("root"), Json(std::int64_t{1} << 40)}) {
    EXPECT_TRUE(
        decode_security_context(Json{{"securityContext", {{"runAsUser", id}}}}, Json::object())
            .is(Code::kInvalid))
        << id;
  }
}

TEST(SecurityContext, PrivilegedHasEverythingAndMayEscalate) {
  const auto context =
      decoded(Json::object(), {{"privileged", true}, {"allowPrivilegeEscalation", false}});
  EXPECT_TRUE(context.privileged);
  EXPECT_EQ(context.capabilities, kAllCapabilities);
  EXPECT_FALSE(context.no_new_privileges);
  EXPECT_TRUE(decoded(Json::object(), {{"allowPrivilegeEscalation", false}}).no_new_privileges);
}

TEST(PrivateDevices, AcceleratorsAreKnownByName) {
  for (const char* name : {"nvidia0", "nvidiactl", "nvidia-uvm", "dri", "kfd", "davinci0", "xpu0",
                           "infiniband", "accel"}) {
    EXPECT_TRUE(is_accelerator(name)) << name;
  }
  for (const char* name : {"sda", "vda1", "nvme0n1", "mem", "kmsg", "fuse", "loop0", "dm-0"}) {
    EXPECT_FALSE(is_accelerator(name)) << name;
  }
}

}  // namespace
}  // namespace paddle::local
