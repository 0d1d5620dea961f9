// FragmentationMemo: FragmentationModel::Amount with a memory. A scheduler that compares placements
// asks about the same few states many times, because nodes are alike and pods come and go.
//
// Cache contract: an entry depends only on its key and on the model, which is immutable, so nothing
// is ever invalidated; a later state replaces an earlier one in the same slot. 512 KiB once used.
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

  // All that the amount depends on, and the amount. `rest` holds the GPU model and, instead of the
  // idle CPU, the number of different CPU requests of typical pods that it satisfies.
  struct Entry {
    std::array<uint64_t, 2> devices;
    uint64_t rest = ~uint64_t{0};
    double amount = 0;
  };

  const FragmentationModel* model_;
  std::vector<Entry> entries_;  // empty until the first use
};

}  // namespace drasim

#endif  // DRASIM_MODEL_FRAGMENTATION_MEMO_H_
