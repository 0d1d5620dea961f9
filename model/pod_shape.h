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
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"

namespace drasim {

inline constexpr int32_t kDeviceMilli = 1000;  // one whole GPU
// Devices a node may have; a placement is a bit mask over them.
inline constexpr int kMaxDevicesPerNode = 32;

// GPU model names (an exact-match label such as "V100M32") to small ids. At most 64, so that a set
// of models is one machine word.
class GpuModelTable {
 public:
  static constexpr size_t kMaxModels = 64;
  // The id of `name`, which is added if new. Fails with ResourceExhausted at the 65th model.
  absl::StatusOr<ModelId> Intern(absl::string_view name);
  // Invalid if unknown.
  ModelId Find(absl::string_view name) const;
  const std::string& name(ModelId id) const { return names_[id.value()]; }
  size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

// A toleration (core/v1 Toleration). Empty key with kExists tolerates everything; empty effect
// matches all effects.
struct Toleration {
  std::string key;
  std::string value;
  std::string effect;
  bool exists = false;  // operator: Exists
  bool operator==(const Toleration&) const = default;
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
  std::vector<Toleration> tolerations;
  // Extended resources and others that are only counted, by name (sorted, unique); amounts above 0.
  std::vector<std::pair<std::string, int64_t>> extended;
  // At most `max_per_node` pods of one group (an application) on a node; 0 and "": no limit.
  std::string group;
  int32_t max_per_node = 0;
  // The smaller last pod of a job that was split over nodes; placement policies may treat it
  // differently.
  bool gang_remainder = false;

  // Derived by ShapeTable::Intern: bit m is set when GPU model m is acceptable.
  uint64_t model_mask = ~uint64_t{0};

  int64_t total_gpu_milli() const { return int64_t{gpu_count} * gpu_milli; }
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
  // The names of such models, in order of first appearance.
  const std::vector<std::string>& unknown_models() const { return unknown_models_; }

 private:
  const GpuModelTable* models_;
  std::vector<PodShape> rows_;
  std::vector<uint64_t> hashes_;
  std::vector<bool> unknown_;
  std::vector<std::string> unknown_models_;
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> index_;  // content hash -> rows
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_SHAPE_H_
