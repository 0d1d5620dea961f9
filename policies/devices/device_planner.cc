#include "policies/devices/device_planner.h"

#include <algorithm>
#include <array>

#include "absl/container/inlined_vector.h"
#include "model/check.h"
#include "policies/devices/mig_rules.h"
#include "policies/framework/device_allocator.h"

namespace drasim {

const KindRequest& DevicePlanner::KindOf(const Unit& unit) const {
  return wants_[unit.want].request->kinds[kind_];
}

const DeviceOption& DevicePlanner::OptionOf(const Unit& unit) const {
  return KindOf(unit).options[unit.option];
}

bool DevicePlanner::Plan(const NodeDevices& node, NodeId id, size_t kind,
                         absl::Span<const ClaimWant> wants, const PlanRules& rules) {
  node_ = &node;
  id_ = id;
  kind_ = kind;
  wants_ = wants;
  rules_ = rules;
  Begin();
  bool servable = true;
  units_.clear();
  for (size_t i = 0; i < wants.size(); ++i) {
    if (plans_[i].fits) continue;
    const DeviceRequest* request = wants[i].request;
    if (request == nullptr || node.kind == nullptr || request->kinds[kind].options.empty()) {
      servable = false;
      continue;
    }
    // With several options, each unit chooses its own.
    const bool alike = request->kinds[kind].options.size() == 1;
    for (int32_t u = 0; u < (alike ? 1 : request->count); ++u) {
      units_.push_back({i, alike ? request->count : 1, 0});
    }
  }
  if (servable) {
    if (units_.empty()) return true;
    for (int tried = 0; tried < kMostCombinations; ++tried) {
      if (tried > 0) Begin();
      if (PlanTogether()) return true;
      if (!NextCombination()) break;
    }
  }
  Begin();
  // A single unit with a single option has been tried already.
  if (wants.size() == 1 && units_.size() == 1 && servable &&
      KindOf(units_[0]).options.size() == 1) {
    return false;
  }
  PlanInTurn();
  return std::all_of(plans_.begin(), plans_.end(), [](const auto& plan) { return plan.fits; });
}

void DevicePlanner::Begin() {
  view_ = *node_;
  last_gpu_ = rules_.last_node == id_ ? rules_.last_gpu : -1;
  plans_.resize(wants_.size());
  for (size_t i = 0; i < wants_.size(); ++i) {
    const bool here = wants_[i].has != nullptr && wants_[i].has_node == id_;
    plans_[i].fits = here;
    plans_[i].devices.clear();
    if (here) plans_[i].devices = *wants_[i].has;
  }
}

// Counts like an odometer, the last unit fastest.
bool DevicePlanner::NextCombination() {
  for (size_t i = units_.size(); i > 0; --i) {
    Unit& unit = units_[i - 1];
    if (++unit.option < KindOf(unit).options.size()) return true;
    unit.option = 0;
  }
  return false;
}

bool DevicePlanner::PlanTogether() {
  if (!ServeWhole() || !ServeInstances() || !ServeParts()) return false;
  for (const Unit& unit : units_) {
    if (OptionOf(unit).use == GpuUse::kCompute && !ServeCompute(unit)) return false;
  }
  for (ClaimGrant& plan : plans_) plan.fits = true;
  return true;
}

// Claims that depend on others come after them.
void DevicePlanner::PlanInTurn() {
  for (const int round : {0, 1, 2}) {
    for (size_t i = 0; i < wants_.size(); ++i) {
      const DeviceRequest* request = wants_[i].request;
      if (plans_[i].fits || request == nullptr || node_->kind == nullptr) continue;
      const auto& options = request->kinds[kind_].options;
      if (options.empty()) continue;
      const int turn = !wants_[i].is_tied() ? 0 : (options[0].use == GpuUse::kInside ? 1 : 2);
      if (turn != round) continue;
      backup_ = view_;
      const int32_t last = last_gpu_;
      plans_[i].fits = ServeClaim(i);
      if (plans_[i].fits) continue;
      plans_[i].devices.clear();
      view_ = backup_;
      last_gpu_ = last;
    }
  }
}

bool DevicePlanner::ServeClaim(size_t want) {
  const DeviceRequest& request = *wants_[want].request;
  const size_t options = request.kinds[kind_].options.size();
  if (options == 1) return ServeUnit({want, request.count, 0});
  for (int32_t u = 0; u < request.count; ++u) {
    bool served = false;
    for (size_t option = 0; option < options && !served; ++option) {
      served = ServeUnit({want, 1, option});
    }
    if (!served) return false;
  }
  return true;
}

// Leaves the view unchanged when it cannot serve a unit with count 1.
bool DevicePlanner::ServeUnit(const Unit& unit) {
  const DeviceOption& option = OptionOf(unit);
  switch (option.use) {
    case GpuUse::kWhole: {
      const DeviceSet gpus = PickGpus(view_.free() & EligibleFor(unit), unit.count, rules_.packed);
      if (gpus.size() != unit.count) return false;
      GiveWhole(unit.want, gpus);
      return true;
    }
    case GpuUse::kInstance:
    case GpuUse::kInside:
      for (int32_t u = 0; u < unit.count; ++u) {
        const MigRuleTable::NodeChoice choice =
            RulesFor(option).OnNode(view_.gpu_states(), UsableFor(unit), option.profile, last_gpu_);
        if (choice.gpu < 0) return false;
        GiveInstance(unit.want, option.use, static_cast<size_t>(choice.gpu), choice.placement);
      }
      return true;
    case GpuUse::kPart:
    case GpuUse::kFunction:
      for (int32_t u = 0; u < unit.count; ++u) {
        const DeviceSet gpus = PartCandidates(unit);
        if (gpus.empty()) return false;
        GivePart(unit, PreferredForPart(gpus));
      }
      return true;
    case GpuUse::kCompute:
      return ServeCompute(unit);
  }
  DRASIM_UNREACHABLE("a use of a device");
}

// --- Whole GPUs. ---

bool DevicePlanner::ServeWhole() {
  for (const Unit& unit : units_) {
    if (OptionOf(unit).use != GpuUse::kWhole) continue;
    if (!ServeUnit(unit)) return ExchangeWhole();
  }
  return true;
}

// Matches units to GPUs by augmenting paths: an earlier claim gives its GPU to a later one if it
// has an alternative.
bool DevicePlanner::ExchangeWhole() {
  Begin();
  struct Seat {
    size_t want;
    DeviceSet eligible;
  };
  absl::InlinedVector<Seat, 8> seats;
  const DeviceSet free = view_.free();
  for (const Unit& unit : units_) {
    if (OptionOf(unit).use != GpuUse::kWhole) continue;
    if (unit.count > kMaxDevicesPerNode) return false;
    seats.insert(seats.end(), static_cast<size_t>(unit.count),
                 {unit.want, EligibleFor(unit) & free});
  }
  if (seats.size() > static_cast<size_t>(free.size())) return false;
  std::array<int32_t, kMaxDevicesPerNode> owner;  // seat on each GPU
  owner.fill(-1);
  DeviceSet tried;
  const auto seat_one = [&seats, &owner, &tried](const auto& self, size_t seat) -> bool {
    const DeviceSet eligible = seats[seat].eligible;
    while (!eligible.IsSubsetOf(tried)) {
      const size_t gpu = (eligible - tried).First();
      tried.Add(gpu);
      int32_t& sits = owner[gpu];
      if (sits >= 0 && !self(self, static_cast<size_t>(sits))) continue;
      sits = static_cast<int32_t>(seat);
      return true;
    }
    return false;
  };
  for (size_t seat = 0; seat < seats.size(); ++seat) {
    tried = DeviceSet();
    if (!seat_one(seat_one, seat)) return false;
  }
  for (size_t gpu = 0; gpu < owner.size(); ++gpu) {
    if (owner[gpu] >= 0) GiveWhole(seats[static_cast<size_t>(owner[gpu])].want, DeviceSet::Of(gpu));
  }
  return true;
}

// --- MIG instances. ---

// Units with the same candidate GPUs are placed together.
bool DevicePlanner::ServeInstances() {
  const size_t count = units_.size();
  uint64_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i < 64 && (done >> i & 1) != 0) continue;
    const GpuUse use = OptionOf(units_[i]).use;
    if (use != GpuUse::kInstance && use != GpuUse::kInside) continue;
    group_.clear();
    const DeviceSet usable = UsableFor(units_[i]);
    for (size_t j = i; j < count; ++j) {
      if (j > i && (j >= 64 || (done >> j & 1) != 0)) continue;
      if (OptionOf(units_[j]).use != use || UsableFor(units_[j]) != usable) continue;
      // Sets without GPUs may be equal although the tables differ; they serve nobody.
      if (OptionOf(units_[j]).gpus != OptionOf(units_[i]).gpus) continue;
      group_.push_back(j);
      if (j < 64) done |= uint64_t{1} << j;
    }
    if (!ServeGroup(group_)) return false;
  }
  return true;
}

