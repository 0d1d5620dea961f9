// ShapeTable: interns PodShapes, so that a million pods share a few hundred rows.
//
// Usage:
//
//   GpuModelTable models;        // filled from the node list
//   ShapeTable shapes(&models);
//
//   PodShape shape;
//   shape.request.cpu_milli = 4000;
//   shape.request.memory_bytes = int64_t{16} << 30;
//   shape.request.gpu_count = 2;
//   shape.request.gpu_milli = kDeviceMilli;        // two whole GPUs ...
//   shape.request.gpu_spec = "V100M16|V100M32";    // ... of either model
//   const ShapeId id = shapes.Intern(shape);
//   DRASIM_CHECK(shapes.Intern(shape) == id);
#ifndef DRASIM_MODEL_SHAPE_TABLE_H_
#define DRASIM_MODEL_SHAPE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/pod_shape.h"

namespace drasim {

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

#endif  // DRASIM_MODEL_SHAPE_TABLE_H_
