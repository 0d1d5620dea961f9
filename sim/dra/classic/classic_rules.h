// ClassicRules: DynamicResources of classic DRA (dynamic_resources.h) as the scheduler's rules.
#ifndef DRASIM_SIM_DRA_CLASSIC_CLASSIC_RULES_H_
#define DRASIM_SIM_DRA_CLASSIC_CLASSIC_RULES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/dra_rules.h"
#include "sim/dra/classic/dynamic_resources.h"

namespace drasim {

class ClassicRules : public DraRules {
 public:
  ClassicRules(const DraBehaviour& behaviour, uint64_t seed) : behaviour_(behaviour), seed_(seed) {}

  void Start(ApiClient* client) override { rules_.emplace(client, behaviour_, seed_); }
  uint32_t watches() const override;
  Traits traits() const override;
  std::vector<Reason> Reasons() const override { return DynamicResources::Reasons(); }
  ReasonIndex CallFailed() const override;

  Status PreEnqueue(const Pod& pod) const override;
  std::unique_ptr<Cycle> PreFilter(const Ref<Pod>& pod, uint64_t token, Status* status) override;
  NodeRestriction Restriction(Cycle& cycle) override;
  ReasonIndex WhyRejected(Cycle& cycle, NodeId node) override;
  void PreScore(Cycle& cycle, absl::Span<const NodeId> feasible) override;
  Status PostFilter(Cycle& cycle) override;
  Status Reserve(Cycle& cycle, NodeId node) override;
  Status Unreserve(Cycle& cycle, NodeId node) override;
  Status PreBind(Cycle& cycle, NodeId node) override;
  Status PostBind(Cycle& cycle) override;
  // `reply` is never null: no step waits for a timer.
  Status Resume(Cycle& cycle, const ApiReply* reply) override;
  void Abort(Cycle& cycle) override;

  Name ClaimNameOf(const Pod& pod, const PodClaim& entry) const override;
  Hint AfterChange(const Pod& pod, const WatchEvent& event) const override;
  bool HelpsAll(const WatchEvent& event) const override;

  void Save(PlaneWriter& archive) const override;
  void Load(PlaneReader& archive) override;
  void SaveCycle(const Cycle& cycle, PlaneWriter& archive) const override;
  std::unique_ptr<Cycle> LoadCycle(PlaneReader& archive) const override;

 private:
  // A step of the cycle has ended, or waits.
  static Status AfterStep(Cycle& cycle, const DynamicResources::Status& status);

  DraBehaviour behaviour_;
  uint64_t seed_;
  std::optional<DynamicResources> rules_;  // from Start on
  DynamicResources::Restriction restriction_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_CLASSIC_RULES_H_
