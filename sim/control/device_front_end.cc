#include "sim/control/device_front_end.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/status_macros.h"
#include "sim/control/mig_manager.h"

namespace drasim {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

// Amounts by column of ClusterState::extended_names().
using Amounts = std::vector<std::pair<size_t, int64_t>>;

void AddTo(const Amounts& amounts, int64_t sign, std::vector<int64_t>* sums) {
  for (const auto& [column, amount] : amounts) (*sums)[column] += sign * amount;
}

// Adds count * amount, or as much as there is room for.
void AddProduct(int64_t count, int64_t amount, int64_t* sum) {
  int64_t product = 0;
  if (__builtin_mul_overflow(count, amount, &product) ||
      __builtin_add_overflow(*sum, product, sum)) {
    *sum = std::numeric_limits<int64_t>::max();
  }
}

// A resource as the plugin advertises it.
struct Resource {
  size_t column = kNone;  // none: no node has it, so no pod can ask for it
  int64_t replicas = 1;   // of each device
};

// The resources that the plugin advertises for GPUs with this table.
struct Product {
  const MigTable* table = nullptr;  // null: no MIG
  Resource whole;
  std::vector<Resource> of_profile;
};

std::vector<KubeletDevices> KubeletDevicesOf(const std::vector<FrontEndNode>& nodes,
                                             const DevicePluginConfig& plugin) {
  std::vector<KubeletDevices> kubelets;
  kubelets.reserve(nodes.size());
  for (const FrontEndNode& node : nodes) {
    DRASIM_CHECK_EQ(node.gpu_specs.size(), node.gpus.size());
    KubeletDevices kubelet;
    kubelet.gpus = node.gpu_specs;
    for (const PluginGpu& gpu : node.gpus) kubelet.mig_tables.push_back(gpu.table);
    kubelet.others = node.others;
    kubelet.numa_nodes = node.numa_nodes;
    absl::StatusOr<std::vector<PluginResource>> resources = AdvertisedResources(node.gpus, plugin);
    DRASIM_CHECK(resources.ok());
    kubelet.resources = *std::move(resources);
    kubelets.push_back(std::move(kubelet));
  }
  return kubelets;
}

}  // namespace

struct DeviceFrontEnd::Impl : public MigManager::Clients {
  struct Node {
    std::bitset<kMaxExtendedNames> reported;  // columns that the plugin answers for
    size_t product = kNone;                   // of all its GPUs; none: they differ, or have no MIG
    // Troubles overlap, as those of whole nodes do: a fault that has begun twice must end twice.
    uint32_t plugin_gone = 0;
    std::vector<uint32_t> faults;  // by GPU
  };

  Impl(const ClusterState* cluster, DeviceFrontEndOptions options, std::vector<FrontEndNode> nodes,
       std::vector<std::vector<std::vector<GpuLayout>>> layouts);

  // MigManager::Clients
  void Pause(NodeId id, SimTime now) override;
  void Resume(NodeId id, SimTime now) override;
  bool InUse(NodeId id, uint32_t gpu, SimTime now) const override {
    return kubelets_.InUse(id, gpu, now);
  }

  Resource ResourceOf(const PluginGpu& gpu) const;
  size_t ProductOf(const MigTable* table);
  void AddNode(FrontEndNode node);

  void SetHealth(NodeId id, DeviceSet gpus, bool healthy, SimTime now);
  void SetPlugin(NodeId id, bool back, SimTime now);
  void ReportLater(NodeId id, SimTime now);
  void Report(NodeId id);

  void NoteActivity(SimTime now);
  void ArmTick(SimTime now);
  void Tick(SimTime now);
  bool InReach(NodeId id) const;
  bool MayChange(NodeId id, SimTime now) const;
  std::vector<int64_t> Demanded();
  Amounts FreeOn(NodeId id) const;
  MigDemand Pending(const Product& product, const std::vector<int64_t>& demand,
                    const std::vector<int64_t>& free) const;
  void Repartition(SimTime now);

  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

  const ClusterState* cluster_;
  DeviceFrontEndOptions options_;
  std::vector<std::vector<std::vector<GpuLayout>>> layouts_;
  absl::flat_hash_map<std::string, size_t> columns_;
  std::vector<Product> products_;
  bool repartitions_ = false;
  NodeControl* control_ = nullptr;

  DeviceKubelet kubelets_;
  MigManager manager_;
  std::vector<Node> nodes_;
  bool tick_armed_ = false;
  bool activity_ = false;   // since the last tick
  uint32_t tick_ = 0;       // generation
  uint64_t jobs_seen_ = 0;  // by the last tick

