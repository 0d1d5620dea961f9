#include "sim/explain/node_survey.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "model/mig_layout.h"
#include "model/pod_constraints.h"
#include "sim/explain/device_text.h"

namespace drasim {
namespace {

constexpr size_t kFoundShown = 3;

std::string NodeTaintText(const Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

std::string LabelValue(const NodeSpec& node, const std::string& key) {
  for (const auto& [name, value] : node.labels) {
    if (name == key) return value;
  }
  return "no such label";
}

std::string MigWanted(const ResourceRequest& request) {
  std::vector<std::string> names;
  for (const auto& [name, count] : request.mig) names.push_back(name);
  return absl::StrJoin(names, ", ");
}

bool IsOfGpus(LackKind kind) {
  return kind == LackKind::kGpus || kind == LackKind::kGpuShare || kind == LackKind::kGpuShares ||
         kind == LackKind::kMig || kind == LackKind::kMigJoint;
}

// Whether a reason of that kind is about that kind of shortfall.
bool IsAboutLack(ReasonKind kind, LackKind lack) {
  switch (kind) {
    case ReasonKind::kCpu:
      return lack == LackKind::kCpu;
    case ReasonKind::kMemory:
      return lack == LackKind::kMemory;
    case ReasonKind::kPodSlots:
      return lack == LackKind::kPodSlots;
    case ReasonKind::kExtendedResource:
      return lack == LackKind::kExtended;
    case ReasonKind::kGpu:
      return lack == LackKind::kGpus || lack == LackKind::kGpuShare || lack == LackKind::kGpuShares;
    case ReasonKind::kMigSlots:
      return lack == LackKind::kMig || lack == LackKind::kMigJoint;
    case ReasonKind::kGroupLimit:
      return lack == LackKind::kGroup;
    default:
      return false;
  }
}

// The MIG instances of each GPU of the node.
std::string LayoutOfNode(const ClusterState& cluster, NodeId node) {
  if (!cluster.any_mig() || !cluster.has_mig(node)) return "";
  std::vector<std::string> gpus;
  const absl::Span<const MigState> states = cluster.device_mig(node);
  for (size_t g = 0; g < states.size(); ++g) {
    const MigTable* const table = cluster.mig_table(node, g);
    const bool taken = !cluster.mig_usable(node).Contains(g);
    const std::string layout = table == nullptr ? "no MIG"
                               : states[g] != 0 ? MigLayoutText(*table, states[g])
                               : taken          ? "in use as a whole"
                                                : "empty";
    gpus.push_back(absl::StrCat("GPU ", g, ": ", layout));
  }
  return absl::StrJoin(gpus, "; ");
}

}  // namespace

bool Rejection::complete() const {
  if (object.empty()) return false;
  return kind == Kind::kState ? !state.empty() : least_missing > 0;
}

std::string Rejection::key() const {
  return absl::StrCat(plugin, "|", int{reason_index}, " ", reason, "|", object, "|",
                      static_cast<int>(kind), "|", state);
}

NodeSurveyor::NodeSurveyor(const ClusterState* cluster, const JobTable* jobs, Profiles profiles)
    : cluster_(cluster), jobs_(jobs), profiles_(std::move(profiles)) {}

size_t NodeSurveyor::ProfileOf(PodId pod) const {
  return profiles_.IndexOf(cluster_->pod_shape_id(pod)).value_or(0);
}

ReasonKind NodeSurveyor::KindOf(ReasonIndex reason) const {
  const std::vector<ReasonKind>& kinds = profiles_.reason_kinds();
  return reason == kFits || reason > kinds.size() ? ReasonKind::kOther : kinds[reason - size_t{1}];
}

std::string NodeSurveyor::ObjectOf(const Profile::FilterEntry& filter, ReasonKind kind,
                                   const PodShape& shape, NodeId node) const {
  const NodeSpec& spec = cluster_->node_spec(node);
  switch (kind) {
    case ReasonKind::kCordoned:
      return "node";
    case ReasonKind::kUntoleratedTaint:
      for (const Taint& taint : spec.taints) {
        if (taint.effect != "PreferNoSchedule" &&
            !Tolerates(shape.constraints.tolerations, taint)) {
          return absl::StrCat("taint ", NodeTaintText(taint));
        }
      }
      break;
    case ReasonKind::kNodeAffinity:
      if (const auto* label = UnmetLabel(shape.constraints.node_selector, spec))
        return absl::StrCat("label ", label->first);
      break;
    case ReasonKind::kNoGpu:
      return "GPU";
    case ReasonKind::kGpuModel:
    case ReasonKind::kGpu:
      return "GPU model";
    case ReasonKind::kNoMig:
      return "MIG";
    case ReasonKind::kMigProfile:
    case ReasonKind::kMigSlots:
      return absl::StrCat("MIG profile ", MigWanted(shape.request));
    default:
      break;
  }
  return std::string(filter.plugin->name());
}

// Adds the value that the node has in place of the wanted one.
void NodeSurveyor::AddState(const PodShape& shape, NodeId node, Group* group) const {
  const NodeSpec& spec = cluster_->node_spec(node);
  std::string found;
  std::string& state = group->rejection.state;
  switch (KindOf(group->rejection.reason_index)) {
    case ReasonKind::kCordoned:
      state = "cordoned";
      break;
    case ReasonKind::kUntoleratedTaint:
      state = "not tolerated by the pod";
      break;
    case ReasonKind::kNodeAffinity:
      if (const auto* label = UnmetLabel(shape.constraints.node_selector, spec)) {
        state = absl::StrCat("the pod wants ", label->second);
        found = LabelValue(spec, label->first);
      } else {
        state = absl::StrCat("the pod wants ", NodeTermsText(shape.constraints.node_terms));
      }
      break;
    case ReasonKind::kNoGpu:
      state = "the pod wants some, these nodes have none";
      break;
    case ReasonKind::kGpuModel:
    case ReasonKind::kGpu:
      state = absl::StrCat("the pod wants ", shape.request.gpu_spec);
      found = GpuModelText(spec);
      break;
    case ReasonKind::kNoMig:
    case ReasonKind::kMigProfile:
    case ReasonKind::kMigSlots:
      state = absl::StrCat("the pod wants ", MigWanted(shape.request));
      found = spec.gpu_count == 0 ? "no GPU" : GpuModelText(spec);
      break;
    default:
      state = group->rejection.reason;
      break;
  }
  std::vector<std::string>& all = group->found;
  if (found.empty() || all.size() > kFoundShown) return;
  if (std::find(all.begin(), all.end(), found) == all.end()) all.push_back(std::move(found));
}

NodeSurveyor::Group* NodeSurveyor::FindGroup(const Profile::FilterEntry& filter, ReasonIndex reason,
                                             const std::string& object, Survey* survey) const {
  for (Group& group : survey->groups) {
    if (group.rejection.reason_index == reason && group.rejection.object == object) return &group;
  }
  Group& group = survey->groups.emplace_back();
  group.rejection.plugin = std::string(filter.plugin->name());
  group.rejection.reason = profiles_.reasons()[reason - size_t{1}];
  group.rejection.reason_index = reason;
  group.rejection.object = object;
  return &group;
}

void NodeSurveyor::AddNode(PodId pod, const Profile::FilterEntry& filter, ReasonIndex reason,
                           NodeId node, Survey* survey) const {
  const ShapeId shape = cluster_->pod_shape_id(pod);
  const ReasonKind kind = KindOf(reason);
  NodeRoom room(*cluster_, node, shape);
  const std::vector<Shortfall> lacks = room.Lacks();
  const auto lack = std::find_if(lacks.begin(), lacks.end(), [kind](const Shortfall& shortfall) {
    return IsAboutLack(kind, shortfall.kind);
  });
  if (lack == lacks.end()) {
    const PodShape& row = cluster_->pod_shape(pod);
    Group* const group = FindGroup(filter, reason, ObjectOf(filter, kind, row, node), survey);
    AddState(row, node, group);
    group->members.emplace_back(0, node);
    return;
  }
  Group* const group = FindGroup(filter, reason, lack->name, survey);
  Rejection& r = group->rejection;
  r.kind = Rejection::Kind::kAmount;
  r.lack = lack->kind;
  r.wanted = lack->wanted;
  r.least_missing =
      group->members.empty() ? lack->missing() : std::min(r.least_missing, lack->missing());
  r.most_missing = std::max(r.most_missing, lack->missing());
  r.idle_on_one = std::max(r.idle_on_one, lack->idle);
  r.idle_all += std::max<int64_t>(lack->idle_all, 0);
  r.fragmented |= lack->in_pieces;
  for (const Shortfall& other : lacks) {
    if (&other == &*lack) continue;
    const auto known = std::find_if(r.also.begin(), r.also.end(),
                                    [&](const auto& entry) { return entry.first == other.name; });
    if (known == r.also.end()) {
      r.also.emplace_back(other.name, 1);
    } else {
      ++known->second;
    }
  }
  room.Clear();
  const bool too_small = !room.Lacks().empty();
  r.too_small_nodes += too_small ? 1 : 0;
  group->members.emplace_back(lack->missing() + (too_small ? kOutOfReach : 0), node);
}

NodeSurveyor::Survey NodeSurveyor::Look(PodId pod, SimTime now) const {
  Survey survey;
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    if (cluster_->node(NodeId(n)).available) survey.fitting.push_back(NodeId(n));
  }
  survey.available = static_cast<uint32_t>(survey.fitting.size());
  const PodContext context = {cluster_->pod_shape_id(pod), &cluster_->pod_shape(pod), pod, now};
  std::vector<ReasonIndex> verdicts;
  const size_t profile = ProfileOf(pod);
  const auto common = [&](const Profile::FilterEntry& filter, ReasonIndex local) {
    return profiles_.CommonReason(profile, static_cast<ReasonIndex>(filter.reason_base + local));
  };
  for (const Profile::FilterEntry& filter : profiles_.at(profile).filters()) {
    // Reasons of other kinds come from the counts of the attempt (AddSteps).
    if (filter.reason_count == 0 || !IsFilterKind(KindOf(common(filter, 1)))) continue;
    // Such a verdict is known within its attempt only.
    if (filter.plugin->filter_reach() != Reach::kNode) continue;
    verdicts.assign(survey.fitting.size(), kFits);
    filter.plugin->Filter(context, *cluster_, survey.fitting, absl::MakeSpan(verdicts));
    std::vector<NodeId> left;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i] == kFits) {
        left.push_back(survey.fitting[i]);
      } else {
        AddNode(pod, filter, common(filter, verdicts[i]), survey.fitting[i], &survey);
      }
    }
    survey.fitting = std::move(left);
  }
  return survey;
}

