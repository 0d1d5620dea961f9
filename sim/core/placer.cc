#include "sim/core/placer.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/pod_constraints.h"
#include "model/reason_kind.h"
#include "sim/core/kube_cycle.h"

namespace drasim {
namespace {

constexpr uint32_t kUnknownRow = std::numeric_limits<uint32_t>::max();

// The later pods of a gang may succeed with other random choices for the earlier ones.
bool Draws(const Profile& profile) {
  if (profile.allocator().draws()) return true;
  return std::any_of(
      profile.scores().begin(), profile.scores().end(),
      [](const Profile::ScoreEntry& e) { return e.plugin->score_reach() != Reach::kNode; });
}

// Verdicts that follow from the nodes' epochs and the shape.
bool FiltersByNode(const Profile& profile) {
  return absl::c_all_of(profile.filters(), [](const Profile::FilterEntry& filter) {
    return filter.plugin->filter_reach() == Reach::kNode;
  });
}

// Keeps the row in order of reasons.
void AddRejected(ReasonIndex reason, uint32_t nodes,
                 std::vector<std::pair<ReasonIndex, uint32_t>>* rejected) {
  auto place = rejected->end();
  while (place != rejected->begin() && std::prev(place)->first >= reason) --place;
  if (place != rejected->end() && place->first == reason) {
    place->second += nodes;
  } else {
    rejected->insert(place, {reason, nodes});
  }
}

}  // namespace

Placer::Placer(const Profile* profile, ClusterState* cluster, const JobTable* jobs,
               SchedulingCycle* cycle, VerdictSummaryTable* summaries, bool remember)
    : profile_(profile),
      cluster_(cluster),
      jobs_(jobs),
      cycle_(cycle),
      summaries_(summaries),
      // A plugin that restricts one pod need not restrict the next of its shape.
      remember_(remember && profile->restrictions().empty() && FiltersByNode(*profile)),
      draws_(Draws(*profile)) {
  for (PreFilterPlugin* const plugin : profile->pre_filters()) {
    PreFilterEntry entry{plugin, 0, dynamic_cast<NodeRestrictionPlugin*>(plugin) != nullptr};
    bool filters_by_node = false;
    for (size_t f = 0; f < profile->filters().size(); ++f) {
      FilterPlugin* const filter = profile->filters()[f].plugin;
      if (dynamic_cast<FilterPlugin*>(plugin) != filter) continue;
      entry.filter = uint64_t{1} << f;
      filters_by_node = filter->filter_reach() == Reach::kNode;
    }
    // Its verdicts say the same, and are remembered.
    if (filters_by_node && !entry.restricts) continue;
    pre_filters_.push_back(entry);
  }
}

void Placer::set_kube(std::vector<KubeCycle*> cycles, Profiles* profiles) {
  kube_ = std::move(cycles);
  profiles_ = profiles;
  remember_ = false;
  // The plugin PodHold, if it is there, gives a reason for each PodHold, in order.
  const std::vector<ReasonKind>& kinds = profiles->reason_kinds();
  const auto first = std::find(kinds.begin(), kinds.end(), ReasonKind::kPodHold);
  if (first == kinds.end()) return;
  no_profile_ = static_cast<ReasonIndex>((first - kinds.begin()) +
                                         static_cast<std::ptrdiff_t>(PodHold::kScheduler));
}

uint32_t Placer::SignatureOf(JobId job) {
  if (signature_.size() <= job.value()) signature_.resize(jobs_->size(), kUnknownRow);
  uint32_t& signature = signature_[job.value()];
  if (signature != kUnknownRow) return signature;
  const JobRow& row = jobs_->row(job);
  const uint32_t first_shape = cluster_->pod_shape_id(row.first_pod).value();
  if (row.pods == 1) {
    if (single_.size() <= first_shape) single_.resize(cluster_->shapes().size(), kUnknownRow);
    if (single_[first_shape] == kUnknownRow) {
      single_[first_shape] = static_cast<uint32_t>(memory_.size());
      memory_.emplace_back();
    }
    return signature = single_[first_shape];
  }
  std::vector<std::pair<uint32_t, uint32_t>> groups;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const uint32_t shape = cluster_->pod_shape_id(PodId(row.first_pod.value() + i)).value();
    if (groups.empty() || groups.back().first != shape) groups.emplace_back(shape, 0);
    ++groups.back().second;
  }
  const auto [it, inserted] =
      signatures_.try_emplace(std::move(groups), static_cast<uint32_t>(memory_.size()));
  if (inserted) memory_.emplace_back();
  return signature = it->second;
}

