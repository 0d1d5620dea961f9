// How many failed attempts of a run can be explained: every one of them is, as it happens.

#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "sim/explain/attempt.h"

namespace drasim {
namespace {

constexpr size_t kIncompleteShown = 5;

class ExplanationCounter : public RecordSink {
 public:
  ExplanationCounter(const Explainer* explainer, const JobTable* jobs)
      : explainer_(explainer), jobs_(jobs) {}

  void OnRecord(const Record& record, const ClusterState& cluster) override {
    if (record.kind != RecordKind::kAttemptFailed) return;
    const JobRow& job = jobs_->row(jobs_->job_of(record.pod));
    // Pods with claims of their own are not alike, whatever their shapes are.
    const bool alike = cluster.pod_shape(record.pod).claims.empty();
    const Key key = {cluster.pod_shape_id(record.pod).value(), record.detail,
                     alike ? cluster.version() : stats_.attempts,
                     record.pod.value() - job.first_pod.value(), job.pods};
    const auto [known, is_new] = known_.try_emplace(key);
    if (is_new) known->second = Judge(record);
    ++stats_.attempts;
    stats_.complete += known->second.complete ? 1u : 0u;
    stats_.agreeing += known->second.agrees ? 1u : 0u;
  }

  const ExplanationStats& stats() const { return stats_; }

 private:
  // Shape, failure, version of the cluster, place of the pod in its job, size of the job.
  using Key = std::tuple<uint32_t, uint32_t, uint64_t, uint32_t, uint32_t>;
  struct Verdict {
    bool complete = false;
    bool agrees = false;
  };

  Verdict Judge(const Record& record) {
    const Explanation why =
        explainer_->OfFailure(record.pod, SummaryId(record.detail), record.time, /*brief=*/true);
    ++stats_.distinct;
    if ((!why.complete() || !why.agrees) && stats_.incomplete.size() < kIncompleteShown) {
      stats_.incomplete.push_back(
          absl::StrCat(why.pod, " at ", why.time.ns(), " ns: ", why.summary, " -> ", why.key()));
    }
    return {why.complete(), why.agrees};
  }

  const Explainer* explainer_;
  const JobTable* jobs_;
  absl::flat_hash_map<Key, Verdict> known_;
  ExplanationStats stats_;
};

}  // namespace

absl::StatusOr<ExplanationStats> CountExplanations(Simulation& sim) {
  const Explainer explainer(&sim.cluster(), &sim.jobs(), &sim.summaries(), &sim.profile(),
                            HooksOf(sim));
  ExplanationCounter counter(&explainer, &sim.jobs());
  sim.AddSink(&counter);
  if (absl::Status s = sim.Start(); !s.ok()) return s;
  if (absl::Status s = sim.Run(); !s.ok()) return s;
  return counter.stats();
}

}  // namespace drasim
