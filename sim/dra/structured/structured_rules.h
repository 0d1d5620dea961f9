// StructuredRules: DynamicResources for structured DRA (policies/dra) as the scheduler's rules,
// with the objects that the scheduler's informers deliver. The calls of a step go through the
// scheduler's client, in virtual time; waits for binding conditions are timers of it.
//
// Filter is a restriction of all nodes: those that are known to be as they were keep their verdict
// (StructuredResources::FilterAll), and the devices are chosen on the node that is reserved.
// Otherwise every node of the cluster that is there is searched once in an attempt. An error that
// ends the attempt rejects them all.
#ifndef DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_RULES_H_
#define DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_RULES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/proto/kube.pb.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/search_counts.h"
#include "policies/dra/claiming_pod.h"
#include "policies/dra/device_search.h"
#include "policies/dra/extended_resources.h"
#include "policies/dra/in_flight_claims.h"
#include "policies/dra/slice_inventory.h"
#include "policies/dra/structured_cycle.h"
#include "policies/dra/structured_resources.h"
#include "policies/dra/structured_writes.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/dra_rules.h"
#include "sim/dra/structured/structured_cache.h"

namespace drasim {

struct StructuredRulesOptions {
  AllocatorOptions allocator;
  StructuredOptions plugin;
  bool taint_rules = true;  // DeviceTaintRules count
  bool scores = false;      // some claim has a prioritized list
  // Weight of the scores of the allocator's policy; no effect without one.
  int64_t policy_weight = kUsualPolicyWeight;

  static constexpr int64_t kUsualPolicyWeight = 2;
  int64_t lists_weight() const;
  int64_t choice_weight() const { return allocator.policy == nullptr ? 0 : policy_weight; }
  // Nodes are judged all at once where that gives the same answers; false is for tests.
  bool filters_at_once = true;
};

// The state that the rules decide by, for explanations. Valid until the rules change.
struct StructuredMoment {
  const AllocatorOptions& allocator;
  absl::Span<const std::shared_ptr<const proto::kube::ResourceSlice>> slices;  // with all taints
  absl::Span<const std::shared_ptr<const proto::kube::DeviceClass>> classes;
  const ClaimCache& claims;
  const ResourceClasses& resources;
  const InFlightClaims& in_flight;
  absl::Span<const proto::kube::Node> nodes;  // by NodeId
};

// Behaviour of the parts that both kinds of DRA share: the last one, without upstream's quirks of
// classic DRA.
DraBehaviour StructuredBehaviour();

class StructuredRules : public DraRules, private ServedResources {
 public:
  // The cluster has all its nodes, and outlives the rules, which keep its inventory.
  StructuredRules(const StructuredRulesOptions& options, ClusterState* cluster);
  ~StructuredRules() override;

  std::optional<SearchWork> search_work() const override;
  void Start(ApiClient* client) override;
  uint32_t watches() const override;
  Traits traits() const override;
  std::vector<Reason> Reasons() const override;
  ReasonIndex CallFailed() const override;
  std::optional<PolicyCounts> policy_counts() const override;

  Status PreEnqueue(const Pod& pod) const override;
  std::unique_ptr<Cycle> PreFilter(const Ref<Pod>& pod, uint64_t token, Status* status) override;
  NodeRestriction Restriction(Cycle& cycle) override;
  ReasonIndex WhyRejected(Cycle& cycle, NodeId node) override;
  void PreScore(Cycle&, absl::Span<const NodeId>) override {}
  void Score(const Cycle& cycle, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) const override;
  void NormalizeScore(absl::Span<int64_t> scores) const override;
  Status PostFilter(Cycle& cycle) override;
  bool HasCleared(const Cycle& cycle) const override;
  Status Reserve(Cycle& cycle, NodeId node) override;
  Status Unreserve(Cycle& cycle, NodeId node) override;
  Status PreBind(Cycle& cycle, NodeId node) override;
  Status PostBind(Cycle&) override { return Status(); }
  Status Resume(Cycle& cycle, const ApiReply* reply) override;
  void Abort(Cycle& cycle) override;
  void Forget(Cycle& cycle) override;

  Name ClaimNameOf(const Pod& pod, const PodClaim& entry) const override;
  void OnWatch(const WatchEvent& event) override;
  void OnRestart() override;
  Hint AfterChange(const Pod& pod, const WatchEvent& event) const override;
  bool HelpsAll(const WatchEvent& event) const override;

  StructuredMoment Moment() const;

  void Save(PlaneWriter& archive) const override;
  void Load(PlaneReader& archive) override;
  void SaveCycle(const Cycle& cycle, PlaneWriter& archive) const override;
  std::unique_ptr<Cycle> LoadCycle(PlaneReader& archive) const override;

 private:
  // ServedResources
  ServedDevices DevicesOn(NodeId node, size_t column) const override;

  class NotedSearch;
  struct State;
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);
  enum class Why : ReasonIndex;

  static State& AsState(Cycle& cycle);
  const std::string& NameOf(NodeId node) const { return nodes_[node.value()].metadata().name(); }
  int64_t NowNs() const;
  void TakeClass(const DeviceClassObject& device_class);
  // The rule has changed; null: it was not there, or is gone. Puts the slices that it concerns
  // anew, with the taints that they have now. True if there are any. O(slices), rules being few.
  bool TakeRule(const DeviceTaintRuleObject* before, const DeviceTaintRuleObject* after);
  // Tells the cluster which extended resources claims serve.
  void ServeResources();
  std::optional<int64_t> AmountOn(absl::string_view node, const std::string& resource) const;
  // Fills the inventory and the cache from the client's cache.
  void Fill();
  // The step's calls and waits, until one takes time or the step ends.
  Status Run(State& state, ClaimProgress progress);
  ApiRequest RequestOf(const State& state, const ClaimCall& call) const;
  static ClaimReply ReplyOf(const ApiReply& reply);
  Why WhyNot(const ClaimStatus& status, bool unavailable) const;
  // Valid until the next call.
  const ClaimingPod& ClaimingOf(const Pod& pod) const;

  StructuredRulesOptions options_;
  ClusterState* cluster_;
  DraBehaviour behaviour_ = StructuredBehaviour();
  std::vector<proto::kube::Node> nodes_;  // by NodeId
  ApiClient* client_ = nullptr;
  StructuredCache cache_;
  ResourceClasses classes_;
  InFlightClaims in_flight_;
  SearchCounts counts_;
  mutable SliceInventory inventory_;
  std::set<std::string> slices_;                   // of the inventory, by name
  std::set<std::string> known_classes_;            // likewise
  std::set<std::string> known_rules_;              // likewise
  bool retainted_ = false;                         // the latest event changed taints of slices
  SearchOutcome outcome_ = SearchOutcome::kFound;  // of the latest search
  StructuredResources plugin_;
  StructuredWrites writes_;
  uint32_t life_ = 0;  // counts restarts
  // The latest answer of ClaimingOf: one event asks for the same pod several times.
  mutable ClaimingPod latest_pod_;
  mutable Uid latest_uid_ = 0;
  mutable ResourceVersion latest_version_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_RULES_H_
