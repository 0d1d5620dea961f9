// A workload held in memory, so that it can be sorted, shuffled and tuned before the run.
//
// The FGD experiments inflate a trace to a given share of the cluster's GPUs by cloning random
// pods, or thin it by erasing random ones; Tune does the same with the run's streams.
#ifndef DRASIM_TRACES_WORKLOAD_H_
#define DRASIM_TRACES_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/run_streams.h"
#include "model/shape_table.h"

namespace drasim {

inline constexpr int64_t kMaxTunedJobs = 100'000'000;

// Pods in arrival order. Clones share their original's row and carry a clone number.
class Workload {
 public:
  struct Entry {
    uint32_t row = 0;    // of rows()
    int32_t clone = -1;  // >= 0: named "<name>-tuned-<clone>"
  };

  // Takes everything from the source, at most `limit` pods (0: all). Bad input ends it.
  static absl::StatusOr<Workload> Read(EventSource& source, uint64_t limit);

  static Workload FromJobs(std::vector<JobArrival> jobs);
  // Gives the jobs away; the workload is empty then.
  std::vector<JobArrival> TakeRows();
  // Estimates that are below the run time become it: for traces whose jobs outlived what their
  // owners had asked for.
  void RaiseEstimates();

  // Sorts by name, byte-wise, and makes that the original order.
  void SortByName();
  void Shuffle(RunStreams& streams);
  // Clones or erases pods until the requested GPU milli reach `ratio` times the capacity. Clones go
  // last, unshuffled, and arrive when the last original does.
  void Tune(double ratio, int64_t gpu_milli_capacity, const ShapeTable& shapes,
            RunStreams& streams);

  // InvalidArgument, "workload.tuning.ratio: ...", when Tune may be expected to leave more than
  // kMaxTunedJobs.
  absl::Status CheckTuning(double ratio, int64_t gpu_milli_capacity,
                           const ShapeTable& shapes) const;

  // The number of pods of each shape in the original workload, before tuning.
  std::vector<int64_t> CountByShape(size_t shapes) const;

  const std::vector<JobArrival>& rows() const { return rows_; }
  const std::vector<Entry>& order() const { return order_; }
  std::string NameOf(const Entry& entry) const;
  SimTime last_arrival() const { return last_arrival_; }

 private:
  std::vector<JobArrival> rows_;
  std::vector<Entry> order_;
  SimTime last_arrival_;
};

// InvalidArgument for a workload without pods, which would look like a success in a run or in
// figures. `why` follows the message and may be empty; `warnings` tell what became of the rows.
absl::Status NoPodsError(absl::string_view why, const std::vector<std::string>& warnings);

// Serves a workload's order. The workload must outlive the source.
class WorkloadSource : public EventSource {
 public:
  // With `keep_times`, arrival times are the trace's (and must not decrease); else all are zero.
  WorkloadSource(const Workload* workload, bool keep_times)
      : workload_(workload), keep_times_(keep_times) {}
  // A stream: one job per `interval`, the first at time zero, none of which ends. REQUIRES: the
  // last one's arrival is within the clock.
  WorkloadSource(const Workload* workload, SimDuration interval)
      : workload_(workload), keep_times_(false), interval_(interval) {}
  absl::StatusOr<bool> Next(JobArrival* out) override;
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  const Workload* workload_;
  bool keep_times_;
  SimDuration interval_;
  size_t next_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_WORKLOAD_H_
