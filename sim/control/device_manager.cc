#include "sim/control/device_manager.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "model/check.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// Devices aligned with the hint, those on other NUMA nodes, those without one.
constexpr int kNumaClasses = 3;

int NumaClass(int32_t numa_node, const TopologyHint& hint) {
  if (hint.any) return 0;
  if (numa_node < 0) return 2;
  return numa_node < kMaxNumaNodes && (hint.numa_nodes >> numa_node & 1) != 0 ? 0 : 1;
}

}  // namespace

DeviceManager::DeviceManager(KubeletDevices node, int64_t cores) : node_(std::move(node)) {
  DRASIM_CHECK_GE(node_.numa_nodes, 1);
  DRASIM_CHECK_LE(node_.gpus.size(), size_t{kMaxDevicesPerNode});
  if (!node_.gpus.empty()) topology_.emplace(node_.gpus);
  const auto see = [this](int32_t numa_node) {
    node_.numa_nodes = std::max(node_.numa_nodes, numa_node + 1);
  };
  for (const DeviceSpec& gpu : node_.gpus) see(gpu.numa_node);
  for (const DeviceSpec& other : node_.others) see(other.numa_node);
  for (const PluginResource& resource : node_.resources) {
    for (const PluginDevice& device : resource.devices) see(device.numa_node);
  }
  for (int64_t i = 0; i < node_.numa_nodes; ++i) {
    const int64_t rest = i < cores % node_.numa_nodes ? 1 : 0;
    cores_.push_back(cores / node_.numa_nodes + rest);
  }
  functions_.resize(node_.others.size());
  Remember();
  Rebuild();
}

bool DeviceManager::Valid(const PluginDevice& device) const {
  if (device.replicas < 1 || device.gpu >= kMaxDevicesPerNode) return false;
  if (device.numa_node < -1 || device.numa_node >= node_.numa_nodes) return false;
  if (topology_.has_value() && device.gpu >= topology_->size()) return false;
  if (device.placement == kNoPlacement) return true;
  if (device.gpu >= node_.mig_tables.size()) return false;
  const MigTable* const table = node_.mig_tables[device.gpu];
  return table != nullptr && device.placement < table->placements().size();
}

DeviceManager::Pool DeviceManager::PoolOf(const PluginResource& resource) const {
  Pool pool;
  pool.name = resource.name;
  pool.shared = resource.shared;
  pool.whole_gpus = !resource.shared;
  for (const PluginDevice& d : resource.devices) {
    DRASIM_CHECK(Valid(d));
    int16_t whole = kDeviceMilli;
    if (d.placement != kNoPlacement) {
      const MigTable& table = *node_.mig_tables[d.gpu];
      const size_t profile = table.placements()[d.placement].profile;
      whole = MilliOfUnits(table.profiles()[profile].size, table.product().units);
    }
    Device device;
    device.row = d.gpu;
    device.placement = d.placement;
    device.healthy = d.healthy;
    device.milli = static_cast<int16_t>(whole / d.replicas);
    device.replicas = d.replicas;
    device.numa_node = d.numa_node;
    pool.devices.push_back(device);
    if (d.placement != kNoPlacement || d.replicas != 1) pool.whole_gpus = false;
  }
  return pool;
}

void DeviceManager::AddOtherPools() {
  const size_t plugin_pools = pools_.size();
  for (size_t i = 0; i < node_.others.size(); ++i) {
    const DeviceSpec& spec = node_.others[i];
    if (spec.resource.empty()) continue;
    const auto begin = pools_.begin() + static_cast<std::ptrdiff_t>(plugin_pools);
    auto pool = std::find_if(begin, pools_.end(),
                             [&spec](const Pool& p) { return p.name == spec.resource; });
    if (pool == pools_.end()) {
      pool = pools_.emplace(pool);
      pool->name = spec.resource;
      pool->what = What::kOther;
    }
    Device device;
    device.row = static_cast<uint32_t>(i);
    device.numa_node = spec.numa_node;
    pool->devices.push_back(device);
  }
}

void DeviceManager::Remember() {
  for (const PluginResource& resource : node_.resources) {
    const auto place = std::lower_bound(names_.begin(), names_.end(), resource.name);
    if (place == names_.end() || *place != resource.name) names_.insert(place, resource.name);
  }
}

