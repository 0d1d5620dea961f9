// What Kubernetes objects ask for, in exact amounts: the rules that kube-scheduler and the API
// server's defaults have for containers and pods (release 1.34; k8s.io/component-helpers resource).
#ifndef DRASIM_MODEL_KUBE_REQUESTS_H_
#define DRASIM_MODEL_KUBE_REQUESTS_H_

#include <google/protobuf/map.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/pod_constraints.h"
#include "model/proto/kube.pb.h"
#include "model/quantity.h"

namespace drasim {

// By name of the resource.
using KubeQuantities = std::map<std::string, Quantity>;

// The reader of objects has checked that they are quantities; others are left out.
KubeQuantities ReadQuantities(const google::protobuf::Map<std::string, std::string>& texts);

// An init container that goes on beside the containers.
bool IsSidecar(const proto::kube::Container& init_container);

// A limit stands for a request that is missing, as the API server has it.
KubeQuantities RequestOfContainer(const proto::kube::Container& container);

// Containers and sidecars together, or the largest step of its init containers, with the sidecars
// started before it, if that is more. Requests of the pod as a whole (cpu, memory, huge pages) take
// the place of that, and its limits where nothing else says anything. Overhead on top.
// O(containers x resources).
KubeQuantities QuantitiesOfPod(const proto::kube::PodSpec& spec);

// --- Nodes ---

// The terms as shapes of pods have them. InvalidArgument for an operator, a number of values or a
// field that Kubernetes does not know.
absl::StatusOr<std::vector<NodeTerm>> NodeTermsOf(const proto::kube::NodeSelector& selector);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_REQUESTS_H_
