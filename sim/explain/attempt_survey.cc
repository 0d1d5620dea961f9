// What the filters say of each node, sorted into groups: the first half of an explanation.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "model/device_set.h"
#include "sim/explain/attempt.h"
#include "sim/record/pod_log.h"

namespace drasim {
namespace {

constexpr size_t kFoundShown = 3;

bool ToleratesNodeTaint(const PodShape& shape, const Taint& taint) {
  if (taint.effect == "PreferNoSchedule") return true;
  return std::any_of(shape.tolerations.begin(), shape.tolerations.end(),
                     [&taint](const Toleration& t) {
                       const bool effect = t.effect.empty() || t.effect == taint.effect;
                       const bool key = t.exists && t.key.empty() ? true : t.key == taint.key;
                       return effect && key && (t.exists || t.value == taint.value);
                     });
}

std::string NodeTaintText(const Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

// The first label that the pod selects by and the node does not have so; null if there is none.
const std::pair<std::string, std::string>* UnmetLabel(const PodShape& shape, const NodeSpec& node) {
  for (const auto& wanted : shape.node_selector) {
    if (std::find(node.labels.begin(), node.labels.end(), wanted) == node.labels.end()) {
      return &wanted;
    }
  }
  return nullptr;
}

std::string LabelValue(const NodeSpec& node, const std::string& key) {
  for (const auto& [name, value] : node.labels) {
    if (name == key) return value;
  }
  return "no such label";
}

std::string MigWanted(const PodShape& shape) {
  std::vector<std::string> names;
  for (const auto& [name, count] : shape.mig) names.push_back(name);
  return absl::StrJoin(names, ", ");
}

bool IsOfGpus(LackKind kind) {
  return kind == LackKind::kGpus || kind == LackKind::kGpuShare || kind == LackKind::kGpuShares ||
         kind == LackKind::kMig || kind == LackKind::kMigJoint;
}

// What MIG instances each GPU of the node has.
std::string LayoutOfNode(const ClusterState& cluster, NodeId node) {
  if (!cluster.any_mig() || cluster.mig_table(node) == nullptr) return "";
  std::vector<std::string> gpus;
  const absl::Span<const MigState> states = cluster.device_mig(node);
  for (size_t g = 0; g < states.size(); ++g) {
    const bool taken = !cluster.mig_usable(node).Contains(g);
    const std::string layout = states[g] == 0 ? (taken ? "in use as a whole" : "empty")
                                              : MigLayoutText(*cluster.mig_table(node), states[g]);
    gpus.push_back(absl::StrCat("GPU ", g, ": ", layout));
  }
  return absl::StrJoin(gpus, "; ");
}

}  // namespace

std::string GrantsText(const ClusterState& cluster, NodeId node,
                       absl::Span<const DeviceGrant> grants) {
  if (grants.empty()) return "";
  std::string text;
  AppendGrants(cluster.any_mig() ? cluster.mig_table(node) : nullptr, grants, &text);
  return absl::StrCat("GPU ", absl::StrReplaceAll(text, {{";", ","}}));
}

std::string DevicesText(const ClusterState& cluster, PodId pod, NodeId node) {
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(pod);
  const bool whole = std::all_of(grants.begin(), grants.end(), [](const DeviceGrant& grant) {
    return grant.placement == kNoPlacement && grant.milli == kDeviceMilli;
  });
  if (!whole) return GrantsText(cluster, node, grants);
  std::string text;
  for (DeviceSet rest = cluster.pod_devices(pod); !rest.empty();) {
    const size_t first = rest.First();
    size_t last = first;
    for (rest.RemoveFirst(); !rest.empty() && rest.First() == last + 1; rest.RemoveFirst()) ++last;
    absl::StrAppend(&text, text.empty() ? "GPU " : ",", first);
    if (last > first) absl::StrAppend(&text, last == first + 1 ? "," : "-", last);
  }
  return text;
}

const Shortfall* Explainer::LackOf(size_t filter, ReasonIndex local,
                                   const std::vector<Shortfall>& lacks) const {
  const absl::string_view plugin = profile_->filters()[filter].plugin->name();
  const auto is_about = [&](LackKind kind) {
    if (plugin == "NodeResourcesFit") {
      return local == 1   ? kind == LackKind::kCpu
             : local == 2 ? kind == LackKind::kMemory
             : local == 3 ? kind == LackKind::kPodSlots
                          : kind == LackKind::kExtended;
    }
    if (plugin == "GpuShareFit") {
      return local == 3 && (kind == LackKind::kGpus || kind == LackKind::kGpuShare ||
                            kind == LackKind::kGpuShares);
    }
    if (plugin == "MigFit") {
      return local == 3 && (kind == LackKind::kMig || kind == LackKind::kMigJoint);
    }
    return plugin == "GroupLimit" && kind == LackKind::kGroup;
  };
  for (const Shortfall& lack : lacks) {
    if (is_about(lack.kind)) return &lack;
  }
  return nullptr;
}

std::string Explainer::ObjectOf(size_t filter, ReasonIndex local, const PodShape& shape,
                                NodeId node) const {
  const absl::string_view plugin = profile_->filters()[filter].plugin->name();
  const NodeSpec& spec = cluster_->node_spec(node);
  if (plugin == "NodeUnschedulable") return "node";
  if (plugin == "TaintToleration") {
    for (const Taint& taint : spec.taints) {
      if (!ToleratesNodeTaint(shape, taint)) return absl::StrCat("taint ", NodeTaintText(taint));
    }
  }
  if (plugin == "NodeAffinity") {
    if (const auto* label = UnmetLabel(shape, spec)) return absl::StrCat("label ", label->first);
  }
  if (plugin == "GpuShareFit") return local == 1 ? "GPU" : "GPU model";
  if (plugin == "MigFit")
    return local == 1 ? "MIG" : absl::StrCat("MIG profile ", MigWanted(shape));
  return std::string(plugin);
}

// What the node has in place of what the pod wants.
void Explainer::AddState(const PodShape& shape, NodeId node, Group* group) const {
  const absl::string_view plugin = profile_->filters()[group->filter].plugin->name();
  const NodeSpec& spec = cluster_->node_spec(node);
  std::string found;
  std::string& state = group->rejection.state;
  const std::string& object = group->rejection.object;
  if (plugin == "NodeUnschedulable") {
    state = "cordoned";
  } else if (plugin == "TaintToleration") {
    state = "not tolerated by the pod";
  } else if (plugin == "NodeAffinity" && UnmetLabel(shape, spec) != nullptr) {
    const auto& label = *UnmetLabel(shape, spec);
    state = absl::StrCat("the pod wants ", label.second);
    found = LabelValue(spec, label.first);
  } else if (plugin == "NodeAffinity") {
    state = absl::StrCat("the pod wants ", NodeTermsText(shape.node_terms));
  } else if (object == "GPU") {
    state = "the pod wants some, these nodes have none";
  } else if (object == "GPU model") {
    state = absl::StrCat("the pod wants ", shape.gpu_spec);
    found = spec.gpu_model;
  } else if (plugin == "MigFit") {
    state = absl::StrCat("the pod wants ", MigWanted(shape));
    found = spec.gpu_count == 0 ? "no GPU" : spec.gpu_model;
  } else {
    state = group->rejection.reason;
  }
  std::vector<std::string>& all = group->found;
  if (found.empty() || all.size() > kFoundShown) return;
  if (std::find(all.begin(), all.end(), found) == all.end()) all.push_back(std::move(found));
}

Explainer::Group* Explainer::FindGroup(size_t filter, const std::string& reason,
                                       const std::string& object, Survey* survey) const {
  for (Group& group : survey->groups) {
    if (group.filter == filter && group.rejection.reason == reason &&
        group.rejection.object == object) {
      return &group;
    }
  }
  Group& group = survey->groups.emplace_back();
  group.filter = filter;
  group.rejection.plugin = std::string(profile_->filters()[filter].plugin->name());
  group.rejection.reason = reason;
  group.rejection.object = object;
  return &group;
}

void Explainer::AddNode(PodId pod, size_t filter, ReasonIndex local, NodeId node,
                        Survey* survey) const {
  const ShapeId shape = cluster_->pod_shape_id(pod);
  const std::string& reason =
      profile_->reasons()[profile_->filters()[filter].reason_base + size_t{local} - 1];
  NodeRoom room(*cluster_, node, shape);
  const std::vector<Shortfall> lacks = room.Lacks();
  const Shortfall* const lack = LackOf(filter, local, lacks);
  if (lack == nullptr) {
    const PodShape& row = cluster_->pod_shape(pod);
    Group* const group = FindGroup(filter, reason, ObjectOf(filter, local, row, node), survey);
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
    if (&other == lack) continue;
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

Explainer::Survey Explainer::Look(PodId pod, SimTime now) const {
  Survey survey;
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    if (cluster_->node(NodeId(n)).available) survey.fitting.push_back(NodeId(n));
  }
  survey.available = static_cast<uint32_t>(survey.fitting.size());
  const PodContext context = {cluster_->pod_shape_id(pod), &cluster_->pod_shape(pod), pod, now};
  const std::vector<Profile::FilterEntry>& filters = profile_->filters();
  std::vector<ReasonIndex> verdicts;
  for (size_t f = 0; f < filters.size(); ++f) {
    verdicts.assign(survey.fitting.size(), kFits);
    filters[f].plugin->Filter(context, *cluster_, survey.fitting, absl::MakeSpan(verdicts));
    std::vector<NodeId> left;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i] == kFits) {
        left.push_back(survey.fitting[i]);
      } else {
        AddNode(pod, f, verdicts[i], survey.fitting[i], &survey);
      }
    }
    survey.fitting = std::move(left);
  }
  return survey;
}

void Explainer::Finish(PodId pod, SimTime now, bool brief, Group* group) const {
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

void Explainer::AddNear(PodId pod, SimTime now, Group* group) const {
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

NearNode Explainer::Near(PodId pod, NodeId node, const Shortfall& lack, SimTime now) const {
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
