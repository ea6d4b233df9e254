// SPDX-License-Identifier: Apache-2.0
//
// Names one REST collection of the API server. A plain value; every kind that we use is listed here
// once.

#pragma once

#include <compare>
#include <string>

#include "api/core/meta.h"

namespace paddle::kube {

struct Resource {
  std::string group{};  // empty for core/v1
  std::string version{};
  std::string plural{};
  std::string kind{};
  bool namespaced = true;
  auto operator<=>(const Resource&) const = default;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

// The path of a collection or an object: "/api/v1/namespaces/a/pods/b/status". An empty ns
// addresses all namespaces, an empty name the collection; sub is "", "status" or "scale". Segments
// are percent-encoded.
std::string path_of(const Resource& resource, const api::ObjectKey& key,
                    const std::string& sub = {});

namespace resources {
inline const Resource kPods{"", "v1", "pods", "Pod", true};
inline const Resource kServices{"", "v1", "services", "Service", true};
inline const Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap", true};
inline const Resource kSecrets{"", "v1", "secrets", "Secret", true};
inline const Resource kEvents{"", "v1", "events", "Event", true};
inline const Resource kNodes{"", "v1", "nodes", "Node", false};
inline const Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
inline const Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount", true};
inline const Resource kPersistentVolumes{"", "v1", "persistentvolumes", "PersistentVolume", false};
inline const Resource kClaims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true};
inline const Resource kStatefulSets{"apps", "v1", "statefulsets", "StatefulSet", true};
inline const Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};
inline const Resource kCrds{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                            "CustomResourceDefinition", false};
inline const Resource kNetworkPolicies{"networking.k8s.io", "v1", "networkpolicies",
                                       "NetworkPolicy", true};
inline const Resource kCsiDrivers{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", false};
inline const Resource kCsiNodes{"storage.k8s.io", "v1", "csinodes", "CSINode", false};
inline const Resource kAdmissionPolicies{"admissionregistration.k8s.io", "v1",
                                         "validatingadmissionpolicies", "ValidatingAdmissionPolicy",
                                         false};
inline const Resource kAdmissionPolicyBindings{"admissionregistration.k8s.io", "v1",
                                               "validatingadmissionpolicybindings",
                                               "ValidatingAdmissionPolicyBinding", false};
inline const Resource kPaddleJobs{"batch.paddlepaddle.org", "v1", "paddlejobs", "PaddleJob", true};
inline const Resource kSampleSets{"batch.paddlepaddle.org", "v1alpha1", "samplesets", "SampleSet",
                                  true};
inline const Resource kSampleJobs{"batch.paddlepaddle.org", "v1alpha1", "samplejobs", "SampleJob",
                                  true};
}  // namespace resources

}  // namespace paddle::kube
