// Definitions beyond those in device_report.h:
//   * A pod counts from its reservation on, once it has devices; before its node has given it any,
//     it counts for nothing.
//   * Granted compute of a part, rounded down part by part: for a MIG instance its compute slices
//     in milli of the GPU's (1 of 7: 142), for a share or replica its milli, for an instance's
//     replica the instance's compute in proportion.
//   * Granted memory likewise: the instance's, or the GPU's in proportion. Only pods with a known
//     demand and known memory of all parts count; each adds what it has beyond its demand.
//   * A GPU without a static layout whose model supports MIG may take any instance, unless
//     something else is on it. One with a static layout takes instances of its layout only.
//   * On a node that cannot take the smallest pod, all free compute is stranded as well.
#include "sim/record/device_report.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "absl/container/btree_map.h"
#include "absl/container/inlined_vector.h"
#include "model/check.h"
#include "model/device_grant.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"

namespace drasim {
namespace {

// In the order of the integrals; slot_fragmentation follows.
constexpr int64_t DeviceAmounts::*kFields[] = {&DeviceAmounts::capacity,
                                               &DeviceAmounts::held,
                                               &DeviceAmounts::wanted,
                                               &DeviceAmounts::waste,
                                               &DeviceAmounts::shortfall,
                                               &DeviceAmounts::waste_memory_mib,
                                               &DeviceAmounts::granted_memory_mib,
                                               &DeviceAmounts::free,
                                               &DeviceAmounts::stranded_geometry,
                                               &DeviceAmounts::stranded_layout,
                                               &DeviceAmounts::stranded_other,
                                               &DeviceAmounts::compute_capacity,
                                               &DeviceAmounts::compute_stranded};
constexpr size_t kFieldCount = std::size(kFields);

// A node's slot fragmentation is a multiple of 1/kSlotSteps milli. Sums and differences of such
// multiples are exact in a double (up to eight million GPUs), so the sum over nodes does not depend
// on the order of its changes.
constexpr double kSlotSteps = 1048576;

constexpr int64_t kUnknownMemory = -1;

// One GPU of a node and its use.
struct Gpu {
  const MigTable* table = nullptr;  // null: no MIG
  StaticLayout layout;
  MigState instances = 0;    // held by pods
  bool takes_mig = false;    // nothing on it but instances that it may have
  int16_t idle_milli = 0;    // for shares and whole GPUs
  int64_t held = 0;          // milli
  int64_t held_compute = 0;  // thousandths of a compute slice

