#include "sim/control/device_plugin.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_grant.h"
#include "model/key_error.h"
#include "model/lowering.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"

namespace drasim {
namespace {

constexpr absl::string_view kMigPrefix = "nvidia.com/mig-";
// A replica is at least a thousandth of a GPU; the smallest MIG instance is an eighth of one.
constexpr int64_t kMostGpuReplicas = 1000;
constexpr int64_t kMostMigReplicas = 125;

bool IsMigResource(absl::string_view name) {
  return absl::StartsWith(name, kMigPrefix) && name.size() > kMigPrefix.size();
}

// Number of times that each device of the resource is advertised.
int64_t ReplicasOf(const DevicePluginConfig& config, absl::string_view resource) {
  if (config.sharing == SharingKind::kNone) return 1;
  for (const DevicePluginConfig::Replicas& shared : config.resources) {
    if (shared.name == resource) return shared.replicas;
  }
  return 1;
}

// Whether any resource is shared at all, on this node or not.
bool IsSharing(const DevicePluginConfig& config) {
  return config.sharing != SharingKind::kNone &&
         std::any_of(config.resources.begin(), config.resources.end(),
                     [](const DevicePluginConfig::Replicas& r) { return r.replicas > 1; });
}

bool HasMigOn(const PluginGpu& gpu) {
  DRASIM_CHECK(!gpu.mig_enabled || gpu.table != nullptr);
  return gpu.mig_enabled;
}

// The MIG instances of a GPU (placements of its table) by the unit at which they begin.
std::vector<size_t> InstancesOf(const PluginGpu& gpu) {
  std::vector<size_t> instances;
  if (!HasMigOn(gpu)) return instances;
  for (uint64_t set = gpu.table->set(gpu.layout); set != 0; set &= set - 1) {
    instances.push_back(static_cast<size_t>(std::countr_zero(set)));
  }
  const absl::Span<const MigPlacement> placements = gpu.table->placements();
  std::sort(instances.begin(), instances.end(),
            [placements](size_t a, size_t b) { return placements[a].start < placements[b].start; });
  return instances;
}

const MigProfile& ProfileOf(const PluginGpu& gpu, size_t placement) {
  return gpu.table->profiles()[gpu.table->placements()[placement].profile];
}

// One name may stand for different profiles: 1g.10gb is a smaller or a larger part of different
// A100.
bool SameAttributes(const MigProfile& a, const MigProfile& b) {
  return a.name == b.name && a.compute_slices == b.compute_slices && a.memory_mib == b.memory_mib &&
         a.multiprocessors == b.multiprocessors && a.copy_engines == b.copy_engines &&
         a.decoders == b.decoders && a.encoders == b.encoders && a.jpeg_engines == b.jpeg_engines &&
         a.ofa_engines == b.ofa_engines;
}

// Whether strategy single can show these GPUs.
absl::Status CheckSingle(absl::Span<const PluginGpu> gpus) {
  const auto fail = [](const auto&... text) {
    return absl::FailedPreconditionError(absl::StrCat("MIG strategy single: found ", text...));
  };
  const MigProfile* first = nullptr;
  for (size_t g = 0; g < gpus.size(); ++g) {
    if (HasMigOn(gpus[g]) != HasMigOn(gpus[0])) {
      return fail("GPU 0 ", HasMigOn(gpus[0]) ? "with" : "without", " MIG and GPU ", g, " ",
                  HasMigOn(gpus[g]) ? "with" : "without", ", expected all or none with MIG");
    }
    const std::vector<size_t> instances = InstancesOf(gpus[g]);
    if (HasMigOn(gpus[g]) && instances.empty()) {
      return fail("no instance on GPU ", g, " with MIG, expected one or more");
    }
    for (const size_t placement : instances) {
      const MigProfile& profile = ProfileOf(gpus[g], placement);
      if (first == nullptr) first = &profile;
      if (!SameAttributes(*first, profile)) {
        return fail("instances of ", first->name, " and, on GPU ", g, ", of ", profile.name,
                    ", expected all alike", first->name == profile.name ? " in every amount" : "");
      }
    }
  }
  return absl::OkStatus();
}

using DevicesByResource = std::map<std::string, std::vector<PluginDevice>>;

void AddDevice(const PluginGpu& gpu, size_t index, size_t placement, absl::string_view resource,
               DevicesByResource& devices) {
  PluginDevice device;
  device.gpu = static_cast<uint8_t>(index);
  device.placement = static_cast<uint8_t>(placement);
  device.healthy = gpu.healthy;
  device.numa_node = gpu.numa_node;
  devices[std::string(resource)].push_back(device);
}

// ---- Labels ----

using PublishedLabels = std::map<std::string, std::string>;

// Without what may not stand in a label; words joined by dashes.
std::string Sanitised(absl::string_view text) {
  std::string kept;
  for (const char c : text) {
    const bool stays = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ||
                       c == '.' || c == ' ';
    if (stays) kept.push_back(c);
  }
  return absl::StrJoin(absl::StrSplit(kept, ' ', absl::SkipEmpty()), "-");
}

// Sets a label of the resource. An unknown amount removes an existing label, which described
// another device.
void SetAmount(absl::string_view resource, absl::string_view what, int32_t amount,
               PublishedLabels& labels) {
  std::string key = absl::StrCat(resource, ".", what);
  if (amount == kUnknownAmount) {
    labels.erase(key);
  } else {
    labels[std::move(key)] = absl::StrCat(amount);
  }
}

void SetProduct(absl::string_view resource, const std::vector<absl::string_view>& parts,
                bool marked_shared, PublishedLabels& labels) {
  std::vector<std::string> words;
  for (const absl::string_view part : parts) {
    std::string word = Sanitised(part);
    if (!word.empty()) words.push_back(std::move(word));
  }
  if (words.empty()) return;
  if (marked_shared) words.emplace_back("SHARED");
  labels[absl::StrCat(resource, ".product")] = absl::StrJoin(words, "-");
}

// Product, count, replicas and sharing of a resource. `config`: null if sharing does not apply,
// which shows as 0 replicas.
void SetBase(absl::string_view resource, const std::vector<absl::string_view>& product,
             size_t count, const DevicePluginConfig* config, PublishedLabels& labels) {
  const int64_t replicas = config == nullptr ? 0 : ReplicasOf(*config, resource);
  const bool shared = replicas > 1;
  absl::string_view strategy = "none";
  if (shared) strategy = config->sharing == SharingKind::kMps ? "mps" : "time-slicing";
  SetProduct(resource, product, shared && !config->rename_by_default, labels);
  labels[absl::StrCat(resource, ".count")] = absl::StrCat(count);
  labels[absl::StrCat(resource, ".replicas")] = absl::StrCat(replicas);
  labels[absl::StrCat(resource, ".sharing-strategy")] = std::string(strategy);
}

std::string FamilyOf(int major, int minor) {
  if (major == 8) return minor < 9 ? "ampere" : "ada-lovelace";
  if (major == 9) return "hopper";
  if (major == 10 || major == 12) return "blackwell";
  if (major == 13) return "rubin";
  return "undefined";
}

// Labels of the GPU's architecture, which is known only if it has a table.
void SetArchitecture(const PluginGpu& gpu, PublishedLabels& labels) {
  if (gpu.table == nullptr) return;
  const std::pair<absl::string_view, absl::string_view> version =
      absl::StrSplit(gpu.table->product().compute_capability, absl::MaxSplits('.', 1));
  int major = 0;
  int minor = 0;
  if (!absl::SimpleAtoi(version.first, &major) || !absl::SimpleAtoi(version.second, &minor)) return;
  labels[absl::StrCat(kGpuResource, ".family")] = FamilyOf(major, minor);
  labels[absl::StrCat(kGpuResource, ".compute.major")] = absl::StrCat(major);
  labels[absl::StrCat(kGpuResource, ".compute.minor")] = absl::StrCat(minor);
}

// The labels of whole GPUs. One GPU stands for all; one without MIG if there is any, the first of
// them. (The original takes the last in an order that Go leaves open.) It counts all of its
// product. GPUs with MIG are labelled as if nothing was shared.
void SetGpuLabels(absl::Span<const PluginGpu> gpus, const DevicePluginConfig& config,
                  PublishedLabels& labels) {
  const auto* shown =
      std::find_if(gpus.begin(), gpus.end(), [](const PluginGpu& gpu) { return !HasMigOn(gpu); });
  if (shown == gpus.end()) shown = gpus.begin();
  const auto count = std::count_if(gpus.begin(), gpus.end(), [shown](const PluginGpu& gpu) {
    return gpu.product == shown->product;
  });
  SetBase(kGpuResource, {shown->product}, static_cast<size_t>(count),
          HasMigOn(*shown) ? nullptr : &config, labels);
  SetAmount(kGpuResource, "memory", shown->memory_mib, labels);
  SetArchitecture(*shown, labels);
}

// The labels of MIG instances that are one resource. `gpu` and `profile`: of the first of them.
void SetMigLabels(absl::string_view resource, const PluginGpu& gpu, const MigProfile& profile,
                  size_t count, const DevicePluginConfig& config, PublishedLabels& labels) {
  SetBase(resource, {gpu.product, "MIG", profile.name}, count, &config, labels);
  SetAmount(resource, "memory", profile.memory_mib, labels);
  SetAmount(resource, "multiprocessors", profile.multiprocessors, labels);
  SetAmount(resource, "slices.gi", profile.compute_slices, labels);
  // A GPU instance is taken as one compute instance of its size.
  SetAmount(resource, "slices.ci", profile.compute_slices, labels);
  SetAmount(resource, "engines.copy", profile.copy_engines, labels);
  SetAmount(resource, "engines.decoder", profile.decoders, labels);
  SetAmount(resource, "engines.encoder", profile.encoders, labels);
  SetAmount(resource, "engines.jpeg", profile.jpeg_engines, labels);
  SetAmount(resource, "engines.ofa", profile.ofa_engines, labels);
}

// Over the labels of whole GPUs.
void SetSingleLabels(absl::Span<const PluginGpu> gpus, const DevicePluginConfig& config,
                     PublishedLabels& labels) {
  const auto* first =
      std::find_if(gpus.begin(), gpus.end(), [](const PluginGpu& gpu) { return HasMigOn(gpu); });
  if (first == gpus.end()) return;
  if (!CheckSingle(gpus).ok()) {
    SetProduct(kGpuResource, {first->product, "MIG", "INVALID"}, /*marked_shared=*/false, labels);
    for (const absl::string_view what : {"count", "replicas", "memory"}) {
      SetAmount(kGpuResource, what, 0, labels);
    }
    return;
  }
  size_t count = 0;
  for (const PluginGpu& gpu : gpus) count += InstancesOf(gpu).size();
  SetMigLabels(kGpuResource, *first, ProfileOf(*first, InstancesOf(*first).front()), count, config,
               labels);
}

void SetMixedLabels(absl::Span<const PluginGpu> gpus, const DevicePluginConfig& config,
                    PublishedLabels& labels) {
  struct Kind {
    const PluginGpu* gpu = nullptr;
    const MigProfile* profile = nullptr;
    size_t count = 0;
  };
  std::map<std::string, Kind> kinds;
  for (const PluginGpu& gpu : gpus) {
    for (const size_t placement : InstancesOf(gpu)) {
      const MigProfile& profile = ProfileOf(gpu, placement);
      Kind& kind = kinds[MigResourceName(profile.name)];
      if (kind.gpu == nullptr) {
        kind.gpu = &gpu;
        kind.profile = &profile;
      }
      ++kind.count;
    }
  }
  for (const auto& [resource, kind] : kinds) {
    SetMigLabels(resource, *kind.gpu, *kind.profile, kind.count, config, labels);
  }
}

}  // namespace

absl::Status CheckDevicePluginConfig(const DevicePluginConfig& config, absl::string_view key) {
  const std::vector<std::string> known = {std::string(kGpuResource)};
  for (size_t i = 0; i < config.resources.size(); ++i) {
    const DevicePluginConfig::Replicas& resource = config.resources[i];
    const auto bad = [key, i](absl::string_view field, const auto& found, const auto&... expected) {
      return KeyError(absl::StrCat(key, ".resources[", i, "].", field),
                      absl::StrCat("found '", found, "', expected ", expected...));
    };
    const std::string& name = resource.name;
    if (name != kGpuResource && !IsMigResource(name)) {
      return bad("name", name, kGpuResource, " or ", kMigPrefix, "<profile>", Suggest(name, known));
    }
    // The plugin's spelling; the profile's own name would match nothing.
    const std::string plugins = absl::StrReplaceAll(name, {{"+", "."}});
    if (plugins != name) return bad("name", name, plugins);
    if (config.sharing == SharingKind::kMps && IsMigResource(name)) {
      return bad("name", name, kGpuResource, ", as MPS does not share MIG instances");
    }
    const int64_t most = IsMigResource(name) ? kMostMigReplicas : kMostGpuReplicas;
    if (resource.replicas < 1 || resource.replicas > most) {
      return bad("replicas", resource.replicas, "1 (not shared) to ", most);
    }
    for (size_t j = 0; j < i; ++j) {
      if (config.resources[j].name == name) {
        return bad("name", name, "every resource once; resources[", j, "] is the same");
      }
    }
  }
  return absl::OkStatus();
}

int64_t PluginResource::capacity() const {
  int64_t sum = 0;
  for (const PluginDevice& device : devices) sum += device.replicas;
  return sum;
}

int64_t PluginResource::allocatable() const {
  int64_t sum = 0;
  for (const PluginDevice& device : devices) sum += device.healthy ? device.replicas : 0;
  return sum;
}

std::string MigResourceName(absl::string_view profile) {
  return absl::StrCat(kMigPrefix, absl::StrReplaceAll(profile, {{"+", "."}}));
}

absl::StatusOr<std::vector<PluginResource>> AdvertisedResources(absl::Span<const PluginGpu> gpus,
                                                                const DevicePluginConfig& config) {
  const bool single = config.mig_strategy == MigStrategy::kSingle;
  if (single) {
    RETURN_IF_ERROR(CheckSingle(gpus));
    if (config.sharing == SharingKind::kMps && ReplicasOf(config, kGpuResource) > 1 &&
        !gpus.empty() && HasMigOn(gpus[0])) {
      return absl::FailedPreconditionError(
          absl::StrCat("MIG strategy single: found MIG instances as ", kGpuResource,
                       " and MPS for it, expected GPUs without MIG, as MPS does not share "
                       "instances"));
    }
  }
  DevicesByResource devices;
  for (size_t g = 0; g < gpus.size(); ++g) {
    if (config.mig_strategy == MigStrategy::kNone || !HasMigOn(gpus[g])) {
      AddDevice(gpus[g], g, kNoPlacement, kGpuResource, devices);
      continue;
    }
    for (const size_t placement : InstancesOf(gpus[g])) {
      AddDevice(
          gpus[g], g, placement,
          single ? std::string(kGpuResource) : MigResourceName(ProfileOf(gpus[g], placement).name),
          devices);
    }
  }
  std::vector<PluginResource> resources;
  resources.reserve(devices.size());
  for (auto& [name, of_name] : devices) {
    const int64_t replicas = ReplicasOf(config, name);
    PluginResource resource;
    resource.shared = replicas > 1;
    resource.name =
        resource.shared && config.rename_by_default ? absl::StrCat(name, ".shared") : name;
    resource.devices = std::move(of_name);
    for (PluginDevice& device : resource.devices) device.replicas = static_cast<int32_t>(replicas);
    resources.push_back(std::move(resource));
  }
  // The suffix can change the order.
  std::sort(resources.begin(), resources.end(),
            [](const PluginResource& a, const PluginResource& b) { return a.name < b.name; });
  return resources;
}

std::vector<std::pair<std::string, std::string>> GpuFeatureLabels(
    absl::Span<const PluginGpu> gpus, const DevicePluginConfig& config) {
  if (gpus.empty()) return {};
  const bool capable = std::any_of(gpus.begin(), gpus.end(),
                                   [](const PluginGpu& gpu) { return gpu.table != nullptr; });
  const bool mig_on =
      std::any_of(gpus.begin(), gpus.end(), [](const PluginGpu& gpu) { return HasMigOn(gpu); });
  const bool mps = config.sharing == SharingKind::kMps && IsSharing(config) && !mig_on;
  PublishedLabels labels;
  labels["nvidia.com/mig.capable"] = capable ? "true" : "false";
  labels["nvidia.com/mps.capable"] = mps ? "true" : "false";
  SetGpuLabels(gpus, config, labels);
  if (config.mig_strategy == MigStrategy::kSingle) {
    labels["nvidia.com/mig.strategy"] = "single";
    SetSingleLabels(gpus, config, labels);
  } else if (config.mig_strategy == MigStrategy::kMixed) {
    labels["nvidia.com/mig.strategy"] = "mixed";
    SetMixedLabels(gpus, config, labels);
  }
  return {labels.begin(), labels.end()};
}

}  // namespace drasim
