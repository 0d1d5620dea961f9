// SnapshotPool: reuses the memory of snapshots that nobody looks at any more, as while a run is
// played. Their unchanged parts stay as they are; only the rest is filled in again.
#ifndef DRASIM_GUI_SESSION_SNAPSHOT_POOL_H_
#define DRASIM_GUI_SESSION_SNAPSHOT_POOL_H_

#include <cstddef>
#include <memory>

#include "absl/functional/function_ref.h"
#include "gui/session/run_snapshot.h"
#include "sim/record/ledger_seek.h"

namespace drasim::gui {

// Pool for one run. One thread makes snapshots; any may let go of them, also after the pool is
// gone.
class SnapshotPool {
 public:
  // Snapshots kept; further ones, while others hold all of these, are made from nothing.
  static constexpr size_t kMostKept = 6;

  SnapshotPool();
  ~SnapshotPool();

  // Brings a snapshot that may be of another moment up to date: only these nodes of it differ.
  using Update = absl::FunctionRef<void(const TouchedNodes&, RunSnapshot*)>;
  // `touched`: since the last call. Never changes a snapshot that a caller still holds.
  std::shared_ptr<const RunSnapshot> Make(const TouchedNodes& touched, Update update);

 private:
  class Kept;
  std::shared_ptr<Kept> kept_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_SNAPSHOT_POOL_H_
