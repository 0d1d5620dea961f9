// Inspects objects of a run, by reading the records that concern them.
#ifndef DRASIM_GUI_SESSION_INSPECTOR_H_
#define DRASIM_GUI_SESSION_INSPECTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gui/session/inspection.h"
#include "gui/session/overview_builder.h"
#include "gui/view/inspect_node.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_seek.h"

namespace drasim::gui {

// Moves to an instant of the run's clock, or to a record.
absl::Status MoveTo(LedgerSeek* seek, const view::TimeTarget& at, bool by_record);

class Inspector {
 public:
  // REQUIRES: the basis was read from the same ledger.
  Inspector(std::unique_ptr<LedgerSeek> seek, std::shared_ptr<const RunBasis> basis)
      : seek_(std::move(seek)), basis_(std::move(basis)) {}

  // NotFound if there is no such object by then; Cancelled; else errors of reading. `publish` gets
  // what is already known of a node before a long window of its slots was read.
  //
  // A pod costs the records from its arrival to `at` or its end, a node those of the window and,
  // for a while longer, of one more keyframe; the slots of the last window are kept. A claim costs
  // all changes of claims up to `at`. A slot that
  // was taken before the keyframe begins at the last Bind of its pod.
  absl::StatusOr<Inspection> Inspect(const InspectRequest& request, GoOn go_on,
                                     absl::FunctionRef<void(Inspection)> publish);

 private:
  struct NodeWindow {
    std::string node;
    SimTime begin;
    SimTime end;
    std::vector<view::NodeSlot> slots;
    std::vector<view::NodeEvent> events;
  };
  using Visitor = absl::FunctionRef<void(const Record&)>;

  absl::Status InspectPod(const InspectRequest& request, GoOn go_on, Inspection* result);
  absl::Status InspectNode(const InspectRequest& request, GoOn go_on,
                           absl::FunctionRef<void(Inspection)> publish, Inspection* result);
  absl::Status InspectClaim(const InspectRequest& request, Inspection* result);
  absl::Status InspectTenant(const InspectRequest& request, Inspection* result);

  // The number of records before an instant, and the instant that is shown for it.
  absl::Status Locate(const view::TimeTarget& at, uint64_t* records, SimTime* shown);
  // Shows the records from the position to `records`; times are those of the run's clock.
  absl::Status ReadTo(uint64_t records, GoOn go_on, Visitor visit);
  // Reads the node's records from the keyframe before `first` to `last`.
  absl::StatusOr<view::NodeInspection> ReadNode(NodeId node, uint64_t first, uint64_t last,
                                                SimTime now, GoOn go_on);
  uint64_t KeyframeBefore(uint64_t records) const;

  std::unique_ptr<LedgerSeek> seek_;
  std::shared_ptr<const RunBasis> basis_;
  std::optional<NodeWindow> window_;  // read last
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_INSPECTOR_H_
