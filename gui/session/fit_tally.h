// FitTally: counts GPUs by their state, for the question how many more pods of a profile would fit.
// A look-up does not depend on the number of GPUs, and an update reads only the nodes that changed.
//
//   FitTally tally;
//   tally.Count(cluster, layouts, TouchedNodes());   // all, later only those that changed
//   FitCounter fits(cluster, tally, profiles);
//   for (...) fits.CountWaiting(shape);
//   rows = fits.Take();
#ifndef DRASIM_GUI_SESSION_FIT_TALLY_H_
#define DRASIM_GUI_SESSION_FIT_TALLY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/view/map_model.h"
#include "gui/view/node_slices.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"
#include "sim/record/ledger_seek.h"

namespace drasim::gui {

// Counts for one cluster; updated as the cluster moves from state to state.
class FitTally {
 public:
  // Counts the GPUs of touched nodes again. REQUIRES: all of them in the first call. O(devices of
  // the touched nodes).
  void Count(const ClusterState& cluster, const std::optional<view::LayoutOfGpu>& layouts,
             const TouchedNodes& touched);

  // By model (place in the cluster's table):
  bool present(size_t model) const { return present_[model]; }  // on some node
  // GPUs without a layout, by MigState; idle instances of layouts, by profile. Shorter than the
  // table where there is none.
  const std::vector<int64_t>& by_state(size_t model) const { return by_state_[model]; }
  const std::vector<int64_t>& laid_out(size_t model) const { return laid_out_[model]; }

  bool has_other_gpus() const { return other_gpus_; }  // without MIG
  int64_t idle_gpus() const { return idle_gpus_; }
  int64_t open_gpus() const { return open_gpus_; }  // with an idle part

 private:
  // The share of one GPU in the counts.
  struct Counted {
    enum class As : uint8_t { kNothing, kState, kLayout };
    As as = As::kNothing;
    bool idle = false;
    bool open = false;
    uint8_t model = 0;
    MigState state = 0;
    uint64_t instances = 0;  // idle placements of its layout
  };

  void Begin(const ClusterState& cluster);
  static Counted Look(const ClusterState& cluster, const std::optional<view::LayoutOfGpu>& layouts,
                      NodeId node, size_t device, bool usable);
  void Add(const ClusterState& cluster, const Counted& gpu, int sign);

  std::vector<std::vector<int64_t>> by_state_;
  std::vector<std::vector<int64_t>> laid_out_;
  std::vector<bool> present_;
  bool other_gpus_ = false;
  int64_t idle_gpus_ = 0;
  int64_t open_gpus_ = 0;
  std::vector<Counted> gpus_;      // of all nodes, one behind the other
  std::vector<size_t> first_gpu_;  // by node
};

// Rows by profile in the order given, behind them "GPU" and "share of a GPU" where some GPU has no
// MIG.
class FitCounter {
 public:
  FitCounter(const ClusterState& cluster, const FitTally& tally,
             const std::vector<std::string>& profiles);
  // A pod of that shape waits. O(1) for all but the first of a shape.
  void CountWaiting(ShapeId shape);
  std::vector<view::FitRow> Take() { return std::move(rows_); }

 private:
  struct Wanted {
    bool known = false;
    std::vector<size_t> rows;
  };

  // The rows of what pods of the shape want, each once.
  std::vector<size_t> RowsOf(const PodShape& shape) const;

  const ClusterState& cluster_;
  const FitTally& tally_;
  std::vector<view::FitRow> rows_;
  size_t profile_rows_ = 0;
  std::vector<Wanted> wanted_;  // by shape
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_FIT_TALLY_H_
