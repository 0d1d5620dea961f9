// Applies the device keys of a scenario: products and topology of GPUs, other devices, MIG layouts,
// resources reported by nodes, the lowering of demands, and the device-plugin front end.
#ifndef DRASIM_SIM_RUN_DEVICE_PLAN_H_
#define DRASIM_SIM_RUN_DEVICE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/lowering.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/resource_request.h"
#include "model/shape_table.h"
#include "model/text/mig_parted.h"
#include "model/text/mig_table_set.h"
#include "sim/control/device_front_end.h"
#include "sim/record/device_report.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

class DraPlan;

class DevicePlan {
 public:
  // `spec` must outlive the plan.
  explicit DevicePlan(const RunSpec* spec) : spec_(spec) {}

  // Call the steps in this order.
  // 1. Sets GPU models, describes the GPUs of nodes, adds other devices.
  absl::Status DescribeNodes(std::vector<NodeSpec>* nodes) const;
  // 2. Attaches MIG tables to the models. REQUIRES: the models of all nodes are interned.
  absl::Status AttachTables(GpuModelTable* models);
  // `dra` (or null) turns requests into claims; it must outlive the plan.
  void set_dra(DraPlan* dra) { dra_ = dra; }
  // 3. Lowers the demands of jobs to requests. Without a device plugin, its resources
  // (nvidia.com/gpu, nvidia.com/mig-* and replicas of them) first become devices, except those that
  // a node in the list reports. InvalidArgument for a demand that the front end cannot express.
  // O(jobs + shapes).
  absl::Status LowerJobs(const std::vector<NodeSpec>& nodes, ShapeTable* shapes,
                         std::vector<JobArrival>* jobs);
  // 4. Sets the MIG layouts, reported resources and labels of nodes. `configs`: names of
  // configurations applied by events, in the order of DeviceTransition::config.
  absl::Status LayOut(const GpuModelTable& models, const ShapeTable& shapes,
                      const std::vector<JobArrival>& jobs, const std::vector<std::string>& configs,
                      std::vector<NodeSpec>* nodes);
  // Shares of the MIG profiles among the instances that jobs request, by profile, by claim or, in
  // structured DRA, as an extended resource; in parts per kMfiScale. O(jobs).
  std::vector<std::pair<std::string, int64_t>> MigMix(const ShapeTable& shapes,
                                                      const std::vector<JobArrival>& jobs) const;
  // 5. Null without a node agent.
  std::unique_ptr<DeviceFrontEnd> MakeFrontEnd(const ClusterState* cluster);

  // Whether nodes may later report more of a resource than at the start.
  bool amounts_may_grow() const { return amounts_may_grow_; }

 private:
  absl::StatusOr<Lowering> MakeLowering() const;
  absl::Status ReadConfigs();
  // NotFound for an unknown configuration; InvalidArgument when the node cannot have its layout.
  absl::StatusOr<std::vector<GpuLayout>> LayoutOf(const std::string& config,
                                                  const NodeSpec& node) const;
  absl::Status AssignLayouts(const std::vector<NodeSpec>& nodes,
                             std::vector<std::vector<GpuLayout>>* layouts) const;
  absl::Status PlanByDemand(const ShapeTable& shapes, const std::vector<JobArrival>& jobs,
                            const std::vector<NodeSpec>& nodes,
                            std::vector<std::vector<GpuLayout>>* layouts) const;
  int64_t GpuResourceMilli(const DevicePluginConfig& plugin) const;
  int64_t InstanceMilli(absl::string_view name) const;
  // The MIG profile behind the resource; empty when no GPU of the cluster has it.
  std::string ProfileOfResource(absl::string_view resource) const;
  absl::Status ToDevices(const std::set<std::string>& reported, PodShape* shape) const;
  void SetNominal(const DevicePluginConfig& plugin, ResourceRequest* request) const;
  bool IsRepartitioned(const std::string& node, const std::string& config) const;
  absl::Status AddFrontEndNode(const DeviceFrontEndOptions& options, bool plugin,
                               const std::vector<GpuLayout>& layout, NodeSpec* node);
  void AddPossibleResources(const DeviceFrontEndOptions& options, NodeSpec* node) const;
  // The MIG table of one GPU; null without MIG.
  const MigTable* TableOf(const NodeSpec& node, size_t gpu) const;
  absl::StatusOr<const MigTable*> OnlyTable() const;

  const RunSpec* spec_;
  DraPlan* dra_ = nullptr;
  MigTableSet tables_;
  const GpuModelTable* models_ = nullptr;
  std::vector<MigPartedConfig> configs_;
  std::vector<FrontEndNode> front_end_nodes_;
  std::vector<std::vector<std::vector<GpuLayout>>> event_layouts_;
  bool amounts_may_grow_ = false;
};

// The most popular requests, which together cover `percent` of the pods, with their weights. The
// reference of slot-level fragmentation.
std::vector<TypicalRequest> TypicalRequests(const ShapeTable& shapes,
                                            const std::vector<JobArrival>& jobs, double percent);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_DEVICE_PLAN_H_
