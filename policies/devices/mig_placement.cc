#include "policies/devices/mig_placement.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/check.h"
#include "model/device_set.h"

namespace drasim {
namespace {

// "MigFirstFit" of "mig-first-fit".
std::string PluginName(const MigRuleInfo& info) {
  std::string name;
  for (absl::string_view word : absl::StrSplit(info.name, '-')) {
    name.push_back(absl::ascii_toupper(static_cast<unsigned char>(word[0])));
    absl::StrAppend(&name, word.substr(1));
  }
  return name;
}

// For the rules that place less than geometry allows (nos, mig-parted, ParvaGPU).
class RestrictiveMigPlacement : public MigPlacementPolicy, public FilterPlugin {
 public:
  using MigPlacementPolicy::MigPlacementPolicy;
  std::vector<Reason> reasons() const override {
    return {
        {ReasonKind::kPlacementRule, "node(s) had no MIG layout that the placement rule allows"}};
  }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override {
    if (pod.shape->request.mig.empty()) return;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == kFits && !Allows(pod, cluster, nodes[i])) verdicts[i] = 1;
    }
  }
};

class RoundRobinMigPlacement : public MigPlacementPolicy, public ReservePlugin {
 public:
  using MigPlacementPolicy::MigPlacementPolicy;
  StepResult Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override {
    Remember(pod, cluster, node);
    return {};
  }
  // The search goes on behind the GPU even if the pod does not start there.
  void Unreserve(const PodContext&, const ClusterState&, NodeId) override {}
};

}  // namespace

std::unique_ptr<MigPlacementPolicy> MigPlacementPolicy::Make(
    const MigRuleInfo& info, std::vector<std::pair<std::string, int64_t>> mix) {
  switch (info.rule) {
    case MigRule::kNos:
    case MigRule::kMigParted:
    case MigRule::kParvaGpu:
      return std::make_unique<RestrictiveMigPlacement>(info, std::move(mix));
    case MigRule::kRoundRobin:
      return std::make_unique<RoundRobinMigPlacement>(info, std::move(mix));
    default:
      return std::make_unique<MigPlacementPolicy>(info, std::move(mix));
  }
}

MigPlacementPolicy::MigPlacementPolicy(const MigRuleInfo& info,
                                       std::vector<std::pair<std::string, int64_t>> mix)
    : info_(info), plugin_name_(PluginName(info)), mix_(std::move(mix)) {}

const MigRuleTable& MigPlacementPolicy::TableOf(const MigTable* table) const {
  for (const auto& [known, made] : tables_) {
    if (known == table) return *made;
  }
  std::vector<int64_t> weights;
  if (info_.weighted) {
    weights.assign(table->profiles().size(), 0);
    for (const auto& [name, share] : mix_) {
      const int profile = table->FindProfile(name);
      if (profile >= 0) weights[static_cast<size_t>(profile)] = share;
    }
  }
  tables_.emplace_back(table, std::make_unique<MigRuleTable>(table, info_.rule, weights));
  return *tables_.back().second;
}

bool MigPlacementPolicy::Allows(const PodContext& pod, const ClusterState& cluster,
                                NodeId node) const {
  if (cluster.node(node).is_mixed()) {
    const ModelChoice choice = ChooseModel(pod, cluster, node);
    return !choice.considered || !choice.grants.empty();
  }
  const MigTable* const table = cluster.mig_table(node);
  const absl::Span<const uint8_t> profiles =
      cluster.mig_profiles(pod.shape_id, cluster.node(node).model);
  if (table == nullptr || profiles.empty()) return true;
  DeviceGrants grants;
  return TableOf(table).OnNodeAll(cluster.device_mig(node), cluster.mig_usable(node), profiles, -1,
                                  &grants);
}

