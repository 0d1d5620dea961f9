// PodShape and ShapeTable: the requests of pods, interned, so that a million pods share a few
// hundred shapes.
//
// Pods of one shape are interchangeable to every Filter and Score plugin that reads only the
// request and the node, so verdicts and scores are cached per shape (docs/architecture.md,
// "Caches").
//
// Usage:
//
//   GpuModelTable models;        // filled from the node list
//   ShapeTable shapes(&models);
//
//   PodShape shape;
//   shape.cpu_milli = 4000;
//   shape.memory_bytes = int64_t{16} << 30;
//   shape.gpu_count = 2;
//   shape.gpu_milli = kDeviceMilli;        // two whole GPUs ...
//   shape.gpu_spec = "V100M16|V100M32";    // ... of either model
//   const ShapeId id = shapes.Intern(shape);
//   DRASIM_CHECK(shapes.Intern(shape) == id);
#ifndef DRASIM_MODEL_POD_SHAPE_H_
#define DRASIM_MODEL_POD_SHAPE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/pod_constraints.h"

namespace drasim {

inline constexpr int32_t kDeviceMilli = 1000;  // one whole GPU

// Maps the names of GPU models (exact labels such as "V100M32") to small ids. At most 64, so a set
// of models is one machine word.
//
// A model may be a MIG product; its MigTable must outlive this table.
class GpuModelTable {
 public:
  static constexpr size_t kMaxModels = 64;
  // The id of `name`; adds a new one. ResourceExhausted at the 65th model.
  absl::StatusOr<ModelId> Intern(absl::string_view name);
  // Invalid for an unknown name.
  ModelId Find(absl::string_view name) const;
  const std::string& name(ModelId id) const { return names_[id.value()]; }
  size_t size() const { return names_.size(); }
  // REQUIRES: no cluster has a node of the model yet.
  void SetMig(ModelId id, const MigTable* table);
  // Null without SetMig: the model has no MIG.
  const MigTable* mig(ModelId id) const {
    return id.value() < mig_.size() ? mig_[id.value()] : nullptr;
  }
  bool any_mig() const { return !mig_.empty(); }
  // The branch of the driver whose rules the tables follow; 0 for the newest.
  int32_t mig_driver_branch() const { return mig_driver_branch_; }
  void set_mig_driver_branch(int32_t branch) { mig_driver_branch_ = branch; }

 private:
  std::vector<std::string> names_;
  std::vector<const MigTable*> mig_;  // by model, up to the last that was set
  int32_t mig_driver_branch_ = 0;
};

// The device plugins' resources that one container requests.
struct ContainerRequest {
  bool init = false;         // an init container: ends before the others start
  bool restartable = false;  // an init container that keeps running (a sidecar)
  std::vector<std::pair<std::string, int64_t>> extended;  // by name (sorted, unique)
  bool operator==(const ContainerRequest&) const = default;
};

// An entry of pod.spec.resourceClaims: an existing claim, or a template for a new one.
struct ClaimEntry {
  std::string name;           // of the entry
  std::string claim;          // resourceClaimName, or empty
  std::string from_template;  // resourceClaimTemplateName, or empty
  // The request of a claim created by lowering, for reports.
  std::string mig_profile = {};
  int32_t gpus = 0;
  bool operator==(const ClaimEntry&) const = default;
};

// The requests of a pod. Amounts are integers in the unit that ends their name; zero requests none.
struct PodShape {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int32_t gpu_count = 0;  // devices
  int32_t gpu_milli = 0;  // per device, 0..1000; 0 exactly when gpu_count is 0
  // Acceptable GPU models as written in the trace ("V100M16|V100M32"); empty = any.
  std::string gpu_spec;
  std::vector<std::pair<std::string, std::string>>
      node_selector;  // label key, value; sorted by key
  // Required node affinity: at least one of these terms must match; empty: any node.
  std::vector<NodeTerm> node_terms;
  std::vector<Toleration> tolerations;
  PodHold hold = PodHold::kNone;  // why the pod is never placed
  bool never_preempts = false;    // preemptionPolicy: Never
  // Counted resources, mainly extended ones, by name (sorted, unique); amounts above 0.
  std::vector<std::pair<std::string, int64_t>> extended;
  // Limit on the pods of one group (an application) per node; 0 and "": none.
  std::string group;
  int32_t max_per_node = 0;
  // MIG instances by profile (sorted, unique), in the direct front end; counts above 0. Excludes
  // gpu_count.
  std::vector<std::pair<std::string, int32_t>> mig;
  // GPU milli of the request apart from gpu_count: MIG instances, and extended resources for GPUs
  // or parts of them.
  int64_t nominal_milli = 0;
  // The job's demand before its lowering to this request: GPUs, and milli of each. 0: the request
  // equals the demand.
  int32_t demand_gpus = 0;
  int32_t demand_milli = 0;
  int64_t demand_memory_mib = 0;  // of all GPUs together; 0: unknown
  // Requests by container, for the kubelet. Empty: a single container that requests `extended`.
  std::vector<ContainerRequest> containers;
  // The function that a reprogrammable device must have; empty: any.
  std::string function;
  // Claims (classic DRA). They exclude gpu_count and mig.
  std::vector<ClaimEntry> claims;
  // The smaller last pod of a job split over nodes; placement policies may treat it differently.
  bool gang_remainder = false;