  size_t first_job_ = 0;  // all jobs before it have ended; not saved, but found again after a Load
};

DeviceFrontEnd::Impl::Impl(const ClusterState* cluster, DeviceFrontEndOptions options,
                           std::vector<FrontEndNode> nodes,
                           std::vector<std::vector<std::vector<GpuLayout>>> layouts)
    : cluster_(cluster),
      options_(std::move(options)),
      layouts_(std::move(layouts)),
      kubelets_(cluster, options_.kubelet, KubeletDevicesOf(nodes, options_.plugin)),
      manager_(options_.manager, options_.kubelet.device_release, this) {
  for (size_t e = 0; e < cluster->extended_names().size(); ++e) {
    columns_.emplace(cluster->extended_names()[e], e);
  }
  // With another strategy no resource says which instances are wanted.
  repartitions_ = options_.repartitioning.every > SimDuration() &&
                  options_.plugin.mig_strategy == MigStrategy::kMixed;
  for (FrontEndNode& node : nodes) AddNode(std::move(node));
}

// The plugin itself says how it would advertise a GPU with one device.
Resource DeviceFrontEnd::Impl::ResourceOf(const PluginGpu& gpu) const {
  Resource resource;
  const absl::StatusOr<std::vector<PluginResource>> advertised =
      AdvertisedResources(absl::MakeConstSpan(&gpu, 1), options_.plugin);
  if (!advertised.ok() || advertised->empty()) return resource;
  const auto column = columns_.find(advertised->front().name);
  if (column != columns_.end()) resource.column = column->second;
  resource.replicas = advertised->front().capacity();
  return resource;
}

size_t DeviceFrontEnd::Impl::ProductOf(const MigTable* table) {
  for (size_t i = 0; i < products_.size(); ++i) {
    if (products_[i].table == table) return i;
  }
  Product product;
  product.table = table;
  PluginGpu gpu;
  gpu.table = table;
  product.whole = ResourceOf(gpu);
  gpu.mig_enabled = true;
  const size_t profiles = table == nullptr ? 0 : table->profiles().size();
  for (size_t p = 0; p < profiles; ++p) {
    const auto placement = static_cast<size_t>(std::countr_zero(table->placements_of(p)));
    Resource resource;
    if (placement < table->placements().size()) {
      gpu.layout = table->Place(0, placement);
      if (gpu.layout != kNoMigState) resource = ResourceOf(gpu);
    }
    product.of_profile.push_back(resource);
  }
  products_.push_back(std::move(product));
  return products_.size() - 1;
}

void DeviceFrontEnd::Impl::AddNode(FrontEndNode node) {
  Node added;
  for (size_t g = 0; g < node.gpus.size(); ++g) {
    const size_t index = ProductOf(node.gpus[g].table);
    const Product& product = products_[index];
    added.product = g == 0 || added.product == index ? index : kNone;
    if (product.whole.column != kNone) added.reported.set(product.whole.column);
    for (const Resource& resource : product.of_profile) {
      if (resource.column != kNone) added.reported.set(resource.column);
    }
    added.faults.push_back(node.gpus[g].healthy ? 0u : 1u);
  }
  if (added.product != kNone && products_[added.product].table == nullptr) added.product = kNone;
  nodes_.push_back(std::move(added));
  manager_.AddNode(std::move(node.gpus));
}

// ---- Health, restarts, and the node's reports ----

void DeviceFrontEnd::Impl::SetHealth(NodeId id, DeviceSet gpus, bool healthy, SimTime now) {
  std::vector<uint32_t>& faults = nodes_[id.value()].faults;
  DeviceSet changed;
  for (size_t g = 0; g < faults.size(); ++g) {
    if (!gpus.Contains(g)) continue;
    const bool was_healthy = faults[g] == 0;
    if (!healthy) {
      ++faults[g];
    } else if (faults[g] > 0) {
      --faults[g];
    }
    const bool is_healthy = faults[g] == 0;
    if (was_healthy == is_healthy) continue;
    changed.Add(g);
    manager_.SetHealthy(id, static_cast<uint32_t>(g), is_healthy);
    kubelets_.SetHealthy(id, static_cast<uint32_t>(g), is_healthy);
  }
  if (changed.empty()) return;
  control_->RecordDevices(id, changed,
                          healthy ? DeviceChangeKind::kHealthy : DeviceChangeKind::kUnhealthy);
  ReportLater(id, now);
}

