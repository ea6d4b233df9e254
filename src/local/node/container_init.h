// SPDX-License-Identifier: Apache-2.0
//
// The process that becomes a container. The node starts this program again with the hidden command
// `container-init`; single-threaded from the beginning, it
//
//   1. asks to be killed when the node dies, joins the pod's network namespace,
//   2. makes its own mount, pid and uts namespaces,
//   3. lays a private writable layer over this machine's files, binds the volumes, mounts /proc,
//   4. becomes the user's command, as process 1.
//
// Descriptor kPlanFd carries the plan; on kReportFd one sentence says why it failed, and silence
// until it closes (close-on-exec) says that the user's command runs. The outer process stays as the
// parent of process 1: it passes SIGTERM on and ends with the same exit code (128 + signal). On
// kKillSignal it kills process 1, and ends when the last process of the container has: whoever
// kills the outer process itself gets the same a moment later, without knowing when.

#pragma once

namespace paddle::local {

inline constexpr int kPlanFd = 3;
inline constexpr int kReportFd = 4;
inline constexpr int kKillSignal = 40;  // a real-time signal; its default is to end the process
inline constexpr const char* kContainerInitCommand = "container-init";
inline constexpr const char* kPodPauseCommand = "pod-pause";

// Never returns to the caller's normal flow: the result is the process' exit code.
int container_init();

// Holds a pod's network namespace: makes it, brings its loopback up, writes one byte to kReportFd,
// and waits for ever. Ends with its parent.
int pod_pause();

}  // namespace paddle::local
