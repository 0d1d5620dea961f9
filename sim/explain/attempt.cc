#include "sim/explain/attempt.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/dra/classic/claim_explainer.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/explain/device_text.h"
#include "sim/explain/node_room.h"
#include "sim/explain/structured_claims.h"

namespace drasim {
namespace {

// As kube-scheduler writes it.
std::string SummaryOf(uint32_t nodes, const std::vector<Rejection>& rejections) {
  std::map<std::string, uint32_t> counts;
  for (const Rejection& r : rejections) counts[r.reason] += r.nodes;
  std::vector<std::string> phrases;
  for (const auto& [reason, count] : counts) phrases.push_back(absl::StrCat(count, " ", reason));
  std::sort(phrases.begin(), phrases.end());
  return absl::StrCat("0/", nodes, " nodes are available", phrases.empty() ? "" : ": ",
                      absl::StrJoin(phrases, ", "), ".");
}

// Nodes whose devices are told of, and claims on each of them.
constexpr size_t kClaimNodesShown = 3;
constexpr size_t kClaimsShown = 4;

// "driver gpu.example.com on node-1: claim default/a-gpu (GPU 0; default/a) and 2 more"
std::string ClaimHoldersText(const ClusterState& cluster, const NodeHolders& holders) {
  std::vector<std::string> claims;
  for (const NodeHolders::Claim& claim : holders.claims) {
    if (claims.size() == kClaimsShown) break;
    const std::string devices =
        holders.node.valid() ? GrantsText(cluster, holders.node, claim.grants) : "";
    claims.push_back(absl::StrCat("claim ", claim.name, " (", devices, devices.empty() ? "" : ", ",
                                  claim.consumers.empty()
                                      ? "reserved for nobody"
                                      : absl::StrCat("reserved for ", claim.consumers),
                                  ")"));
  }
  const size_t more = holders.claims.size() - claims.size();
  return absl::StrCat(
      "driver ", holders.driver, " ",
      holders.node.valid() ? absl::StrCat("on ", cluster.node_spec(holders.node).name)
                           : std::string("by network"),
      ": ", absl::StrJoin(claims, "; "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

}  // namespace

bool AttemptExplanation::complete() const {
  if (devices.has_value() && devices->nodes.empty()) return false;
  return !rejections.empty() && std::all_of(rejections.begin(), rejections.end(),
                                            [](const Rejection& r) { return r.complete(); });
}

std::string AttemptExplanation::key() const {
  std::vector<std::string> keys;
  for (const Rejection& r : rejections) keys.push_back(r.key());
  // The order follows the numbers of nodes, which is no reason to tell two attempts apart.
  std::sort(keys.begin(), keys.end());
  // So do the numbers of devices.
  if (devices.has_value()) {
    for (const NodeStory& group : devices->nodes) keys.push_back(group.key);
  }
  return absl::StrCat(by_step ? "step " : "", absl::StrJoin(keys, "\n"), "\n",
                      absl::StrJoin(claims, "\n"));
}

AttemptExplainer::AttemptExplainer(const ClusterState* cluster, const JobTable* jobs,
                                   const VerdictSummaryTable* summaries, Profiles profiles,
                                   ClaimHooks hooks)
    : cluster_(cluster),
      jobs_(jobs),
      summaries_(summaries),
      surveyor_(cluster, jobs, std::move(profiles)),
      hooks_(std::move(hooks)) {}

const Profile::FilterEntry* AttemptExplainer::FilterOf(PodId pod, ReasonIndex reason) const {
  if (!IsFilterKind(surveyor_.KindOf(reason))) return nullptr;
  const Profiles& profiles = surveyor_.profiles();
  const size_t profile = surveyor_.ProfileOf(pod);
  for (const Profile::FilterEntry& filter : profiles.at(profile).filters()) {
    for (ReasonIndex local = 1; local <= filter.reason_count; ++local) {
      const auto own = static_cast<ReasonIndex>(filter.reason_base + local);
      if (profiles.CommonReason(profile, own) == reason) return &filter;
    }
  }
  return nullptr;
}

std::vector<std::string> AttemptExplainer::ClaimsOf(PodId pod) const {
  if (!hooks_.claims || !NeedsClaims(*cluster_, cluster_->pod_shape(pod))) return {};
  return hooks_.claims(pod);
}

std::vector<std::string> AttemptExplainer::ClaimHoldersOf(PodId pod) const {
  if (!hooks_.claim_holders || cluster_->pod_shape(pod).claims.empty()) return {};
  return hooks_.claim_holders(pod);
}

AttemptExplanation AttemptExplainer::Begin(PodId pod, SimTime now) const {
  const JobRow& job = jobs_->row(jobs_->job_of(pod));
  AttemptExplanation out;
  out.time = now;
  out.pod = std::string(cluster_->pod_name(pod));
  out.pods = job.pods;
  out.placed = pod.value() - job.first_pod.value();
  out.nodes_out = static_cast<uint32_t>(cluster_->node_count() - cluster_->available_nodes());
  out.claims = ClaimsOf(pod);
  return out;
}

void AttemptExplainer::TakeGroups(PodId pod, SimTime now, bool brief, NodeSurveyor::Survey* survey,
                                  AttemptExplanation* out) const {
  for (NodeSurveyor::Group& group : survey->groups) {
    surveyor_.Finish(pod, now, brief, &group);
    out->rejections.push_back(std::move(group.rejection));
  }
  std::stable_sort(out->rejections.begin(), out->rejections.end(),
                   [](const Rejection& a, const Rejection& b) { return a.nodes > b.nodes; });
}

std::optional<uint32_t> AttemptExplainer::RoomFor(JobId job) const {
  const JobRow& row = jobs_->row(job);
  const ShapeId shape = cluster_->pod_shape_id(row.first_pod);
  for (uint32_t i = 1; i < row.pods; ++i) {
    if (cluster_->pod_shape_id(PodId(row.first_pod.value() + i)) != shape) return std::nullopt;
  }
  const NodeSurveyor::Survey survey = surveyor_.Look(row.first_pod, SimTime());
  uint32_t found = 0;
  for (const NodeId node : survey.fitting) {
    NodeRoom room(*cluster_, node, shape);
    while (found < row.pods && room.Take()) ++found;
    if (found == row.pods) break;
  }
  return found;
}

bool NeedsClaims(const ClusterState& cluster, const PodShape& shape) {
  if (!shape.claims.empty()) return true;
  const std::vector<std::string>& names = cluster.extended_names();
  return absl::c_any_of(shape.request.extended, [&](const auto& amount) {
    return cluster.served_by_claims(
        static_cast<size_t>(absl::c_find(names, amount.first) - names.begin()));
  });
}

// Nodes that would take the pod, were it not for those of its job that were placed before it, or,
// under kube-scheduler, for pods on other nodes or pods that are nominated to the node.
void AttemptExplainer::AddOwnPods(PodId pod, const VerdictSummaryTable::Row& row,
                                  const NodeSurveyor::Survey& survey,
                                  AttemptExplanation* out) const {
  int64_t own = 0;
  bool differs = false;
  std::vector<Rejection> added;
  for (const auto& [index, nodes] : row.rejected) {
    const Profile::FilterEntry* const filter = FilterOf(pod, index);
    if (filter == nullptr) continue;
    int64_t found = 0;
    for (const Rejection& r : out->rejections) found += r.reason_index == index ? r.nodes : 0;
    own += int64_t{nodes} - found;
    differs |= nodes != found;
    if (nodes <= found) continue;
    Rejection r;
    r.plugin = std::string(filter->plugin->name());
    r.reason = surveyor_.profiles().reasons()[index - size_t{1}];
    r.reason_index = index;
    r.nodes = static_cast<uint32_t>(nodes - found);
    if (out->pods == 1) {
      const bool looks_around = filter->plugin->filter_reach() != Reach::kNode;
      r.object = looks_around ? "pods on this and other nodes" : "room";
      r.state = looks_around ? r.reason : "promised to a pod that is nominated to the node";
    } else {
      r.kind = Rejection::Kind::kOwnPods;
      r.object = "place for all pods of the job";
      r.wanted = out->pods;
      const uint32_t room = std::max(out->placed, out->room_for.value_or(0));
      r.least_missing = r.most_missing = out->pods - (room < out->pods ? room : out->placed);
    }
    for (size_t i = 0; i < survey.fitting.size() && i < kExamplesShown; ++i) {
      r.examples.push_back(cluster_->node_spec(survey.fitting[i]).name);
    }
    added.push_back(std::move(r));
  }
  // If the pods of a gang differ, one that was placed may have made another reason the first.
  out->agrees = out->pods == 1 ? !differs : own == static_cast<int64_t>(survey.fitting.size());
  out->rejections.insert(out->rejections.end(), added.begin(), added.end());
}

// Adds the rejections by plugins that are no filters.
void AttemptExplainer::AddSteps(PodId pod, const VerdictSummaryTable::Row& row,
                                AttemptExplanation* out) const {
  const bool claims = NeedsClaims(*cluster_, cluster_->pod_shape(pod));
  const auto add = [&](ReasonIndex reason, uint32_t nodes) {
    Rejection r;
    r.plugin = claims ? "DynamicResources" : "a plugin without filters";
    if (reason != kFits) r.reason = summaries_->reasons()[reason - size_t{1}];
    r.reason_index = reason;
    r.object = claims ? "resource claims" : "step of the attempt";
    r.state = reason == kFits ? "refused without a reason" : r.reason;
    r.nodes = out->by_step ? 0 : nodes;  // it refused the pod, not a node
    out->rejections.push_back(std::move(r));
  };
  for (const auto& [index, nodes] : row.rejected) {
    if (FilterOf(pod, index) == nullptr) add(index, nodes);
  }
  if (out->rejections.empty() && row.nodes > 0) add(kFits, 0);
}

void AttemptExplainer::AddDevices(PodId pod, const VerdictSummaryTable::Row& row,
                                  const NodeSurveyor::Survey& survey,
                                  AttemptExplanation* out) const {
  if (!hooks_.devices || survey.fitting.empty()) return;
  if (!NeedsClaims(*cluster_, cluster_->pod_shape(pod))) return;
  out->devices = hooks_.devices(pod, survey.fitting);
  if (!out->devices.has_value()) return;
  size_t by_claims = 0;
  size_t by_others = 0;  // filters that look at other nodes, which the survey leaves out
  for (const auto& [index, nodes] : row.rejected) {
    const Profile::FilterEntry* const filter = FilterOf(pod, index);
    if (filter == nullptr) {
      by_claims += nodes;
    } else if (filter->plugin->filter_reach() != Reach::kNode) {
      by_others += nodes;
    }
  }
  const auto is_as_recorded = [&] {
    // An error keeps the pod off every node.
    const size_t lacking = out->devices->error.has_value()
                               ? out->devices->node_count
                               : out->devices->node_count - out->devices->fitting;
    return lacking >= by_claims && lacking <= by_claims + by_others;
  };
  if (is_as_recorded()) return;
  // The search looks at every node, whatever the filters say of it: an error on one that they
  // reject ends it as well.
  std::vector<NodeId> all;
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    if (cluster_->node(NodeId(n)).available) all.push_back(NodeId(n));
  }
  std::optional<DeviceStory> of_all = hooks_.devices(pod, all);
  if (of_all.has_value() && of_all->error.has_value()) {
    out->devices = std::move(of_all);
  } else {
    out->agrees = false;
  }
}

AttemptExplanation AttemptExplainer::OfFailure(PodId pod, SummaryId why, SimTime now,
                                               bool brief) const {
  const VerdictSummaryTable::Row& row = summaries_->row(why);
  AttemptExplanation out = Begin(pod, now);
  if (!brief) out.claim_holders = ClaimHoldersOf(pod);
  out.nodes = row.nodes;
  out.summary = summaries_->Text(why);
  if (row.nodes == 0) {
    Rejection none;
    none.object = "nodes";
    none.state = absl::StrCat("none of ", cluster_->node_count(),
                              " is part of the cluster: absent, or failed");
    out.rejections.push_back(std::move(none));
    return out;
  }
  uint64_t by_filters = 0;
  uint64_t by_others = 0;
  for (const auto& [index, nodes] : row.rejected) {
    (FilterOf(pod, index) != nullptr ? by_filters : by_others) += nodes;
  }
  out.by_step = by_filters == 0 && by_others != row.nodes;
  const bool by_claims = hooks_.devices && by_others > 0 && !out.by_step;
  if ((by_filters > 0 || by_claims) && by_filters + by_others == row.nodes) {
    if (out.pods > 1 && !brief) out.room_for = RoomFor(jobs_->job_of(pod));
    NodeSurveyor::Survey survey = surveyor_.Look(pod, now);
    TakeGroups(pod, now, brief, &survey, &out);
    if (by_claims) AddDevices(pod, row, survey, &out);
    // Nodes that only other plugins rejected pass all filters, and would be counted here by
    // mistake.
    if (by_others == 0) AddOwnPods(pod, row, survey, &out);
  }
  AddSteps(pod, row, &out);
  return out;
}

std::optional<AttemptExplanation> AttemptExplainer::OfNow(JobId job, SimTime now) const {
  const JobRow& row = jobs_->row(job);
  PodId pod = row.first_pod;
  NodeSurveyor::Survey survey = surveyor_.Look(pod, now);
  for (uint32_t i = 1; i < row.pods && !survey.fitting.empty(); ++i) {
    const PodId next(row.first_pod.value() + i);
    if (cluster_->pod_shape_id(next) == cluster_->pod_shape_id(pod)) continue;
    pod = next;
    survey = surveyor_.Look(pod, now);
  }
  AttemptExplanation out = Begin(pod, now);
  out.claim_holders = ClaimHoldersOf(pod);
  out.placed = 0;
  out.nodes = survey.available;
  if (row.pods > 1) out.room_for = RoomFor(job);
  const bool room = out.room_for.value_or(row.pods) >= row.pods;
  const size_t fitting = survey.fitting.size();
  if (fitting > 0 && room) {
    if (out.claims.empty()) return std::nullopt;
    out.nodes_by_claims = static_cast<uint32_t>(fitting);
    if (hooks_.devices) out.devices = hooks_.devices(pod, survey.fitting);
    TakeGroups(pod, now, false, &survey, &out);
    return out;
  }
  std::vector<std::string> examples;
  for (size_t i = 0; i < fitting && i < kExamplesShown; ++i) {
    examples.push_back(cluster_->node_spec(survey.fitting[i]).name);
  }
  TakeGroups(pod, now, false, &survey, &out);
  if (fitting > 0) {
    Rejection r;
    r.kind = Rejection::Kind::kOwnPods;
    r.reason = "No room for all pods of the job";
    r.object = "place for all pods of the job";
    r.nodes = static_cast<uint32_t>(fitting);
    r.wanted = row.pods;
    r.least_missing = r.most_missing = row.pods - *out.room_for;
    r.examples = std::move(examples);
    out.rejections.push_back(std::move(r));
  }
  out.summary = SummaryOf(out.nodes, out.rejections);
  return out;
}

std::vector<AttemptExplainer::Prospect> AttemptExplainer::Prospects(PodId pod, SimTime now,
                                                                    size_t most) const {
  const ShapeId shape = cluster_->pod_shape_id(pod);
  std::vector<std::pair<SimTime, NodeId>> found;
  const NodeSurveyor::Survey survey = surveyor_.Look(pod, now);
  for (const NodeSurveyor::Group& group : survey.groups) {
    if (group.rejection.kind != Rejection::Kind::kAmount) continue;
    for (const auto& [distance, node] : group.members) {
      if (distance >= NodeSurveyor::kOutOfReach) continue;
      const auto forecast = ForecastRoom(*cluster_, *jobs_, node, shape, now);
      if (forecast.has_value()) found.emplace_back(forecast->at, node);
    }
  }
  std::sort(found.begin(), found.end());
  if (found.size() > most) found.resize(most);
  std::vector<Prospect> prospects;
  for (const auto& [at, node] : found) {
    Prospect prospect = {cluster_->node_spec(node).name, at, {}};
    const auto forecast = ForecastRoom(*cluster_, *jobs_, node, shape, now);
    for (const PodId gone : forecast->after) {
      prospect.after.emplace_back(cluster_->pod_name(gone));
    }
    prospects.push_back(std::move(prospect));
  }
  return prospects;
}

ClaimHooks ClaimHooksOf(const Simulation& sim) {
  ClaimHooks hooks;
  if (const std::shared_ptr<StructuredClaims> structured = StructuredClaims::Of(sim)) {
    hooks.claims = [structured](PodId pod) { return structured->Lines(pod); };
    hooks.devices = [structured](PodId pod, absl::Span<const NodeId> nodes) {
      return structured->Explain(pod, nodes);
    };
  } else if (const ControlPlane* const plane = sim.control_plane()) {
    hooks.claims = [plane](PodId pod) { return ClaimExplainer(plane).ExplainPod(pod); };
    hooks.claim_holders = [plane, cluster = &sim.cluster()](PodId pod) {
      std::vector<std::string> lines;
      for (const NodeHolders& holders :
           ClaimExplainer(plane).HoldersAgainst(pod, kClaimNodesShown)) {
        lines.push_back(ClaimHoldersText(*cluster, holders));
      }
      return lines;
    };
  }
  return hooks;
}

}  // namespace drasim