const Placer::Failure* Placer::KnownFailure(JobId job) {
  const Memory& memory = memory_[SignatureOf(job)];
  return memory.valid && memory.version == cluster_->version() ? &memory.failure : nullptr;
}

std::optional<Placer::Failure> Placer::PlacePod(PodId pod, SimTime now, Ask ask) {
  const PodContext context = {cluster_->pod_shape_id(pod), &cluster_->pod_shape(pod), pod, now};
  if (!kube_.empty()) return PlaceByKube(context);
  absl::Span<NodeRestrictionPlugin* const> restricting;
  if (ask == Ask::kEveryone) restricting = profile_->restrictions();
  bool names_nodes = false;
  uint64_t skipped = 0;
  for (const PreFilterEntry& entry : pre_filters_) {
    if (ask == Ask::kUnrestricted && entry.restricts) continue;
    StepResult result = entry.plugin->PreFilter(context, *cluster_);
    if (result.code == StepCode::kSkip) skipped |= entry.filter;
    if (result.code == StepCode::kSuccess || result.code == StepCode::kSkip) {
      if (!result.names_nodes) continue;
      if (names_nodes) {
        std::erase_if(named_nodes_, [&result](NodeId node) {
          return !absl::c_binary_search(result.nodes, node);
        });
      } else {
        named_nodes_ = std::move(result.nodes);
      }
      names_nodes = true;
      continue;
    }
    VerdictSummaryTable::Row why;
    why.nodes = static_cast<uint32_t>(cluster_->available_nodes());
    const ReasonIndex reason = profile_->ReasonOf(entry.plugin, result.reason);
    if (reason != kFits) why.rejected.emplace_back(reason, why.nodes);
    return Failure{pod, PodId(), summaries_->Intern(why), false, false};
  }
  cycle_->BeginAttempt(skipped, names_nodes ? &named_nodes_ : nullptr);
  restrictions_.clear();
  bool wants_feasible = false;
  for (NodeRestrictionPlugin* plugin : restricting) {
    restrictions_.push_back(plugin->Restriction(context));
    wants_feasible |= restrictions_.back().wants_feasible;
  }
  if (names_nodes) {
    restrictions_.push_back({.only_allowed = true, .allowed = named_nodes_, .excluded = {}});
  }
  const Decision decision = cycle_->Decide(context, restrictions_);
  if (!decision.node.valid()) {
    const VerdictSummaryTable::Row why = Rejections(context, restricting);
    return Failure{pod, PodId(), summaries_->Intern(why), false, true};
  }
  if (wants_feasible) {
    const absl::Span<const NodeId> feasible = cycle_->Feasible(context.shape_id, restrictions_);
    for (size_t i = 0; i < restricting.size() && feasible.size() > 1; ++i) {
      if (restrictions_[i].wants_feasible) restricting[i]->ListFeasible(context, feasible);
    }
  }
  if (!only_asks_) cluster_->Assume(pod, decision.node, decision.devices, decision.grants);
  return std::nullopt;
}

