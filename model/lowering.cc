#include "model/lowering.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "model/device_grant.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"

namespace drasim {
namespace {

// "nvidia.com/mig-1g.10gb.me" for "1g.10gb+me", the device plugin's name.
std::string ResourceOfProfile(const std::string& profile) {
  return absl::StrCat("nvidia.com/mig-", absl::StrReplaceAll(profile, {{"+", "."}}));
}

void AddExtended(const std::string& name, int64_t amount, ResourceRequest* request) {
  for (auto& [known, sum] : request->extended) {
    if (known != name) continue;
    sum += amount;
    return;
  }
  request->extended.emplace_back(name, amount);
  std::sort(request->extended.begin(), request->extended.end());
}

}  // namespace

absl::StatusOr<LoweringRule> ParseLoweringRule(absl::string_view name) {
  const std::vector<std::string> names = {"none", "whole-gpu", "mig-smallest", "time-sliced"};
  if (name.empty()) return LoweringRule::kNone;
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<LoweringRule>(it - names.begin());
  return absl::InvalidArgumentError(absl::StrCat("found '", name, "', expected one of ",
                                                 absl::StrJoin(names, ", "), Suggest(name, names)));
}

absl::StatusOr<Lowering> Lowering::Make(LoweringOptions options) {
  if (options.rule == LoweringRule::kTimeSliced && !options.device_plugin) {
    return absl::InvalidArgumentError(
        "found 'time-sliced', expected another rule: only the device plugin has replicas");
  }
  Lowering lowering(std::move(options));
  const LoweringOptions& o = lowering.options_;
  if (o.rule != LoweringRule::kMigSmallest) return lowering;
  if (o.table == nullptr) {
    return absl::InvalidArgumentError(
        "found 'mig-smallest', expected GPUs of a MIG product in the cluster");
  }
  const absl::Span<const MigProfile> all = o.table->profiles();
  for (const std::string& name : o.profiles) {
    const int profile = o.table->FindProfile(name);
    if (profile < 0) {
      std::vector<std::string> known;
      for (const MigProfile& p : all) known.push_back(p.name);
      return absl::NotFoundError(absl::StrCat("unknown profile '", name, "' of ",
                                              o.table->product().group, ", expected one of ",
                                              absl::StrJoin(known, ", "), Suggest(name, known)));
    }
    lowering.profiles_.push_back(static_cast<size_t>(profile));
  }
  for (size_t p = 0; p < all.size() && o.profiles.empty(); ++p) {
    const bool has_smaller_twin = std::any_of(all.begin(), all.end(), [&](const MigProfile& q) {
      return q.is_plain() && q.compute_slices == all[p].compute_slices && q.size < all[p].size;
    });
    if (all[p].is_plain() && !has_smaller_twin) lowering.profiles_.push_back(p);
  }
  std::stable_sort(lowering.profiles_.begin(), lowering.profiles_.end(), [&](size_t a, size_t b) {
    return std::make_pair(all[a].compute_slices, all[a].size) <
           std::make_pair(all[b].compute_slices, all[b].size);
  });
  return lowering;
}

absl::StatusOr<size_t> Lowering::SmallestProfile(const GpuDemand& demand) const {
  const MigTable& table = *options_.table;
  const int64_t slices = table.product().compute_slices;
  const int64_t gpus = std::max(1, demand.gpus);
  const int64_t memory = (demand.memory_mib + gpus - 1) / gpus;
  for (size_t p : profiles_) {
    const MigProfile& profile = table.profiles()[p];
    if (int64_t{profile.compute_slices} * kDeviceMilli < demand.milli * slices) continue;
    // Without a public listing of the memory, the size in the profile's name counts.
    const int64_t has =
        profile.memory_mib >= 0 ? profile.memory_mib : int64_t{profile.nominal_gb} * 1024;
    if (memory <= has) return p;
  }
  std::vector<std::string> allowed;
  for (size_t p : profiles_) allowed.push_back(table.profiles()[p].name);
  return absl::InvalidArgumentError(absl::StrCat(
      "no allowed MIG profile of ", table.product().group, " (", absl::StrJoin(allowed, ", "),
      ") has ", demand.milli, " thousandths of its compute slices",
      memory > 0 ? absl::StrCat(" and ", memory, " MiB") : ""));
}

// A demand for part of a GPU, from one GPU or from several.
absl::Status Lowering::LowerShare(const GpuDemand& demand, ResourceRequest* request) const {
  switch (options_.rule) {
    case LoweringRule::kNone:
      break;
    case LoweringRule::kWholeGpu:
      request->gpu_milli = kDeviceMilli;
      break;
    case LoweringRule::kMigSmallest: {
      ASSIGN_OR_RETURN(const size_t profile, SmallestProfile(demand));
      const MigProfile& p = options_.table->profiles()[profile];
      request->mig = {{p.name, demand.gpus}};
      request->nominal_milli =
          int64_t{demand.gpus} * MilliOfUnits(p.size, options_.table->product().units);
      request->gpu_count = 0;
      request->gpu_milli = 0;
      break;
    }
    case LoweringRule::kTimeSliced:
      request->nominal_milli = demand.gpus * (kDeviceMilli / ReplicasOf(kGpuResource));
      break;
  }
  return absl::OkStatus();
}

int64_t Lowering::ReplicasOf(absl::string_view resource) const {
  for (const auto& [name, replicas] : options_.replicas) {
    if (name == resource) return replicas;
  }
  return 1;
}

void Lowering::Ask(const std::string& resource, int64_t devices, ResourceRequest* request) const {
  const int64_t replicas = ReplicasOf(resource);
  const bool renamed = options_.renamed && replicas > 1;
  AddExtended(renamed ? absl::StrCat(resource, ".shared") : resource, devices * replicas, request);
}

// Replaces devices by extended resources.
void Lowering::ToPlugin(ResourceRequest* request) const {
  for (const auto& [profile, count] : request->mig) {
    Ask(ResourceOfProfile(profile), count, request);
  }
  request->mig.clear();
  if (request->gpu_count == 0) return;
  if (request->gpu_milli == kDeviceMilli) {
    Ask(std::string(kGpuResource), request->gpu_count, request);
    request->nominal_milli += int64_t{request->gpu_count} * kDeviceMilli;
  } else {
    // One replica for each share.
    const bool renamed = options_.renamed && ReplicasOf(kGpuResource) > 1;
    AddExtended(absl::StrCat(kGpuResource, renamed ? ".shared" : ""), request->gpu_count, request);
  }
  request->gpu_count = 0;
  request->gpu_milli = 0;
}

absl::StatusOr<PodShape> Lowering::Lower(const PodShape& pod) const {
  PodShape lowered = pod;
  ResourceRequest& request = lowered.request;
  if (options_.ignore_gpu_model) request.gpu_spec.clear();
  if (request.gpu_count == 0) {
    // MIG instances that the workload requests by name.
    if (options_.device_plugin) ToPlugin(&request);
    return lowered;
  }
  const bool unchanged = options_.rule == LoweringRule::kNone && !options_.device_plugin;
  if (unchanged) return lowered;
  lowered.demand.gpus = request.gpu_count;
  lowered.demand.milli = request.gpu_milli;
  if (request.is_share()) {
    RETURN_IF_ERROR(LowerShare(lowered.demand, &request));
  }
  if (options_.device_plugin) {
    if (request.is_share() && options_.rule == LoweringRule::kNone) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a pod wants ", request.gpu_milli,
          " thousandths of a GPU, which the device plugin cannot hand out; choose a rule in "
          "front_end.lowering.rule"));
    }
    ToPlugin(&request);
  }
  return lowered;
}

}  // namespace drasim