void DeviceManager::Rebuild() {
  pools_.clear();
  for (const PluginResource& resource : node_.resources) pools_.push_back(PoolOf(resource));
  AddOtherPools();
  free_cores_ = cores_;
  next_free_ = kRuns;
  for (Holding& holding : holdings_) {
    holding.place = Find(holding);
    Count(holding, +1);
    next_free_ = std::min(next_free_, holding.free_at);
  }
  FindBlocked();
}

DeviceManager::Place DeviceManager::Find(const Holding& holding) const {
  for (size_t p = 0; p < pools_.size(); ++p) {
    if (pools_[p].what != holding.what) continue;
    const std::vector<Device>& devices = pools_[p].devices;
    for (size_t d = 0; d < devices.size(); ++d) {
      if (devices[d].row == holding.row && devices[d].placement == holding.placement) {
        return {static_cast<uint32_t>(p), static_cast<uint32_t>(d)};
      }
    }
  }
  return {};
}

void DeviceManager::Count(const Holding& holding, int sign) {
  if (holding.what == What::kCores) {
    free_cores_[holding.row] -= sign * holding.units;
    return;
  }
  if (holding.place.pool == kNowhere) return;
  Device& device = pools_[holding.place.pool].devices[holding.place.device];
  // Rounded up, so that no part of a device is given out twice.
  const int64_t scaled =
      (holding.units * device.replicas + holding.replicas - 1) / holding.replicas;
  device.in_use += sign * scaled;
}

void DeviceManager::FindBlocked() {
  blocked_ = DeviceSet();
  for (const Holding& holding : holdings_) {
    const bool orphan = holding.what == What::kGpu && holding.place.pool == kNowhere;
    if (orphan) blocked_.Add(holding.row);
  }
}

void DeviceManager::Free(SimTime now) {
  if (now < next_free_) return;
  next_free_ = kRuns;
  size_t kept = 0;
  for (size_t i = 0; i < holdings_.size(); ++i) {
    if (holdings_[i].free_at <= now) {
      Count(holdings_[i], -1);
      continue;
    }
    next_free_ = std::min(next_free_, holdings_[i].free_at);
    holdings_[kept++] = holdings_[i];
  }
  holdings_.resize(kept);
  if (!blocked_.empty()) FindBlocked();
}

int64_t DeviceManager::FreeUnits(const Pool& pool, const Device& device) const {
  if (pool.what == What::kGpu && blocked_.Contains(device.row)) return 0;
  return std::max<int64_t>(0, device.replicas - device.in_use);
}

Admission DeviceManager::Admit(PodId pod, const PodShape& shape, const KubeletOptions& options,
                               SimTime now) {
  Free(now);
  taken_.clear();
  Admission admission;
  admission.failure = Allocate(shape, options);
  if (admission.failure == AdmissionFailure::kNone) {
    Commit(pod, shape.device_plugin.function, &admission);
  } else {
    GiveBack();
  }
  return admission;
}

AdmissionFailure DeviceManager::Allocate(const PodShape& shape, const KubeletOptions& options) {
  const bool topology = options.topology_policy != TopologyPolicy::kNone;
  // Without a topology policy, pods' cores need not be told apart.
  const bool own_cores = topology && options.cpu_manager_static && shape.request.cpu_milli > 0 &&
                         shape.request.cpu_milli % 1000 == 0;
  int64_t cores = own_cores ? shape.request.cpu_milli / 1000 : 0;
  TopologyHint hint;
  hint.any = true;
  if (topology && options.topology_scope_pod) {
    ResolvePod(shape);
    if (!Align(cores, options, &hint)) return AdmissionFailure::kTopologyAffinity;
  }
  if (shape.device_plugin.containers.empty()) {
    return AllocateContainer(shape.request.extended, /*ended=*/false, cores,
                             shape.device_plugin.function, options, hint);
  }
  for (const bool init : {true, false}) {
    for (const ContainerRequest& container : shape.device_plugin.containers) {
      if (container.init != init) continue;
      // The shape does not say which container has the cores: the first ordinary one gets them.
      const int64_t own = init ? 0 : std::exchange(cores, 0);
      const AdmissionFailure failure =
          AllocateContainer(container.extended, init && !container.restartable, own,
                            shape.device_plugin.function, options, hint);
      if (failure != AdmissionFailure::kNone) return failure;
    }
  }
  return AdmissionFailure::kNone;
}