  // Set by ShapeTable::Intern: bit m is set when GPU model m is acceptable.
  uint64_t model_mask = ~uint64_t{0};

  int64_t total_gpu_milli() const { return int64_t{gpu_count} * gpu_milli + nominal_milli; }
  // The demand; exceeds the request only if no lowering could satisfy it in full.
  int64_t wanted_gpu_milli() const {
    return demand_gpus > 0 ? int64_t{demand_gpus} * demand_milli : total_gpu_milli();
  }
  int32_t wanted_gpus() const { return demand_gpus > 0 ? demand_gpus : gpu_count; }
  int32_t wanted_milli() const { return demand_gpus > 0 ? demand_milli : gpu_milli; }  // of each
  // True when the node, not the scheduler, chooses the pod's devices.
  bool gets_devices_from_node() const { return gpu_count == 0 && mig.empty(); }
  bool is_share() const { return gpu_count > 0 && gpu_milli < kDeviceMilli; }
};

// The shapes of a run. Ids stay valid for the table's life, references from row() until the next
// Intern.
class ShapeTable {
 public:
  // REQUIRES: `models` has the models of all nodes before the first Intern. Others that a spec
  // names are listed in unknown_models().
  explicit ShapeTable(const GpuModelTable* models) : models_(models) {}

  // The id of the shape; adds a new one. O(size of the shape).
  ShapeId Intern(const PodShape& shape);
  const PodShape& row(ShapeId id) const { return rows_[id.value()]; }
  size_t size() const { return rows_.size(); }

  // A hash of the content, equal in every run and on every machine.
  uint64_t content_hash(ShapeId id) const { return hashes_[id.value()]; }

  // True when the shape's spec names a model that no node has.
  bool names_unknown_model(ShapeId id) const { return unknown_[id.value()]; }
  // True when a shape has a PodHold.
  bool any_held() const { return any_held_; }
  // The models that no node has, in order of first appearance.
  const std::vector<std::string>& unknown_models() const { return unknown_models_; }

 private:
  const GpuModelTable* models_;
  std::vector<PodShape> rows_;
  std::vector<uint64_t> hashes_;
  std::vector<bool> unknown_;
  std::vector<std::string> unknown_models_;
  absl::flat_hash_set<std::string> unknown_names_;  // the same, for look-ups
  bool any_held_ = false;
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> index_;  // content hash -> rows
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_SHAPE_H_