void NodeSurveyor::Finish(PodId pod, SimTime now, bool brief, Group* group) const {
  Rejection& r = group->rejection;
  r.nodes = static_cast<uint32_t>(group->members.size());
  std::sort(group->members.begin(), group->members.end());
  for (size_t i = 0; i < group->members.size() && i < kExamplesShown; ++i) {
    r.examples.push_back(cluster_->node_spec(group->members[i].second).name);
  }
  if (!group->found.empty()) {
    const bool more = group->found.size() > kFoundShown;
    if (more) group->found.pop_back();
    absl::StrAppend(&r.state, ", these nodes have ", absl::StrJoin(group->found, ", "),
                    more ? " and others" : "");
  }
  if (r.kind != Rejection::Kind::kAmount) return;
  const bool in_sum = r.lack != LackKind::kPodSlots && r.lack != LackKind::kGroup;
  r.fragmented |= in_sum && r.idle_all >= r.wanted;
  if (!brief) AddNear(pod, now, group);
}

void NodeSurveyor::AddNear(PodId pod, SimTime now, Group* group) const {
  const ShapeId shape = cluster_->pod_shape_id(pod);
  for (const auto& [distance, node] : group->members) {
    if (distance >= kOutOfReach || group->rejection.near.size() == kNearShown) break;
    for (const Shortfall& lack : NodeRoom(*cluster_, node, shape).Lacks()) {
      if (lack.kind != group->rejection.lack || lack.name != group->rejection.object) continue;
      group->rejection.near.push_back(Near(pod, node, lack, now));
      break;
    }
  }
}