void DeviceFrontEnd::Impl::SetPlugin(NodeId id, bool back, SimTime now) {
  uint32_t& gone = nodes_[id.value()].plugin_gone;
  const bool was_there = gone == 0;
  if (!back) {
    ++gone;
  } else if (gone > 0) {
    --gone;
  }
  const bool is_there = gone == 0;
  if (was_there == is_there) return;
  kubelets_.SetRegistered(id, is_there && !manager_.changing(id));
  control_->RecordDevices(id, DeviceSet(),
                          back ? DeviceChangeKind::kPluginBack : DeviceChangeKind::kPluginGone);
  ReportLater(id, now);
}

void DeviceFrontEnd::Impl::Pause(NodeId id, SimTime now) {
  kubelets_.SetRegistered(id, false);
  ReportLater(id, now);
}

// With strategy single there are layouts at which the plugin fails; the node then has none of its
// resources.
void DeviceFrontEnd::Impl::Resume(NodeId id, SimTime now) {
  absl::StatusOr<std::vector<PluginResource>> resources =
      AdvertisedResources(manager_.gpus(id), options_.plugin);
  kubelets_.SetResources(id,
                         resources.ok() ? *std::move(resources) : std::vector<PluginResource>());
  kubelets_.SetRegistered(id, nodes_[id.value()].plugin_gone == 0);
  ReportLater(id, now);
  NoteActivity(now);
}

// A kubelet reports the present state: among changes within one delay the first report tells the
// outcome, and later ones nothing new. So none of these timers is ever stale.
void DeviceFrontEnd::Impl::ReportLater(NodeId id, SimTime now) {
  if (options_.node_status <= SimDuration()) return Report(id);
  FrontEndTimer timer;
  timer.purpose = FrontEndTimer::Purpose::kNodeStatus;
  timer.node = id;
  control_->ArmNodeTimer(AddSaturating(now, options_.node_status), timer.Token());
}

void DeviceFrontEnd::Impl::Report(NodeId id) {
  DRASIM_CHECK_LT(id.value(), nodes_.size());
  std::vector<int64_t> amounts;
  for (size_t e = 0; e < cluster_->extended_names().size(); ++e) {
    const bool plugin = nodes_[id.value()].reported[e];
    amounts.push_back(plugin ? 0 : cluster_->extended_capacity(id, e));
  }
  for (const auto& [name, amount] : kubelets_.Allocatable(id)) {
    const auto column = columns_.find(name);
    DRASIM_CHECK(column != columns_.end());
    amounts[column->second] = amount;
  }
  control_->PublishAllocatable(id, amounts);
}

// ---- Re-partitioning by demand ----

void DeviceFrontEnd::Impl::NoteActivity(SimTime now) {
  if (!repartitions_) return;
  activity_ = true;
  if (!tick_armed_) ArmTick(now);
}

void DeviceFrontEnd::Impl::ArmTick(SimTime now) {
  tick_armed_ = true;
  ++tick_;
  FrontEndTimer timer;
  timer.purpose = FrontEndTimer::Purpose::kRepartitioning;
  timer.generation = tick_;
  control_->ArmNodeTimer(AddSaturating(now, options_.repartitioning.every), timer.Token());
}

// Ticks stop when nothing happens, so that a run can end; arrivals of jobs count. A change that
// waits for pods to leave does not keep them going, because the pods' end is an event of its own.
void DeviceFrontEnd::Impl::Tick(SimTime now) {
  tick_armed_ = false;
  const uint64_t jobs = control_->jobs().size();
  const bool active = activity_ || jobs != jobs_seen_;
  activity_ = false;
  jobs_seen_ = jobs;
  Repartition(now);
  if (active || manager_.AnyAtWork()) ArmTick(now);
}

// True when pods can reach the node and get GPUs.
bool DeviceFrontEnd::Impl::InReach(NodeId id) const {
  const NodeRow& row = cluster_->node(id);
  return row.available && row.schedulable && nodes_[id.value()].plugin_gone == 0;
}

// True when the node can get another layout without waiting for pods. A pod in binding to it counts
// as a user.
bool DeviceFrontEnd::Impl::MayChange(NodeId id, SimTime now) const {
  const Node& node = nodes_[id.value()];
  if (node.product == kNone || manager_.changing(id) || !InReach(id)) return false;
  for (size_t e = 0; e < cluster_->extended_names().size(); ++e) {
    if (!node.reported[e]) continue;
    if (cluster_->extended_idle(id, e) != cluster_->extended_capacity(id, e)) return false;
  }
  for (size_t g = 0; g < node.faults.size(); ++g) {
    if (kubelets_.InUse(id, static_cast<uint32_t>(g), now)) return false;
  }
  return true;
}