std::optional<Placer::Failure> Placer::PlaceByKube(const PodContext& pod) {
  VerdictSummaryTable::Row why;
  why.nodes = static_cast<uint32_t>(cluster_->available_nodes());
  const std::optional<size_t> index = profiles_->IndexOf(pod.shape_id);
  if (!index.has_value()) {
    kube_attempt_ = AttemptResult();
    if (no_profile_ != kFits) why.rejected.emplace_back(no_profile_, why.nodes);
    return Failure{pod.pod, PodId(), summaries_->Intern(why), false, false};
  }
  Profile& profile = profiles_->at(*index);
  kube_attempt_ = kube_[*index]->Schedule(&profile, pod, wants_message_, /*detail=*/nullptr);
  extender_waits_ += kube_attempt_.extender_waits;
  if (kube_attempt_.outcome != AttemptResult::Outcome::kFound) {
    for (const auto& [reason, nodes] : kube_attempt_.rejected) {
      AddRejected(profiles_->CommonReason(*index, reason), nodes, &why.rejected);
    }
    return Failure{pod.pod, PodId(), summaries_->Intern(why), false, false};
  }
  if (only_asks_) return std::nullopt;
  AssumeOn(pod, kube_attempt_.node);
  return std::nullopt;
}

Placer::Failure Placer::WithoutVerdict(PodId pod) {
  VerdictSummaryTable::Row why;
  why.nodes = static_cast<uint32_t>(cluster_->available_nodes());
  return Failure{pod, jobs_->row(jobs_->job_of(pod)).first_pod, summaries_->Intern(why), false,
                 false};
}

void Placer::AssumeOn(const PodContext& pod, NodeId node) {
  const Profile& profile = ProfileOf(pod.shape_id);
  DeviceSet devices;
  DeviceGrants grants;
  if (pod.shape->request.gpu_count > 0) {
    DeviceProposals proposals;
    profile.allocator().Ask(pod.shape->request, *cluster_, node, &proposals);
    DRASIM_CHECK(!proposals.empty());
    devices = proposals.front().devices;
  } else if (!pod.shape->request.mig.empty()) {
    grants = profile.allocator().AskMig(pod, *cluster_, node);
    DRASIM_CHECK(!grants.empty());
    devices = DevicesOf(grants);
  }
  cluster_->Assume(pod.pod, node, devices, grants);
}

// Counts the nodes of the shape's verdicts and of the plugins that restrict only this pod.
VerdictSummaryTable::Row Placer::Rejections(const PodContext& pod,
                                            absl::Span<NodeRestrictionPlugin* const> restricting) {
  VerdictSummaryTable::Row row = cycle_->Rejections(pod.shape_id);
  if (restricting.empty()) return row;
  std::map<ReasonIndex, uint32_t> counts(row.rejected.begin(), row.rejected.end());
  cycle_->ListFeasible(pod.shape_id, {}, &feasible_);
  for (NodeId node : feasible_) {
    for (NodeRestrictionPlugin* plugin : restricting) {
      const ReasonIndex reason = plugin->WhyRestricted(pod, node);
      if (reason == kFits) continue;
      ++counts[profile_->ReasonOf(plugin, reason)];
      break;
    }
  }
  row.rejected.assign(counts.begin(), counts.end());
  return row;
}

std::optional<Placer::Failure> Placer::Place(JobId job, SimTime now) {
  extender_waits_ = 0;
  return PlaceAll(job, now, Ask::kEveryone);
}

std::optional<Placer::Failure> Placer::PlaceAll(JobId job, SimTime now, Ask ask) {
  const JobRow& row = jobs_->row(job);
  // In order of arrival, needed or not, because Load numbers jobs in that order.
  SignatureOf(job);
  if (remember_) {
    if (const Failure* known = KnownFailure(job)) {
      cycle_->CountRemembered();
      Failure again = *known;
      again.pod = PodId(row.first_pod.value() + (known->pod.value() - known->first_pod.value()));
      again.first_pod = row.first_pod;
      again.known = true;
      return again;
    }
  }
  const bool gang = row.pods > 1;
  if (gang) cluster_->BeginWhatIf();
  // A gang's pods would need room on several nodes at once, which no upstream plugin looks for.
  for (KubeCycle* const kube : kube_)
    kube->set_runs_post_filter(!gang && (!trial_ || wants_message_));
  for (uint32_t i = 0; i < row.pods; ++i) {
    std::optional<Failure> failure = PlacePod(PodId(row.first_pod.value() + i), now, ask);
    if (!failure.has_value()) continue;
    if (gang) cluster_->Rollback();
    failure->first_pod = row.first_pod;
    // PreFilter may depend on more than the state of the nodes, so its verdict is not kept.
    if (failure->nodes_looked_at && (i == 0 || !draws_)) {
      Memory& memory = memory_[SignatureOf(job)];
      memory.failure = *failure;
      memory.version = cluster_->version();
      memory.valid = true;
    }
    return failure;
  }
  if (gang) cluster_->KeepWhatIf();
  return std::nullopt;
}

