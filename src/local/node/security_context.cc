// SPDX-License-Identifier: Apache-2.0
#include "local/node/security_context.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

#include <linux/capability.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::local {
namespace {

using api::Json;

// By number, as in linux/capability.h.
constexpr std::array<std::string_view, 41> kNames{"CHOWN",
                                                  "DAC_OVERRIDE",
                                                  "DAC_READ_SEARCH",
                                                  "FOWNER",
                                                  "FSETID",
                                                  "KILL",
                                                  "SETGID",
                                                  "SETUID",
                                                  "SETPCAP",
                                                  "LINUX_IMMUTABLE",
                                                  "NET_BIND_SERVICE",
                                                  "NET_BROADCAST",
                                                  "NET_ADMIN",
                                                  "NET_RAW",
                                                  "IPC_LOCK",
                                                  "IPC_OWNER",
                                                  "SYS_MODULE",
                                                  "SYS_RAWIO",
                                                  "SYS_CHROOT",
                                                  "SYS_PTRACE",
                                                  "SYS_PACCT",
                                                  "SYS_ADMIN",
                                                  "SYS_BOOT",
                                                  "SYS_NICE",
                                                  "SYS_RESOURCE",
                                                  "SYS_TIME",
                                                  "SYS_TTY_CONFIG",
                                                  "MKNOD",
                                                  "LEASE",
                                                  "AUDIT_WRITE",
                                                  "AUDIT_CONTROL",
                                                  "SETFCAP",
                                                  "MAC_OVERRIDE",
                                                  "MAC_ADMIN",
                                                  "SYSLOG",
                                                  "WAKE_ALARM",
                                                  "BLOCK_SUSPEND",
                                                  "AUDIT_READ",
                                                  "PERFMON",
                                                  "BPF",
                                                  "CHECKPOINT_RESTORE"};

constexpr Capabilities bit(int number) { return Capabilities{1} << number; }

Error wrong(const std::string& path, const std::string& expected) {
  return Error{Code::kInvalid, path + " must be " + expected};
}

// `list` of the container's capabilities, each with or without "CAP_".
Result<Capabilities> capabilities_of(const Json& list, const std::string& path) {
  Capabilities all = 0;
  if (list.is_null()) return all;
  if (!list.is_array()) return wrong(path, "a list of names");
  for (const Json& item : list) {
    if (!item.is_string()) return wrong(path, "a list of names");
    const std::string text = item.get<std::string>();
    if (text == "ALL") return kAllCapabilities;
    const std::string_view name =
        text.starts_with("CAP_") ? std::string_view(text).substr(4) : std::string_view(text);
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
      return wrong(
          path, "a list of capabilities such as NET_ADMIN; '" + text.substr(0, 100) + "' is none");
    }
    all |= bit(static_cast<int>(found - kNames.begin()));
  }
  return all;
}

// A field of the container's securityContext, or of the pod's.
const Json& field(const Json& pod, const Json& container, const char* key) {
  const Json& own = api::look(container, key);
  return own.is_null() ? api::look(pod, key) : own;
}

Result<std::optional<std::uint32_t>> id_of(const Json& value, const std::string& name) {
  if (value.is_null()) return std::optional<std::uint32_t>{};
  const bool good = value.is_number_integer() && value.get<std::int64_t>() >= 0 &&
                    value.get<std::int64_t>() < std::numeric_limits<std::int32_t>::max();
  if (!good) return wrong("securityContext." + name, "a number from 0 to 2147483646");
  return std::optional(value.get<std::uint32_t>());
}

}  // namespace

Capabilities default_capabilities() {
  Capabilities all = 0;
  for (const int each : {CAP_AUDIT_WRITE, CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID,
                         CAP_KILL, CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_SETFCAP, CAP_SETGID,
                         CAP_SETPCAP, CAP_SETUID, CAP_SYS_CHROOT}) {
    all |= bit(each);
  }
  return all;
}

Result<SecurityContext> decode_security_context(const Json& pod_spec, const Json& container) {
  const Json& pod = api::look(pod_spec, "securityContext");
  const Json& own = api::look(container, "securityContext");
  SecurityContext context;
  TRY(const auto user, id_of(field(pod, own, "runAsUser"), "runAsUser"));
  TRY(const auto group, id_of(field(pod, own, "runAsGroup"), "runAsGroup"));
  TRY(context.fs_group, id_of(api::look(pod, "fsGroup"), "fsGroup"));
  const Json& non_root = field(pod, own, "runAsNonRoot");
  const bool unprivileged = non_root.is_boolean() && non_root.get<bool>() && !user;
  context.user = unprivileged ? kUnprivileged : user.value_or(0);
  context.group = group.value_or(unprivileged ? kUnprivileged : 0);
  if (non_root.is_boolean() && non_root.get<bool>() && context.user == 0) {
    return wrong("securityContext.runAsUser", "another user than 0, because of runAsNonRoot");
  }
  if (const Json& groups = api::look(pod, "supplementalGroups"); groups.is_array()) {
    for (const Json& each : groups) {
      TRY(const auto id, id_of(each, "supplementalGroups"));
      if (id) context.groups.push_back(*id);
    }
  }
  if (context.fs_group) context.groups.push_back(*context.fs_group);

  const Json& changes = api::look(own, "capabilities");
  TRY(const Capabilities dropped,
      capabilities_of(api::look(changes, "drop"), "securityContext.capabilities.drop"));
  TRY(const Capabilities added,
      capabilities_of(api::look(changes, "add"), "securityContext.capabilities.add"));
  context.privileged = api::look_flag(own, "privileged");
  context.capabilities =
      context.privileged ? kAllCapabilities : (default_capabilities() & ~dropped) | added;
  const Json& escalation = api::look(own, "allowPrivilegeEscalation");
  context.no_new_privileges =
      !context.privileged && escalation.is_boolean() && !escalation.get<bool>();
  context.read_only_root = api::look_flag(own, "readOnlyRootFilesystem");
  return context;
}

}  // namespace paddle::local