NearNode NodeSurveyor::Near(PodId pod, NodeId node, const Shortfall& lack, SimTime now) const {
  NearNode near;
  near.node = cluster_->node_spec(node).name;
  near.lack = lack;
  std::vector<std::pair<int64_t, PodId>> holders;
  for (const PodId resident : cluster_->pods_on(node)) {
    const int64_t amount = HeldOf(*cluster_, resident, lack);
    if (amount > 0) holders.emplace_back(-amount, resident);
  }
  std::sort(holders.begin(), holders.end());
  for (const auto& [amount, resident] : holders) {
    if (near.holders.size() == kHoldersShown) break;
    const JobId job = jobs_->job_of(resident);
    Holder holder;
    holder.pod = std::string(cluster_->pod_name(resident));
    holder.amount = -amount;
    if (IsOfGpus(lack.kind)) holder.devices = DevicesText(*cluster_, resident, node);
    holder.ends = ExpectedEnd(*jobs_, job, now);
    holder.state = JobStateName(jobs_->row(job).state);
    near.holders.push_back(std::move(holder));
  }
  near.more_holders = holders.size() - near.holders.size();
  if (lack.kind == LackKind::kMig || lack.kind == LackKind::kMigJoint) {
    near.layout = LayoutOfNode(*cluster_, node);
  }
  const auto forecast = ForecastRoom(*cluster_, *jobs_, node, cluster_->pod_shape_id(pod), now);
  if (!forecast.has_value()) return near;
  near.room_at = forecast->at;
  for (const PodId gone : forecast->after) {
    near.room_after.emplace_back(cluster_->pod_name(gone));
  }
  return near;
}

}  // namespace drasim