std::optional<Placer::Failure> Placer::TryPlace(JobId job, SimTime now, Ask ask) {
  const uint32_t signature = SignatureOf(job);
  const Memory kept = memory_[signature];
  std::vector<KubeCycle::Progress> progress;
  std::vector<std::vector<Extender*>> extenders;
  // The same cycle may serve several profiles.
  for (const KubeCycle* const kube : kube_) {
    progress.push_back(kube->progress());
    extenders.push_back(kube->extenders());
  }
  for (KubeCycle* const kube : kube_) kube->set_extenders({});
  trial_ = true;
  cluster_->BeginWhatIf();
  const std::optional<Failure> failure = PlaceAll(job, now, ask);
  cluster_->Rollback();
  trial_ = false;
  for (size_t i = 0; i < kube_.size(); ++i) {
    kube_[i]->set_progress(progress[i]);
    kube_[i]->set_extenders(std::move(extenders[i]));
  }
  memory_[signature] = kept;
  return failure;
}

bool Placer::WouldFit(JobId job, SimTime now) {
  return !TryPlace(job, now, Ask::kEveryone).has_value();
}

std::optional<Placer::Failure> Placer::WhyNever(JobId job, SimTime now) {
  return TryPlace(job, now, Ask::kUnrestricted);
}

const Profile& Placer::ProfileOf(ShapeId shape) const {
  const Profile* const own = profiles_ == nullptr ? nullptr : profiles_->Of(shape);
  return own == nullptr ? *profile_ : *own;
}

std::string Placer::MessageNow(JobId job, SimTime now) {
  for (const KubeCycle* const kube : kube_) {
    if (!kube->extenders().empty()) return "";
  }
  wants_message_ = true;
  only_asks_ = jobs_->row(job).state == JobState::kDropped;
  const std::optional<Failure> failure = TryPlace(job, now, Ask::kEveryone);
  wants_message_ = false;
  only_asks_ = false;
  if (!failure.has_value()) return "";
  return !kube_.empty() ? kube_attempt_.message : summaries_->Text(failure->why);
}

