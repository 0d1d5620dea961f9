// Selectors of Kubernetes objects as the model's values.
//
// A selector that Kubernetes refuses is not an error here: the refusal becomes the `error` of the
// value, because kube-scheduler finds out only when it uses the selector (k8s.io/apimachinery
// LabelSelectorAsSelector, k8s.io/component-helpers nodeaffinity, release 1.34).
#ifndef DRASIM_MODEL_KUBE_SELECTORS_OF_H_
#define DRASIM_MODEL_KUBE_SELECTORS_OF_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/kube/rules.h"
#include "model/label_selector.h"
#include "model/pod_constraints.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// A selector that is given; callers test presence. An empty one selects everything.
LabelSelector SelectorOf(const proto::kube::LabelSelector& given);
// The selector of a Service or a ReplicationController; an absent one selects nothing.
LabelSelector SelectorOfLabels(const KubeTexts& labels);
// Adds "key In (value)" or "key NotIn (value)" where it is not there yet. The keys stay sorted.
void AddRequirement(const std::string& key, SelectorOperator op, const std::string& value,
                    LabelSelector* selector);

// The value of a term. Its error names `path`: "[0]", or "" for none.
NodeTerm NodeTermOf(const proto::kube::NodeSelectorTerm& given, absl::string_view path);
// All terms of a required affinity, with errors in the terms.
std::vector<NodeTerm> RequiredNodeTermsOf(const proto::kube::NodeSelector& selector);
// Terms with a weight and a requirement. The first term with an error has the errors of all.
std::vector<PreferredNodeTerm> PreferredNodeTermsOf(const proto::kube::NodeAffinity& affinity);
// For scenarios, which may list several names in one requirement: without errors in the terms.
// InvalidArgument for an operator or a field that Kubernetes does not know.
absl::StatusOr<std::vector<NodeTerm>> NodeTermsOf(const proto::kube::NodeSelector& selector);

// Tolerations with a known operator: those with an unknown one tolerate nothing.
std::vector<Toleration> TolerationsOf(const proto::kube::PodSpec& spec);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SELECTORS_OF_H_