AdmissionFailure DeviceManager::AllocateContainer(const Extended& extended, bool ended,
                                                  int64_t cores, const std::string& function,
                                                  const KubeletOptions& options,
                                                  TopologyHint hint) {
  wants_.clear();
  Resolve(extended);
  if (options.topology_policy != TopologyPolicy::kNone && !options.topology_scope_pod &&
      !Align(cores, options, &hint)) {
    return AdmissionFailure::kTopologyAffinity;
  }
  for (const Want& want : wants_) {
    const Request request = {want, ended, &function, hint};
    const AdmissionFailure failure = Take(request, options);
    if (failure != AdmissionFailure::kNone) return failure;
  }
  TakeCores(cores, hint);
  return AdmissionFailure::kNone;
}

void DeviceManager::Resolve(const Extended& extended) {
  for (const auto& [name, amount] : extended) {
    if (amount <= 0) continue;
    size_t pool = 0;
    while (pool < pools_.size() && pools_[pool].name != name) ++pool;
    if (pool < pools_.size()) {
      wants_.push_back({static_cast<uint32_t>(pool), amount});
    } else if (std::binary_search(names_.begin(), names_.end(), name)) {
      wants_.push_back({kNowhere, amount});
    }
  }
}

void DeviceManager::ResolvePod(const PodShape& shape) {
  wants_.clear();
  if (shape.device_plugin.containers.empty()) return Resolve(shape.request.extended);
  // The peak of the containers that run at once: sidecars stay beside later init containers.
  std::vector<int64_t> standing(pools_.size());
  std::vector<int64_t> peak(pools_.size());
  for (const bool init : {true, false}) {
    for (const ContainerRequest& container : shape.device_plugin.containers) {
      if (container.init != init) continue;
      wants_.clear();
      Resolve(container.extended);
      for (const Want& want : wants_) {
        if (want.pool == kNowhere) continue;
        const int64_t during = standing[want.pool] + want.amount;
        peak[want.pool] = std::max(peak[want.pool], during);
        if (!init || container.restartable) standing[want.pool] = during;
      }
    }
  }
  wants_.clear();
  for (size_t p = 0; p < peak.size(); ++p) {
    if (peak[p] > 0) wants_.push_back({static_cast<uint32_t>(p), peak[p]});
  }
}

bool DeviceManager::Align(int64_t cores, const KubeletOptions& options, TopologyHint* hint) {
  hints_.clear();
  for (const Want& want : wants_) {
    // The kubelet forgets the devices of a plugin that is gone, and so has no preference.
    if (Registered(want)) hints_.push_back(HintsOf(want));
  }
  if (cores > 0) hints_.push_back(CpuHints(cores_, free_cores_, cores));
  if (hints_.empty()) return true;
  const TopologyVerdict verdict = MergeHints(options.topology_policy, node_.numa_nodes, hints_);
  *hint = verdict.best;
  return verdict.admit;
}

ResourceHints DeviceManager::HintsOf(const Want& want) const {
  const Pool& pool = pools_[want.pool];
  std::vector<int32_t> all;
  std::vector<int32_t> available;
  std::vector<int32_t> reusable;
  // Only "enough or not" counts, so more units of a device than are wanted change nothing.
  const auto add = [&want](std::vector<int32_t>& list, int64_t units, int32_t numa_node) {
    list.insert(list.end(), static_cast<size_t>(std::min(units, want.amount)), numa_node);
  };
  for (const Device& device : pool.devices) {
    add(all, device.replicas, device.numa_node);
    if (device.healthy) add(available, FreeUnits(pool, device), device.numa_node);
  }
  for (const Taken& taken : taken_) {
    if (taken.place.pool != want.pool) continue;
    add(reusable, taken.reusable, pool.devices[taken.place.device].numa_node);
  }
  return DeviceHints(all, available, reusable, want.amount, node_.numa_nodes);
}

bool DeviceManager::Registered(const Want& want) const {
  return want.pool != kNowhere && (registered_ || pools_[want.pool].what != What::kGpu);
}

AdmissionFailure DeviceManager::Take(const Request& request, const KubeletOptions& options) {
  if (!Registered(request.want)) return AdmissionFailure::kResourceUnregistered;
  const Pool& pool = pools_[request.want.pool];
  int64_t needed = request.want.amount - Reuse(request);
  int64_t free = 0;
  int64_t unhealthy = 0;
  for (const Device& device : pool.devices) {
    (device.healthy ? free : unhealthy) += FreeUnits(pool, device);
  }
  if (free < needed) {
    return free + unhealthy >= needed ? AdmissionFailure::kDeviceUnhealthy
                                      : AdmissionFailure::kDevicesUnavailable;
  }
  // The plugin only hears of it once the kubelet has found devices.
  if (pool.shared && options.fail_requests_greater_than_one && request.want.amount > 1) {
    return AdmissionFailure::kAllocateFailed;
  }
  for (int c = 0; c < kNumaClasses && needed > 0; ++c) {
    needed -= TakeClass(request, c, needed, options.packed);
  }
  return AdmissionFailure::kNone;
}