// The requests of all waiting jobs, on whatever node, by extended resource.
std::vector<int64_t> DeviceFrontEnd::Impl::Demanded() {
  const JobTable& jobs = control_->jobs();
  while (first_job_ < jobs.size() && IsEnded(jobs.row(JobId(first_job_)).state)) ++first_job_;
  std::vector<int64_t> pods(cluster_->shapes().size());
  for (size_t j = first_job_; j < jobs.size() && jobs.waiting_jobs() > 0; ++j) {
    const JobRow& row = jobs.row(JobId(j));
    if (row.state != JobState::kWaiting) continue;
    for (uint32_t i = 0; i < row.pods; ++i) {
      ++pods[cluster_->pod_shape_id(PodId(row.first_pod.value() + i)).value()];
    }
  }
  std::vector<int64_t> demand(cluster_->extended_names().size());
  for (size_t s = 0; s < pods.size(); ++s) {
    if (pods[s] == 0) continue;
    for (const auto& [name, amount] : cluster_->shapes().row(ShapeId(s)).request.extended) {
      const auto column = columns_.find(name);
      if (column != columns_.end()) AddProduct(pods[s], amount, &demand[column->second]);
    }
  }
  return demand;
}

// Amounts that pods could get on the node; for a node under change, after the change.
Amounts DeviceFrontEnd::Impl::FreeOn(NodeId id) const {
  Amounts amounts;
  if (!InReach(id)) return amounts;
  const auto add = [&](const std::vector<PluginResource>& resources) {
    for (const PluginResource& resource : resources) {
      const auto column = columns_.find(resource.name);
      if (column == columns_.end()) continue;
      const size_t e = column->second;
      const int64_t held = cluster_->extended_capacity(id, e) - cluster_->extended_idle(id, e);
      amounts.emplace_back(e, std::max<int64_t>(0, resource.allocatable() - held));
    }
  };
  if (!manager_.changing(id)) {
    add(kubelets_.resources(id));
    return amounts;
  }
  const absl::StatusOr<std::vector<PluginResource>> future =
      AdvertisedResources(manager_.FutureGpus(id), options_.plugin);
  if (future.ok()) add(*future);
  return amounts;
}

MigDemand DeviceFrontEnd::Impl::Pending(const Product& product, const std::vector<int64_t>& demand,
                                        const std::vector<int64_t>& free) const {
  // A layout has devices, not replicas.
  const auto missing = [&](const Resource& resource) -> int64_t {
    if (resource.column == kNone || demand[resource.column] <= free[resource.column]) return 0;
    const int64_t units = demand[resource.column] - free[resource.column];
    return units / resource.replicas + (units % resource.replicas != 0 ? 1 : 0);
  };
  MigDemand pending;
  pending.whole_gpus = missing(product.whole);
  for (const Resource& resource : product.of_profile) {
    pending.instances.push_back(missing(resource));
  }
  return pending;
}

// For each node, assumes the rest of the cluster as it is, with the nodes picked before it in their
// future state. Every change therefore serves more of the demand than before, and without new
// demand the changes end.
void DeviceFrontEnd::Impl::Repartition(SimTime now) {
  const std::vector<int64_t> demand = Demanded();
  if (std::all_of(demand.begin(), demand.end(), [](int64_t d) { return d == 0; })) return;
  std::vector<int64_t> free(demand.size());
  for (size_t n = 0; n < nodes_.size(); ++n) AddTo(FreeOn(NodeId(n)), +1, &free);
  LayoutChooser chooser;
  int32_t left = options_.repartitioning.nodes_at_once;
  for (size_t n = 0; n < nodes_.size() && left > 0; ++n) {
    const NodeId id(n);
    if (!MayChange(id, now)) continue;
    AddTo(FreeOn(id), -1, &free);
    const Product& product = products_[nodes_[n].product];
    const std::vector<GpuLayout> better =
        chooser.Better(*product.table, manager_.gpus(id), Pending(product, demand, free));
    if (!better.empty()) {
      manager_.Wish(id, better, now);
      --left;
    }
    AddTo(FreeOn(id), +1, &free);
  }
}

// ---- Checkpoints ----

