// Cases for the scheduler plugin of structured DRA, as lines of a file: their answers, and the
// differences from the stored ones.
#ifndef DRASIM_SIM_SDRA_PLUGIN_CASE_H_
#define DRASIM_SIM_SDRA_PLUGIN_CASE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/proto/sdra_case.pb.h"
#include "policies/allocator/allocator_options.h"
#include "policies/dra/slice_inventory.h"
#include "sim/sdra/case_table.h"

namespace drasim {

// One answer for each step, by the scheduler of `upstream`'s release with its defaults but for the
// case's gates; of the other options, strict_upstream counts. InvalidArgument for a case that
// cannot be run.
absl::StatusOr<std::vector<proto::kube::SdraStepAnswer>> AnswerPluginCase(
    const proto::kube::SdraCase& given, const SelectorVerdictsMaker& make_verdicts,
    const AllocatorOptions& upstream = {});

// {"name":"plugin-1-000","want":[...]} and a line break.
std::string PluginAnswerLine(const std::string& name,
                             absl::Span<const proto::kube::SdraStepAnswer> answers);

// Notes every field that either answer has. The theme is the case's part of the table. Quantities
// are compared as numbers.
void ComparePluginAnswers(const proto::kube::SdraCase& given,
                          absl::Span<const proto::kube::SdraStepAnswer> ours,
                          absl::Span<const proto::kube::SdraStepAnswer> theirs, CaseTable* table);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_PLUGIN_CASE_H_
