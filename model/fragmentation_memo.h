// FragmentationMemo: FragmentationModel::Amount with a memory. A scheduler that weighs placements
// asks about few states many times: of nodes that are alike, and of a node as it is and as it would
// be.
#ifndef DRASIM_MODEL_FRAGMENTATION_MEMO_H_
#define DRASIM_MODEL_FRAGMENTATION_MEMO_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/fragmentation.h"

namespace drasim {

class FragmentationMemo {
 public:
  // `model` must outlive it.
  explicit FragmentationMemo(const FragmentationModel* model) : model_(model) {}

  // Exactly model->Amount(node). O(1) for a remembered state; nodes of several models and those of
  // more than eight devices are not remembered.
  double Amount(const GpuNodeView& node);

 private:
  static constexpr size_t kMostDevices = 8;
  static constexpr size_t kEntryBits = 14;

  // What the amount depends on. `rest` holds the GPU model and, in place of the idle CPU, how many
  // different CPU requests of typical pods it satisfies.
  struct Entry {
    std::array<uint64_t, 2> devices;
    uint64_t rest = ~uint64_t{0};
    double amount = 0;
  };

  const FragmentationModel* model_;
  std::vector<Entry> entries_;  // empty until the first use; a later state takes an earlier's place
};

}  // namespace drasim

#endif  // DRASIM_MODEL_FRAGMENTATION_MEMO_H_
