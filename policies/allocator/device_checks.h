// DeviceChecks: the tests that a single device has to pass for a request, in the words of the
// allocator's rules, with the values that it was found to have. For explanations.
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_CHECKS_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policies/allocator/claim_plan.h"
#include "policies/allocator/clause_verdicts.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_story.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/pool_state.h"
#include "policies/allocator/selector_verdicts.h"
#include "policies/allocator/use_index.h"

namespace drasim {

// Holders of devices, in words: "claim ml/a (pod ml/b)".
using DeviceHolderTexts = std::map<DeviceId, std::vector<std::string>>;

// A test that a device fails.
struct FailedCheck {
  DeviceStage stage = DeviceStage::kLeft;
  std::string why;
  std::string found;
  std::string mend;
  bool error = false;

  DeviceLoss AsLoss() const { return {stage, why, found, mend, error, /*transient=*/false, 1, {}}; }
};

class DeviceChecks {
 public:
  // All must outlive it; what is held must not change.
  DeviceChecks(NodePools* pools, SelectorVerdicts* verdicts, ClauseVerdicts* clauses,
               const UseIndex* use, ClaimPlan* plan, const DeviceHolderTexts* holders);

  const CatalogDevice& DeviceAt(uint32_t device) const { return catalog_.devices()[device]; }
  const DeviceKind& KindOf(uint32_t device) const {
    return catalog_.kinds()[DeviceAt(device).kind];
  }
  DeviceId IdOf(uint32_t device) const;
  // "pool/device"
  std::string ShortText(uint32_t device) const;

  // The tests that every device of a kind fails. Valid as long as this object.
  const std::vector<FailedCheck>& OfKind(uint32_t request, uint32_t kind);
  // Whether another claim holds it alone, so that the request cannot have it.
  bool IsHeld(uint32_t request, uint32_t device) const;
  // The capacity that shares of others leave too little of: its place, or none.
  std::optional<size_t> LacksRoom(uint32_t request, uint32_t device);
  // The stage at which the device is lost. O(1) once its kind is known.
  DeviceStage StageOf(uint32_t request, uint32_t device, const PoolView& pool);
  // Everything that the device fails.
  std::vector<FailedCheck> Of(uint32_t request, uint32_t device, const PoolView& pool);

 private:
  struct KindWork {
    bool known = false;
    std::vector<FailedCheck> checks;
  };
  struct RequestWork {
    std::vector<std::string> selectors;  // of the class, then its own
    size_t class_selectors = 0;
    std::vector<KindWork> kinds;
  };

  std::string HolderText(uint32_t device) const;
  void FillSelectors(uint32_t index);
  void CheckSelectors(uint32_t request, const DeviceKind& kind, bool is_error,
                      std::vector<FailedCheck>* checks);
  void CheckSize(uint32_t request, const DeviceKind& kind, bool is_error,
                 std::vector<FailedCheck>* checks);
  void CheckTaints(uint32_t request, const DeviceKind& kind, std::vector<FailedCheck>* checks);
  PoolState& StateOf(const PoolView& pool);
  bool LacksCounters(uint32_t request, uint32_t device, const PoolView& pool);
  FailedCheck RoomCheck(uint32_t request, uint32_t device, size_t place);
  FailedCheck CounterCheck(uint32_t device, const PoolView& pool);
  // Held devices that use the counter: "; held: gpu-0-mig-3g20gb-0 by claim ml/a"
  std::string ConsumersText(const PoolView& pool, uint32_t counter);

  const DeviceCatalog& catalog_;
  NodePools& pools_;
  const AllocatorOptions& options_;
  const ReleaseRules& rules_;
  SelectorVerdicts& verdicts_;
  ClauseVerdicts& clauses_;
  const UseIndex& index_;
  ClaimPlan& plan_;
  const DeviceHolderTexts& holders_;
  std::vector<RequestWork> requests_;
  std::vector<std::unique_ptr<PoolState>> pool_states_;  // by PoolView::id
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_CHECKS_H_
