// Pod shapes: what a pod asks for, interned, so that a million pods share a few hundred shapes.
//
// Two pods of one shape are interchangeable to every Filter and Score plugin that reads only the
// pod's request and the node; verdicts and scores are cached per shape (design:
// docs/architecture.md, "Caches").
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
// Devices a node may have; a placement is a bit mask over them.
inline constexpr int kMaxDevicesPerNode = 32;

// GPU model names (an exact-match label such as "V100M32") to small ids. At most 64, so that a set
// of models is one machine word.
//
// A model may be a MIG product; its table must outlive this one.
class GpuModelTable {
 public:
  static constexpr size_t kMaxModels = 64;
  // The id of `name`, which is added if new. Fails with ResourceExhausted at the 65th model.
  absl::StatusOr<ModelId> Intern(absl::string_view name);
  // Invalid if unknown.
  ModelId Find(absl::string_view name) const;
  const std::string& name(ModelId id) const { return names_[id.value()]; }
  size_t size() const { return names_.size(); }
  // Before any node of the model is added to a cluster.
  void SetMig(ModelId id, const MigTable* table);
  // Null when the model has no MIG, or nobody said so.
  const MigTable* mig(ModelId id) const {
    return id.value() < mig_.size() ? mig_[id.value()] : nullptr;
  }
  bool any_mig() const { return !mig_.empty(); }
  // What the tables were made for: the driver's branch, 0 for the newest.
  int32_t mig_driver_branch() const { return mig_driver_branch_; }
  void set_mig_driver_branch(int32_t branch) { mig_driver_branch_ = branch; }

 private:
  std::vector<std::string> names_;
  std::vector<const MigTable*> mig_;  // as far as set
  int32_t mig_driver_branch_ = 0;
};

// What one container asks for of what is handed out by device plugins.
struct ContainerRequest {
  bool init = false;         // runs to its end before the others start
  bool restartable = false;  // an init container that keeps running (a sidecar)
  std::vector<std::pair<std::string, int64_t>> extended;  // by name (sorted, unique)
  bool operator==(const ContainerRequest&) const = default;
};

// An entry of pod.spec.resourceClaims: of a claim that is there, or from a template.
struct ClaimEntry {
  std::string name;           // of the entry
  std::string claim;          // resourceClaimName, or empty
  std::string from_template;  // resourceClaimTemplateName, or empty
  // What it asks for, where a lowering made it; for reports.
  std::string mig_profile = {};
  int32_t gpus = 0;
  bool operator==(const ClaimEntry&) const = default;
};

// What a pod asks for. Amounts are integers in the units of their names; zero means "asks for
// none".
struct PodShape {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int32_t gpu_count = 0;  // devices
  int32_t gpu_milli = 0;  // per device, 0..1000; 0 exactly when gpu_count is 0
  // Acceptable GPU models as written in the trace ("V100M16|V100M32"); empty = any.
  std::string gpu_spec;
  std::vector<std::pair<std::string, std::string>>
      node_selector;  // label key, value; sorted by key
  // Required node affinity: one of these terms must choose the node; empty: any node.
  std::vector<NodeTerm> node_terms;
  std::vector<Toleration> tolerations;
  PodHold hold = PodHold::kNone;  // why the pod is never placed
  bool never_preempts = false;    // preemptionPolicy: Never
  // Extended resources and others that are only counted, by name (sorted, unique); amounts above 0.
  std::vector<std::pair<std::string, int64_t>> extended;
  // At most `max_per_node` pods of one group (an application) on a node; 0 and "": no limit.
  std::string group;
  int32_t max_per_node = 0;
  // MIG instances by profile, in the direct front end (sorted by name, unique); counts above 0.
  // Then gpu_count is 0.
  std::vector<std::pair<std::string, int32_t>> mig;
  // GPU milli that the request stands for where gpu_count does not say so: of MIG instances, and of
  // extended resources that are GPUs or parts of them.
  int64_t nominal_milli = 0;
  // What the job wanted before it was lowered to this request: so many GPUs, so much of each; 0:
  // the request is what it wanted.
  int32_t demand_gpus = 0;
  int32_t demand_milli = 0;
  int64_t demand_memory_mib = 0;  // of all GPUs together; 0: not known
  // Requests by container, for the kubelet; empty: one container that asks for `extended`.
  std::vector<ContainerRequest> containers;
  // What a reprogrammable device is to do; empty: anything.
  std::string function;
  // What it claims (classic DRA); then gpu_count is 0 and mig empty.
  std::vector<ClaimEntry> claims;
  // The smaller last pod of a job that was split over nodes; placement policies may treat it
  // differently.
  bool gang_remainder = false;

  // Derived by ShapeTable::Intern: bit m is set when GPU model m is acceptable.
  uint64_t model_mask = ~uint64_t{0};

  int64_t total_gpu_milli() const { return int64_t{gpu_count} * gpu_milli + nominal_milli; }
  // What it wanted; at most as much as it asks for unless a lowering could not give it that much.
  int64_t wanted_gpu_milli() const {
    return demand_gpus > 0 ? int64_t{demand_gpus} * demand_milli : total_gpu_milli();
  }
  int32_t wanted_gpus() const { return demand_gpus > 0 ? demand_gpus : gpu_count; }
  int32_t wanted_milli() const { return demand_gpus > 0 ? demand_milli : gpu_milli; }  // of each
  // The scheduler chooses no devices for it; what it gets, its node gives it.
  bool gets_devices_from_node() const { return gpu_count == 0 && mig.empty(); }
  bool is_share() const { return gpu_count > 0 && gpu_milli < kDeviceMilli; }
};

// The shapes of a run. Lives as long as the run; ids and references from row() stay valid until the
// next Intern.
class ShapeTable {
 public:
  // Models must be interned (from the node list) before the shapes that name them; models of a spec
  // that no node has are remembered in unknown_models().
  explicit ShapeTable(const GpuModelTable* models) : models_(models) {}

  // The id of an equal shape, which is added if new. O(size of the shape).
  ShapeId Intern(const PodShape& shape);
  const PodShape& row(ShapeId id) const { return rows_[id.value()]; }
  size_t size() const { return rows_.size(); }

  // A hash of the shape's content, the same in every run and on every machine.
  uint64_t content_hash(ShapeId id) const { return hashes_[id.value()]; }

  // True when the shape's spec names at least one model that no node has.
  bool names_unknown_model(ShapeId id) const { return unknown_[id.value()]; }
  // True when some shape's pods are kept pending.
  bool any_held() const { return any_held_; }
  // The names of such models, in order of first appearance.
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
