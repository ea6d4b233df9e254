// SPDX-License-Identifier: Apache-2.0
//
// Types and reasons of the conditions of a SampleSet, and reasons of its events. Users and other
// programs match them: they are part of the API. Pure.

#pragma once

#include <string>

namespace paddle::controllers::sample_set {

namespace condition_type {
inline constexpr const char* kBound = "Bound";
inline constexpr const char* kRuntimeReady = "RuntimeReady";
inline constexpr const char* kSynced = "Synced";
inline constexpr const char* kWarmed = "Warmed";
inline constexpr const char* kDegraded = "Degraded";
inline constexpr const char* kSamplesLeftOut = "SamplesLeftOut";
inline constexpr const char* kCsiDriverMissing = "CSIDriverMissing";
inline constexpr const char* kVolumeShared = "VolumeShared";
inline constexpr const char* kReady = "Ready";
}  // namespace condition_type

// Of conditions; some are reasons of events as well.
namespace reason {
// Ready is False: nothing can be created.
inline constexpr const char* kSecretNotFound = "ErrorSecretNotExist";
inline constexpr const char* kSecretElsewhere = "SecretElsewhere";
inline constexpr const char* kEngineUnclear = "EngineUnclear";
inline constexpr const char* kEngineUnknown = "ErrorDriverNotExist";
inline constexpr const char* kSpecRefused = "SpecRefused";  // also of Degraded
inline constexpr const char* kNameTaken = "NameTaken";
inline constexpr const char* kCacheLimit = "CacheLimitExceeded";
inline constexpr const char* kPreparing = "Preparing";
inline constexpr const char* kPreparationFailed = "PreparationFailed";
inline constexpr const char* kCsiDriverMissing = "CSIDriverMissing";
inline constexpr const char* kReady = "Ready";
// Bound
inline constexpr const char* kBound = "Bound";
inline constexpr const char* kWaitingForVolume = "WaitingForVolume";
// RuntimeReady
inline constexpr const char* kRuntimesReady = "RuntimesReady";
inline constexpr const char* kWaitingForRuntimes = "WaitingForRuntimes";
inline constexpr const char* kFailedCreate = "FailedCreate";  // as the StatefulSet controller says
// Synced
inline constexpr const char* kNotNeeded = "NotNeeded";
inline constexpr const char* kPublished = "Published";
inline constexpr const char* kSyncing = "Syncing";
inline constexpr const char* kSyncFailed = "SyncFailed";
inline constexpr const char* kNotAsked = "NotAsked";  // also of Warmed
// Warmed
inline constexpr const char* kWarmedUp = "WarmedUp";
inline constexpr const char* kWarmingUp = "WarmingUp";
inline constexpr const char* kWarmupFailed = "WarmupFailed";
inline constexpr const char* kSwitchedOff = "SwitchedOff";
inline constexpr const char* kNoRoom = "NoRoom";
inline constexpr const char* kPartlyCached = "PartlyCached";
// Degraded
inline constexpr const char* kAllWell = "AllWell";
inline constexpr const char* kRuntimeSilent = "RuntimeSilent";
inline constexpr const char* kNodeLost = "NodeLost";
inline constexpr const char* kNoNode = "NoNode";  // releases the workers of that partition
inline constexpr const char* kActionRefused = "ActionRefused";
inline constexpr const char* kCredentialsRefused = "CredentialsRefused";
inline constexpr const char* kSecretGone = "SecretGone";
inline constexpr const char* kSourceUnavailable = "SourceUnavailable";
// SamplesLeftOut
inline constexpr const char* kNotUsable = "NotUsable";
// CSIDriverMissing
inline constexpr const char* kDriverPresent = "DriverPresent";
inline constexpr const char* kDriverNotInstalled = "DriverNotInstalled";
inline constexpr const char* kDriverNotOnNode = "DriverNotOnNode";
// VolumeShared
inline constexpr const char* kFilesMix = "FilesMix";
}  // namespace reason

// Of events only. `kind` is kind_name() of objects/owned_objects.h.
namespace event_reason {
inline constexpr const char* kRuntimeLost = "RuntimeLost";
inline constexpr const char* kCacheLost = "CacheLost";
inline constexpr const char* kJuicefsNotUsed = "JuiceFSNotUsed";  // on one machine
inline constexpr const char* kDeletionHeldBack = "DeletionHeldBack";
inline constexpr const char* kClaimCleaned = "ClaimAnnotationsRemoved";
inline constexpr const char* kSyncRequested = "CreateSyncJobSuccessfully";
inline constexpr const char* kSyncRequestFailed = "ErrorCreateSyncJob";
inline constexpr const char* kSyncSucceeded = "DoSyncJobSuccessfully";
inline constexpr const char* kSyncFailed = "ErrorDoSyncJob";
inline constexpr const char* kWarmUpSucceeded = "DoWarmupJobSuccessfully";
inline constexpr const char* kWarmUpFailed = "ErrorDoWarmupJob";
inline std::string created(const std::string& kind) { return "Create" + kind + "Successfully"; }
inline std::string create_failed(const std::string& kind) { return "ErrorCreate" + kind; }
inline std::string delete_failed(const std::string& kind) { return "ErrorDelete" + kind; }
inline std::string already_exists(const std::string& kind) {
  return "Error" + kind + "AlreadyExist";
}
}  // namespace event_reason

}  // namespace paddle::controllers::sample_set
