// Reads what a session knows of a whole run.
#ifndef DRASIM_GUI_SESSION_OVERVIEW_BUILDER_H_
#define DRASIM_GUI_SESSION_OVERVIEW_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "gui/session/run_overview.h"
#include "gui/session/snapshot_builder.h"
#include "gui/view/pod_archive.h"
#include "gui/view/pod_table.h"
#include "model/fragmentation.h"
#include "model/ids.h"
#include "sim/record/ledger_seek.h"

namespace drasim::gui {

// Ledgers up to this length get exact series, with a sample for each change; those of others are
// by block.
inline constexpr uint64_t kExactRecords = 1 << 16;

// Data about the whole run that snapshots and inspections need.
struct RunBasis {
  bool by_record = false;  // as in the overview
  SimTime end;             // likewise
  std::shared_ptr<const view::PodArchive> ended;
  absl::flat_hash_map<uint32_t, uint32_t> tenants_of_others;  // by number, of pods that never end
  view::PodTable pods_at_end;
  std::unique_ptr<FragmentationModel> fragmentation;  // null with MIG, and without GPUs
  // Blocks that may have changes of nodes or devices, ascending: places in LedgerIndex::blocks.
  std::vector<size_t> event_blocks;

  // The tenant of a pod by its number.
  uint32_t TenantOf(uint32_t number) const;
};

// Asked between some thousand records, with the share of the work that is done; false cancels.
using GoOn = absl::FunctionRef<bool(double)>;

// Records in a row cost a question each time.
inline constexpr uint64_t kRecordsBetweenQuestions = 4096;

// As LedgerSeek::ToRecord, but can be cancelled.
absl::Status AdvanceTo(LedgerSeek* seek, uint64_t records, GoOn go_on);

// Fills the overview but for its path and events. Leaves `seek` at the end. Errors: as for
// LedgerSeek; Cancelled. A few seconds for a million pods at most; without frames of series and
// pods, as in a ledger that broke off early, the records behind the last ones are read.
absl::StatusOr<std::shared_ptr<const RunBasis>> ReadBasis(LedgerSeek* seek, GoOn go_on,
                                                          RunOverview* overview,
                                                          uint64_t exact_records = kExactRecords);

// The state where `seek` stands. The caller sets `fragmentation`, `node_changes` and `fits` of the
// extras.
RunSnapshot SnapshotAt(const SnapshotRequest& request, const LedgerSeek& seek,
                       const RunBasis& basis, SnapshotExtras extras);
// Likewise, as UpdateSnapshot.
void UpdateSnapshotAt(const SnapshotRequest& request, const LedgerSeek& seek, const RunBasis& basis,
                      SnapshotExtras extras, const TouchedNodes& touched, RunSnapshot* snapshot);
view::PodTable PodsAt(const LedgerSeek& seek, const RunBasis& basis, SimTime now);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_OVERVIEW_BUILDER_H_
