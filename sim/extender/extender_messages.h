// The JSON that kube-scheduler and its extenders exchange.
//
// Source: k8s.io/kube-scheduler/extender/v1/types.go, release 1.34: most fields have no JSON name,
// so the Go names stand; Go's decoder does not tell letters by case, ignores fields that it does
// not know, and takes null for a value that is not given.
#ifndef DRASIM_SIM_EXTENDER_EXTENDER_MESSAGES_H_
#define DRASIM_SIM_EXTENDER_EXTENDER_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// --- Requests: one line each ---

// An object as its JSON, without line breaks.
std::string PodJson(const proto::kube::Pod& pod);
std::string NodeJson(const proto::kube::Node& node);

// ExtenderArgs, for filter and prioritize: with the names of nodes, or with the nodes.
std::string ExtenderArgsWithNames(absl::string_view pod, absl::Span<const std::string> nodes);
std::string ExtenderArgsWithNodes(absl::string_view pod, absl::Span<const std::string> nodes);

struct ExtenderVictims {
  std::vector<std::string> pods;  // objects as JSON, or UIDs
  int64_t budget_violations = 0;
};
// ExtenderPreemptionArgs. `meta`: the pods are UIDs.
std::string ExtenderPreemptionArgs(absl::string_view pod,
                                   const std::map<std::string, ExtenderVictims>& by_node,
                                   bool meta);

std::string ExtenderBindingArgs(absl::string_view name, absl::string_view ns, absl::string_view uid,
                                absl::string_view node);

// --- Answers. InvalidArgument for text that is not JSON, or is of another type ---

struct ExtenderFilterAnswer {
  std::optional<std::vector<std::string>> node_names;
  std::optional<std::vector<std::string>> nodes;    // names of the objects
  std::map<std::string, std::string> failed;        // messages by node
  std::map<std::string, std::string> unresolvable;  // too
  std::string error;
};
absl::StatusOr<ExtenderFilterAnswer> ReadExtenderFilterResult(absl::string_view json);

struct HostPriority {
  std::string host;
  int64_t score = 0;
};
absl::StatusOr<std::vector<HostPriority>> ReadHostPriorityList(absl::string_view json);

// ExtenderPreemptionResult: UIDs of victims by node.
absl::StatusOr<std::map<std::string, ExtenderVictims>> ReadExtenderPreemptionResult(
    absl::string_view json);

// ExtenderBindingResult: its error, empty for success.
absl::StatusOr<std::string> ReadExtenderBindingResult(absl::string_view json);

}  // namespace drasim

#endif  // DRASIM_SIM_EXTENDER_EXTENDER_MESSAGES_H_
