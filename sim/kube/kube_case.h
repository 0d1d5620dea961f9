// Scheduling cases: small clusters with pods to place and changes to deliver, and what the
// scheduler answers. The original scheduler's answers to the same cases are the oracle of `drasim
// cases kube`.
//
// A case is a KubeCase (model/proto/kube_case.proto), one JSON object to a line as {"case": ...}.
// Its pods are attempted one after the other, in one or more passes; whatever fails sleeps until
// the events that come last. Where kube-scheduler draws lots, the first node of the case's order
// wins.
#ifndef DRASIM_SIM_KUBE_KUBE_CASE_H_
#define DRASIM_SIM_KUBE_KUBE_CASE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/kube_answer.pb.h"
#include "model/proto/kube_case.pb.h"
#include "sim/extender/extender_channel.h"

namespace drasim {

struct KubeCaseLine {
  proto::kube::KubeCase given;
  std::optional<proto::kube::KubeAnswer> stored;  // if the line has one
};

// One line of a file of cases. InvalidArgument for text that is no case.
absl::StatusOr<KubeCaseLine> ReadKubeCaseLine(absl::string_view line, bool with_answer);

// Lets the scheduler answer. InvalidArgument for a case that no cluster can hold, such as a node
// without a name; a configuration that is refused is an answer. Extenders of the
// configuration are asked through `channel`, whose own error ends the case; null: over HTTP.
absl::StatusOr<proto::kube::KubeAnswer> AnswerKubeCase(const proto::kube::KubeCase& given,
                                                       ExtenderChannel* channel = nullptr);

// {"id":"hand-001","answer":{...}} and a line break; names and orders as the stored answers have
// them.
std::string KubeAnswerLine(const std::string& id, const proto::kube::KubeAnswer& answer);

}  // namespace drasim

#endif  // DRASIM_SIM_KUBE_KUBE_CASE_H_
