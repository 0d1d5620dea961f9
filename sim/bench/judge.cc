#include "sim/bench/judge.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/key_error.h"
#include "model/text/shown_text.h"
#include "sim/core/decided_dispatcher.h"
#include "sim/scenario/front_end_spec.h"

namespace drasim::bench {

absl::Status CheckJudgeable(const RunSpec& spec) {
  if (spec.front_end.dra()) {
    return KeyError("front_end.kind",
                    absl::StrCat("found ", FrontEndName(spec.front_end.kind),
                                 ", expected another: devices of claims are chosen on the way, and "
                                 "a list of decisions does not say how"));
  }
  if (spec.front_end.options.repartitioning.every > SimDuration()) {
    return KeyError("front_end.mig.repartitioning.every",
                    "expected none: repartitioning reacts to failed attempts, which a list of "
                    "decisions does not have");
  }
  return absl::OkStatus();
}

RunSpec FollowDecisions(RunSpec spec, std::shared_ptr<const DecisionList> decisions) {
  const bool has_manifests =
      !spec.workload.manifests.empty() || !spec.cluster.nodes.manifests.empty();
  // Only kube-scheduler's plugins know all rules of manifests.
  if (has_manifests && !spec.scheduler.kube.has_value()) {
    spec.scheduler.kube.emplace();
    spec.workload.full_shapes = true;
    spec.cluster.nodes.full_shapes = true;
  }
  spec.decisions = std::move(decisions);
  spec.engine.attempt_latency = SimDuration();
  spec.engine.checkpoint_every = 0;
  return spec;
}

Judgement JudgementOf(const Simulation& sim) {
  DRASIM_CHECK(sim.decided() != nullptr);
  const DecisionList& list = *sim.spec().decisions;
  Judgement judgement;
  judgement.figures = CellOf(sim);
  judgement.followed = sim.decided()->followed();
  for (const PodDecision& decision : list.decisions)
    judgement.placements += decision.node.empty() ? 0u : 1u;
  judgement.placements -= sim.decided()->known();
  for (const DecisionProblem& problem : sim.decided()->Problems()) {
    const PodDecision& decision = list.decisions[problem.decision];
    judgement.problems.push_back(
        absl::StrCat(list.origin, decision.line > 0 ? absl::StrCat(":", decision.line) : "",
                     ": pod '", ShownText(decision.pod), "': ", problem.what));
  }
  return judgement;
}

}  // namespace drasim::bench
