#include "sim/control/mig_manager.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "model/check.h"
#include "model/mig_layout.h"
#include "model/mig_table.h"

namespace drasim {
namespace {

constexpr int kGenerationBits = 32;
constexpr int kNodeBits = 24;

SimDuration Times(SimDuration each, int64_t count) {
  int64_t product = 0;
  if (__builtin_mul_overflow(each.ns(), count, &product)) {
    product = std::numeric_limits<int64_t>::max();
  }
  return SimDuration(product);
}

bool Differs(const PluginGpu& gpu, const GpuLayout& layout) {
  if (gpu.mig_enabled != layout.mig_enabled) return true;
  if (!gpu.mig_enabled || gpu.layout == layout.state) return false;
  return MultisetOf(*gpu.table, gpu.layout) != MultisetOf(*gpu.table, layout.state);
}

int64_t InstanceCount(const PluginGpu& gpu) {
  return gpu.mig_enabled ? std::popcount(gpu.table->set(gpu.layout)) : 0;
}

void Apply(const GpuLayout& layout, PluginGpu* gpu) {
  gpu->mig_enabled = layout.mig_enabled;
  gpu->layout = layout.mig_enabled ? layout.state : MigState{0};
}

GpuLayout LayoutOf(const MigTable& table, const NodeLayout& layout) {
  GpuLayout made;
  if (!layout.mig_enabled) return made;
  made.mig_enabled = true;
  const PermutationSearch search = ApplyByPermutations(table, layout.counts);
  made.state = search.state;
  made.created = search.created;
  made.destroyed = search.destroyed;
  if (made.state != kNoMigState) return made;
  // No order of creation leads there, but a driver that is told the starts gets there at once.
  made.state = FindLayout(table, layout.counts);
  DRASIM_CHECK_NE(made.state, kNoMigState);
  made.created += std::popcount(table.set(made.state));
  return made;
}

// Units of the demand that the present layouts of the GPUs serve.
int64_t UnitsServed(const MigTable& table, const std::vector<PluginGpu>& gpus,
                    const MigDemand& pending) {
  std::vector<int64_t> instances(table.profiles().size());
  int64_t whole_gpus = 0;
  for (const PluginGpu& gpu : gpus) {
    if (!gpu.healthy) continue;
    if (!gpu.mig_enabled) {
      ++whole_gpus;
      continue;
    }
    const MigMultiset counts = MultisetOf(table, gpu.layout);
    for (size_t p = 0; p < counts.size(); ++p) instances[p] += counts[p];
  }
  int64_t units = std::min(whole_gpus, pending.whole_gpus) * table.product().units;
  for (size_t p = 0; p < instances.size(); ++p) {
    units += std::min(instances[p], pending.instances[p]) * table.profiles()[p].size;
  }
  return units;
}

void SaveLayouts(const std::vector<GpuLayout>& layouts, StateWriter& out) {
  out.U64(layouts.size());
  for (const GpuLayout& layout : layouts) {
    out.Bool(layout.mig_enabled);
    out.U64(layout.state);
    out.I64(layout.created);
    out.I64(layout.destroyed);
  }
}

// Whether the GPU can have the layout. Without MIG the state says nothing.
bool Possible(const PluginGpu& gpu, bool mig_enabled, uint64_t state) {
  return !mig_enabled || (gpu.table != nullptr && state < gpu.table->states());
}

void LoadLayouts(StateReader& in, const std::vector<PluginGpu>& gpus,
                 std::vector<GpuLayout>* layouts) {
  const size_t count = in.Count();
  if (count != 0 && count != gpus.size()) return in.Fail("a layout is for other GPUs");
  layouts->assign(count, GpuLayout());
  for (size_t g = 0; g < count; ++g) {
    GpuLayout& layout = (*layouts)[g];
    layout.mig_enabled = in.Bool();
    const uint64_t state = in.U64();
    layout.created = static_cast<int32_t>(in.I64());
    layout.destroyed = static_cast<int32_t>(in.I64());
    if (!Possible(gpus[g], layout.mig_enabled, state)) return in.Fail("a layout is not possible");
    layout.state = static_cast<MigState>(state);
  }
}

}  // namespace

uint64_t FrontEndTimer::Token() const {
  const uint64_t where = static_cast<uint64_t>(purpose) << kNodeBits | node.value();
  return where << kGenerationBits | generation;
}

FrontEndTimer FrontEndTimer::Of(uint64_t token) {
  FrontEndTimer timer;
  timer.generation = static_cast<uint32_t>(token);
  timer.node = NodeId(static_cast<uint32_t>(token >> kGenerationBits & (kMostNodes - 1)));
  timer.purpose = static_cast<Purpose>(token >> (kGenerationBits + kNodeBits));
  return timer;
}

MigManager::MigManager(const MigManagerOptions& options, SimDuration device_release,
                       Clients* clients)
    : options_(options), device_release_(device_release), clients_(clients) {}

void MigManager::AddNode(std::vector<PluginGpu> gpus) {
  DRASIM_CHECK_LT(nodes_.size(), FrontEndTimer::kMostNodes);
  for (const PluginGpu& gpu : gpus) {
    DRASIM_CHECK(Possible(gpu, gpu.mig_enabled, gpu.layout));
  }
  Node node;
  node.gpus = std::move(gpus);
  nodes_.push_back(std::move(node));
}

void MigManager::Enter(NodeId id, Phase phase) {
  nodes_[id.value()].phase = phase;
  ++nodes_[id.value()].generation;
}

void MigManager::Arm(NodeId id, SimTime at) {
  FrontEndTimer timer;
  timer.purpose = FrontEndTimer::Purpose::kMigManager;
  timer.node = id;
  timer.generation = nodes_[id.value()].generation;
  control_->ArmNodeTimer(at, timer.Token());
}

void MigManager::Wish(NodeId id, const std::vector<GpuLayout>& layout, SimTime now) {
  Node& node = nodes_[id.value()];
  if (node.gpus.empty()) return;
  DRASIM_CHECK_EQ(layout.size(), node.gpus.size());
  if (node.phase != Phase::kIdle) {
    node.wish = layout;
    return;
  }
  DeviceSet changing;
  for (size_t g = 0; g < layout.size(); ++g) {
    DRASIM_CHECK(Possible(node.gpus[g], layout[g].mig_enabled, layout[g].state));
    if (Differs(node.gpus[g], layout[g])) changing.Add(g);
  }
  if (changing.empty()) return;
  node.changing = changing;
  node.target = layout;
  node.begun = now;
  Enter(id, Phase::kPausing);
  Arm(id, AddSaturating(now, options_.pause_clients));
  control_->RecordDevices(id, changing, DeviceChangeKind::kLayoutBegun);
  clients_->Pause(id, now);
}

// Nothing becomes idle before the devices are released, and never while the engine is still taking
// the pod away; so a timer looks after them, also when the release takes no time.
void MigManager::Removed(NodeId id, SimTime now) {
  Node& node = nodes_[id.value()];
  if (node.gpus.empty()) return;
  const SimTime free_at = AddSaturating(now, device_release_);
  if (node.phase == Phase::kDraining) Arm(id, free_at);
  if (device_release_ <= SimDuration()) return;
  // A change that begins within the release must handle these devices, too.
  std::vector<SimTime>& releases = node.releases;
  size_t past = 0;
  while (past < releases.size() && releases[past] <= now) ++past;
  releases.erase(releases.begin(), releases.begin() + static_cast<std::ptrdiff_t>(past));
  if (releases.empty() || releases.back() < free_at) releases.push_back(free_at);
}

void MigManager::OnTimer(NodeId id, uint32_t generation, SimTime now) {
  DRASIM_CHECK_LT(id.value(), nodes_.size());
  const Node& node = nodes_[id.value()];
  if (generation != node.generation) return;
  switch (node.phase) {
    case Phase::kIdle:
      break;
    case Phase::kPausing:
      Drain(id, now);
      break;
    case Phase::kDraining:
      ResetIfIdle(id, now);
      break;
    case Phase::kResetting:
      Make(id, now);
      break;
    case Phase::kMaking:
      Made(id, now);
      break;
    case Phase::kRestarting:
      Finish(id, now);
      break;
  }
}

void MigManager::Drain(NodeId id, SimTime now) {
  const Node& node = nodes_[id.value()];
  Enter(id, Phase::kDraining);
  for (const SimTime at : node.releases) {
    if (at > now) Arm(id, at);
  }
  if (options_.evict) control_->EvictHolders(id, node.changing);
  ResetIfIdle(id, now);
}

void MigManager::ResetIfIdle(NodeId id, SimTime now) {
  const Node& node = nodes_[id.value()];
  bool reset = false;
  for (size_t g = 0; g < node.gpus.size(); ++g) {
    if (!node.changing.Contains(g)) continue;
    if (clients_->InUse(id, static_cast<uint32_t>(g), now)) return;
    reset |= node.gpus[g].mig_enabled != node.target[g].mig_enabled;
  }
  if (!reset) return Make(id, now);
  Enter(id, Phase::kResetting);
  Arm(id, AddSaturating(now, options_.reset));
}

void MigManager::Make(NodeId id, SimTime now) {
  const Node& node = nodes_[id.value()];
  int64_t created = 0;
  int64_t destroyed = 0;
  for (size_t g = 0; g < node.gpus.size(); ++g) {
    if (!node.changing.Contains(g)) continue;
    created += node.target[g].created;
    destroyed += InstanceCount(node.gpus[g]) + node.target[g].destroyed;
  }
  Enter(id, Phase::kMaking);
  const SimTime destroyed_at = AddSaturating(now, Times(options_.destroy_instance, destroyed));
  Arm(id, AddSaturating(destroyed_at, Times(options_.create_instance, created)));
}

void MigManager::Made(NodeId id, SimTime now) {
  Node& node = nodes_[id.value()];
  for (size_t g = 0; g < node.gpus.size(); ++g) {
    if (node.changing.Contains(g)) Apply(node.target[g], &node.gpus[g]);
  }
  Enter(id, Phase::kRestarting);
  Arm(id, AddSaturating(now, options_.restart_clients));
  control_->RecordDevices(id, node.changing, DeviceChangeKind::kLayoutChanged);
}

void MigManager::Finish(NodeId id, SimTime now) {
  Node& node = nodes_[id.value()];
  Enter(id, Phase::kIdle);
  node.changing = DeviceSet();
  node.target.clear();
  ++finished_;
  gpu_ns_ += absl::uint128(static_cast<uint64_t>((now - node.begun).ns())) * node.gpus.size();
  clients_->Resume(id, now);
  const std::vector<GpuLayout> wish = std::exchange(node.wish, {});
  if (!wish.empty()) Wish(id, wish, now);
}

void MigManager::SetHealthy(NodeId node, uint32_t gpu, bool healthy) {
  nodes_[node.value()].gpus[gpu].healthy = healthy;
}

std::vector<PluginGpu> MigManager::FutureGpus(NodeId id) const {
  const Node& node = nodes_[id.value()];
  const std::vector<GpuLayout>& layout = node.wish.empty() ? node.target : node.wish;
  std::vector<PluginGpu> gpus = node.gpus;
  for (size_t g = 0; g < layout.size(); ++g) Apply(layout[g], &gpus[g]);
  return gpus;
}

bool MigManager::AnyAtWork() const {
  for (const Node& node : nodes_) {
    if (node.phase != Phase::kIdle && node.phase != Phase::kDraining) return true;
  }
  return false;
}

double MigManager::gpu_seconds() const { return static_cast<double>(gpu_ns_) * 1e-9; }

void MigManager::Save(StateWriter& out) const {
  out.Section("mig-manager");
  out.I64(finished_);
  out.U64(absl::Uint128High64(gpu_ns_));
  out.U64(absl::Uint128Low64(gpu_ns_));
  out.U64(nodes_.size());
  for (const Node& node : nodes_) {
    for (const PluginGpu& gpu : node.gpus) {
      out.Bool(gpu.mig_enabled);
      out.U64(gpu.layout);
      out.Bool(gpu.healthy);
    }
    out.U64(static_cast<uint64_t>(node.phase));
    out.U64(node.generation);
    out.U64(node.changing.bits());
    out.I64(node.begun.ns());
    SaveLayouts(node.target, out);
    SaveLayouts(node.wish, out);
    out.U64(node.releases.size());
    for (const SimTime at : node.releases) out.I64(at.ns());
  }
}

absl::Status MigManager::Load(StateReader& in) {
  in.Section("mig-manager");
  finished_ = in.I64();
  const uint64_t high = in.U64();
  const uint64_t low = in.U64();
  gpu_ns_ = absl::MakeUint128(high, low);
  if (in.U64() != nodes_.size()) in.Fail("the number of nodes is another");
  for (Node& node : nodes_) {
    if (!in.status().ok()) break;
    LoadNode(in, &node);
  }
  return in.status();
}

void MigManager::LoadNode(StateReader& in, Node* node) {
  for (PluginGpu& gpu : node->gpus) {
    gpu.mig_enabled = in.Bool();
    const uint64_t layout = in.U64();
    gpu.healthy = in.Bool();
    if (!Possible(gpu, gpu.mig_enabled, layout)) return in.Fail("a GPU's layout is not possible");
    gpu.layout = static_cast<MigState>(layout);
  }
  const uint64_t phase = in.U64();
  if (phase > kLastPhase) return in.Fail("a change of layout is in no known phase");
  node->phase = static_cast<Phase>(phase);
  node->generation = static_cast<uint32_t>(in.U64());
  node->changing = DeviceSet::FromBits(in.U64());
  node->begun = SimTime(in.I64());
  LoadLayouts(in, node->gpus, &node->target);
  LoadLayouts(in, node->gpus, &node->wish);
  if (node->target.empty() != (node->phase == Phase::kIdle)) {
    in.Fail("a layout is being made on no node, or none on one that changes");
  }
  node->releases.resize(in.Count());
  for (SimTime& at : node->releases) at = SimTime(in.I64());
}

std::vector<GpuLayout> LayoutChooser::Better(const MigTable& table,
                                             const std::vector<PluginGpu>& gpus,
                                             const MigDemand& pending) {
  const auto healthy =
      std::count_if(gpus.begin(), gpus.end(), [](const PluginGpu& gpu) { return gpu.healthy; });
  const BestLayout& best = Best(table, static_cast<int32_t>(healthy), pending);
  if (best.units_served <= UnitsServed(table, gpus, pending)) return {};
  std::vector<GpuLayout> layout(gpus.size(), LayoutOf(table, best.layout));
  for (size_t g = 0; g < gpus.size(); ++g) {
    if (gpus[g].healthy) continue;
    layout[g] = GpuLayout();
    layout[g].mig_enabled = gpus[g].mig_enabled;
    layout[g].state = gpus[g].layout;
  }
  return layout;
}

const BestLayout& LayoutChooser::Best(const MigTable& table, int32_t gpus,
                                      const MigDemand& pending) {
  for (const Answer& answer : answers_) {
    if (answer.table == &table && answer.gpus == gpus &&
        answer.pending.whole_gpus == pending.whole_gpus &&
        answer.pending.instances == pending.instances) {
      return answer.best;
    }
  }
  answers_.push_back({&table, gpus, pending, BestLayoutFor(table, gpus, pending)});
  return answers_.back().best;
}

}  // namespace drasim
