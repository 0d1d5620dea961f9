// Requests of Kubernetes objects in exact amounts, by the rules of kube-scheduler and the API
// server's defaults (release 1.34; k8s.io/component-helpers resource).
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

// Texts that are not quantities are left out; ReadKubeObjects refuses them.
KubeQuantities ReadQuantities(const google::protobuf::Map<std::string, std::string>& texts);

// Whether an init container keeps running beside the containers.
bool IsSidecar(const proto::kube::Container& init_container);

// A limit stands in for a missing request, as in the API server's defaults.
KubeQuantities RequestOfContainer(const proto::kube::Container& container);

// The sum of containers and sidecars, or the largest init container together with the sidecars that
// start before it, if that is more. Requests of the pod as a whole (cpu, memory, huge pages)
// replace that; its limits apply where there is no request at all. Overhead comes on top.
// O(containers x resources).
KubeQuantities QuantitiesOfPod(const proto::kube::PodSpec& spec);

// --- Nodes ---

// The terms in the form that pod shapes have. InvalidArgument for an operator or a field that
// Kubernetes does not know.
absl::StatusOr<std::vector<NodeTerm>> NodeTermsOf(const proto::kube::NodeSelector& selector);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_REQUESTS_H_
