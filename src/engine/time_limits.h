// SPDX-License-Identifier: Apache-2.0
//
// Time limits that depend on each other: of calls to runtimes, of their silence, of lists that
// runtimes fetch, and of a runtime's end. Pure. Who changes one is told by the compiler which other
// it no longer fits.

#pragma once

#include <chrono>

namespace paddle::engine {

// ---- Calls to a runtime ----

inline constexpr std::chrono::milliseconds kRuntimeConnectTimeout{3'000};
inline constexpr std::chrono::milliseconds kRuntimeCallTimeout{10'000};  // where no other is named
inline constexpr std::chrono::milliseconds kSampleSetCallTimeout{4'000};
inline constexpr std::chrono::milliseconds kSampleJobCallTimeout{5'000};
// In which a runtime answers a request: the list of a large part takes a while.
inline constexpr std::chrono::seconds kRuntimeRequestTimeout{30};
// In which a caller sends the header of its request, after the TLS handshake. It may be slow: both
// ends share their processors with training.
inline constexpr std::chrono::seconds kRuntimeHeaderTimeout{5};

static_assert(kRuntimeConnectTimeout < kSampleSetCallTimeout);
static_assert(kRuntimeConnectTimeout < kSampleJobCallTimeout);
static_assert(kRuntimeConnectTimeout < kRuntimeHeaderTimeout, "the caller gives up first");
static_assert(kRuntimeCallTimeout <= kRuntimeRequestTimeout, "the server outwaits its callers");

// ---- Silence ----

// After this long without an answer a runtime counts as away: no worker is sent to its node for
// data.
inline constexpr std::chrono::seconds kRuntimeSilence{10};
// After this long, when its node is not Ready either, its pod is removed.
inline constexpr std::chrono::seconds kRuntimeGiveUp{25};
// Longest pause before a SampleSet is looked at again, also while something else fails.
inline constexpr std::chrono::seconds kSampleSetRetryPause{5};
// A runtime that falls silent is noticed within this time.
inline constexpr std::chrono::seconds kSilenceNoticed{15};

static_assert(kSampleSetCallTimeout + kSampleSetRetryPause <= kRuntimeSilence,
              "one unanswered call is not yet silence");
static_assert(kRuntimeSilence + kSampleSetRetryPause <= kSilenceNoticed);
static_assert(kRuntimeGiveUp > kSilenceNoticed, "its silence is known before it is given up");

// After a poll that failed. It is also the silence from which on a poll counts as unanswered.
inline constexpr std::chrono::seconds kPollRetryInterval{2};
// Who has not asked for the answers of a runtime for this long no longer has it polled.
inline constexpr std::chrono::seconds kPollOwnerExpiry{60};

static_assert(kPollRetryInterval + kSampleSetCallTimeout <= kRuntimeSilence,
              "an answer that was lost once is no silence");
static_assert(kSampleSetRetryPause < kPollOwnerExpiry, "a SampleSet that is looked at is polled");

// How often a runtime looks at the JuiceFS client of its node, and when a client that does not
// answer counts as hanging.
inline constexpr std::chrono::seconds kClientPollInterval{10};
inline constexpr std::chrono::seconds kClientSilence{30};

static_assert(kClientSilence >= 2 * kClientPollInterval, "one poll that is late is no silence");

// When the work of a JuiceFS program counts as hanging: a client that does not answer the call of a
// job at all, and a sync of which no object, no byte and no line of log moves.
inline constexpr std::chrono::minutes kClientCallStandstill{5};
inline constexpr std::chrono::minutes kSyncStandstill{15};

static_assert(kClientSilence < kClientCallStandstill, "the status reports it before the job fails");

// ---- Lists that runtimes fetch from the first one ----

// Pauses before the next attempt, doubled from the first to the longest.
inline constexpr std::chrono::milliseconds kListFirstPause{100};
inline constexpr std::chrono::milliseconds kListLongestPause{1'000};
// A warm-up without a list makes its own: after this long in all, or after this long in which the
// first runtime did not know the job. Both receive a job at about the same time.
inline constexpr std::chrono::milliseconds kListGiveUp{60'000};
inline constexpr std::chrono::milliseconds kListUnknownGiveUp{5'000};
// A part of a sync has no other way to its list: it waits until it is stopped.
inline constexpr std::chrono::milliseconds kPartFirstPause{200};
inline constexpr std::chrono::milliseconds kPartLongestPause{2'000};

static_assert(kListFirstPause < kListLongestPause && kPartFirstPause < kPartLongestPause);
static_assert(2 * kListLongestPause < kListUnknownGiveUp, "it is called more than once");
static_assert(kListUnknownGiveUp < kListGiveUp);
static_assert(kRuntimeRequestTimeout < kListGiveUp, "a long list has time to arrive");

// ---- The Secret by which runtimes and their callers know each other ----

// A renewed Secret reaches the files of pods within this time; until then only the previous one is
// accepted beside it.
inline constexpr std::chrono::minutes kSecretPropagation{2};
// After this time the previous token and authority are taken out of it: they open nothing any more.
inline constexpr std::chrono::minutes kPreviousSecretLifetime{10};
// It is renewed in the middle of its life. The limits are those of --runtime-identity-lifetime.
inline constexpr std::chrono::seconds kRuntimeSecretLifetime = std::chrono::days{90};
inline constexpr std::chrono::seconds kShortestSecretLifetime = std::chrono::minutes{10};
inline constexpr std::chrono::seconds kLongestSecretLifetime = std::chrono::days{3650};

static_assert(kShortestSecretLifetime / 2 > kSecretPropagation);
static_assert(kPreviousSecretLifetime >= 2 * kSecretPropagation);
static_assert(kShortestSecretLifetime <= kRuntimeSecretLifetime &&
              kRuntimeSecretLifetime <= kLongestSecretLifetime);

// ---- The end of a runtime ----

// Between SIGTERM and SIGKILL of a program that a runtime runs.
inline constexpr std::chrono::seconds kChildKillDelay{2};
// In which a runtime ends after SIGTERM; with JuiceFS it ends the program that it runs first.
inline constexpr std::chrono::milliseconds kShutdownTimeout{1'500};
inline constexpr std::chrono::milliseconds kJuicefsShutdownTimeout{4'000};
// Of a runtime's pod (terminationGracePeriodSeconds).
inline constexpr std::chrono::seconds kTerminationGrace{10};

static_assert(kChildKillDelay < kJuicefsShutdownTimeout);
static_assert(kShutdownTimeout < kTerminationGrace && kJuicefsShutdownTimeout < kTerminationGrace);

}  // namespace paddle::engine