int64_t DeviceManager::Reuse(const Request& request) {
  used_.clear();
  int64_t reused = 0;
  for (Taken& taken : taken_) {
    if (taken.place.pool != request.want.pool) continue;
    const int64_t units = std::min(taken.reusable, request.want.amount - reused);
    if (units == 0) continue;
    reused += units;
    used_.push_back(taken.place.device);
    if (!request.ended) taken.reusable -= units;
  }
  return reused;
}

int64_t DeviceManager::TakeClass(const Request& request, int numa_class, int64_t needed,
                                 bool packed) {
  const Pool& pool = pools_[request.want.pool];
  candidates_.clear();
  int64_t free = 0;
  for (size_t d = 0; d < pool.devices.size(); ++d) {
    const Device& device = pool.devices[d];
    if (!device.healthy || NumaClass(device.numa_node, request.hint) != numa_class) continue;
    const int64_t units = FreeUnits(pool, device);
    if (units == 0) continue;
    free += units;
    candidates_.push_back(static_cast<uint32_t>(d));
  }
  if (free <= needed) {
    for (const uint32_t d : candidates_) Hand(request, d, FreeUnits(pool, pool.devices[d]));
    return free;
  }
  if (pool.what == What::kOther) {
    TakeOthers(request, needed);
  } else if (pool.whole_gpus) {
    TakePreferredGpus(request, needed);
  } else {
    TakePreferredUnits(request, needed, packed);
  }
  return needed;
}

void DeviceManager::TakePreferredGpus(const Request& request, int64_t needed) {
  // A single GPU is the first one; so is every choice among GPUs of which nothing is known.
  if (!topology_.has_value() || (needed == 1 && used_.empty())) {
    for (size_t i = 0; i < static_cast<size_t>(needed); ++i) Hand(request, candidates_[i], 1);
    return;
  }
  const Pool& pool = pools_[request.want.pool];
  required_.clear();
  for (const uint32_t d : used_) required_.push_back(pool.devices[d].row);
  available_ = required_;
  for (const uint32_t d : candidates_) available_.push_back(pool.devices[d].row);
  std::sort(required_.begin(), required_.end());
  std::sort(available_.begin(), available_.end());
  const size_t size = required_.size() + static_cast<size_t>(needed);
  const std::vector<size_t> picked = PreferBestEffort(*topology_, available_, required_, size);
  DRASIM_CHECK_EQ(picked.size(), size);
  for (const uint32_t d : candidates_) {
    if (std::binary_search(picked.begin(), picked.end(), size_t{pool.devices[d].row})) {
      Hand(request, d, 1);
    }
  }
}

void DeviceManager::TakePreferredUnits(const Request& request, int64_t needed, bool packed) {
  const Pool& pool = pools_[request.want.pool];
  units_.clear();
  unit_counts_.clear();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Device& device = pool.devices[candidates_[i]];
    const int64_t free = FreeUnits(pool, device);
    unit_counts_.push_back(device.replicas - free);
    // The first ones stand for all: units of one device are alike.
    units_.insert(units_.end(), static_cast<size_t>(std::min(free, needed)), ReplicaCandidate{i});
  }
  // Units that the pod reuses count as in use, as they do upstream.
  const std::vector<size_t> picked =
      PreferReplicas(units_, unit_counts_, {}, static_cast<size_t>(needed), packed);
  DRASIM_CHECK_EQ(picked.size(), static_cast<size_t>(needed));
  unit_counts_.assign(candidates_.size(), 0);
  for (const size_t unit : picked) ++unit_counts_[units_[unit].parent];
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (unit_counts_[i] > 0) Hand(request, candidates_[i], unit_counts_[i]);
  }
}

void DeviceManager::TakeOthers(const Request& request, int64_t needed) {
  const Pool& pool = pools_[request.want.pool];
  for (const bool fitting : {true, false}) {
    for (const uint32_t d : candidates_) {
      const uint32_t row = pool.devices[d].row;
      const bool fits =
          Reprogrammable(row) && !request.function->empty() && functions_[row] == *request.function;
      if (fits != fitting) continue;
      if (needed == 0) return;
      Hand(request, d, 1);
      --needed;
    }
  }
}

