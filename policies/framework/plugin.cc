#include "policies/framework/plugin.h"

#include <string>
#include <vector>

#include "model/check.h"

namespace drasim {

absl::string_view StepCodeName(StepCode code) {
  switch (code) {
    case StepCode::kSuccess:
      return "Success";
    case StepCode::kReject:
      return "Unschedulable";
    case StepCode::kUnresolvable:
      return "UnschedulableAndUnresolvable";
    case StepCode::kError:
      return "Error";
    case StepCode::kPending:
      return "Pending";
    case StepCode::kSkip:
      return "Skip";
    case StepCode::kWait:
      return "Wait";
  }
  DRASIM_UNREACHABLE("a status code without a name");
}

bool RequeuePlugin::MayHelp(const ClusterChange&, const PodContext&, const ClusterState&) const {
  return true;
}

bool FilterPlugin::IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const {
  return true;
}

std::vector<std::string> FilterPlugin::ReasonTexts(const PodContext&, const ClusterState&, NodeId,
                                                   ReasonIndex local) const {
  const std::vector<Reason> known = reasons();
  DRASIM_CHECK(local != kFits && local <= known.size());
  return {std::string(known[local - size_t{1}].text)};
}

void ScorePlugin::NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t>) const {}

}  // namespace drasim