// Counts the pods of the shape that the nodes could hold if they were empty, available and
// schedulable, as far as each node decides by itself. No what-if of the cluster could show that:
// what-ifs do not cover changes of nodes.
bool Placer::GroupFitsEmpty(ShapeId shape_id, uint32_t pods) {
  GpuModelTable models = cluster_->models();
  ShapeTable alone(&models);
  PodShape wanted = cluster_->shapes().row(shape_id);
  if (amounts_may_grow_) wanted.request.extended.clear();
  // No amount limits what claims may serve.
  const std::vector<std::string>& names = cluster_->extended_names();
  std::erase_if(wanted.request.extended, [&](const auto& amount) {
    const auto column = std::find(names.begin(), names.end(), amount.first);
    return cluster_->served_by_claims(static_cast<size_t>(column - names.begin()));
  });
  const ShapeId alone_id = alone.Intern(wanted);
  const PodShape& shape = alone.row(alone_id);
  const Profile& profile = ProfileOf(shape_id);
  uint32_t found = 0;
  for (size_t n = 0; n < cluster_->node_count() && found < pods; ++n) {
    // A cluster with only that node, empty and schedulable.
    ClusterState one(&models, &alone);
    NodeSpec spec = cluster_->node_spec(NodeId(n));
    spec.absent = false;
    spec.unschedulable = false;
    const absl::StatusOr<NodeId> node = one.AddNode(spec);
    DRASIM_CHECK(node.ok());
    while (found < pods) {
      const PodId pod = one.AddPod("", alone_id, 0, SimTime());
      const PodContext context = {alone_id, &shape, pod, SimTime()};
      ReasonIndex verdict = kFits;
      for (const Profile::FilterEntry& filter : profile.filters()) {
        if (filter.plugin->filter_reach() != Reach::kNode) continue;
        filter.plugin->AskFilter(context, one, absl::MakeConstSpan(&*node, 1),
                                 absl::MakeSpan(&verdict, 1));
      }
      if (verdict != kFits) break;
      ++found;
      DeviceSet devices;
      if (shape.request.gpu_count > 0) {
        DeviceProposals proposals;
        profile.allocator().Ask(shape.request, one, *node, &proposals);
        devices = proposals.front().devices;
      }
      DeviceGrants grants;
      if (!shape.request.mig.empty()) {
        grants = profile.allocator().AskMig(context, one, *node);
        devices = DevicesOf(grants);
      }
      one.Assume(pod, *node, devices, grants);
    }
  }
  return found >= pods;
}

bool Placer::CouldEverFit(JobId job) {
  Memory& memory = memory_[SignatureOf(job)];
  if (memory.fits_empty >= 0) return memory.fits_empty == 1;
  const JobRow& row = jobs_->row(job);
  bool fits = true;
  uint32_t begin = 0;
  ResourceAmounts all;
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const NodeSpec& spec = cluster_->node_spec(NodeId(n));
    all.Add({spec.cpu_milli, spec.memory_bytes, int64_t{spec.gpu_count} * kDeviceMilli}, 1);
  }
  fits = row.request.cpu_milli <= all.cpu_milli && row.request.memory_bytes <= all.memory_bytes &&
         (row.request.gpu_milli <= all.gpu_milli || amounts_may_grow_);
  while (fits && begin < row.pods) {
    const ShapeId shape = cluster_->pod_shape_id(PodId(row.first_pod.value() + begin));
    uint32_t end = begin;
    while (end < row.pods && cluster_->pod_shape_id(PodId(row.first_pod.value() + end)) == shape) {
      ++end;
    }
    fits = GroupFitsEmpty(shape, end - begin);
    begin = end;
  }
  memory.fits_empty = fits ? 1 : 0;
  return fits;
}

void Placer::Save(StateWriter& out) const {
  out.Section("placer");
  out.U64(memory_.size());
  for (const Memory& m : memory_) {
    out.Bool(m.valid);
    out.I64(m.fits_empty);
    if (!m.valid) continue;
    out.U64(m.version);
    out.U64(m.failure.pod.value());
    out.U64(m.failure.first_pod.value());
    out.U64(m.failure.why.value());
    out.Bool(m.failure.nodes_looked_at);
  }
}

absl::Status Placer::Load(StateReader& in) {
  in.Section("placer");
  // Numbers follow the order of jobs, as in the saved run.
  for (size_t j = 0; j < jobs_->size(); ++j) SignatureOf(JobId(j));
  if (in.U64() != memory_.size()) in.Fail("the jobs ask for other things than those saved");
  for (Memory& m : memory_) {
    m.valid = in.Bool();
    m.fits_empty = static_cast<int8_t>(in.I64());
    if (!m.valid) continue;
    m.version = in.U64();
    m.failure.pod = PodId(static_cast<size_t>(in.U64()));
    m.failure.first_pod = PodId(static_cast<size_t>(in.U64()));
    m.failure.why = SummaryId(static_cast<size_t>(in.U64()));
    m.failure.nodes_looked_at = in.Bool();
    if (!in.status().ok()) break;
  }
  return in.status();
}

}  // namespace drasim
