// SPDX-License-Identifier: Apache-2.0
//
// The options and the time limits that decisions about SampleSets depend on. Values only.
//
// The limits are in one place because they depend on each other:
//
//   last answer of a runtime
//     + kPollInterval + kRuntimeCallTimeout    the first poll that fails
//     + kPollSilent + kRuntimeCallTimeout      the second one: silent for kSilentAfter by then
//   = at most kSilenceNoticed                  the set is Degraded, its node loses the set's labels
//   kLostAfter                                 if its node is not Ready either, its pod is replaced
//
// Watches report every other change; only runtimes have to be polled.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "engine/manifests.h"
#include "engine/time_limits.h"

namespace paddle::controllers::sample_set {

// Timeout of one request to a runtime, and of one to the API server.
inline constexpr std::chrono::milliseconds kRuntimeCallTimeout = engine::kSampleSetCallTimeout;
inline constexpr std::chrono::seconds kServerCallTimeout{10};

// How often the runtimes of a set are polled: always, and when one of them did not answer.
inline constexpr std::chrono::seconds kPollInterval{5};
inline constexpr std::chrono::seconds kPollSilent = engine::kPollRetryInterval;
// A pass waits this long for the first answer of a runtime, or for its answer about another job;
// then it goes on without. It is put off until then, and blocks nothing.
inline constexpr std::chrono::seconds kFirstAnswer{5};
// The longest pause of the work queue after passes that failed.
inline constexpr std::chrono::seconds kLongestBackoff = engine::kSampleSetRetryPause;

// Without an answer for this long a runtime is silent: no worker is sent to its node for data.
inline constexpr std::chrono::seconds kSilentAfter = engine::kRuntimeSilence;
inline constexpr std::chrono::seconds kSilenceNoticed = engine::kSilenceNoticed;
// Silent, or on a node that is not Ready, for this long: its pod is deleted without waiting for the
// kubelet, so that the successor starts on another node.
inline constexpr std::chrono::seconds kLostAfter = engine::kRuntimeGiveUp;
// A pod that is being deleted on a node that is not Ready is lost this long after its
// deletionTimestamp.
inline constexpr std::chrono::seconds kDeletionOverdue{5};

// While pods of the runtimes are missing, the events of their StatefulSet are read this often, and
// not before it has had this time to create them.
inline constexpr std::chrono::seconds kCreationCheck{5};

// How often a pass is repeated while something is waited for that no watch reports.
inline constexpr std::chrono::seconds kBlockedInterval{10};
// Secrets are read by name and not watched: the right to watch them is the right to read them all.
// A missing one is noticed within 10 s, a changed one within a minute, and within 15 s while the
// set is not well: age of what is known plus the time until the next pass.
inline constexpr std::chrono::seconds kMissingSecretPass{5};
inline constexpr std::chrono::seconds kMissingSecretAge{4};
inline constexpr std::chrono::seconds kSecretAge{45};
inline constexpr std::chrono::seconds kSecretAgeInTrouble{4};
inline constexpr std::chrono::seconds kSyncInterval{1};
inline constexpr std::chrono::seconds kWarmUpInterval{2};
inline constexpr std::chrono::seconds kFailedPartInterval{5};
inline constexpr std::chrono::seconds kPodsGoneInterval{5};
inline constexpr std::chrono::seconds kUsersInterval{30};
// The delay before a failed job or preparation is retried doubles with each failure.
inline constexpr std::chrono::seconds kFirstRetry{10};
inline constexpr std::chrono::seconds kLongestJobRetry{640};
inline constexpr std::chrono::seconds kLongestPreparationRetry{320};
// After an informer was started, until its first list is expected to be complete.
inline constexpr std::chrono::milliseconds kInformerStart{200};

// A kubelet reads the annotations of its pods every second and then writes the files of Secrets.
inline constexpr std::chrono::seconds kSecretMountDelay{3};

// How often a runtime is polled: in general, during a warm-up, and until the first sync is done.
// One that did not answer: kPollSilent.
struct PollIntervals {
  std::chrono::nanoseconds always = kPollInterval;
  std::chrono::nanoseconds warming_up = kWarmUpInterval;
  std::chrono::nanoseconds syncing = kSyncInterval;
};

// How old what is known of a Secret may be.
struct SecretAges {
  std::chrono::nanoseconds missing = kMissingSecretAge;
  std::chrono::nanoseconds in_trouble = kSecretAgeInTrouble;
  std::chrono::nanoseconds usual = kSecretAge;
};

struct Config {
  engine::ManifestBuilders engines{};
  engine::RuntimeOptions runtime{};
  std::map<std::string, std::string> images{};  // by engine, instead of runtime.image
  // CSI drivers whose volumes nodes mount although the cluster has no CSIDriver object for them.
  std::set<std::string> built_in_drivers{};
  PollIntervals polls{};
  SecretAges secrets{};
  // What the caches of all sets of one namespace may have on all nodes together; 0: no limit.
  std::int64_t namespace_cache_mib = 0;
  // No thread polls runtimes: for tests that decide when things happen.
  bool polls_in_passes = false;
};

static_assert(kRuntimeCallTimeout < kPollInterval);
static_assert(kLongestBackoff <= kPollInterval);
static_assert(kPollSilent < kPollInterval);
static_assert(kRuntimeCallTimeout < kFirstAnswer && kFirstAnswer < kSilentAfter);
static_assert(kPollInterval + kRuntimeCallTimeout + kPollSilent + kRuntimeCallTimeout >=
              kSilentAfter);
static_assert(kPollInterval + kRuntimeCallTimeout + kPollSilent + kRuntimeCallTimeout <=
              kSilenceNoticed);
static_assert(kSilenceNoticed < kLostAfter);
static_assert(kDeletionOverdue < kLostAfter);
static_assert(kMissingSecretAge + kMissingSecretPass < std::chrono::seconds{10});
static_assert(kSecretAgeInTrouble + kBlockedInterval < std::chrono::seconds{15});
static_assert(kSecretAge + kBlockedInterval < std::chrono::seconds{60});

}  // namespace paddle::controllers::sample_set
