// DevicePlanner: fits all claims of one pod onto one node.
#ifndef DRASIM_POLICIES_DEVICES_DEVICE_PLANNER_H_
#define DRASIM_POLICIES_DEVICES_DEVICE_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "policies/devices/node_devices.h"

namespace drasim {

// A claim's request to nodes with one kind of GPU.
struct KindRequest {
  DeviceSet eligible;  // suitable GPUs
  // Ways to serve a unit, the best first. Empty: none, for the reason in `lacking`.
  absl::InlinedVector<DeviceOption, 1> options;
  std::string lacking;
};

// The parsed parameters of a claim.
struct DeviceRequest {
  int32_t count = 1;       // units
  bool apart = false;      // parts only: every unit on another GPU
  bool shareable = false;  // of the allocation
  bool any_gpu = true;     // no selector; for messages
  std::string tie;         // the claim that lends its devices (kInside, kCompute); else empty
  std::string wanted;      // "2 GPUs", "MIG 3g.20gb"
  std::string sharing;     // settings for the node, a JSON object, or empty
  std::vector<KindRequest> kinds;  // by kind
};

struct ClaimGrant {
  bool fits = false;
  HeldDevices devices;
};

// One claim of the pod. The pointers must outlive the planning.
struct ClaimWant {
  const DeviceRequest* request = nullptr;  // null: cannot be served
  const HeldDevices* has = nullptr;        // its devices on `has_node`, if allocated
  NodeId has_node;
  // The claim that lends its devices: by position among the wants, or by its devices on a node. -1
  // and null for an unknown claim.
  int32_t tied_to = -1;
  const HeldDevices* tied_has = nullptr;
  NodeId tied_node;

  bool is_tied() const { return request != nullptr && !request->tie.empty(); }
};

struct PlanRules {
  bool packed = false;
  // Round robin: the GPU of the latest instance.
  NodeId last_node;
  int32_t last_gpu = -1;
};

// Order of planning: whole GPUs first, then MIG instances by the kind's rules, then parts and
// functions, then compute instances; within each, claims in their order, each with its first
// option. If that does not serve all claims, GPUs are exchanged between claims and other
// combinations are tried (at most kMostCombinations of options, kMostSteps of parts). If that fails
// too, the claims are served one after the other and some remain unserved. Unused GPUs are
// interchangeable for the later steps, so the order loses nothing: a set of claims that fits is
// found, unless a bound or the kind's rules prevent it.
//
// An object keeps its buffers: plans of one or two claims allocate nothing.
class DevicePlanner {
 public:
  static constexpr int kMostCombinations = 64;
  static constexpr int kMostSteps = 4096;

  // Plans all wants on the node; true when all fit. plans() has each claim's devices: a claim with
  // devices on the node keeps them, one with devices elsewhere is planned like a new one.
  bool Plan(const NodeDevices& node, NodeId id, size_t kind, absl::Span<const ClaimWant> wants,
            const PlanRules& rules);
  const std::vector<ClaimGrant>& plans() const { return plans_; }
  // The node after the plans that fit.
  const NodeDevices& after() const { return view_; }

 private:
  // `count` units of one claim that share an option.
  struct Unit {
    size_t want;
    int32_t count;
    size_t option;
  };
  const KindRequest& KindOf(const Unit& unit) const;
  const DeviceOption& OptionOf(const Unit& unit) const;
  // The GPUs that the selector and the option admit.
  DeviceSet EligibleFor(const Unit& unit) const {
    return KindOf(unit).eligible & OptionOf(unit).gpus;
  }
  // The rules of the option's GPUs. REQUIRES: the option is a MIG instance.
  const MigRuleTable& RulesFor(const DeviceOption& option) const {
    return *view_.kind->of(option.gpus.First()).rules;
  }

  void Begin();
  bool NextCombination();
  bool PlanTogether();
  void PlanInTurn();
  bool ServeClaim(size_t want);
  bool ServeUnit(const Unit& unit);

  bool ServeWhole();
  bool ExchangeWhole();
  bool ServeInstances();
  bool ServeGroup(absl::Span<const size_t> units);
  bool ServeParts();
  bool TryParts(size_t unit, int32_t from, int* steps);
  DeviceSet PartCandidates(const Unit& unit) const;
  size_t PreferredForPart(DeviceSet gpus) const;
  bool ServeCompute(const Unit& unit);

  void Give(size_t want, const HeldDevice& device);
  void GivePart(const Unit& unit, size_t gpu);
  void GiveWhole(size_t want, DeviceSet gpus);
  void GiveInstance(size_t want, GpuUse use, size_t gpu, uint8_t placement);
  DeviceSet UsableFor(const Unit& unit) const;
  const HeldDevices* TargetOf(const ClaimWant& want) const;
  // The GPUs that the claim's target has whole.
  DeviceSet TargetGpus(const ClaimWant& want) const;

  const NodeDevices* node_ = nullptr;
  NodeId id_;
  size_t kind_ = 0;
  absl::Span<const ClaimWant> wants_;
  PlanRules rules_;
  int32_t last_gpu_ = -1;  // of the latest instance on this node
  NodeDevices view_;
  NodeDevices backup_;
  std::vector<ClaimGrant> plans_;
  std::vector<Unit> units_;
  std::vector<size_t> group_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_DEVICE_PLANNER_H_
