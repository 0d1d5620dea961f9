// NodeCauses: what keeps claims from each node, nodes that lack the same together. For
// explanations.
#ifndef DRASIM_POLICIES_ALLOCATOR_NODE_CAUSES_H_
#define DRASIM_POLICIES_ALLOCATOR_NODE_CAUSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/claim_plan.h"
#include "policies/allocator/device_survey.h"
#include "policies/allocator/held_devices.h"
#include "policies/allocator/selector_verdicts.h"
#include "policies/allocator/structured_allocator.h"

namespace drasim {

class NodeCauses {
 public:
  // All must outlive it. `nodes` are those of the survey.
  NodeCauses(std::shared_ptr<HeldDevices> held, std::shared_ptr<SelectorVerdicts> verdicts,
             absl::Span<const proto::kube::DeviceClass* const> classes, AskedClaims claims,
             absl::Span<const proto::kube::Node* const> nodes, ClaimPlan* plan,
             DeviceChecks* checks, const DeviceSurvey* survey);

  // Fills nodes, fitting and error. Costs a search for each state of nodes, and some more for nodes
  // where every request alone has enough devices.
  void Judge(DeviceStory* story);

 private:
  // "3", "1 to 3"
  struct Range {
    size_t least = std::numeric_limits<size_t>::max();
    size_t most = 0;
    void Add(size_t n) {
      least = std::min(least, n);
      most = std::max(most, n);
    }
    std::string Text() const {
      return least == most ? absl::StrCat(most) : absl::StrCat(least, " to ", most);
    }
  };
  // Nodes that lack the same, in the making.
  struct NodeGroup {
    NodeStory story;
    std::vector<std::pair<Range, Range>> counts;  // by option: before and after the stage
  };
  // Cause, claim, request or constraint, and the stage of each alternative.
  using NodeKey = std::tuple<NodeStory::Cause, size_t, size_t, std::string>;
  // The claims without some constraint.
  struct Relaxed {
    std::vector<proto::kube::DeviceClaim> devices;
    std::vector<AskedClaim> claims;
    std::unique_ptr<StructuredAllocator> allocator;
  };

  // The stage that leaves too few of the node's devices, with the numbers before and after it.
  DeviceStage ShortageOf(uint32_t request, size_t node, size_t* before, size_t* after) const;
  std::string NodeName(size_t node) const;
  NodeGroup& GroupOf(const NodeKey& key, size_t node);
  // Notes the first request that no alternative of it has enough devices for; false if there is
  // none.
  bool NoteTooFew(size_t node);
  std::string TooFewText(const NodeKey& key, const NodeGroup& found) const;
  // Copies of the claims' specifications, without one constraint: the claim's number, and the
  // constraint's number in that claim. Nullopt leaves out all constraints.
  std::vector<proto::kube::DeviceClaim> DevicesWithout(
      std::optional<std::pair<size_t, int>> left_out) const;
  bool FitsWithout(std::optional<std::pair<size_t, int>> left_out, size_t node);
  // Every request alone has enough devices on the node.
  void NoteJoint(size_t node);
  void NoteConstraint(size_t node);
  // "0 on 2 devices, 1 on 1 device"
  std::string ValuesText(size_t c, size_t constraint, size_t node);
  std::string ValueText(const std::string& attribute, uint32_t device);
  std::string ConstraintText(const NodeKey& key, const NodeGroup& found) const;
  void NoteError(size_t node, DeviceStory* story);
  // The first device of the search that is an error to look at.
  void FindErrorDevice(size_t node, SearchErrorStory* error);
  static std::string KeyText(const NodeKey& key);
  std::string TextOf(const NodeKey& key, const NodeGroup& group) const;
  static std::string ShortageText(DeviceStage stage, const Range& before, const Range& after,
                                  const std::string& class_name);

  const AllocatorOptions& options_;
  DeviceCatalog& catalog_;
  std::shared_ptr<HeldDevices> held_;
  std::shared_ptr<SelectorVerdicts> verdicts_;
  absl::Span<const proto::kube::DeviceClass* const> classes_;
  AskedClaims claims_;
  absl::Span<const proto::kube::Node* const> nodes_;
  ClaimPlan& plan_;
  DeviceChecks& checks_;
  const DeviceSurvey& survey_;
  std::map<NodeKey, NodeGroup> node_groups_;
  std::vector<const NodeKey*> keys_;  // by node; null: it fits
  std::map<int, std::unique_ptr<Relaxed>> relaxed_;
  std::unique_ptr<StructuredAllocator> allocator_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_NODE_CAUSES_H_
