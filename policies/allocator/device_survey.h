// DeviceSurvey: all devices of some nodes, as requests find them: the stage at which each is lost,
// and how many a node has left. For explanations.
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_SURVEY_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_SURVEY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policies/allocator/claim_plan.h"
#include "policies/allocator/device_checks.h"
#include "policies/allocator/device_story.h"
#include "policies/allocator/node_pools.h"

namespace drasim {

class DeviceSurvey {
 public:
  static constexpr size_t kStages = static_cast<size_t>(DeviceStage::kLeft) + 1;
  using Counts = std::array<size_t, kStages>;  // devices, by the stage at which they are lost

  // Looks at the devices of the nodes, whose views are given. All must outlive it. O(devices of the
  // nodes x requests). `list_devices`: RequestStory::devices.
  DeviceSurvey(NodePools* pools, ClaimPlan* plan, DeviceChecks* checks,
               std::vector<const NodeView*> views, bool list_devices);

  const std::vector<const NodeView*>& views() const { return views_; }
  const Counts& CountsOn(uint32_t request, size_t node) const {
    return requests_[request].on_nodes[node];
  }
  // Devices that a request for all devices wants.
  size_t MatchingOn(uint32_t request, size_t node) const {
    return requests_[request].matching[node];
  }
  // Whether the node has as many devices as the request wants, for it alone.
  bool IsEnough(uint32_t request, size_t node) const;
  // The devices of the node that pass all stages, in the order of the search.
  std::vector<uint32_t> DevicesLeft(uint32_t request, size_t node) const;
  // The stories of all requests. Call it once.
  std::vector<ClaimStory> MakeClaims();

 private:
  static constexpr uint8_t kNotSeen = 0xff;
  static size_t IndexOf(DeviceStage stage) { return static_cast<size_t>(stage); }

  struct RequestWork {
    std::vector<uint8_t> first;    // by device: the stage at which it is lost
    std::vector<Counts> on_nodes;  // by node
    std::vector<size_t> matching;  // by node
    std::array<std::map<std::pair<std::string, std::string>, DeviceLoss>, kStages> losses;
    std::vector<DeviceLoss*> kind_losses;  // by kind
    Counts lost{};
    std::vector<DeviceVerdict> devices;
  };

  void AddExample(uint32_t device, DeviceLoss* loss) const;
  static DeviceLoss* LossOf(const FailedCheck& check, RequestWork* work);
  void NoteDevice(uint32_t request, uint32_t device, const PoolView& pool, DeviceStage stage);
  void LookAt(size_t node);
  // Selectors are asked ahead of the nodes that a device names for itself.
  void NoteErrorElsewhere(uint32_t device);
  void LookAtDevice(uint32_t request, uint32_t device, const PoolView& pool, size_t node);
  // Losses ahead of the first look at a device: the same for every request.
  StageStory NodesStage(size_t* published, size_t* pool_count) const;
  bool IsSeen(uint32_t device) const;
  int64_t LatestGeneration(uint32_t pool) const;
  DeviceLoss TroubleOf(uint32_t index, const PoolView& view) const;
  static void SortLosses(StageStory* stage);
  std::optional<NearDevice> NearestOf(uint32_t request);
  RequestStory StoryOf(uint32_t request);

  const DeviceCatalog& catalog_;
  const AllocatorOptions& options_;
  const ReleaseRules& rules_;
  ClaimPlan& plan_;
  DeviceChecks& checks_;
  std::vector<const NodeView*> views_;
  bool lists_devices_;
  std::vector<RequestWork> requests_;
  std::map<uint32_t, const PoolView*> troubled_;  // incomplete or invalid, by pool
  std::set<uint32_t> unfit_operations_;           // devices
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_SURVEY_H_
