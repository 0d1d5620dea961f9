// The frames of a ledger that sum up its records: their contents so far, and when each is due.
//
// The digest depends only on the records and on the ends of blocks. A writer that continues a
// ledger therefore rebuilds it by reading, and then writes the bytes of an uninterrupted run:
//
//   digest.OnRecord(record, cluster);  // for each record of a block
//   digest.EndBlock(cluster);
//   while (digest.DuePods() > 0) ...   // and the same for series and keyframes
#ifndef DRASIM_SIM_RECORD_LEDGER_DIGEST_H_
#define DRASIM_SIM_RECORD_LEDGER_DIGEST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/mig_slices.h"
#include "model/record.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_state.h"
#include "sim/record/slice_sampler.h"
#include "sim/record/wire_message.h"

namespace drasim {

// The sizes of frames and the distances between them. Readers do not depend on them.
struct LedgerPace {
  size_t records_per_block = 4096;
  // Between keyframes: at least both of these, the second for each node and each live pod, so that
  // keyframes cost less than the records between them. A block ends in front of each.
  uint64_t records_per_keyframe = 500'000;
  uint64_t records_per_live_object = 2;
  size_t blocks_per_series = 64;
  size_t pods_per_frame = 1000;
  // With few records, a block ends before it covers more than 1/parts_of_time of the time so far:
  // curves know no more than the extremes of a block.
  size_t least_records_per_block = 16;
  int64_t parts_of_time = 256;
};

class LedgerDigest {
 public:
  // For a variable that is assigned later.
  LedgerDigest() = default;
  // `cluster` has the nodes of the run, `summaries` those of its records. `layouts`: at the
  // beginning.
  LedgerDigest(const ClusterState& cluster, const VerdictSummaryTable& summaries,
               const LedgerPace& pace, LayoutOfGpu layouts);
  // Another table with the same summaries, which outlives the digest.
  void set_summaries(const VerdictSummaryTable* summaries) { live_.set_summaries(summaries); }

  // As for LiveState::OnRecord.
  void OnRecord(const Record& record, const ClusterState& cluster);
  // REQUIRES: a record since the block before. `cluster` has the nodes of the run, `layouts` are
  // those after the last record.
  void EndBlock(const ClusterState& cluster, LayoutOfGpu layouts);

  // --- what to write after a block ---
  bool IsSeriesDue() const { return series_.blocks() >= pace_.blocks_per_series; }
  bool has_series() const { return series_.blocks() > 0; }
  std::string PackSeries() const { return series_.Pack(); }
  void PassSeries() { series_.Clear(); }

  // The number of ended pods for the next frame; 0: it is not due.
  size_t DuePods() const {
    return ended_.size() >= pace_.pods_per_frame ? pace_.pods_per_frame : 0;
  }
  size_t pods() const { return ended_.size(); }
  // A frame with the first `count` pods. `cluster` and `jobs` as for PackPods of ledger_pods.h.
  std::string PackPods(size_t count, const ClusterState& cluster, const JobTable* jobs,
                       WireMessage* scratch) const;
  void PassPods(size_t count);

  bool IsKeyframeDue() const;
  // After a keyframe here, with the definitions so far.
  void PassKeyframe(size_t shapes, size_t summaries);
  // The definitions before the last keyframe.
  size_t keyframe_shapes() const { return keyframe_shapes_; }
  size_t keyframe_summaries() const { return keyframe_summaries_; }

  const LedgerPace& pace() const { return pace_; }
  // O(live pods).
  const LiveState& live();
  uint64_t records() const { return records_; }
  SimTime time() const { return time_; }  // of the last record

 private:
  // Nearly all records of a busy run are failed attempts of pods that have failed before, which
  // change only the number of failures and the last reason. They are counted here, in a little
  // memory that stays in the processor's cache, and added to the live state when it is read.
  struct Failures {
    uint32_t unseen = 0;                  // by the live state
    uint32_t last = SummaryId::kInvalid;  // invalid: the pod's last record was something else
  };
  // Whether the record is such an attempt; it is then counted.
  bool CountFailure(const Record& record);
  void AddFailures(PodId pod);
  void Fold(const Record& record, const ClusterState& cluster);

  LedgerPace pace_;
  std::vector<Failures> failures_;  // by pod
  LiveState live_;
  SliceSampler slices_;
  SeriesFolder series_;
  std::vector<EndedPod> ended_;  // not written yet
  uint64_t records_ = 0;
  SimTime time_;
  uint64_t keyframe_records_ = 0;  // before the last keyframe
  size_t keyframe_shapes_ = 0;
  size_t keyframe_summaries_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_DIGEST_H_
