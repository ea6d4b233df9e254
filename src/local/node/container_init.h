// SPDX-License-Identifier: Apache-2.0
//
// The process that becomes a container. The node starts this program again with the hidden command
// `container-init`; single-threaded from the start, it
//
//   1. requests SIGKILL for the case that the node dies, joins the pod's network namespace,
//   2. creates its own mount, pid and uts namespaces,
//   3. overlays a private writable layer on this machine's files, binds the volumes, mounts /proc,
//   4. executes the user's command as process 1.
//
// The plan is read from descriptor kPlanFd. On failure one sentence with the reason is written to
// kReportFd; if it closes (close-on-exec) without text, the user's command runs. The outer process
// stays as the parent of process 1: it forwards SIGTERM and exits with the same code (128 +
// signal). On kKillSignal it kills process 1, and exits when the last process of the container has
// ended. Killing the outer process itself also kills the container, a moment later and without
// notice.

#pragma once

namespace paddle::local {

inline constexpr int kPlanFd = 3;
inline constexpr int kReportFd = 4;
inline constexpr int kKillSignal = 40;  // a real-time signal; its default action ends the process
inline constexpr const char* kContainerInitCommand = "container-init";
inline constexpr const char* kPodPauseCommand = "pod-pause";

// Returns the exit code of the process; the caller must exit with it.
int container_init();

// Holds a pod's network namespace: creates it, brings its loopback up, writes one byte to
// kReportFd, and waits for ever. Ends with its parent.
int pod_pause();

}  // namespace paddle::local