// The model whose GPU for the first instance costs least, among those with room for all; equal
// costs go to the GPU that the rule looks at first.
MigPlacementPolicy::ModelChoice MigPlacementPolicy::ChooseModel(const PodContext& pod,
                                                                const ClusterState& cluster,
                                                                NodeId node) const {
  ModelChoice best;
  if (!cluster.any_mig()) return best;
  const int32_t after = After(node);
  int32_t best_turn = 0;
  VisitMigModels(cluster, node, pod.shape_id, [&](uint8_t model, DeviceSet usable) {
    best.considered = true;
    const MigRuleTable& rules = TableOf(cluster.models().mig(ModelId(uint32_t{model})));
    const absl::Span<const uint8_t> profiles = cluster.mig_profiles(pod.shape_id, model);
    const absl::Span<const MigState> gpus = cluster.device_mig(node);
    DeviceGrants grants;
    if (!rules.OnNodeAll(gpus, usable, profiles, after, &grants)) return false;
    const MigRuleTable::NodeChoice first = rules.OnNode(gpus, usable, profiles[0], after);
    const int32_t turn = (grants[0].device - after - 1 + kMaxDevicesPerNode) % kMaxDevicesPerNode;
    const bool better = best.grants.empty() || first.cost < best.cost ||
                        (first.cost == best.cost && turn < best_turn);
    if (!better) return false;
    best.cost = first.cost;
    best.grants = std::move(grants);
    best_turn = turn;
    return false;
  });
  return best;
}

int64_t MigPlacementPolicy::MixedScore(const PodContext& pod, const ClusterState& cluster,
                                       NodeId node) const {
  if (info_.rule != MigRule::kInstaSlice) {
    const ModelChoice choice = ChooseModel(pod, cluster, node);
    return choice.considered ? -int64_t{choice.cost} : 0;
  }
  int64_t free = 0;
  int64_t units = 0;
  for (const GpuModelGroup& group : cluster.GroupsOfModels(node)) {
    const MigTable* const table = cluster.models().mig(ModelId(uint32_t{group.model}));
    if (table == nullptr) continue;
    for (const size_t gpu : group.gpus) free += table->free_units(cluster.device_mig(node)[gpu]);
    units += int64_t{table->product().units} * group.gpus.size();
  }
  return units == 0 ? 0 : 100 * free / units;
}

int64_t MigPlacementPolicy::ScoreOf(const PodContext& pod, const ClusterState& cluster,
                                    NodeId node) const {
  if (cluster.node(node).is_mixed()) return MixedScore(pod, cluster, node);
  const absl::Span<const uint8_t> profiles =
      cluster.mig_profiles(pod.shape_id, cluster.node(node).model);
  const MigRuleTable& rules = TableOf(cluster.mig_table(node));
  if (info_.rule == MigRule::kInstaSlice) return rules.NodeScore(cluster.device_mig(node));
  if (profiles.empty()) return 0;
  // The first of several instances decides between nodes.
  const MigRuleTable::NodeChoice choice =
      rules.OnNode(cluster.device_mig(node), cluster.mig_usable(node), profiles[0], After(node));
  return choice.gpu < 0 ? -int64_t{MigRuleTable::kImpossible} : -int64_t{choice.cost};
}

void MigPlacementPolicy::Score(const PodContext& pod, const ClusterState& cluster,
                               absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  if (pod.shape->request.mig.empty()) {
    std::fill(scores.begin(), scores.end(), 0);
    return;
  }
  if (info_.rule != MigRule::kRoundRobin) {
    for (size_t i = 0; i < nodes.size(); ++i) scores[i] = ScoreOf(pod, cluster, nodes[i]);
    return;
  }
  // The search continues after the last GPU used: the rest of its node, the nodes after it, the
  // nodes before it, and finally the earlier GPUs of its own node.
  const auto count = static_cast<int64_t>(cluster.node_count());
  const int64_t last = last_node_.valid() ? int64_t{last_node_.value()} : count - 1;
  for (size_t i = 0; i < nodes.size(); ++i) {
    int64_t distance = (int64_t{nodes[i].value()} - last + count) % count;
    if (distance == 0 && !FitsBehindLast(pod, cluster)) distance = count;
    scores[i] = count - distance;
  }
}

