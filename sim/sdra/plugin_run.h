// Cases for the scheduler plugin of structured DRA: a small cluster, pods with claims, and steps in
// virtual time. kube-scheduler's answers to the same cases are the oracle of `drasim cases sdra`.
//
// Only the plugin DynamicResources runs; nobody checks cpu, memory or the extended resources of
// device plugins. Every node is asked, in the order of the case. Time stands still but for PreBind
// and the step `wait`, and caches are up to date before every step.
#ifndef DRASIM_SIM_SDRA_PLUGIN_RUN_H_
#define DRASIM_SIM_SDRA_PLUGIN_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/sdra_case.pb.h"
#include "policies/dra/extended_resources.h"
#include "policies/dra/in_flight_claims.h"
#include "policies/dra/slice_inventory.h"
#include "policies/dra/structured_cycle.h"
#include "policies/dra/structured_resources.h"
#include "policies/dra/structured_writes.h"
#include "sim/sdra/plugin_store.h"

namespace drasim {

class PluginRun {
 public:
  // InvalidArgument for a case that no scheduler can be made for: an unknown gate, a duration that
  // is none. `given` must outlive the run.
  static absl::StatusOr<std::unique_ptr<PluginRun>> Make(const proto::kube::SdraCase& given,
                                                         const SelectorVerdictsMaker& make_verdicts,
                                                         const AllocatorOptions& upstream);

  // All steps, in order. Called once. InvalidArgument for a step without a verb, or with the name
  // of a pod that the case lacks.
  absl::StatusOr<std::vector<proto::kube::SdraStepAnswer>> Run();

 private:
  using Answer = proto::kube::SdraStepAnswer;
  struct Attempt {
    std::string node;
    StructuredCycle cycle;
  };

  PluginRun(const proto::kube::SdraCase& given, const AllocatorOptions& allocator,
            const SelectorVerdictsMaker& make_verdicts, const StructuredOptions& options,
            bool taint_rules);
  absl::Status Step(const proto::kube::SdraStep& step, Answer* answer);
  absl::Status ScheduleStep(const proto::kube::SdraStep& step, Answer* answer);
  absl::Status ChangeSlices(const proto::kube::SdraStep& step, Answer* answer);

  // PreEnqueue to Reserve. Whether a node was reserved.
  bool Cycle(const std::string& pod, Answer* answer);
  bool FilterNodes(StructuredCycle* cycle, Answer* answer, std::vector<std::string>* feasible);
  void Choose(const StructuredCycle& cycle, const std::vector<std::string>& feasible,
              Answer* answer);
  absl::Status Bind(const std::string& pod, const proto::kube::SdraStep& step, Answer* answer);
  void Unreserve(const std::string& pod, Answer* answer);
  // Carries out the calls of a step, and lets the time pass that it waits for.
  ClaimStatus Finish(ClaimProgress progress, StructuredCycle* cycle);
  // The changes of `during` up to the time.
  void ApplyConditionsUntil(int64_t time_ns);
  void SetConditions(const proto::kube::SdraConditions& conditions);

  void AnswerClaims(const ClaimTable& before, Answer* answer) const;

  const proto::kube::SdraCase& given_;
  std::vector<const proto::kube::Node*> nodes_;
  PluginStore store_;
  ResourceClasses classes_;
  InFlightClaims in_flight_;
  SliceInventory inventory_;
  StructuredResources plugin_;
  StructuredWrites writes_;
  int64_t now_ns_;
  std::map<std::string, Attempt> reserved_;  // by pod
  std::set<std::string> waiting_;            // pods that were tried and not bound since
  // Changes of the PreBind under way, by their time.
  std::multimap<int64_t, const proto::kube::SdraConditions*> during_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_PLUGIN_RUN_H_
