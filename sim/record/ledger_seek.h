// Random access to a run: brings the state of a ledger to any record or time.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<LedgerSeek> run, LedgerSeek::Open("results/before"));
//   RETURN_IF_ERROR(run->ToTime(SimTime(3'600'000'000'000)));
//   run->cluster().totals().gpu_milli_allocated;        // an hour into the run
//   RETURN_IF_ERROR(run->ToRecord(run->record() - 1));  // and one record earlier
#ifndef DRASIM_SIM_RECORD_LEDGER_SEEK_H_
#define DRASIM_SIM_RECORD_LEDGER_SEEK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_pods.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_claims.h"
#include "sim/record/live_state.h"

namespace drasim {

// Nodes whose state may have changed.
struct TouchedNodes {
  bool all = true;
  std::vector<NodeId> nodes;  // each once, unless all
};

// Stands at a record: at first before record 0, with an empty cluster. Input is untrusted as for
// LedgerReader, with the same errors; after one, the next ToRecord or ToTime starts over. Frames
// that a move does not need are not read, so damage in them goes unnoticed. Not thread-safe.
//
// cluster() holds the live pods of the keyframe before the position, and all pods that have arrived
// since. Pods that had ended before the keyframe are missing, so a PodId is a row of the present
// cluster: it is void after a move that goes back or far ahead. NumberOf names a pod for good.
class LedgerSeek {
 public:
  // Arguments as for LedgerReader. Finds the frames of the ledger; reads no records.
  static absl::StatusOr<std::unique_ptr<LedgerSeek>> Open(const std::string& path);
  static absl::StatusOr<std::unique_ptr<LedgerSeek>> FromMemory(absl::string_view bytes);
  // With a freshly opened reader.
  static absl::StatusOr<std::unique_ptr<LedgerSeek>> Start(
      absl::StatusOr<std::unique_ptr<LedgerReader>> reader);

  // The header and the tables; the position is moved here alone.
  const LedgerReader& reader() const { return *reader_; }
  // The frames, and the number of records of the whole ledger.
  const LedgerIndex& index() const { return index_; }

  // --- the position ---
  // Moves to the state after the first `records` records, at most to the end. Costs the records
  // since the position or since the last keyframe, whichever is less, a keyframe counted with its
  // live objects.
  absl::Status ToRecord(uint64_t records);
  // Moves to the state at the end of the instant: after the last record that is not later.
  absl::Status ToTime(SimTime time);
  // Moves over one record, whose pod is a row of cluster(); false at the end.
  absl::StatusOr<bool> Next(Record* record);

  // Records before the position, and the time of the last of them (0 without any).
  uint64_t record() const { return reader_->records(); }
  SimTime time() const { return time_; }
  const ClusterState& cluster() const { return reader_->cluster(); }
  const LiveState& live() const { return live_; }
  // The claims of classic DRA, which change between records: after ToRecord and Next, after all
  // changes before the last record; after ToTime, after all that are not later.
  const LiveClaims& claims() const { return claims_; }
  const VerdictSummaryTable& summaries() const { return reader_->summaries(); }
  // The owners of a row of cluster(); an invalid job and "" if the ledger does not tell.
  JobId JobOf(PodId pod) const { return reader_->JobOf(pod); }
  absl::string_view TenantOf(PodId pod) const { return reader_->TenantOf(pod); }
  // As for LedgerReader.
  std::optional<uint64_t> LayoutOf(NodeId node, size_t gpu) const {
    return reader_->LayoutOf(node, gpu);
  }
  // The place of a row of cluster() in the run's order of arrivals, and back; absent if the pod has
  // not arrived, or had ended before the keyframe.
  uint64_t NumberOf(PodId pod) const { return reader_->NumberOf(pod); }
  std::optional<PodId> FindPod(uint64_t number) const { return reader_->FindPod(number); }

  // The nodes that moves since the last call have touched: for readers who keep what they made of
  // the others. At first, and after a jump to a keyframe, all.
  TouchedNodes TakeTouched();

  // --- the whole run, without a look at the records ---
  // The metrics and events of all blocks with series frames: all blocks of a complete ledger, and
  // those up to the last such frame of a partial one.
  absl::StatusOr<LedgerSeries> ReadSeries();
  // The ended pods of one of index().pods.
  absl::StatusOr<std::vector<EndedPodRow>> ReadPods(size_t frame);
  // The changes of claims of one of index().claims.
  absl::StatusOr<std::vector<LoggedClaimChange>> ReadClaimChanges(size_t frame);
  // The calls by client of the API server, at the place of each of index().claims.
  absl::StatusOr<std::vector<CallsSample>> ReadCalls();

 private:
  explicit LedgerSeek(std::unique_ptr<LedgerReader> reader)
      : reader_(std::move(reader)), live_(reader_->cluster(), &reader_->summaries()) {
    reader_->set_skips_frames();
  }
  // To the last of the first `keyframes` keyframes, or to the beginning; stays where it is if the
  // position is usable, lies behind that keyframe, and `reachable`.
  absl::Status Approach(size_t keyframes, bool reachable);
  // Reads on, at most to the end.
  absl::Status ReadTo(uint64_t records);
  // Whether reading on to `records` costs no more than beginning at that keyframe before it.
  bool IsNear(uint64_t records, uint64_t keyframe) const;
  // The live claims at a keyframe, or (`records` 0) at the beginning.
  absl::Status ResetClaims(uint64_t records);
  // Applies the claim changes before the last record and, with `until`, those behind it that are
  // not later.
  absl::Status AdvanceClaims(std::optional<SimTime> until);
  void Touch(NodeId node);
  // Whether a change behind the last record has been applied.
  bool AreClaimsAhead() const { return claims_end_ > record(); }

  std::unique_ptr<LedgerReader> reader_;
  LedgerIndex index_;
  LiveState live_;
  SimTime time_;
  bool sound_ = true;            // the last move succeeded
  size_t definitions_read_ = 0;  // of index_.definitions
  TouchedNodes touched_;
  std::vector<bool> is_touched_;  // by node; of touched_.nodes

  LiveClaims claims_;
  std::vector<LoggedClaimChange> changes_;  // of the frame of claims that was read last
  size_t next_change_ = 0;                  // of those
  size_t claim_frame_ = 0;                  // the next one of index_.claims
  uint64_t claims_from_ = 0;                // changes before this record are in claims_ already
  uint64_t claims_end_ = 0;                 // 1 + records before the last change applied; 0: none
  SimTime claims_time_;                     // of that change
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_SEEK_H_
