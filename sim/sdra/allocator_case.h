// Cases for the structured allocator: nodes, classes, slices and claims, without a scheduler.
#ifndef DRASIM_SIM_SDRA_ALLOCATOR_CASE_H_
#define DRASIM_SIM_SDRA_ALLOCATOR_CASE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/text/yaml_node.h"
#include "policies/allocator/device_use.h"
#include "policies/allocator/dra_features.h"
#include "policies/allocator/selector_verdicts.h"
#include "policies/allocator/structured_allocator.h"
#include "sim/sdra/case_table.h"

namespace drasim {

struct AllocatorCase {
  std::string name;
  bool several_nodes = false;  // `Nodes`: the answer is a list, one for each node
  DraFeatures features;
  std::vector<proto::kube::Node> nodes;
  std::vector<proto::kube::DeviceClass> classes;
  std::vector<proto::kube::ResourceSlice> slices;
  std::vector<proto::kube::ResourceClaimV1> claims;
  DeviceUse use;
};

// The member "case" of a line. InvalidArgument for values of a wrong type, unknown features and
// devices that are not "driver/pool/device".
absl::StatusOr<AllocatorCase> ReadAllocatorCase(absl::string_view text, const YamlNode& given);

// Evaluates selectors on the rows of a table, which outlives it.
using VerdictsMaker = std::function<std::shared_ptr<SelectorVerdicts>(DeviceColumns* columns,
                                                                      const DraFeatures& features)>;

// The answers as the files of cases have them, in one line.
std::string AllocatorAnswerJson(const AllocatorCase& given,
                                const std::vector<AllocationAnswer>& answers, bool steps);

// Notes the differences from `want`, the member of a line, which has an answer for each node or,
// for a case of one node, one for each variant. False, without a note, when the variant has no
// stable answer there. InvalidArgument for a `want` of a wrong form.
absl::StatusOr<bool> CompareAllocatorAnswers(absl::string_view text, const YamlNode& want,
                                             const AllocatorCase& given,
                                             const std::vector<AllocationAnswer>& answers,
                                             absl::string_view variant, bool steps,
                                             CaseTable* table);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_ALLOCATOR_CASE_H_
