// Jobs that a test drives by hand, and a small run with one job in each state.
#ifndef DRASIM_TESTS_SIM_RECORD_JOB_RIG_H_
#define DRASIM_TESTS_SIM_RECORD_JOB_RIG_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/time.h"
#include "sim/record/job_report.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

inline SimDuration Sec(int64_t seconds) { return SimDuration::Seconds(seconds); }
inline SimTime At(int64_t seconds) { return SimTime() + Sec(seconds); }

// The table, and the pods that give the jobs their names.
class JobRig {
 public:
  ShapeId Shape(int64_t cpu_milli, int32_t gpu_count, int32_t gpu_milli = kDeviceMilli) {
    return builder_.AddShape(TestShape(cpu_milli, gpu_count, gpu_milli));
  }

  JobId Add(const JobArrival& arrival) {
    const PodId first(builder_.cluster().pod_count());
    for (int32_t i = 0; i < arrival.pods; ++i) {
      const std::string name =
          arrival.pods == 1 ? arrival.name : absl::StrCat(arrival.name, "-", i);
      builder_.cluster().AddPod(name, arrival.shape, arrival.priority, arrival.time);
    }
    return jobs_.Add(arrival, first, builder_.shapes());
  }
  JobId Add(absl::string_view name, absl::string_view tenant, ShapeId shape, int64_t submitted_s,
            int32_t pods = 1) {
    return Add(Arrival(name, tenant, shape, submitted_s, pods));
  }
  static JobArrival Arrival(absl::string_view name, absl::string_view tenant, ShapeId shape,
                            int64_t submitted_s, int32_t pods = 1) {
    JobArrival arrival;
    arrival.name = std::string(name);
    arrival.tenant = std::string(tenant);
    arrival.shape = shape;
    arrival.pods = pods;
    arrival.time = At(submitted_s);
    arrival.has_run_time = true;
    arrival.run_time = Sec(1000);
    return arrival;
  }

  void Run(JobId job, int64_t at_s) {
    jobs_.Start(job);
    jobs_.Run(job, At(at_s));
  }
  void End(JobId job, JobState state, int64_t at_s) { jobs_.End(job, state, At(at_s)); }
  // A job of one GPU that runs from `started_s` to `ended_s`.
  void AddFinished(absl::string_view tenant, int64_t submitted_s, int64_t started_s,
                   int64_t ended_s) {
    const JobId job = Add(absl::StrCat("job-", jobs_.size()), tenant, Shape(0, 1), submitted_s);
    Run(job, started_s);
    End(job, JobState::kSucceeded, ended_s);
  }

  JobReport Report(int64_t end_s) const {
    JobReportOptions options;
    options.end = At(end_s);
    return JobReport(jobs_, options);
  }

  JobTable& jobs() { return jobs_; }
  const JobTable& jobs() const { return jobs_; }
  const ClusterState& cluster() const { return builder_.cluster(); }

 private:
  ClusterBuilder builder_;
  JobTable jobs_;
};

// One job in each state but Starting, until 100 s.
inline void PlayEveryState(JobRig* rig) {
  const JobId a = rig->Add("a,1", "red", rig->Shape(1000, 1), 0);
  rig->Run(a, 0);
  JobArrival gang = JobRig::Arrival("gang", "blue", rig->Shape(2000, 2), 10, 4);
  gang.priority = 5;
  const JobId b = rig->Add(gang);
  const JobId c = rig->Add("c", "red", rig->Shape(500, 1, 500), 10);
  rig->Run(c, 12);
  rig->End(c, JobState::kFailed, 14);
  rig->End(a, JobState::kSucceeded, 20);
  const JobId d = rig->Add("d", "", rig->Shape(50'000, 0), 20);
  rig->Run(b, 30);
  const JobId e = rig->Add("e", "blue", rig->Shape(1000, 1), 40);
  rig->End(b, JobState::kSucceeded, 50);
  const JobId f = rig->Add("f", "green", rig->Shape(0, 8), 50, 5);
  rig->Run(d, 60);
  JobArrival with_deadline = JobRig::Arrival("g", "red", rig->Shape(1000, 2), 70);
  with_deadline.has_deadline = true;
  with_deadline.deadline = At(150);
  const JobId g = rig->Add(with_deadline);
  rig->Run(g, 80);
  const JobId h = rig->Add("h", "green", rig->Shape(0, 1), 90);
  rig->jobs().mutable_row(h).attempts_failed = 3;
  rig->End(e, JobState::kDeleted, 90);
  rig->End(f, JobState::kDropped, 95);
  rig->End(d, JobState::kSucceeded, 100);
}

inline JobReport EveryStateReport(const JobRig& rig) {
  JobReportOptions options;
  options.end = At(100);
  options.capacity.gpu_milli = 16'000;
  options.capacity.cpu_milli = 100'000;
  return JobReport(rig.jobs(), options);
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_RECORD_JOB_RIG_H_