  // Without MIG, the GPU counts as one slice.
  int64_t slices() const { return table == nullptr ? 1 : table->product().compute_slices; }
  int64_t free() const { return kDeviceMilli - held; }
  int64_t free_compute() const { return (kDeviceMilli * slices() - held_compute) / slices(); }
};
using Gpus = absl::InlinedVector<Gpu, 8>;

// Leaves out the held amounts.
Gpus GpusOf(const ClusterState& cluster, NodeId node, const LayoutLookup& layout) {
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  Gpus gpus(idle.size());
  for (size_t d = 0; d < gpus.size(); ++d) {
    Gpu& gpu = gpus[d];
    gpu.idle_milli = idle[d];
    const MigTable* const table = cluster.mig_table(node, d);
    if (table == nullptr) continue;
    gpu.table = table;
    gpu.instances = cluster.device_mig(node)[d];
    gpu.takes_mig = cluster.mig_usable(node).Contains(d);
    if (layout) gpu.layout = layout(node, d);
    if (!gpu.layout.enabled) continue;
    DRASIM_CHECK_LT(size_t{gpu.layout.state}, table->states());
    // Instances outside the present layout block the GPU until their pods are gone.
    if ((table->set(gpu.instances) & ~table->set(gpu.layout.state)) != 0) gpu.takes_mig = false;
  }
  return gpus;
}

// The pod's parts of devices, chosen by the scheduler or the node.
void PartsOf(const ClusterState& cluster, PodId pod, DeviceGrants* parts) {
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(pod);
  parts->assign(grants.begin(), grants.end());
  if (!parts->empty()) return;
  const auto milli = static_cast<int16_t>(cluster.pod_shape(pod).request.gpu_milli);
  for (const size_t device : cluster.pod_devices(pod)) {
    parts->push_back({static_cast<uint8_t>(device), kNoPlacement, milli});
  }
}

const MigProfile& ProfileOf(const MigTable& table, const DeviceGrant& part) {
  return table.profiles()[table.placements()[part.placement].profile];
}

// The instance's amount; the part may be one replica of it.
int64_t InstanceMilli(const MigTable& table, const DeviceGrant& part) {
  return MilliOfUnits(ProfileOf(table, part).size, table.product().units);
}

int64_t GrantedCompute(const MigTable* table, const DeviceGrant& part) {
  if (part.placement == kNoPlacement) return part.milli;
  const int64_t whole = int64_t{kDeviceMilli} * ProfileOf(*table, part).compute_slices /
                        table->product().compute_slices;
  return whole * part.milli / InstanceMilli(*table, part);
}

// Without a public listing of the memory, the size in the profile's name counts.
int64_t MemoryMib(int64_t mib, int64_t nominal_gb) {
  if (mib >= 0) return mib;
  return nominal_gb > 0 ? nominal_gb * 1024 : kUnknownMemory;
}

int64_t GrantedMemoryMib(const MigTable* table, const DeviceGrant& part) {
  if (table == nullptr) return kUnknownMemory;
  const bool instance = part.placement != kNoPlacement;
  const int64_t whole =
      instance ? MemoryMib(ProfileOf(*table, part).memory_mib, ProfileOf(*table, part).nominal_gb)
               : MemoryMib(table->product().memory_mib, table->product().memory_nominal_gb);
  if (whole == kUnknownMemory) return kUnknownMemory;
  return whole * part.milli / (instance ? InstanceMilli(*table, part) : kDeviceMilli);
}

void AddPod(const PodShape& shape, const DeviceGrants& parts, const Gpus& gpus,
            DeviceAmounts* amounts) {
  int64_t compute = 0;
  int64_t memory_mib = 0;
  bool counts_memory = shape.demand.memory_mib > 0;
  for (const DeviceGrant& part : parts) {
    const MigTable* const table = gpus[part.device].table;
    amounts->held += part.milli;
    compute += GrantedCompute(table, part);
    if (!counts_memory) continue;
    const int64_t granted = GrantedMemoryMib(table, part);
    counts_memory = granted != kUnknownMemory;
    memory_mib += granted;
  }
  const int64_t wanted = shape.wanted_gpu_milli();
  amounts->wanted += wanted;
  amounts->waste += std::max<int64_t>(compute - wanted, 0);
  amounts->shortfall += std::max<int64_t>(wanted - compute, 0);
  if (!counts_memory) return;
  amounts->granted_memory_mib += memory_mib;
  amounts->waste_memory_mib += std::max<int64_t>(memory_mib - shape.demand.memory_mib, 0);
}

void AddPart(const DeviceGrant& part, Gpu* gpu) {
  gpu->held += part.milli;
  if (part.placement == kNoPlacement) {
    gpu->held_compute += part.milli * gpu->slices();
    return;
  }
  gpu->held_compute += int64_t{kDeviceMilli} * ProfileOf(*gpu->table, part).compute_slices *
                       part.milli / InstanceMilli(*gpu->table, part);
}

struct Stranded {
  int64_t geometry = 0;  // milli of units
  int64_t layout = 0;
  int64_t compute = 0;  // milli of compute slices
};

// The part of the GPU that is lost whatever else the node has.
Stranded StrandedOf(const Gpu& gpu) {
  Stranded s;
  if (!gpu.takes_mig) return s;
  const MigTable& table = *gpu.table;
  const MigState state = gpu.layout.enabled ? gpu.layout.state : gpu.instances;
  const int64_t units = table.product().units;
  const int64_t usable = table.usable_units(state);
  s.geometry = kDeviceMilli * (table.free_units(state) - usable) / units;
  int64_t compute = table.free_compute(state);
  if (gpu.layout.enabled) {
    s.layout = kDeviceMilli * usable / units;
  } else {
    compute -= table.usable_compute(state);
  }
  s.compute = kDeviceMilli * compute / gpu.slices();
  return s;
}

// The number of further instances of the profile that fit the GPU.
int64_t MoreOf(const Gpu& gpu, size_t profile) {
  if (!gpu.takes_mig) return 0;
  if (!gpu.layout.enabled) return gpu.table->more(gpu.instances, profile);
  const uint64_t free = gpu.table->set(gpu.layout.state) & ~gpu.table->set(gpu.instances);
  return std::popcount(free & gpu.table->placements_of(profile));
}

bool WantsGpu(const TypicalRequest& request) {
  return !request.mig_profile.empty() || request.whole_gpus > 0 || request.share_milli > 0;
}

// Free milli of the node, out of `free`, that the request cannot use.
int64_t SlotFragment(const TypicalRequest& request, const NodeRow& row, const Gpus& gpus,
                     int64_t free) {
  if (!WantsGpu(request) || row.cpu_milli_idle < request.cpu_milli ||
      row.memory_bytes_idle < request.memory_bytes) {
    return free;
  }
  const bool instance = !request.mig_profile.empty();
  const int32_t per_gpu = request.whole_gpus > 0 ? kDeviceMilli : request.share_milli;
  const MigTable* table = nullptr;
  int profile = -1;  // in that table
  int32_t serving = 0;
  int64_t others_free = 0;
  for (const Gpu& gpu : gpus) {
    // Most nodes have GPUs of one model.
    if (instance && gpu.table != table) {
      table = gpu.table;
      profile = table == nullptr ? -1 : table->FindProfile(request.mig_profile);
    }
    const bool serves = instance ? profile >= 0 && MoreOf(gpu, static_cast<size_t>(profile)) > 0
                                 : !gpu.layout.enabled && gpu.idle_milli >= per_gpu;
    serving += serves ? 1 : 0;
    others_free += serves ? 0 : gpu.free();
  }
  const int32_t needed = instance ? 1 : std::max(request.whole_gpus, 1);
  return serving < needed ? free : others_free;
}

// Exceeds int64 when the run spans more than half of the range of time.
double LengthNs(SimTime from, SimTime to) {
  return static_cast<double>(static_cast<uint64_t>(to.ns()) - static_cast<uint64_t>(from.ns()));
}

void Add(const DeviceAmounts& part, int sign, DeviceAmounts* sums) {
  for (const auto field : kFields) sums->*field += sign * (part.*field);
  sums->slot_fragmentation += sign * part.slot_fragmentation;
}

// True when the record removes a pod from a node that rejected it or another pod of its job.
bool TurnedAway(const Record& record) {
  if (record.kind == RecordKind::kPodRejected) return true;
  return (record.kind == RecordKind::kPodEvicted || record.kind == RecordKind::kPodFailed) &&
         record.detail == static_cast<uint32_t>(EvictionCause::kTurnedAway);
}

// True when the record removes a pod from a node that admitted it.
bool HasRun(const Record& record) {
  const bool left = record.kind == RecordKind::kPodFinished ||
                    record.kind == RecordKind::kPodEvicted ||
                    record.kind == RecordKind::kPodFailed || record.kind == RecordKind::kPodDeleted;
  return left && record.node.valid() && !TurnedAway(record);
}

}  // namespace

DeviceReport::DeviceReport(const ClusterState& cluster, std::vector<TypicalRequest> typical,
                           LayoutLookup layout)
    : cluster_(&cluster),
      typical_(std::move(typical)),
      layout_(std::move(layout)),
      of_node_(cluster.node_count()) {
  static_assert(kFieldCount + 1 <= std::tuple_size_v<decltype(integrals_)>);
  bool first = true;
  for (const TypicalRequest& t : typical_) {
    if (!WantsGpu(t)) continue;
    smallest_cpu_milli_ = first ? t.cpu_milli : std::min(smallest_cpu_milli_, t.cpu_milli);
    smallest_memory_bytes_ =
        first ? t.memory_bytes : std::min(smallest_memory_bytes_, t.memory_bytes);
    first = false;
  }
  for (size_t n = 0; n < of_node_.size(); ++n) Update(NodeId(n));
}

DeviceAmounts DeviceReport::AmountsOf(NodeId node) const {
  DeviceAmounts a;
  const NodeRow& row = cluster_->node(node);
  if (!row.available || row.gpu_count == 0) return a;
  a.capacity = int64_t{kDeviceMilli} * row.gpu_count;
  a.compute_capacity = a.capacity;
  Gpus gpus = GpusOf(*cluster_, node, layout_);
  DeviceGrants parts;
  for (PodId pod : cluster_->pods_on(node)) {
    PartsOf(*cluster_, pod, &parts);
    if (parts.empty()) continue;
    AddPod(cluster_->pod_shape(pod), parts, gpus, &a);
    for (const DeviceGrant& part : parts) AddPart(part, &gpus[part.device]);
  }
  const bool blocked = row.cpu_milli_idle < smallest_cpu_milli_ ||
                       row.memory_bytes_idle < smallest_memory_bytes_ || row.pods_idle < 1;
  for (const Gpu& gpu : gpus) {
    const Stranded stranded = StrandedOf(gpu);
    a.free += gpu.free();
    a.stranded_geometry += stranded.geometry;
    a.stranded_layout += stranded.layout;
    if (blocked) a.stranded_other += gpu.free() - stranded.geometry - stranded.layout;
    a.compute_stranded += blocked ? gpu.free_compute() : stranded.compute;
  }
  double slots = 0;
  for (const TypicalRequest& t : typical_) {
    slots += t.weight * static_cast<double>(SlotFragment(t, row, gpus, a.free));
  }
  a.slot_fragmentation = static_cast<double>(std::llround(slots * kSlotSteps)) / kSlotSteps;
  return a;
}

void DeviceReport::Update(NodeId node) {
  DeviceAmounts& counted = of_node_[node.value()];
  Add(counted, -1, &sums_);
  counted = AmountsOf(node);
  Add(counted, +1, &sums_);
}

void DeviceReport::Advance(SimTime to) {
  if (!started_) {
    started_ = true;
    first_ = to;
    since_ = to;
  }
  DRASIM_CHECK(to >= since_);
  const double length = LengthNs(since_, to);
  since_ = to;
  for (size_t i = 0; i < kFieldCount; ++i) {
    integrals_[i] += static_cast<double>(sums_.*kFields[i]) * length;
  }
  integrals_[kFieldCount] += sums_.slot_fragmentation * length;
}

void DeviceReport::OnRecord(const Record& record, const ClusterState& cluster) {
  Advance(record.time);
  if (IsConflict(record)) return;  // the pod has held nothing
  if (record.pod.valid()) {
    const size_t pod = record.pod.value();
    if (accepted_.size() <= pod) accepted_.resize(cluster.pod_count());
    const int64_t asked = cluster.pod_shape(record.pod).request.total_gpu_milli();
    if (record.kind == RecordKind::kPodArrived) {
      arrived_milli_ += asked;
      ++arrived_pods_;
    }
    // Admission cannot be foreseen, so a pod counts while it is bound, and for good when it leaves
    // other than by a rejection.
    if (!accepted_[pod]) {
      const int sign =
          (record.kind == RecordKind::kPodBound ? 1 : 0) - (TurnedAway(record) ? 1 : 0);
      accepted_milli_ += sign * asked;
      accepted_pods_ += sign;
    }
    if (HasRun(record)) accepted_[pod] = true;
  }
  if (record.kind == RecordKind::kPodRejected) {
    const uint32_t failure = record.detail & ~kGivenUp;
    DRASIM_CHECK_LE(failure, kLastDeviceFailure);
    ++failures_[failure];
  }
  if (record.node.valid()) Update(record.node);
}

DeviceAmounts DeviceReport::Mean(SimTime end) const {
  const SimTime to = std::max(end, since_);
  if (!started_ || to == first_) return sums_;
  const double length = LengthNs(first_, to);
  const double rest = LengthNs(since_, to);
  DeviceAmounts mean;
  for (size_t i = 0; i < kFieldCount; ++i) {
    const double last = static_cast<double>(sums_.*kFields[i]) * rest;
    mean.*kFields[i] = std::llround((integrals_[i] + last) / length);
  }
  mean.slot_fragmentation = (integrals_[kFieldCount] + sums_.slot_fragmentation * rest) / length;
  return mean;
}

std::vector<std::pair<std::string, int64_t>> DeviceReport::MoreThatFit() const {
  absl::btree_map<std::string, int64_t> more;
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const NodeId node(n);
    if (!cluster_->has_mig(node) || !cluster_->node(node).available) continue;
    for (const Gpu& gpu : GpusOf(*cluster_, node, layout_)) {
      if (gpu.table == nullptr) continue;
      for (size_t p = 0; p < gpu.table->profiles().size(); ++p) {
        more[gpu.table->profiles()[p].name] += MoreOf(gpu, p);
      }
    }
  }
  return {more.begin(), more.end()};
}