void DeviceFrontEnd::Impl::Save(StateWriter& out) const {
  out.Section("device front end");
  kubelets_.Save(out);
  manager_.Save(out);
  for (const Node& node : nodes_) {
    out.U64(node.plugin_gone);
    for (const uint32_t faults : node.faults) out.U64(faults);
  }
  out.Bool(tick_armed_);
  out.Bool(activity_);
  out.U64(tick_);
  out.U64(jobs_seen_);
}

absl::Status DeviceFrontEnd::Impl::Load(StateReader& in) {
  in.Section("device front end");
  RETURN_IF_ERROR(kubelets_.Load(in));
  RETURN_IF_ERROR(manager_.Load(in));
  for (Node& node : nodes_) {
    node.plugin_gone = static_cast<uint32_t>(in.U64());
    for (uint32_t& faults : node.faults) faults = static_cast<uint32_t>(in.U64());
  }
  tick_armed_ = in.Bool();
  activity_ = in.Bool();
  tick_ = static_cast<uint32_t>(in.U64());
  jobs_seen_ = in.U64();
  first_job_ = 0;
  return in.status();
}

// ---- The agent ----

DeviceFrontEnd::DeviceFrontEnd(const ClusterState* cluster, DeviceFrontEndOptions options,
                               std::vector<FrontEndNode> nodes,
                               std::vector<std::vector<std::vector<GpuLayout>>> layouts)
    : impl_(std::make_unique<Impl>(cluster, std::move(options), std::move(nodes),
                                   std::move(layouts))) {}

DeviceFrontEnd::~DeviceFrontEnd() = default;

void DeviceFrontEnd::Attach(NodeControl* control) {
  impl_->control_ = control;
  impl_->manager_.Attach(control);
}

Admission DeviceFrontEnd::Admit(PodId pod, NodeId node, SimTime now) {
  impl_->NoteActivity(now);
  return impl_->kubelets_.Admit(pod, node, now);
}

void DeviceFrontEnd::Removed(PodId pod, NodeId node, SimTime now) {
  impl_->NoteActivity(now);
  impl_->kubelets_.Removed(pod, node, now);
  impl_->manager_.Removed(node, now);
}

void DeviceFrontEnd::OnTransition(const DeviceTransition& change, SimTime now) {
  using Action = DeviceTransition::Action;
  impl_->NoteActivity(now);
  switch (change.action) {
    case Action::kUnhealthy:
    case Action::kHealthy:
      impl_->SetHealth(change.node, change.devices, change.action == Action::kHealthy, now);
      break;
    case Action::kPluginGone:
    case Action::kPluginBack:
      impl_->SetPlugin(change.node, change.action == Action::kPluginBack, now);
      break;
    case Action::kMigConfig:
      DRASIM_CHECK_LT(change.config, impl_->layouts_.size());
      impl_->manager_.Wish(change.node, impl_->layouts_[change.config][change.node.value()], now);
      break;
    case Action::kTainted:
    case Action::kUntainted:
      DRASIM_UNREACHABLE("a taint of structured DRA");
  }
}

void DeviceFrontEnd::OnArrival(SimTime now) { impl_->NoteActivity(now); }

void DeviceFrontEnd::OnTimer(uint64_t token, SimTime now) {
  const FrontEndTimer timer = FrontEndTimer::Of(token);
  switch (timer.purpose) {
    case FrontEndTimer::Purpose::kNodeStatus:
      return impl_->Report(timer.node);
    case FrontEndTimer::Purpose::kMigManager:
      return impl_->manager_.OnTimer(timer.node, timer.generation, now);
    case FrontEndTimer::Purpose::kRepartitioning:
      if (impl_->tick_armed_ && timer.generation == impl_->tick_) impl_->Tick(now);
      return;
  }
  DRASIM_UNREACHABLE("a timer that nobody armed");
}

void DeviceFrontEnd::Save(StateWriter& out) const { impl_->Save(out); }

absl::Status DeviceFrontEnd::Load(StateReader& in) { return impl_->Load(in); }

const std::vector<PluginGpu>& DeviceFrontEnd::gpus(NodeId node) const {
  return impl_->manager_.gpus(node);
}

int64_t DeviceFrontEnd::repartitions() const { return impl_->manager_.finished(); }

double DeviceFrontEnd::repartition_gpu_seconds() const { return impl_->manager_.gpu_seconds(); }

bool DeviceFrontEnd::changing(NodeId node) const { return impl_->manager_.changing(node); }

}  // namespace drasim
