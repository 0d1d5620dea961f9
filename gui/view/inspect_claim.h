// ClaimInspector: the contents of a claim's inspector: the machine of its states, its history in
// words, the answers of its driver, and its devices. A fold over the claim changes of a ledger.
//
// Usage:
//
//   ASSIGN_OR_RETURN(const ClaimInspection claim,
//                    InspectClaim(run.get(), "default/train-0-gpu", {SimTime(at_ns)}));
#ifndef DRASIM_GUI_VIEW_INSPECT_CLAIM_H_
#define DRASIM_GUI_VIEW_INSPECT_CLAIM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gui/view/timeline.h"
#include "model/claim_change.h"
#include "model/cluster_state.h"
#include "model/time.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/live_claims.h"

namespace drasim::view {

// A state of the machine. Every claim shows those of its mode in this order, whether it has reached
// them or not: only a claim of WaitForFirstConsumer has kDriverAsked and kNodeSelected, and no
// driver releases a structured one. A deleted claim is in none of them.
struct ClaimStep {
  ClaimState state = ClaimState::kCreated;
  std::string name;   // "driver asked"
  int64_t times = 0;  // entered
  SimTime first;      // these two are meaningful with times
  SimTime last;
  bool present = false;  // the state of the claim now
};

struct ClaimHistoryLine {
  ClaimChangeKind kind = ClaimChangeKind::kCreated;
  SimTime time;
  std::string text;  // "driver refuses 3 of 4 nodes: ...", "allocated on node-000018: 0:3g.40gb@4"
  std::string node;  // the one that the text names, for a link; may be empty
  std::string pod;   // likewise
};

// Equal words of a driver or kubelet.
struct ClaimWords {
  std::string text;
  int64_t times = 0;
  SimTime first;
  SimTime last;
  int64_t refused = 0;  // nodes, by the last answer with these words; 0: the words are no answer
  int64_t asked = 0;    // nodes that the answer was about
};

struct ClaimInspection {
  std::string name;        // "namespace/name"
  std::string pod;         // its owner; empty for a shared claim
  std::string class_name;  // ResourceClass; DeviceClasses
  std::string mode;        // "Immediate", "WaitForFirstConsumer", "structured"
  SimTime now;             // the moment of the inspection
  bool deleted = false;    // the claim is gone; everything else shows its end
  ClaimState state = ClaimState::kCreated;
  SimTime since;              // of the state
  std::string selected_node;  // spec.selectedNode; may be empty
  int64_t nodes_asked = 0;    // that the driver was last asked about
  int64_t nodes_refused = 0;  // by its last answer to that
  std::string node;           // of the allocation; may be empty
  std::string devices;        // "0:3g.40gb@4"; "gpu-0, gpu-1"; may be empty
  // Devices of a structured claim as of its allocation; empty: not allocated.
  std::vector<ClaimDevice> allocated;
  std::vector<std::string> pods;  // in status.reservedFor, in order
  std::vector<ClaimStep> steps;   // the machine
  std::vector<ClaimHistoryLine> history;
  std::vector<ClaimWords> words;  // in order of first appearance
};

// The node of its allocation, or the one selected for it; may be empty.
const std::string& NodeOf(const ClaimInspection& claim);

// The words of a change, for a history: of any claim's.
std::string ClaimChangeText(const ClaimChange& change, const ClusterState& cluster);

class ClaimInspector {
 public:
  // `name` as in ClaimIdentity. Follows the youngest claim of that name. `cluster` has the nodes.
  ClaimInspector(std::string name, const ClusterState* cluster);

  void Add(const ClaimChange& change);
  // True once the claim has been created.
  bool found() const { return found_; }
  // REQUIRES: found().
  ClaimInspection Inspect(SimTime now) const;

 private:
  void CountWords(const ClaimChange& change);

  std::string name_;
  const ClusterState* cluster_;
  bool found_ = false;
  uint64_t claim_ = 0;
  LiveClaim live_;
  ClaimInspection shown_;
};

// Reads the claim changes of a ledger up to `at`; the position of `run` stays. NotFound when no
// claim of that name has been created by then; other errors are those of LedgerSeek.
absl::StatusOr<ClaimInspection> InspectClaim(LedgerSeek* run, const std::string& name,
                                             const TimeTarget& at);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_INSPECT_CLAIM_H_
