// AssignmentBound: whether each of several needs can have a device of its own.
//
//   AssignmentBound bound;
//   bound.AddNeed(2, {d1, d2, d3});
//   bound.AddNeed(2, {d1, d2});
//   bound.Fits()   // false: four are wanted of three
#ifndef DRASIM_POLICIES_ALLOCATOR_ASSIGNMENT_BOUND_H_
#define DRASIM_POLICIES_ALLOCATOR_ASSIGNMENT_BOUND_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace drasim {

class AssignmentBound {
 public:
  // Number of times that the device can be taken; once by default.
  void SetSlots(uint32_t device, int64_t slots) { bins_[BinOf(device)].slots = slots; }
  // `units` devices, each one of these.
  void AddNeed(int64_t units, const std::vector<uint32_t>& devices);

  // Whether all needs can be met. O(units x devices of the needs), by augmenting paths.
  bool Fits();

 private:
  struct Bin {
    int64_t slots = 1;
    std::vector<size_t> units;
  };

  size_t BinOf(uint32_t device);
  bool Place(size_t unit);

  std::vector<Bin> bins_;
  absl::flat_hash_map<uint32_t, size_t> bin_ids_;
  std::vector<std::vector<size_t>> bins_of_need_;
  std::vector<size_t> need_of_unit_;
  std::vector<bool> visited_;  // bins
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_ASSIGNMENT_BOUND_H_
