// Claims that kube-scheduler allocates itself (structured DRA), of a dump: its devices, what claims
// hold of them, and the verdicts of DynamicResources on one pod.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_DEVICES_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_DEVICES_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/device_explainer.h"
#include "policies/allocator/device_story.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_report.h"
#include "sim/explain/cluster_verdicts.h"

namespace drasim {

// The devices of a dump under the default gates of Kubernetes 1.37.
class DumpDevices {
 public:
  // The dump must outlive it. O(slices + claims).
  explicit DumpDevices(const ClusterDump* dump);

  const ClusterDump& dump() const { return dump_; }
  // Whether the dump has what claims are judged by; `why_not` says what it lacks otherwise.
  bool judges() const { return explainer_ != nullptr; }
  const std::string& why_not() const { return why_not_; }

  std::vector<std::string> ClassNames() const;
  bool HasClass(const std::string& name) const;
  // Why all nodes of the dump have devices for the claims, or not. None of them is allocated.
  DeviceStory Explain(const std::vector<const proto::kube::ResourceClaimV1*>& claims);

 private:
  void Hold();

  const ClusterDump& dump_;
  std::string why_not_;
  std::deque<proto::kube::ResourceSlice> slices_;  // with the taints of rules
  DeviceQuestion question_;                        // without claims
  std::unique_ptr<DeviceExplainer> explainer_;
};

// The verdicts on the structured claims of one pod.
class DumpDeviceClaims {
 public:
  // `keys`: of the pod's structured claims. Both must outlive it.
  DumpDeviceClaims(DumpDevices* devices, const DumpPod& pod, const std::vector<std::string>& keys);

  // The pod has structured claims, and all of them can be judged.
  bool judges() const { return judges_; }
  // The pod has structured claims that cannot be judged.
  bool leaves() const { return leaves_; }
  // Why the pod is not tried on any node; empty if it is.
  const std::string& obstacle() const { return obstacle_; }
  // Absent if the node, number `node` of the dump, would do. REQUIRES: judges, no obstacle.
  std::optional<DumpRejection> Check(size_t node) const;
  // Story of the claims that are not allocated; absent if there are none, or with an obstacle.
  const std::optional<DeviceStory>& story() const { return story_; }
  bool is_allocated() const { return is_allocated_; }

  std::vector<AwaitedAct> Awaited() const;
  std::vector<std::string> Helps() const;

 private:
  void CheckAllocated(const proto::kube::ResourceClaimV1& claim, const DumpPod& pod);

  const ClusterDump& dump_;
  bool judges_ = false;
  bool leaves_ = false;
  bool is_allocated_ = false;
  std::vector<const proto::kube::ResourceClaimV1*> allocated_;
  std::string obstacle_;
  std::vector<AwaitedAct> acts_;  // on the obstacle
  std::optional<DeviceStory> story_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_DEVICES_H_
