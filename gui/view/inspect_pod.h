// PodInspector: the contents of a pod's inspector: its life as a bar of segments and marks, the
// verdicts that it got, and the nodes with room for it. A fold over the records of a ledger.
//
// Usage:
//
//   PodInspector inspector("pod-0004814");
//   while (...) inspector.Add(record, cluster, summaries);
//   const PodInspection pod = inspector.Inspect(now, cluster);
#ifndef DRASIM_GUI_VIEW_INSPECT_POD_H_
#define DRASIM_GUI_VIEW_INSPECT_POD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gui/view/node_slices.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"

namespace drasim::view {

// A part of the life bar. Segments follow each other without gaps, from arrival on.
struct LifeSegment {
  enum class Kind : uint8_t {
    kWaiting,
    kStarting,  // charged to a node; a step before or of Bind is under way
    kRunning,   // bound
  };
  Kind kind = Kind::kWaiting;
  SimTime from;
  SimTime to;           // the moment of the inspection for the last one of a living pod
  std::string node;     // unless it waits
  std::string devices;  // "0:3g.40gb@4", "0;1"; empty before it has some
};
absl::string_view LifeSegmentName(LifeSegment::Kind kind);

// An instant of the life bar.
struct LifeMark {
  enum class Kind : uint8_t {
    kArrived,
    kNoNode,     // an attempt failed
    kPlaced,     // an attempt found a node; Bind, or a step before it, is under way
    kTakenBack,  // and a later step failed
    kBound,
    kAdmitted,    // its node gave it devices
    kTurnedAway,  // its node did not admit it
    kStarted,     // its work begins, where that is after kBound
    kEvicted,
    kFinished,
    kFailed,
    kDeleted,
    kDropped,
  };
  Kind kind = Kind::kArrived;
  SimTime time;
  uint32_t verdict = 0;  // PodInspection::verdicts, for kNoNode and kTurnedAway
  std::string node;      // if a node is concerned
  EvictionCause cause = EvictionCause::kPreempted;  // of an eviction
  std::string text;                                 // the same in words
};
absl::string_view LifeMarkName(LifeMark::Kind kind);
absl::string_view EvictionCauseName(EvictionCause cause);

// Equal answers to the pod's attempts.
struct VerdictCount {
  std::string text;
  int64_t times = 0;
  SimTime first;
  SimTime last;
  bool of_claims = false;   // some reason is about the pod's claims, or a step of their negotiation
  bool of_refusal = false;  // some node cannot serve the claims
};

// A node with room for the pod.
struct RoomyNode {
  NodeId node;
  std::string name;
  int64_t gpus = 0;   // PodRoom::gpus
  bool fits = false;  // PodRoom::fits
};

struct PodInspection {
  PodId pod;
  std::string name;
  std::string wants;
  bool wants_mig = false;
  std::string tenant;  // filled by a caller that knows it
  int32_t priority = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  SimTime now;  // the moment of the inspection
  SimTime arrival;
  PodPhase phase = PodPhase::kPending;
  SimDuration waits;                   // the sum of its waits
  std::optional<SimTime> first_start;  // its first Bind
  int64_t attempts_failed = 0;
  int64_t times_taken_back = 0;
  int64_t times_evicted = 0;
  std::vector<LifeSegment> segments;
  std::vector<LifeMark> marks;
  std::vector<VerdictCount> verdicts;  // in order of first appearance
  uint32_t last_verdict = 0;           // index; meaningful unless `verdicts` is empty
  // While it holds nothing and has not ended: room at `now`, by RoomFor.
  std::vector<RoomyNode> room;  // nodes with gpus > 0 or fits, by NodeId
  int64_t gpus_with_room = 0;
  int64_t nodes_that_fit = 0;
};

// The reasons of a refusal: "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu." becomes
// {"1 Too many pods", "2 Insufficient cpu"}. Another text is its own reason.
std::vector<std::string> VerdictReasons(absl::string_view verdict);

// The node where the pod is, or was last; empty before the first.
std::string NodeOf(const PodInspection& pod);

// Whether a waiting pod waits for room, in a sentence. Empty for others.
std::string PodRoomText(const PodInspection& pod);

class PodInspector {
 public:
  // Follows the first pod of that name.
  explicit PodInspector(std::string name) : name_(std::move(name)) {}

  // After the record was applied to `cluster`. Records after the pod's end say nothing of it.
  void Add(const Record& record, const ClusterState& cluster, const VerdictSummaryTable& summaries);
  // True once the pod has arrived.
  bool found() const { return found_; }
  // REQUIRES: found(). O(nodes x devices) for a pod that waits.
  // `layouts`: absent if none is static.
  PodInspection Inspect(SimTime now, const ClusterState& cluster,
                        std::optional<LayoutOfGpu> layouts = std::nullopt) const;

 private:
  void Begin(LifeSegment::Kind kind, const Record& record, const ClusterState& cluster);
  void EndSegment();
  uint32_t CountVerdict(const std::string& text, SimTime time);

  std::string name_;
  bool found_ = false;
  bool alive_ = false;
  PodInspection pod_;
  SimTime latest_;  // of its records; a damaged ledger may go back
  absl::flat_hash_map<std::string, uint32_t> verdict_index_;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_INSPECT_POD_H_
