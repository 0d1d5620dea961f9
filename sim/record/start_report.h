// The time of pods from arrival to work, its parts, and the scheduling attempts on the way: a fold
// over the records.
//
//   arrival ------------> first attempt that ------------> bound -----------> work begins
//             queue       left it waiting     negotiation          prepare
//                         for a driver
//
// A pod that never waits for a driver has no negotiation: its queue lasts until it is bound, with
// the write of the binding. Work begins with kPodStarted, or with kPodBound in runs without such
// records. The report counts *starts*. An eviction sets the clock back: the pod's next start is a
// new one. A rejection by the node does not: the pod goes on waiting, and its attempts count for
// the next start.
//
// Each pod of a gang has its own starts. A failed attempt counts for the pod that found no place.
#ifndef DRASIM_SIM_RECORD_START_REPORT_H_
#define DRASIM_SIM_RECORD_START_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/cluster_state.h"
#include "model/record.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

struct StartReportOptions {
  const VerdictSummaryTable* summaries = nullptr;  // outlives the report
  // Whether work begins with kPodStarted rather than kPodBound.
  bool starts_later = false;
};

// Seconds, rounded to 6 decimals; p95 by nearest rank: of n sorted values, number ceil(0.95 n).
struct StartSpread {
  double mean = 0;
  double p95 = 0;
  bool operator==(const StartSpread&) const = default;
};

struct StartTimes {
  int64_t starts = 0;  // without any, all figures are 0
  StartSpread queue;
  StartSpread negotiation;
  StartSpread prepare;
  StartSpread total;
  double attempts = 0;  // scheduling attempts per start, including the successful one
  bool operator==(const StartTimes&) const = default;
};

class StartReport : public RecordSink {
 public:
  explicit StartReport(StartReportOptions options) : options_(options) {}

  // O(1) amortised.
  void OnRecord(const Record& record, const ClusterState& cluster) override;

  // The times of the run so far. O(starts log starts).
  StartTimes Times() const;
  int64_t pods_arrived() const { return static_cast<int64_t>(pods_.size()); }
  // Pods that have never been bound.
  int64_t pods_unplaced() const;
  // These pods by the reasons of their last failed attempt: a reason's text, and the number of pods
  // for which some node gave it. Most pods first, equal numbers by text. A pod counts for each of
  // its reasons; pods without an attempt are "(never tried)". O(pods).
  std::vector<std::pair<std::string, int64_t>> UnplacedByReason() const;

  // Pods that are not bound although their claims are allocated (sim/dra/api/pinned_pods.h): the
  // average over the run, the maximum, and the number at the end. Set from outside, because records
  // do not have it; not part of the saved state.
  struct Pinned {
    double mean = 0;
    int64_t most = 0;
    int64_t at_end = 0;
  };
  void set_pinned(const Pinned& pinned) { pinned_ = pinned; }
  const std::optional<Pinned>& pinned() const { return pinned_; }
  // Calls to the API server by all components; set from outside as well.
  void set_api_reads(uint64_t reads) { api_reads_ = reads; }
  void set_api_writes(uint64_t writes) { api_writes_ = writes; }
  std::optional<uint64_t> api_reads() const { return api_reads_; }
  std::optional<uint64_t> api_writes() const { return api_writes_; }

  void Save(StateWriter& out) const override;
  // After an error the state is unspecified.
  absl::Status Load(StateReader& in) override;

 private:
  enum class State : uint8_t { kWaiting, kBound, kWorking, kGone };
  struct PodClock {
    SimTime since;        // arrival, or the last eviction
    SimTime negotiating;  // meaningful when `negotiates`
    SimTime bound;        // meaningful in kBound
    uint32_t attempts = 0;
    SummaryId last_failure;
    State state = State::kWaiting;
    bool negotiates = false;
    bool ever_bound = false;
  };
  struct Start {
    SimDuration queue;
    SimDuration negotiation;
    SimDuration prepare;
    uint32_t attempts = 0;
  };

  bool BeginsNegotiation(SummaryId why);
  static Start StartAt(const PodClock& pod, SimTime at);
  // The pod leaves its node after it has been bound there.
  void Leave(PodClock* pod);

  StartReportOptions options_;
  std::vector<PodClock> pods_;  // by PodId
  std::vector<Start> starts_;   // without those of pods in kBound, whose end is still open
  std::vector<int8_t> begins_;  // by SummaryId: whether BeginsNegotiation; -1: not computed yet
  std::optional<Pinned> pinned_;
  std::optional<uint64_t> api_reads_;
  std::optional<uint64_t> api_writes_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_START_REPORT_H_
