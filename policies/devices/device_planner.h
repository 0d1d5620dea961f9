// Fitting the claims of one pod on one node, all together.
#ifndef DRASIM_POLICIES_DEVICES_DEVICE_PLANNER_H_
#define DRASIM_POLICIES_DEVICES_DEVICE_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "policies/devices/node_devices.h"

namespace drasim {

// What a claim wants of a node whose GPUs are of one kind.
struct KindRequest {
  DeviceSet eligible;  // GPUs that would do
  // Ways to serve a unit, the best first; empty: none, `lacking` says why.
  absl::InlinedVector<DeviceOption, 1> options;
  std::string lacking;
};

// A claim's parameters, read.
struct DeviceRequest {
  int32_t count = 1;       // units
  bool apart = false;      // parts: every unit on another GPU
  bool shareable = false;  // of the allocation
  bool any_gpu = true;     // no selector: for messages
  std::string tie;         // the claim whose devices it is cut from (kInside, kCompute); else empty
  std::string wanted;      // "2 GPUs", "MIG 3g.20gb"
  std::string sharing;     // settings for the node, a JSON object; or empty
  std::vector<KindRequest> kinds;  // by kind
};

struct ClaimPlan {
  bool fits = false;
  HeldDevices devices;
};

// One claim of the pod. Pointers are good during the planning.
struct ClaimWant {
  const DeviceRequest* request = nullptr;  // null: cannot be served
  const HeldDevices* has = nullptr;        // what it has on `has_node` already
  NodeId has_node;
  // The claim to which it is tied: its place among the wants, or what it has on a node; -1 and
  // null: it is unknown.
  int32_t tied_to = -1;
  const HeldDevices* tied_has = nullptr;
  NodeId tied_node;

  bool is_tied() const { return request != nullptr && !request->tie.empty(); }
};

struct PlanRules {
  bool packed = false;
  // Round robin: where the last instance went.
  NodeId last_node;
  int32_t last_gpu = -1;
};

// Plans are made so: whole GPUs first, then MIG instances by the kind's rules, then parts and
// functions, then compute instances; claims in their order, each with its first option. Where that
// does not serve them all, GPUs are exchanged between claims and other combinations are tried (of
// options at most kMostCombinations, of parts kMostSteps); where none is found, the claims are
// served one after the other, and some are left. GPUs that nobody uses are alike to what comes
// later, so nothing is lost by the order, and a set of claims that fits is found unless a bound or
// the kind's rules prevent it.
//
// An object keeps its buffers: plans of one or two claims allocate nothing.
class DevicePlanner {
 public:
  static constexpr int kMostCombinations = 64;
  static constexpr int kMostSteps = 4096;

  // Plans all wants on the node; true when all fit. plans() says what each gets: a claim that has
  // devices on the node keeps them, one that has them elsewhere is planned anew.
  bool Plan(const NodeDevices& node, NodeId id, size_t kind, absl::Span<const ClaimWant> wants,
            const PlanRules& rules);
  const std::vector<ClaimPlan>& plans() const { return plans_; }
  // The node once the plans that fit are carried out.
  const NodeDevices& after() const { return view_; }

 private:
  // `count` units of one claim that are served alike.
  struct Unit {
    size_t want;
    int32_t count;
    size_t option;
  };
  const KindRequest& KindOf(const Unit& unit) const;
  const DeviceOption& OptionOf(const Unit& unit) const;

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
  void GiveInstance(size_t want, DeviceUse use, size_t gpu, uint8_t placement);
  DeviceSet UsableFor(const Unit& unit) const;
  const HeldDevices* TargetOf(const ClaimWant& want) const;
  // GPUs that the claim's target has whole.
  DeviceSet TargetGpus(const ClaimWant& want) const;

  const NodeDevices* node_ = nullptr;
  NodeId id_;
  size_t kind_ = 0;
  absl::Span<const ClaimWant> wants_;
  PlanRules rules_;
  int32_t last_gpu_ = -1;  // of this node, on which the last instance went
  NodeDevices view_;
  NodeDevices backup_;
  std::vector<ClaimPlan> plans_;
  std::vector<Unit> units_;
  std::vector<size_t> group_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_DEVICE_PLANNER_H_