// True when a GPU of the last node, after the last GPU used, takes the pod's first instance.
bool MigPlacementPolicy::FitsBehindLast(const PodContext& pod, const ClusterState& cluster) const {
  if (!last_node_.valid() || last_node_.value() >= cluster.node_count()) return false;
  const DeviceSet passed = DeviceSet::FirstN(static_cast<size_t>(last_gpu_) + 1);
  if (cluster.node(last_node_).is_mixed()) {
    return cluster.any_mig() &&
           VisitMigModels(cluster, last_node_, pod.shape_id, [&](uint8_t model, DeviceSet usable) {
             return TableOf(cluster.models().mig(ModelId(uint32_t{model})))
                        .OnNode(cluster.device_mig(last_node_), usable - passed,
                                cluster.mig_profiles(pod.shape_id, model)[0])
                        .gpu >= 0;
           });
  }
  const MigTable* const table = cluster.mig_table(last_node_);
  const absl::Span<const uint8_t> profiles =
      cluster.mig_profiles(pod.shape_id, cluster.node(last_node_).model);
  if (table == nullptr || profiles.empty()) return false;
  return TableOf(table)
             .OnNode(cluster.device_mig(last_node_), cluster.mig_usable(last_node_) - passed,
                     profiles[0])
             .gpu >= 0;
}

void MigPlacementPolicy::Remember(const PodContext& pod, const ClusterState& cluster, NodeId node) {
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(pod.pod);
  if (grants.empty()) return;
  last_node_ = node;
  last_gpu_ = grants.back().device;
}

void MigPlacementPolicy::Propose(const ResourceRequest& request, const ClusterState& cluster,
                                 NodeId node, DeviceProposals* out) {
  out->clear();
  out->push_back({FirstFittingDevices(request, cluster.device_milli_idle(node),
                                      cluster.UsableGpus(node, request.model_mask)),
                  0});
}

DeviceGrants MigPlacementPolicy::ProposeMig(const PodContext& pod, const ClusterState& cluster,
                                            NodeId node) {
  if (cluster.node(node).is_mixed()) {
    DeviceGrants chosen = ChooseModel(pod, cluster, node).grants;
    DRASIM_CHECK(!chosen.empty());
    return chosen;
  }
  const MigTable* const table = cluster.mig_table(node);
  const MigRuleTable& rules = TableOf(table);
  const absl::Span<const uint8_t> profiles =
      cluster.mig_profiles(pod.shape_id, cluster.node(node).model);
  DeviceGrants grants;
  if (profiles.size() == 1) {
    const MigRuleTable::NodeChoice choice =
        rules.OnNode(cluster.device_mig(node), cluster.mig_usable(node), profiles[0], After(node));
    DRASIM_CHECK(choice.gpu >= 0);
    grants.push_back(InstanceGrant(*table, static_cast<size_t>(choice.gpu), choice.placement));
    return grants;
  }
  DRASIM_CHECK(rules.OnNodeAll(cluster.device_mig(node), cluster.mig_usable(node), profiles,
                               After(node), &grants));
  return grants;
}

void MigPlacementPolicy::Save(StateWriter& out) const {
  out.U64(last_node_.valid() ? last_node_.value() + uint64_t{1} : 0);
  out.I64(last_gpu_);
}

absl::Status MigPlacementPolicy::Load(StateReader& in) {
  const uint64_t node = in.U64();
  last_node_ = node > 0 ? NodeId(static_cast<size_t>(node - 1)) : NodeId();
  const int64_t gpu = in.I64();
  if (gpu < -1 || gpu >= kMaxDevicesPerNode) in.Fail("round robin stands at an impossible GPU");
  last_gpu_ = static_cast<int32_t>(gpu);
  return in.status();
}

void RegisterMigPlacement(Registry& registry) {
  for (const MigRuleInfo& info : MigRuleInfos()) {
    const std::string plugin = PluginName(info);
    registry.AddPlugin(plugin, [info](const PolicyContext& context) {
      return MigPlacementPolicy::Make(info, context.mig_mix);
    });
    registry.AddPolicy(
        PolicyEntry{info.name, info.description, {{plugin, 1}}, "", PolicyEntry::Kind::kMig});
  }
}

}  // namespace drasim
