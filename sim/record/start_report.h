// How long pods take from arrival to work, in which parts, and how many scheduling attempts that
// costs: a fold over the records alone.
//
//   arrival ------------> first attempt that ------------> bound -----------> work begins
//             queue       left it waiting     negotiation          prepare
//                         for a driver
//
// A pod that never waits for a driver has no negotiation: its queue lasts until it is bound (with
// the write of that). Work begins with kPodStarted, or with kPodBound in runs that have no such
// records. What is counted is *starts*. An eviction sets the clock back: the pod's next start is
// one of its own. A node that turns a pod away does not: the pod goes on waiting, and its attempts
// so far count for the start that it comes to.
//
// Of a gang each pod has starts of its own, but an attempt that fails is one of the pod for which
// there was no place.
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
  // A pod that is bound works only when a kPodStarted says so.
  bool starts_later = false;
};

// Seconds, rounded to 6 decimals; p95 by nearest rank: of n sorted values, number ceil(0.95 n).
struct StartSpread {
  double mean = 0;
  double p95 = 0;
  bool operator==(const StartSpread&) const = default;
};

struct StartTimes {
  int64_t starts = 0;  // without any, all is 0
  StartSpread queue;
  StartSpread negotiation;
  StartSpread prepare;
  StartSpread total;
  double attempts = 0;  // scheduling attempts per start, that of the start among them
  bool operator==(const StartTimes&) const = default;
};

class StartReport : public RecordSink {
 public:
  explicit StartReport(StartReportOptions options) : options_(std::move(options)) {}

  // O(1) amortised.
  void OnRecord(const Record& record, const ClusterState& cluster) override;

  // Of the run so far. O(starts log starts).
  StartTimes Times() const;
  int64_t pods_arrived() const { return static_cast<int64_t>(pods_.size()); }
  // Pods that have never been bound.
  int64_t pods_unplaced() const;
  // Of these, by why their last attempt failed: the text of a reason and the pods for which some
  // node gave it, most pods first, equal ones by text. A pod may be there several times. Pods
  // without any attempt are "(never tried)". O(pods).
  std::vector<std::pair<std::string, int64_t>> UnplacedByReason() const;

  // Pods whose claims are allocated and that are not bound (sim/dra/pinned_pods.h): on average over
  // the run, at most at a time, at the end. Records do not tell. Not part of the saved state.
  struct Pinned {
    double mean = 0;
    int64_t most = 0;
    int64_t at_end = 0;
  };
  void set_pinned(const Pinned& pinned) { pinned_ = pinned; }
  const std::optional<Pinned>& pinned() const { return pinned_; }
  // Calls to the API server by all components; likewise.
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
  // The pod leaves its node, having done something there.
  void Leave(PodClock* pod);

  StartReportOptions options_;
  std::vector<PodClock> pods_;  // by PodId
  std::vector<Start> starts_;   // but those of pods in kBound, of which it is not known yet
  std::vector<int8_t> begins_;  // by SummaryId: whether BeginsNegotiation; -1: not known yet
  std::optional<Pinned> pinned_;
  std::optional<uint64_t> api_reads_;
  std::optional<uint64_t> api_writes_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_START_REPORT_H_
