// Requests of Kubernetes objects in exact amounts, by the rules of kube-scheduler
// (k8s.io/component-helpers resource PodRequests, release 1.34).
#ifndef DRASIM_MODEL_KUBE_REQUESTS_H_
#define DRASIM_MODEL_KUBE_REQUESTS_H_

#include <google/protobuf/map.h>

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "model/quantity.h"

namespace drasim {

// By name of the resource.
using KubeQuantities = std::map<std::string, Quantity>;

// Texts that are not quantities are left out; ReadKubeObjects refuses them.
KubeQuantities ReadQuantities(const google::protobuf::Map<std::string, std::string>& texts);

// Whether an init container keeps running beside the containers.
bool IsSidecar(const proto::kube::Container& init_container);

// Whether a pod may request the resource as a whole: CPU, memory, huge pages.
bool IsPodLevelResource(absl::string_view resource);
// Whether the pod does request one.
bool HasPodLevelRequests(const proto::kube::PodSpec& spec);

struct RequestRule {
  bool pod_level = true;  // requests of the pod as a whole count
  // Requests of every container and init container that has none of that resource; null: none.
  const KubeQuantities* missing = nullptr;
};

// The sum of containers and sidecars, or the largest init container together with the sidecars that
// start before it, if that is more. Requests of the pod as a whole replace that. Overhead comes on
// top. A container that is being resized in place counts with the largest of its requests, the
// allocated amounts, and those that it runs with; without its requests if the node has refused them
// as infeasible. Limits do not count: the API server has made requests of them
// (api_defaults.h). O(containers x resources).
KubeQuantities QuantitiesOfPod(const proto::kube::Pod& pod, const RequestRule& rule = {});
// The same of a pod that no node runs yet.
KubeQuantities QuantitiesOfPod(const proto::kube::PodSpec& spec, const RequestRule& rule = {});

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_REQUESTS_H_