bool DevicePlanner::ServeGroup(absl::Span<const size_t> units) {
  const Unit& first = units_[units[0]];
  if (units.size() == 1 && first.count == 1) return ServeUnit(first);
  absl::InlinedVector<uint8_t, 8> profiles;
  absl::InlinedVector<size_t, 8> wants;  // beside profiles
  for (const size_t u : units) {
    const auto unit_count = static_cast<size_t>(units_[u].count);
    if (unit_count > size_t{kMaxMigPlacements} * kMaxDevicesPerNode) return false;
    profiles.insert(profiles.end(), unit_count, OptionOf(units_[u]).profile);
    wants.insert(wants.end(), unit_count, units_[u].want);
  }
  const GpuUse use = OptionOf(first).use;
  DeviceGrants grants;
  if (!RulesFor(OptionOf(first))
           .OnNodeAll(view_.gpu_states(), UsableFor(first), profiles, last_gpu_, &grants)) {
    return false;
  }
  for (size_t i = 0; i < grants.size(); ++i) {
    GiveInstance(wants[i], use, grants[i].device, grants[i].placement);
  }
  return true;
}

DeviceSet DevicePlanner::UsableFor(const Unit& unit) const {
  if (OptionOf(unit).use == GpuUse::kInside) {
    return TargetGpus(wants_[unit.want]) & OptionOf(unit).gpus;
  }
  return view_.cuttable() & EligibleFor(unit);
}

