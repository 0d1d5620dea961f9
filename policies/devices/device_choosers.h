// The FGD artifact's device choosers for a share of one GPU. All of them give whole GPUs by index.
#ifndef DRASIM_POLICIES_DEVICES_DEVICE_CHOOSERS_H_
#define DRASIM_POLICIES_DEVICES_DEVICE_CHOOSERS_H_

#include "model/resource_request.h"
#include "model/run_streams.h"
#include "policies/framework/device_allocator.h"
#include "policies/plugins/fgd.h"

namespace drasim {

// The fitting device with the least idle (best) or the most idle (worst), lowest index on ties.
class TightestDevice : public DeviceAllocator {
 public:
  explicit TightestDevice(bool prefer_least_idle) : prefer_least_idle_(prefer_least_idle) {}
  absl::string_view name() const override { return prefer_least_idle_ ? "best" : "worst"; }
  void Propose(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
               DeviceProposals* out) override;

 private:
  bool prefer_least_idle_;
};

// Reservoir sampling over the fitting devices in index order: Intn(1), Intn(2), ..., replaced on 0.
class RandomDevice : public DeviceAllocator {
 public:
  explicit RandomDevice(RunStreams* streams) : streams_(streams) {}
  absl::string_view name() const override { return "random"; }
  bool draws() const override { return true; }
  void Propose(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
               DeviceProposals* out) override;

 private:
  RunStreams* streams_;
};

// The fitting device with the best FGD score after the placement.
class FgdDevice : public DeviceAllocator {
 public:
  explicit FgdDevice(const FragmentationModel* model) : scorer_(model) {}
  absl::string_view name() const override { return "fgd"; }
  void Propose(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
               DeviceProposals* out) override;

 private:
  FgdScorer scorer_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_DEVICE_CHOOSERS_H_
