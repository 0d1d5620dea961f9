// Rules of kube-scheduler as pure functions over Kubernetes objects: amounts, host ports,
// selectors (release 1.34). Requests are taken as the API server gives them out
// (api_defaults.h).
#ifndef DRASIM_MODEL_KUBE_RULES_H_
#define DRASIM_MODEL_KUBE_RULES_H_

#include <google/protobuf/map.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/kube/requests.h"
#include "model/pod_constraints.h"
#include "model/proto/kube.pb.h"

namespace drasim {

using KubeTexts = google::protobuf::Map<std::string, std::string>;

// In the order of the keys; a protobuf map's own order differs from run to run.
std::vector<std::pair<std::string, std::string>> SortedTexts(const KubeTexts& texts);

// --- Amounts ---

// By name of the resource: thousandths of a CPU, bytes, or whole units. Amounts are at
// least 0; those that exceed int64 are cut to it.
using KubeAmounts = std::map<std::string, int64_t>;

// Whether the scheduler counts the resource: CPU, memory, ephemeral-storage, extended ones,
// huge pages and the like.
bool IsCountedResource(absl::string_view resource);

// Whether device plugins, and not Kubernetes itself, hand out the resource.
bool IsExtendedResource(absl::string_view resource);

// The counted part of exact amounts, rounded up.
KubeAmounts CountedAmounts(const KubeQuantities& quantities);

// The node's allocatable amounts, "pods" included; its capacity when it has no allocatable ones.
KubeAmounts AllocatableOfNode(const proto::kube::NodeStatus& status);

// 0 when the resource is not there.
int64_t AmountOf(const KubeAmounts& amounts, const std::string& resource);
// Sums that exceed int64 are cut to it.
void AddAmounts(const KubeAmounts& more, KubeAmounts* sum);

// The amount as Kubernetes prints it: "1500m", "64Gi".
std::string ExactAmountText(const std::string& resource, int64_t amount);
// The same for people: bytes with one decimal, cut or rounded up: "61.7Gi".
std::string ShortAmountText(const std::string& resource, int64_t amount, bool round_up);

// --- Host ports ---

// The host ports of containers and sidecars.
std::vector<HostPort> HostPortsOf(const proto::kube::PodSpec& spec);
// "8080/TCP"
std::string HostPortText(const HostPort& port);

// --- Selectors ---

// An empty selector selects everything, one with an unknown operator nothing.
bool SelectsLabels(const proto::kube::LabelSelector& selector, const KubeTexts& labels);

// Terms are alternatives; a term without any requirement matches nothing.
bool SelectsNode(const proto::kube::NodeSelector& selector, const proto::kube::Node& node);

// "node gpu-1", "zone In [a] and gpu Exists, or disk In [ssd]"
std::string NodeSelectorText(const proto::kube::NodeSelector& selector);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_RULES_H_