const HeldDevices* DevicePlanner::TargetOf(const ClaimWant& want) const {
  if (want.tied_to >= 0) return &plans_[static_cast<size_t>(want.tied_to)].devices;
  return want.tied_has != nullptr && want.tied_node == id_ ? want.tied_has : nullptr;
}

DeviceSet DevicePlanner::TargetGpus(const ClaimWant& want) const {
  const HeldDevices* target = TargetOf(want);
  DeviceSet gpus;
  if (target == nullptr) return gpus;
  for (const HeldDevice& device : *target) {
    if (device.use == GpuUse::kWhole) gpus.Add(device.gpu);
  }
  return gpus;
}

// --- Parts, virtual functions, compute instances. ---

// GPUs with room for one more unit of the claim.
DeviceSet DevicePlanner::PartCandidates(const Unit& unit) const {
  const DeviceOption& option = OptionOf(unit);
  const DeviceSet same = option.use == GpuUse::kPart ? view_.parted : view_.functions;
  DeviceSet gpus = (view_.free() | (same - (view_.whole | view_.cut))) & EligibleFor(unit);
  gpus -= option.use == GpuUse::kPart ? view_.functions : view_.parted;
  if (wants_[unit.want].request->apart) {
    for (const HeldDevice& device : plans_[unit.want].devices) gpus.Remove(device.gpu);
  }
  for (const size_t gpu : gpus) {
    const bool fits =
        view_.milli_used[gpu] + option.milli <= kDeviceMilli &&
        (option.memory_mib == 0 ||
         int64_t{view_.memory_used[gpu]} + option.memory_mib <= view_.kind->of(gpu).memory_mib);
    if (!fits) gpus.Remove(gpu);
  }
  return gpus;
}