void DeviceManager::TakeCores(int64_t cores, const TopologyHint& hint) {
  for (const bool aligned : {true, false}) {
    while (cores > 0) {
      // Take the part with the fewest free cores, so that large rests stay together.
      size_t best = free_cores_.size();
      for (size_t i = 0; i < free_cores_.size(); ++i) {
        const bool in_hint = NumaClass(static_cast<int32_t>(i), hint) == 0;
        if (in_hint != aligned || free_cores_[i] <= 0) continue;
        if (best == free_cores_.size() || free_cores_[i] < free_cores_[best]) best = i;
      }
      if (best == free_cores_.size()) break;
      const int64_t here = std::min(cores, free_cores_[best]);
      free_cores_[best] -= here;
      cores -= here;
      taken_.push_back({What::kCores, {kNowhere, static_cast<uint32_t>(best)}, here, 0});
    }
  }
}

void DeviceManager::Hand(const Request& request, uint32_t device, int64_t units) {
  const uint32_t pool = request.want.pool;
  pools_[pool].devices[device].in_use += units;
  used_.push_back(device);
  taken_.push_back({pools_[pool].what, {pool, device}, units, request.ended ? units : 0});
}

bool DeviceManager::Reprogrammable(uint32_t other) const {
  return node_.others[other].reprogramming > SimDuration();
}

void DeviceManager::Commit(PodId pod, const std::string& function, Admission* admission) {
  for (const Taken& taken : taken_) {
    Holding holding;
    holding.pod = pod;
    holding.what = taken.what;
    holding.row = taken.place.device;
    holding.units = taken.units;
    holding.place = taken.place;
    if (taken.what != What::kCores) {
      const Device& device = pools_[taken.place.pool].devices[taken.place.device];
      holding.row = device.row;
      holding.placement = device.placement;
      holding.replicas = device.replicas;
      if (taken.what == What::kGpu) {
        admission->devices.Add(device.row);
        const DeviceGrant grant = {static_cast<uint8_t>(device.row), device.placement,
                                   device.milli};
        admission->grants.insert(admission->grants.end(), static_cast<size_t>(taken.units), grant);
      } else if (!function.empty() && Reprogrammable(device.row) &&
                 functions_[device.row] != function) {
        functions_[device.row] = function;
        admission->start_delay =
            std::max(admission->start_delay, node_.others[device.row].reprogramming);
      }
    }
    holdings_.push_back(holding);
  }
  std::sort(admission->grants.begin(), admission->grants.end(),
            [](const DeviceGrant& a, const DeviceGrant& b) {
              return std::tie(a.device, a.placement, a.milli) <
                     std::tie(b.device, b.placement, b.milli);
            });
}

void DeviceManager::GiveBack() {
  for (const Taken& taken : taken_) {
    if (taken.what == What::kCores) {
      free_cores_[taken.place.device] += taken.units;
    } else {
      pools_[taken.place.pool].devices[taken.place.device].in_use -= taken.units;
    }
  }
}

void DeviceManager::Removed(PodId pod, SimTime free_at) {
  for (Holding& holding : holdings_) {
    if (holding.pod != pod || holding.free_at != kRuns) continue;
    holding.free_at = free_at;
    next_free_ = std::min(next_free_, free_at);
  }
}

void DeviceManager::SetResources(std::vector<PluginResource> resources) {
  node_.resources = std::move(resources);
  registered_ = true;
  Remember();
  Rebuild();
}

void DeviceManager::SetHealthy(uint32_t gpu, bool healthy) {
  for (size_t p = 0; p < node_.resources.size(); ++p) {
    std::vector<PluginDevice>& devices = node_.resources[p].devices;
    for (size_t d = 0; d < devices.size(); ++d) {
      if (devices[d].gpu != gpu) continue;
      devices[d].healthy = healthy;
      pools_[p].devices[d].healthy = healthy;
    }
  }
}

std::vector<std::pair<std::string, int64_t>> DeviceManager::Allocatable() const {
  std::vector<std::pair<std::string, int64_t>> amounts;
  for (const PluginResource& resource : node_.resources) {
    amounts.emplace_back(resource.name, registered_ ? resource.allocatable() : 0);
  }
  std::sort(amounts.begin(), amounts.end());
  return amounts;
}

bool DeviceManager::InUse(uint32_t gpu, SimTime now) const {
  return std::any_of(holdings_.begin(), holdings_.end(), [gpu, now](const Holding& holding) {
    return holding.what == What::kGpu && holding.row == gpu && holding.free_at > now;
  });
}

