// Counts the failed attempts of a run that can be explained: a check that explanations are complete
// and agree with the run.
#ifndef DRASIM_TESTS_SIM_EXPLAIN_ATTEMPT_COUNT_H_
#define DRASIM_TESTS_SIM_EXPLAIN_ATTEMPT_COUNT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/kube/objects.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/explain/attempt.h"
#include "sim/run/simulation.h"

namespace drasim {

struct AttemptStats {
  uint64_t attempts = 0;
  uint64_t complete = 0;  // name a resource or object, and a shortfall or state, for all nodes
  uint64_t agreeing = 0;  // have exactly the counts that the attempt recorded
  uint64_t distinct = 0;  // explanations that were computed
  std::vector<std::string> incomplete;  // the first few that are not complete or do not agree
  bool operator==(const AttemptStats&) const = default;
};

inline constexpr size_t kIncompleteShown = 5;

// States and specifications of the claims that the pod names; empty for claims of classic DRA. With
// equal texts, and one state of the cluster, explanations differ in names alone.
inline std::string StructuredClaimsText(const ControlPlane* plane, PodId pod) {
  if (plane == nullptr) return "";
  const Ref<Pod> object = plane->pods().ObjectOf(pod);
  if (object == nullptr) return "no object";
  // Claims for extended resources are structured. The attempt's own words tell of one that is left.
  std::string text = object->claims.empty() ? "extended" : "";
  for (const PodClaim& entry : object->claims) {
    const Ref<ResourceClaim> claim =
        plane->claim_names().Find(plane->network().server().objects(), *object, entry);
    if (claim == nullptr) {
      absl::StrAppend(&text, "missing\n");
      continue;
    }
    if (!claim->spec.is_structured()) return "";
    absl::StrAppend(&text, claim->status.allocation != nullptr, claim->meta.deleting,
                    claim->status.reserved_for.size(), " ",
                    claim->spec.devices->SerializeAsString(), "\n");
  }
  return text;
}

class AttemptCounter : public RecordSink {
 public:
  AttemptCounter(const AttemptExplainer* explainer, const Simulation* sim)
      : explainer_(explainer), jobs_(&sim->jobs()), plane_(sim->control_plane()) {}

  void OnRecord(const Record& record, const ClusterState& cluster) override {
    if (record.kind != RecordKind::kAttemptFailed) return;
    const JobRow& job = jobs_->row(jobs_->job_of(record.pod));
    const bool has_claims = NeedsClaims(cluster, cluster.pod_shape(record.pod));
    std::string claims = has_claims ? StructuredClaimsText(plane_, record.pod) : "";
    // Pods with claims of classic DRA are not alike, whatever their shapes are.
    const bool alike = !has_claims || !claims.empty();
    const Key key = {cluster.pod_shape_id(record.pod).value(),
                     record.detail,
                     alike ? cluster.version() : stats_.attempts,
                     record.pod.value() - job.first_pod.value(),
                     job.pods,
                     std::move(claims)};
    const auto [known, is_new] = known_.try_emplace(key);
    if (is_new) known->second = Judge(record);
    ++stats_.attempts;
    stats_.complete += known->second.complete ? 1u : 0u;
    stats_.agreeing += known->second.agrees ? 1u : 0u;
  }

  const AttemptStats& stats() const { return stats_; }

 private:
  // Shape, failure, version of the cluster, place of the pod in its job, size of the job, claims.
  using Key = std::tuple<uint32_t, uint32_t, uint64_t, uint32_t, uint32_t, std::string>;
  struct Verdict {
    bool complete = false;
    bool agrees = false;
  };

  Verdict Judge(const Record& record) {
    const AttemptExplanation why =
        explainer_->OfFailure(record.pod, SummaryId(record.detail), record.time, /*brief=*/true);
    ++stats_.distinct;
    if ((!why.complete() || !why.agrees) && stats_.incomplete.size() < kIncompleteShown) {
      stats_.incomplete.push_back(
          absl::StrCat(why.pod, " at ", why.time.ns(), " ns: ", why.summary, " -> ", why.key()));
    }
    return {why.complete(), why.agrees};
  }

  const AttemptExplainer* explainer_;
  const JobTable* jobs_;
  const ControlPlane* plane_;  // null: none
  absl::flat_hash_map<Key, Verdict> known_;
  AttemptStats stats_;
};

// Runs the simulation, which has been built but not started, and explains every failed attempt as
// it happens. Costs a look at all nodes per distinct (shape, failure, state).
inline absl::StatusOr<AttemptStats> CountExplainedAttempts(Simulation& sim) {
  const AttemptExplainer explainer(&sim.cluster(), &sim.jobs(), &sim.summaries(), sim.profiles(),
                                   ClaimHooksOf(sim));
  AttemptCounter counter(&explainer, &sim);
  sim.AddSink(&counter);
  RETURN_IF_ERROR(sim.Start());
  RETURN_IF_ERROR(sim.Run());
  return counter.stats();
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_EXPLAIN_ATTEMPT_COUNT_H_