// Packed: the fullest GPU.
size_t DevicePlanner::PreferredForPart(DeviceSet gpus) const {
  size_t best = gpus.First();
  if (!rules_.packed) return best;
  for (const size_t gpu : gpus) {
    if (view_.milli_used[gpu] > view_.milli_used[best]) best = gpu;
  }
  return best;
}

bool DevicePlanner::ServeParts() {
  int steps = 0;
  return TryParts(0, 0, &steps);
}

// Places the units from `unit` on, of the first one only the devices from `from` on.
bool DevicePlanner::TryParts(size_t unit, int32_t from, int* steps) {
  if (unit == units_.size()) return true;
  const Unit& now = units_[unit];
  const DeviceOption& option = OptionOf(now);
  if ((option.use != GpuUse::kPart && option.use != GpuUse::kFunction) || from == now.count) {
    return TryParts(unit + 1, 0, steps);
  }
  DeviceSet gpus = PartCandidates(now);
  while (!gpus.empty() && (*steps)++ < kMostSteps) {
    const size_t gpu = PreferredForPart(gpus);
    gpus.Remove(gpu);
    const bool was_free = view_.free().Contains(gpu);
    GivePart(now, gpu);
    if (TryParts(unit, from + 1, steps)) return true;
    plans_[now.want].devices.pop_back();
    view_.milli_used[gpu] = static_cast<int16_t>(view_.milli_used[gpu] - option.milli);
    view_.memory_used[gpu] -= option.memory_mib;
    if (!was_free) continue;
    (option.use == GpuUse::kPart ? view_.parted : view_.functions).Remove(gpu);
  }
  return false;
}

bool DevicePlanner::ServeCompute(const Unit& unit) {
  const HeldDevices* target = TargetOf(wants_[unit.want]);
  if (target == nullptr) return false;
  const DeviceOption& option = OptionOf(unit);
  for (const HeldDevice& device : *target) {
    if (!device.is_instance() || !option.gpus.Contains(device.gpu)) continue;
    const MigTable& table = *view_.kind->of(device.gpu).table;
    const uint8_t profile = table.placements()[device.placement].profile;
    const int slices = table.profiles()[profile].compute_slices;
    const bool same = option.profile == kAnyProfile || option.profile == profile;
    const int wanted = option.slices == 0 ? slices : option.slices;
    if (!same || view_.slices_used(device.gpu, device.placement) + wanted > slices) continue;
    Give(unit.want,
         {GpuUse::kCompute, device.gpu, device.placement, static_cast<uint8_t>(wanted), 0, 0});
    return true;
  }
  return false;
}

// --- Giving devices. ---

void DevicePlanner::Give(size_t want, const HeldDevice& device) {
  view_.Take(device);
  plans_[want].devices.push_back(device);
}

void DevicePlanner::GiveWhole(size_t want, DeviceSet gpus) {
  for (const size_t gpu : gpus) {
    HeldDevice device;
    device.gpu = static_cast<uint8_t>(gpu);
    Give(want, device);
  }
}

void DevicePlanner::GivePart(const Unit& unit, size_t gpu) {
  const DeviceOption& option = OptionOf(unit);
  HeldDevice device;
  device.use = option.use;
  device.gpu = static_cast<uint8_t>(gpu);
  device.milli = option.milli;
  device.memory_mib = option.memory_mib;
  Give(unit.want, device);
}

void DevicePlanner::GiveInstance(size_t want, GpuUse use, size_t gpu, uint8_t placement) {
  HeldDevice device;
  device.use = use;
  device.gpu = static_cast<uint8_t>(gpu);
  device.placement = placement;
  Give(want, device);
  last_gpu_ = static_cast<int32_t>(gpu);
}

}  // namespace drasim
