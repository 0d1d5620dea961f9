#include "sim/explain/node_room.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/number_text.h"
#include "model/quantity.h"
#include "policies/framework/device_allocator.h"

namespace drasim {
namespace {

constexpr size_t kNoColumn = std::numeric_limits<size_t>::max();

int64_t GroupPodsOn(const ClusterState& cluster, NodeId node, const PodConstraints& constraints) {
  if (constraints.max_per_node <= 0) return 0;
  const absl::Span<const PodId> pods = cluster.pods_on(node);
  return std::count_if(pods.begin(), pods.end(), [&](PodId pod) {
    return cluster.pod_shape(pod).constraints.group == constraints.group;
  });
}

std::string BytesNumber(int64_t bytes) {
  constexpr int64_t kMib = int64_t{1} << 20;
  if (bytes % kMib == 0) return Quantity::FromUnits(bytes, Quantity::Format::kBinarySi).Canonical();
  return absl::StrCat(FixedText(static_cast<double>(bytes) / kMib, 1), "Mi");
}

absl::string_view PluralEnding(int64_t amount) { return amount == 1 ? "" : "s"; }

}  // namespace

std::string LackNumberText(LackKind kind, int64_t amount) {
  if (kind == LackKind::kCpu) return DoubleText(static_cast<double>(amount) / 1000);
  if (kind == LackKind::kMemory) return BytesNumber(amount);
  return absl::StrCat(amount);
}

std::string LackAmountText(LackKind kind, absl::string_view name, int64_t amount) {
  const std::string number = LackNumberText(kind, amount);
  const absl::string_view s = PluralEnding(amount);
  switch (kind) {
    case LackKind::kCpu:
      return absl::StrCat(number, amount == 1000 ? " CPU" : " CPUs");
    case LackKind::kMemory:
      return absl::StrCat(number, " of memory");
    case LackKind::kPodSlots:
      return absl::StrCat(number, " pod slot", s);
    case LackKind::kExtended:
      return absl::StrCat(number, " ", name);
    case LackKind::kGpus:
      return absl::StrCat(number, " GPU", s);
    case LackKind::kGpuShare:
      return absl::StrCat(number, " milli of one GPU");
    case LackKind::kGpuShares:
      return absl::StrCat(number, " GPU", s, " with room for the share");
    case LackKind::kMig:
      return absl::StrCat(number, " place", s, " for ", name);
    case LackKind::kMigJoint:
      return absl::StrCat(number, " instance", s, " of ", name);
    case LackKind::kGroup:
      return absl::StrCat(number, " place", s, " for pods of group ", name);
  }
  return number;
}

NodeRoom::NodeRoom(const ClusterState& cluster, NodeId node, ShapeId shape)
    : cluster_(&cluster),
      request_(&cluster.shapes().row(shape).request),
      constraints_(&cluster.shapes().row(shape).constraints),
      node_(node),
      shape_id_(shape),
      cpu_milli_(cluster.node(node).cpu_milli_idle),
      memory_bytes_(cluster.node(node).memory_bytes_idle),
      pods_(cluster.node(node).pods_idle),
      group_pods_(GroupPodsOn(cluster, node, *constraints_)) {
  if (request_->gpu_count > 0 || !request_->mig.empty()) {
    const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
    gpu_milli_.assign(idle.begin(), idle.end());
    if (cluster.node(node).is_mixed()) gpus_ = cluster.UsableGpus(node, request_->model_mask);
    if (cluster.any_mig() && cluster.has_mig(node)) {
      const absl::Span<const MigState> states = cluster.device_mig(node);
      mig_.assign(states.begin(), states.end());
    }
  }
  const std::vector<std::string>& names = cluster.extended_names();
  for (const auto& [name, wanted] : request_->extended) {
    const auto it = std::find(names.begin(), names.end(), name);
    Extended extended = {kNoColumn, wanted, 0};
    if (it != names.end()) {
      extended.column = static_cast<size_t>(it - names.begin());
      extended.idle = cluster.extended_idle(node, extended.column);
    }
    extended_.push_back(extended);
  }
}

void NodeRoom::Clear() {
  const NodeSpec& spec = cluster_->node_spec(node_);
  cpu_milli_ = spec.cpu_milli;
  memory_bytes_ = spec.memory_bytes;
  pods_ = spec.pods;
  group_pods_ = 0;
  std::fill(gpu_milli_.begin(), gpu_milli_.end(), static_cast<int16_t>(kDeviceMilli));
  std::fill(mig_.begin(), mig_.end(), MigState{0});
  for (Extended& e : extended_) {
    if (e.column != kNoColumn) e.idle = cluster_->extended_capacity(node_, e.column);
  }
}

void NodeRoom::Release(PodId pod) {
  const PodShape& held = cluster_->pod_shape(pod);
  cpu_milli_ += held.request.cpu_milli;
  memory_bytes_ += held.request.memory_bytes;
  ++pods_;
  if (constraints_->max_per_node > 0 && held.constraints.group == constraints_->group)
    --group_pods_;
  for (Extended& e : extended_) {
    if (e.column == kNoColumn) continue;
    for (const auto& [name, amount] : held.request.extended) {
      if (name == cluster_->extended_names()[e.column]) e.idle += amount;
    }
  }
  const absl::Span<const DeviceGrant> grants = cluster_->pod_grants(pod);
  for (const DeviceGrant& grant : grants) {
    if (grant.device >= gpu_milli_.size()) continue;
    if (grant.placement == kNoPlacement) {
      gpu_milli_[grant.device] = static_cast<int16_t>(gpu_milli_[grant.device] + grant.milli);
    } else if (!mig_.empty()) {
      const MigTable& table = *cluster_->mig_table(node_, grant.device);
      MigState& state = mig_[grant.device];
      if ((table.set(state) >> grant.placement & 1) == 0) continue;
      state = table.Remove(state, grant.placement);
      if (state == 0) gpu_milli_[grant.device] = kDeviceMilli;
    }
  }
  if (!grants.empty()) return;
  for (const size_t device : cluster_->pod_devices(pod)) {
    if (device >= gpu_milli_.size()) continue;
    gpu_milli_[device] = static_cast<int16_t>(gpu_milli_[device] + held.request.gpu_milli);
  }
}

DeviceSet NodeRoom::UsableForMig() const {
  DeviceSet usable;
  for (size_t g = 0; g < mig_.size(); ++g) {
    if (mig_[g] != 0 || gpu_milli_[g] == kDeviceMilli) usable.Add(g);
  }
  return usable;
}

bool NodeRoom::Take() {
  if (!Lacks().empty()) return false;
  cpu_milli_ -= request_->cpu_milli;
  memory_bytes_ -= request_->memory_bytes;
  --pods_;
  ++group_pods_;
  for (Extended& e : extended_) e.idle -= e.wanted;
  if (request_->gpu_count > 0) {
    for (const size_t device : FirstFittingDevices(*request_, gpu_milli_, gpus_)) {
      int16_t& idle = gpu_milli_[device];
      idle = static_cast<int16_t>(idle - request_->gpu_milli);
    }
  }
  if (request_->mig.empty()) return true;
  for (const GpuModelGroup& group : MigModels()) {
    const MigTable& table = *cluster_->models().mig(ModelId(uint32_t{group.model}));
    const DeviceGrants grants = FirstFittingInstances(
        table, mig_, UsableForMig() & group.gpus, cluster_->mig_profiles(shape_id_, group.model));
    for (const DeviceGrant& grant : grants) {
      mig_[grant.device] = table.Place(mig_[grant.device], grant.placement);
      gpu_milli_[grant.device] = 0;
    }
    if (!grants.empty()) break;
  }
  return true;
}

void NodeRoom::LackOfGpus(std::vector<Shortfall>* lacks) const {
  Shortfall lack;
  lack.name = "GPU";
  int64_t fitting = 0;
  int64_t largest = 0;
  for (size_t g = 0; g < gpu_milli_.size(); ++g) {
    if (!gpus_.Contains(g)) continue;
    const int16_t idle = gpu_milli_[g];
    fitting += idle >= request_->gpu_milli ? 1 : 0;
    largest = std::max<int64_t>(largest, idle);
    lack.idle_all += idle;
  }
  if (request_->gpu_milli == kDeviceMilli) {
    lack.kind = LackKind::kGpus;
    lack.wanted = request_->gpu_count;
    lack.idle = fitting;
    lack.idle_all = fitting;
  } else if (request_->gpu_count == 1) {
    lack.kind = LackKind::kGpuShare;
    lack.wanted = request_->gpu_milli;
    lack.idle = largest;
    lack.in_pieces = lack.idle_all >= lack.wanted;
  } else {
    lack.kind = LackKind::kGpuShares;
    lack.wanted = request_->gpu_count;
    lack.idle = fitting;
    lack.idle_all = lack.idle_all / request_->gpu_milli;
  }
  if (lack.missing() > 0) lacks->push_back(std::move(lack));
}

GpuModelGroups NodeRoom::MigModels() const {
  GpuModelGroups models;
  if (mig_.empty()) return models;
  for (const GpuModelGroup& group : cluster_->GroupsOfModels(node_)) {
    const bool serves = cluster_->models().mig(ModelId(uint32_t{group.model})) != nullptr &&
                        group.gpus.Intersects(gpus_) &&
                        !cluster_->mig_profiles(shape_id_, group.model).empty();
    if (serves) models.push_back(group);
  }
  return models;
}

// With several models, the shortfall on the one that lacks the fewest instances.
void NodeRoom::LackOfMig(std::vector<Shortfall>* lacks) const {
  const GpuModelGroups models = MigModels();
  if (models.empty()) {
    for (const auto& [name, wanted] : request_->mig) {
      lacks->push_back({LackKind::kMig, name, wanted, 0, 0, false});
    }
    return;
  }
  std::vector<Shortfall> least;
  int64_t least_missing = std::numeric_limits<int64_t>::max();
  for (const GpuModelGroup& group : models) {
    std::vector<Shortfall> here = LackOfMigOn(group);
    int64_t missing = 0;
    for (const Shortfall& lack : here) missing += lack.missing();
    if (missing >= least_missing) continue;
    least_missing = missing;
    least = std::move(here);
  }
  std::move(least.begin(), least.end(), std::back_inserter(*lacks));
}

std::vector<Shortfall> NodeRoom::LackOfMigOn(const GpuModelGroup& group) const {
  std::vector<Shortfall> lacks;
  const absl::Span<const uint8_t> profiles = cluster_->mig_profiles(shape_id_, group.model);
  const MigTable& table = *cluster_->models().mig(ModelId(uint32_t{group.model}));
  const DeviceSet usable = UsableForMig() & group.gpus;
  for (size_t i = 0; i < profiles.size();) {
    size_t end = i;
    while (end < profiles.size() && profiles[end] == profiles[i]) ++end;
    Shortfall lack = {
        LackKind::kMig, table.profiles()[profiles[i]].name, static_cast<int64_t>(end - i), 0, 0,
        false};
    int64_t pieces = 0;
    for (size_t g = 0; g < mig_.size(); ++g) {
      if (!usable.Contains(g)) continue;
      lack.idle += table.more(mig_[g], profiles[i]);
      pieces += table.free_units(mig_[g]) / table.profiles()[profiles[i]].size;
    }
    lack.idle_all = lack.idle;
    lack.in_pieces = pieces >= lack.wanted;
    if (lack.missing() > 0) lacks.push_back(std::move(lack));
    i = end;
  }
  if (!lacks.empty()) return lacks;
  size_t fitting = profiles.size();
  while (fitting > 0 &&
         FirstFittingInstances(table, mig_, usable, profiles.first(fitting)).empty()) {
    --fitting;
  }
  if (fitting == profiles.size()) return lacks;
  std::vector<std::string> names;
  for (const auto& [name, count] : request_->mig) names.push_back(absl::StrCat(count, " ", name));
  lacks.push_back({LackKind::kMigJoint, absl::StrJoin(names, " with "),
                   static_cast<int64_t>(profiles.size()), static_cast<int64_t>(fitting),
                   static_cast<int64_t>(fitting), true});
  return lacks;
}

std::vector<Shortfall> NodeRoom::Lacks() const {
  std::vector<Shortfall> lacks;
  const auto check = [&lacks](LackKind kind, absl::string_view name, int64_t wanted, int64_t idle) {
    if (idle < wanted) lacks.push_back({kind, std::string(name), wanted, idle, idle, false});
  };
  check(LackKind::kCpu, "cpu", request_->cpu_milli, cpu_milli_);
  check(LackKind::kMemory, "memory", request_->memory_bytes, memory_bytes_);
  check(LackKind::kPodSlots, "pods", 1, pods_);
  for (size_t i = 0; i < extended_.size(); ++i) {
    check(LackKind::kExtended, request_->extended[i].first, extended_[i].wanted, extended_[i].idle);
  }
  if (request_->gpu_count > 0) LackOfGpus(&lacks);
  if (constraints_->max_per_node > 0) {
    check(LackKind::kGroup, constraints_->group, 1, constraints_->max_per_node - group_pods_);
  }
  if (!request_->mig.empty()) LackOfMig(&lacks);
  return lacks;
}

int64_t HeldOf(const ClusterState& cluster, PodId pod, const Shortfall& lack) {
  const PodShape& shape = cluster.pod_shape(pod);
  const int64_t devices = cluster.pod_devices(pod).size();
  switch (lack.kind) {
    case LackKind::kCpu:
      return shape.request.cpu_milli;
    case LackKind::kMemory:
      return shape.request.memory_bytes;
    case LackKind::kPodSlots:
      return 1;
    case LackKind::kExtended:
      for (const auto& [name, amount] : shape.request.extended) {
        if (name == lack.name) return amount;
      }
      return 0;
    case LackKind::kGpus:
      return devices;
    case LackKind::kGpuShare:
    case LackKind::kGpuShares:
    case LackKind::kMig:
    case LackKind::kMigJoint: {
      if (cluster.pod_grants(pod).empty()) return devices * shape.request.gpu_milli;
      int64_t milli = 0;
      for (const DeviceGrant& grant : cluster.pod_grants(pod)) milli += grant.milli;
      return milli;
    }
    case LackKind::kGroup:
      return shape.constraints.group == lack.name ? 1 : 0;
  }
  return 0;
}

std::optional<SimTime> ExpectedEnd(const JobTable& jobs, JobId job, SimTime now) {
  const JobRow& row = jobs.row(job);
  if (row.state != JobState::kRunning) return std::nullopt;
  std::optional<SimTime> end;
  if (jobs.HasLength(job)) {
    end = now + std::max(jobs.RemainingAt(job, now), SimDuration());
  }
  if (row.has_deletion) {
    const SimTime deletion = std::max(row.deletion, now);
    end = end.has_value() ? std::min(*end, deletion) : deletion;
  }
  return end;
}

std::optional<RoomForecast> ForecastRoom(const ClusterState& cluster, const JobTable& jobs,
                                         NodeId node, ShapeId shape, SimTime now) {
  std::vector<std::pair<SimTime, PodId>> leaving;
  for (const PodId pod : cluster.pods_on(node)) {
    const std::optional<SimTime> end = ExpectedEnd(jobs, jobs.job_of(pod), now);
    if (end.has_value()) leaving.emplace_back(*end, pod);
  }
  std::sort(leaving.begin(), leaving.end());
  NodeRoom room(cluster, node, shape);
  RoomForecast forecast;
  for (size_t i = 0; i < leaving.size(); ++i) {
    room.Release(leaving[i].second);
    forecast.at = leaving[i].first;
    forecast.after.push_back(leaving[i].second);
    const bool more_then = i + 1 < leaving.size() && leaving[i + 1].first == leaving[i].first;
    if (!more_then && room.Lacks().empty()) return forecast;
  }
  return std::nullopt;
}

}  // namespace drasim