// --- checkpoint ---

void DeviceManager::Save(StateWriter& out) const {
  out.Section("device manager");
  out.Bool(registered_);
  out.U64(node_.resources.size());
  for (const PluginResource& resource : node_.resources) {
    out.Str(resource.name);
    out.Bool(resource.shared);
    out.U64(resource.devices.size());
    for (const PluginDevice& device : resource.devices) {
      out.U64(device.gpu);
      out.U64(device.placement);
      out.I64(device.replicas);
      out.Bool(device.healthy);
      out.I64(device.numa_node);
    }
  }
  out.U64(names_.size());
  for (const std::string& name : names_) out.Str(name);
  out.U64(functions_.size());
  for (const std::string& function : functions_) out.Str(function);
  out.U64(holdings_.size());
  for (const Holding& holding : holdings_) {
    out.U64(holding.pod.value());
    out.I64(holding.free_at.ns());
    out.U64(static_cast<uint64_t>(holding.what));
    out.U64(holding.placement);
    out.U64(holding.row);
    out.I64(holding.replicas);
    out.I64(holding.units);
  }
}

absl::Status DeviceManager::Load(StateReader& in) {
  in.Section("device manager");
  registered_ = in.Bool();
  LoadResources(in);
  names_.resize(in.Count());
  for (std::string& name : names_) name = in.Str();
  if (!std::is_sorted(names_.begin(), names_.end())) in.Fail("names are not sorted");
  if (in.Count() != functions_.size()) in.Fail("the number of other devices is not the node's");
  for (std::string& function : functions_) function = in.Str();
  LoadHoldings(in);
  RETURN_IF_ERROR(in.status());
  Rebuild();
  for (const int64_t cores : free_cores_) {
    if (cores < 0) in.Fail("more cores are held than the node has");
  }
  return in.status();
}

void DeviceManager::LoadResources(StateReader& in) {
  std::vector<PluginResource> resources(in.Count());
  for (PluginResource& resource : resources) {
    resource.name = in.Str();
    resource.shared = in.Bool();
    resource.devices.resize(in.Count());
    for (PluginDevice& device : resource.devices) {
      const uint64_t gpu = in.U64();
      const uint64_t placement = in.U64();
      const int64_t replicas = in.I64();
      device.healthy = in.Bool();
      const int64_t numa_node = in.I64();
      if (gpu >= kMaxDevicesPerNode || placement > kNoPlacement || replicas < 1 ||
          replicas > std::numeric_limits<int32_t>::max() || numa_node < -1 ||
          numa_node >= node_.numa_nodes) {
        in.Fail("a device of the plugin is out of range");
      }
      if (!in.status().ok()) return;
      device.gpu = static_cast<uint8_t>(gpu);
      device.placement = static_cast<uint8_t>(placement);
      device.replicas = static_cast<int32_t>(replicas);
      device.numa_node = static_cast<int32_t>(numa_node);
      if (!Valid(device)) in.Fail("the node does not have a device of the plugin");
    }
  }
  if (in.status().ok()) node_.resources = std::move(resources);
}

void DeviceManager::LoadHoldings(StateReader& in) {
  holdings_.resize(in.Count());
  for (Holding& holding : holdings_) {
    const uint64_t pod = in.U64();
    holding.free_at = SimTime(in.I64());
    const uint64_t what = in.U64();
    const uint64_t placement = in.U64();
    const uint64_t row = in.U64();
    const int64_t replicas = in.I64();
    holding.units = in.I64();
    const size_t rows[] = {kMaxDevicesPerNode, node_.others.size(), cores_.size()};
    const bool known = what <= static_cast<uint64_t>(What::kCores);
    // Cores have no replicas: their number is checked when all are counted.
    const bool cores = what == static_cast<uint64_t>(What::kCores);
    if (pod >= PodId::kInvalid || !known || row >= rows[known ? what : 0] ||
        placement > kNoPlacement || replicas < 1 ||
        replicas > std::numeric_limits<int32_t>::max() || holding.units < 1 ||
        holding.units > (cores ? cores_[row] : replicas)) {
      in.Fail("what a pod holds is out of range");
    }
    if (!in.status().ok()) return;
    holding.pod = PodId(static_cast<uint32_t>(pod));
    holding.what = static_cast<What>(what);
    holding.placement = static_cast<uint8_t>(placement);
    holding.row = static_cast<uint32_t>(row);
    holding.replicas = static_cast<int32_t>(replicas);
  }
}

}  // namespace drasim
