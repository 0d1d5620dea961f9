// Applies front_end.dra and front_end.structured: makes the control plane of DRA and its initial
// objects. In classic DRA also turns requests into claims and makes the drivers.
#ifndef DRASIM_SIM_RUN_DRA_PLAN_H_
#define DRASIM_SIM_RUN_DRA_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/structured/slice_plugin.h"
#include "sim/run/claim_lowering.h"
#include "sim/run/extended_containers.h"
#include "sim/run/slice_drivers.h"
#include "sim/scenario/dra_spec.h"

namespace drasim {

namespace proto::kube {
class Object;
}

class DraPlan {
 public:
  // `spec` must outlive the plan.
  explicit DraPlan(const DraSpec* spec);

  // Turns a request for devices (whole GPUs, MIG instances, shares) into claims from templates,
  // which MakePlane creates; in structured DRA as ClaimLowering does. A request without devices
  // is returned unchanged. InvalidArgument for a request that the first driver cannot express.
  absl::StatusOr<PodShape> ToClaims(const PodShape& lowered);

  // Turns whole GPUs and MIG instances into extended resources instead (ResourceLowering).
  // REQUIRES: structured DRA; ServedResources has been called.
  absl::StatusOr<PodShape> ToResources(const PodShape& lowered) const;
  // Adds DeviceClasses for those of the MIG profiles whose resource no class serves.
  // REQUIRES: structured DRA. Call after AddObjects, before ServedResources and MakePlane.
  absl::Status ServeProfiles(const std::vector<std::string>& profiles);

  // Extended resources that DeviceClasses serve, explicitly or by their implicit names; none
  // without structured DRA and its gate DRAExtendedResource. Call after AddObjects.
  absl::StatusOr<std::set<std::string>> ServedResources(absl::Span<const NodeSpec> nodes);
  // Whether ServedResources, which has been called, has the resource.
  bool Serves(const std::string& resource) const { return served_.count(resource) > 0; }
  // The manifests of the workload's and the cluster's pods, which must outlive the plan.
  void set_given(std::vector<const GivenObjects*> given) {
    containers_.set_given(std::move(given));
  }

  // Creates the templates in the pod's namespace, too ("NAMESPACE/NAME", or a name in "default").
  void ServeNamespaceOf(absl::string_view pod);

  // The workload has a gang. Call before MakePlane.
  void NoteGang() { has_gangs_ = true; }

  // Objects of manifests; created before the run, after those of front_end.dra.objects.
  void AddObjects(const std::vector<std::shared_ptr<const proto::kube::Object>>& objects);

  // Events of the cluster, which drivers of structured DRA follow. Call before MakePlane.
  void SetEvents(std::vector<NodeEventSpec> events) { events_ = std::move(events); }

  // Makes the drivers and the control plane. `cluster` has all its nodes and must outlive the plan.
  // `mix`: shares of MIG profiles, for weighted placements. `seed`: for API latencies.
  absl::Status MakePlane(ClusterState* cluster,
                         const std::vector<std::pair<std::string, int64_t>>& mix, uint64_t seed);
  ControlPlane* plane() const { return plane_.get(); }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Wanted {
    std::string kind;  // of the parameters
    std::vector<std::pair<std::string, std::string>> fields;
  };
  ClaimEntry EntryFor(const std::string& entry, const std::string& name, const Wanted& wanted);
  absl::StatusOr<std::unique_ptr<ClaimDriver>> MakeDriver(
      const DriverSpec& driver, const std::string& key, const ClusterState& cluster,
      const std::vector<std::pair<std::string, int64_t>>& mix) const;
  absl::Status MakeClassicPlane(const ClusterState* cluster,
                                const std::vector<std::pair<std::string, int64_t>>& mix,
                                const ControlPlaneOptions& options);
  std::string FaultKey(size_t fault) const;
  // Fills in the nodes that the faults' patterns match.
  absl::Status FindFaultNodes(const ClusterState& cluster, std::vector<PlaneFault>* faults) const;
  // Refuses faults of components and drivers that the control plane does not have.
  absl::Status CheckFaults(const std::vector<PlaneFault>& faults) const;
  // Adds the slices and classes of front_end.structured.drivers, and the templates of ToClaims.
  absl::Status AddDrivers(const ClusterState& cluster);
  absl::Status MakeStructuredPlane(ClusterState* cluster,
                                   const std::vector<std::pair<std::string, int64_t>>& mix,
                                   const ControlPlaneOptions& options);
  // Reads front_end.dra.objects or front_end.structured.slices, and adds the workload's objects.
  // Once.
  absl::Status ReadObjects();
  // Drivers that publish slices: the given ones, or NVIDIA's for GPUs without any.
  std::vector<proto::SliceDriver> Drivers(bool any_gpus) const;
  bool serves_resources() const {
    return spec_->structured.has_value() && spec_->structured->rules.plugin.extended_resources;
  }
  absl::Status CreateClasses();
  absl::Status CreateTemplates();
  absl::Status CreateTemplatesIn(const std::string& ns);
  absl::Status CreateObjects(const ClusterState& cluster);
  absl::Status CreateSlices();  // of drivers
  // Warns of claims of pods that no driver will ever serve.
  void WarnOfDeadEnds(const ClusterState& cluster);
  template <typename T>  // ResourceClaim, ResourceClaimTemplate
  void WarnOfDeadEndsAmong(absl::string_view kind, const std::set<std::string>& used);
  // The reason why claims with this specification wait for ever; empty if there is none.
  std::string DeadEndOf(const ClaimSpec& spec, Name ns) const;
  std::vector<PodClaim> ClaimsOf(const PodShape& shape);

  const DraSpec* spec_;
  std::optional<ClaimLowering> lowering_;
  std::set<std::string> served_;  // extended resources
  bool has_gangs_ = false;
  bool objects_are_read_ = false;
  ExtendedContainers containers_;
  absl::btree_map<std::string, Wanted> templates_;  // by name
  std::set<std::string> namespaces_;                // of pods, besides "default"
  std::vector<std::shared_ptr<const proto::kube::Object>> objects_;
  std::vector<std::unique_ptr<ClaimDriver>> drivers_;       // classic
  std::vector<PublishingDriver> slice_drivers_;             // structured
  std::vector<SharedSlice> published_;                      // structured, until MakePlane
  std::vector<std::unique_ptr<SlicePlugin>> node_plugins_;  // structured
  std::vector<NodeEventSpec> events_;
  std::vector<std::unique_ptr<PlanePart>> parts_;  // structured
  std::unique_ptr<ControlPlane> plane_;
  std::vector<std::string> warnings_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_DRA_PLAN_H_