int64_t DeviceReport::admission_failures() const {
  int64_t sum = 0;
  for (int64_t count : failures_) sum += count;
  return sum;
}

void DeviceReport::Save(StateWriter& out) const {
  out.Section("devices");
  for (int64_t count : failures_) out.I64(count);
  out.U64(accepted_.size());
  for (bool accepted : accepted_) out.Bool(accepted);
  out.I64(accepted_milli_);
  out.I64(accepted_pods_);
  out.I64(arrived_pods_);
  out.I64(arrived_milli_);
  out.Bool(started_);
  out.I64(since_.ns());
  out.I64(first_.ns());
  for (double integral : integrals_) out.F64(integral);
}

absl::Status DeviceReport::Load(StateReader& in) {
  in.Section("devices");
  for (int64_t& count : failures_) count = in.I64();
  const size_t pods = in.Count();
  if (pods > cluster_->pod_count()) in.Fail("the device report knows pods that are not there");
  accepted_.clear();
  for (size_t i = 0; i < pods && in.status().ok(); ++i) accepted_.push_back(in.Bool());
  accepted_milli_ = in.I64();
  accepted_pods_ = in.I64();
  arrived_pods_ = in.I64();
  arrived_milli_ = in.I64();
  started_ = in.Bool();
  since_ = SimTime(in.I64());
  first_ = SimTime(in.I64());
  for (double& integral : integrals_) integral = in.F64();
  if (since_ < first_) in.Fail("the averages over devices end before they begin");
  for (size_t n = 0; n < of_node_.size(); ++n) Update(NodeId(n));
  return in.status();
}

}  // namespace drasim
