#include "sim/dra/structured/driver_plugins.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/kube/kube_time.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/structured/pool_sync.h"
#include "sim/dra/structured/structured_objects.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

namespace {

// client-go util/workqueue, DefaultTypedControllerRateLimiter.
constexpr int64_t kFirstBackoffNs = 5'000'000;
constexpr int64_t kLongestBackoffNs = 1000 * kSecondNs;
constexpr uint32_t kMostDoublings = 18;
// Time in which allocations that were chosen before a taint are written.
constexpr SimDuration kLayoutPause = SimDuration::Seconds(1);

// Parts of a token: what it is for, the node, and the life of its plugin.
constexpr int kTimerBits = 3;
constexpr int kNodeBits = 32;

// Adds a taint to a device, of each key and effect the first.
void AddTaint(const kube::DeviceTaint& taint, DeviceCondition* condition) {
  const bool known = absl::c_any_of(condition->taints, [&](const kube::DeviceTaint& other) {
    return other.key() == taint.key() && other.effect() == taint.effect();
  });
  if (!known) condition->taints.push_back(taint);
}

}  // namespace

struct DriverPlugins::Plugin {
  struct Device {
    uint32_t faults = 0;
    bool noticed = false;  // it is published as broken
    std::string since;     // then
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& d) {
      a(d.faults, d.noticed, d.since);
    }
  };
  struct Taint {
    uint32_t number = 0;   // of DriverPluginsOptions::taints
    uint64_t devices = 0;  // bits of a DeviceSet; none: all
    std::string since;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& t) {
      a(t.number, t.devices, t.since);
    }
  };

  explicit Plugin(const DriverPluginsOptions& options)
      : limiter(options.connection.qps, options.connection.burst) {}

  bool there = true;    // the node runs
  bool absent = false;  // the node is not part of the cluster
  bool up = true;
  uint32_t outages = 0;
  uint32_t life = 0;    // counts starts and ends; what an earlier life has begun is dropped
  uint32_t timers = 0;  // armed in this life
  bool busy = false;    // a call is under way or waits for the rate limit
  bool again = false;   // something has changed in the meantime
  uint32_t failures = 0;
  RateLimiter limiter;
  std::deque<ApiRequest> calls;  // the first is the one under way
  std::vector<Name> names;       // that the node's slices have ever had
  std::map<uint64_t, Device> devices;
  std::vector<Taint> taints;
  uint32_t layout = 0;  // number in DriverPluginsOptions::layouts, from 1 on; 0: the driver's own
  uint32_t next_layout = 0;  // that waits; 0: none
  bool may_lay_out = false;
  std::string layout_since;

  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& p) {
    a(p.there, p.absent, p.up, p.outages, p.life, p.timers, p.busy, p.again, p.failures, p.limiter,
      p.calls, p.names, p.devices, p.taints, p.layout, p.next_layout, p.may_lay_out,
      p.layout_since);
  }
};

DriverPlugins::DriverPlugins(DriverPluginsOptions options, SlicePublisher* publisher,
                             const ClusterState* cluster, SliceRemover* garbage_collector,
                             SliceRemover* kubelets)
    : options_(std::move(options)),
      publisher_(publisher),
      cluster_(cluster),
      garbage_collector_(garbage_collector),
      kubelets_(kubelets),
      delays_(options_.seed, absl::StrCat("driver starts/", options_.connection.name)) {
  for (const NodeId node : options_.nodes) served_[cluster->node_spec(node).name] = node;
}

DriverPlugins::~DriverPlugins() = default;

// Claims are watched for layouts that wait for their devices.
ClientOptions DriverPlugins::connection() const {
  ClientOptions connection = options_.connection;
  connection.qps = 0;
  connection.watches = WatchBit(ObjectKind::kResourceSlice);
  if (!options_.layouts.empty()) connection.watches |= WatchBit(ObjectKind::kResourceClaim);
  return connection;
}

void DriverPlugins::Start(ApiClient* client) {
  client_ = client;
  for (const NodeId node : options_.nodes) {
    const bool there = cluster_->node(node).available;
    if (there && !options_.start_up) continue;
    Plugin& plugin = *PluginOf(node);
    plugin.up = false;
    plugin.there = there;
    plugin.absent = !there;
    if (there) Boot(node, plugin);
  }
}

// --- Plugins ---

uint64_t DriverPlugins::Token(NodeId node, const Plugin& plugin, Timer timer) {
  return (uint64_t{plugin.life} << kNodeBits | node.value()) << kTimerBits |
         static_cast<uint64_t>(timer);
}

DriverPlugins::Plugin* DriverPlugins::PluginOf(uint64_t token) {
  const auto found = plugins_.find(static_cast<uint32_t>(token >> kTimerBits));
  DRASIM_CHECK(found != plugins_.end());
  return token >> (kTimerBits + kNodeBits) == found->second.life ? &found->second : nullptr;
}

DriverPlugins::Plugin* DriverPlugins::PluginOf(NodeId node) {
  const auto known = plugins_.find(node.value());
  if (known != plugins_.end()) return &known->second;
  if (served_.count(cluster_->node_spec(node).name) == 0) return nullptr;
  Plugin& plugin = plugins_.try_emplace(node.value(), options_).first->second;
  for (const kube::ResourceSlice& slice : Wanted(node)) {
    plugin.names.push_back(client_->names().Intern(slice.metadata().name()));
  }
  return &plugin;
}

std::string DriverPlugins::TimeText() const { return RunTimeText(client_->now()); }

NodeHardware DriverPlugins::HardwareNow(NodeId node, const Plugin& plugin) {
  NodeHardware hardware = HardwareOf(cluster_->node_spec(node));
  if (plugin.layout > 0) hardware.layout = options_.layouts[plugin.layout - 1];
  const UnhealthyDevices& unhealthy = publisher_->unhealthy();
  for (const auto& [index, device] : plugin.devices) {
    if (!device.noticed) continue;
    DeviceCondition& condition = hardware.conditions[static_cast<size_t>(index)];
    condition.withdrawn = !unhealthy.tainted;
    if (!unhealthy.tainted) continue;
    kube::DeviceTaint taint = unhealthy.taint;
    taint.set_time_added(device.since);
    AddTaint(taint, &condition);
  }
  const size_t count = publisher_->DeviceCount(hardware);
  const auto add_to = [&](uint64_t devices, const kube::DeviceTaint& taint) {
    for (size_t i = 0; i < count; ++i) {
      const bool meant = devices == 0 || (i < 64 && (devices >> i & 1) != 0);
      if (meant) AddTaint(taint, &hardware.conditions[i]);
    }
  };
  for (const Plugin::Taint& given : plugin.taints) {
    kube::DeviceTaint taint = options_.taints[given.number];
    taint.set_time_added(given.since);
    add_to(given.devices, taint);
  }
  if (plugin.next_layout > 0) {
    kube::DeviceTaint taint;
    taint.set_key(absl::StrCat(options_.driver, "/reconfiguring"));
    taint.set_effect("NoSchedule");
    taint.set_time_added(plugin.layout_since);
    add_to(0, taint);
  }
  return hardware;
}

std::vector<kube::ResourceSlice> DriverPlugins::Wanted(NodeId node) {
  const auto plugin = plugins_.find(node.value());
  DRASIM_CHECK(plugin != plugins_.end());
  auto slices = publisher_->Publish(HardwareNow(node, plugin->second), /*generation=*/1);
  DRASIM_CHECK(slices.ok());
  return *std::move(slices);
}

std::vector<Ref<ResourceSliceObject>> DriverPlugins::Present(const Plugin& plugin) const {
  std::vector<Ref<ResourceSliceObject>> present;
  for (const Name name : plugin.names) {
    const auto& slice = client_->cache().of<ResourceSliceObject>().Find(Name(), name);
    if (slice != nullptr) present.push_back(slice);
  }
  return present;
}

void DriverPlugins::Arm(NodeId node, Plugin& plugin, Timer timer, SimDuration after) {
  ++plugin.timers;
  client_->ArmTimer(after, Token(node, plugin, timer));
}

// Work under way is lost; a call that was sent may still be carried out.
void DriverPlugins::GoDown(Plugin& plugin) {
  plugin.up = false;
  ++plugin.life;
  plugin.timers = 0;
  plugin.busy = false;
  plugin.again = false;
  plugin.failures = 0;
  plugin.calls.clear();
}

void DriverPlugins::StartPlugin(NodeId node, Plugin& plugin) {
  GoDown(plugin);
  plugin.up = true;
  plugin.limiter = RateLimiter(options_.connection.qps, options_.connection.burst);
  for (auto& [index, device] : plugin.devices) {
    if (device.faults > 0 && !device.noticed) device.since = TimeText();
    device.noticed = device.faults > 0;
  }
  if (plugin.next_layout > 0) plugin.may_lay_out = false;
  Sync(node, plugin);
}

// --- What happens to nodes and devices ---

void DriverPlugins::OnNode(NodeId node, NodePresence presence) {
  Plugin* const plugin = PluginOf(node);
  if (plugin == nullptr) return;
  if (presence != NodePresence::kThere) {
    plugin->there = false;
    GoDown(*plugin);
    plugin->absent = presence == NodePresence::kAbsent;
    if (!plugin->absent) return;
    for (const auto& slice : Present(*plugin)) garbage_collector_->Remove(slice->meta);
    return;
  }
  if (plugin->there) return;
  plugin->there = true;
  plugin->absent = false;
  for (const auto& slice : Present(*plugin)) kubelets_->Remove(slice->meta);
  Boot(node, *plugin);
}

void DriverPlugins::Boot(NodeId node, Plugin& plugin) {
  const double seconds =
      options_.start_delay.has_value() ? options_.start_delay->Sample(delays_) : 0;
  const SimDuration delay(seconds <= 0 ? 0 : std::llround(std::min(seconds, 1e9) * 1e9));
  Arm(node, plugin, Timer::kStart, delay);
}

void DriverPlugins::Break(Plugin& plugin, const DeviceTransition& change) {
  const bool breaks = change.action == DeviceTransition::Action::kUnhealthy;
  for (const size_t index : change.devices) {
    Plugin::Device& device = plugin.devices[index];
    if (breaks) {
      ++device.faults;
    } else if (device.faults > 0) {
      --device.faults;
    }
    if (!plugin.up) continue;
    if (device.faults > 0 && !device.noticed) device.since = TimeText();
    device.noticed =
        device.faults > 0 || (device.noticed && !publisher_->unhealthy().recover_at_once);
  }
}

void DriverPlugins::OnTransition(const DeviceTransition& change) {
  if (change.driver != DeviceTransition::kEveryDriver && change.driver != options_.number) return;
  Plugin* const plugin = PluginOf(change.node);
  if (plugin == nullptr) return;
  switch (change.action) {
    case DeviceTransition::Action::kUnhealthy:
    case DeviceTransition::Action::kHealthy:
      Break(*plugin, change);
      break;
    case DeviceTransition::Action::kPluginGone:
      if (plugin->outages++ > 0) return;
      GoDown(*plugin);
      if (plugin->there) Arm(change.node, *plugin, Timer::kWipe, options_.wiping_delay);
      return;
    case DeviceTransition::Action::kPluginBack:
      if (plugin->outages == 0 || --plugin->outages > 0) return;
      if (plugin->there) StartPlugin(change.node, *plugin);
      return;
    case DeviceTransition::Action::kMigConfig:
      if (options_.layouts.empty()) return;
      plugin->next_layout = change.config + 1;
      plugin->may_lay_out = false;
      plugin->layout_since = TimeText();
      break;
    case DeviceTransition::Action::kTainted:
      plugin->taints.push_back({change.config, change.devices.bits(), TimeText()});
      break;
    case DeviceTransition::Action::kUntainted: {
      const auto found = absl::c_find_if(plugin->taints, [&](const Plugin::Taint& taint) {
        return taint.number == change.config && taint.devices == change.devices.bits();
      });
      if (found != plugin->taints.end()) plugin->taints.erase(found);
      break;
    }
  }
  Sync(change.node, *plugin);
}

bool DriverPlugins::IsBusy() const {
  return absl::c_any_of(
      plugins_, [](const auto& entry) { return entry.second.busy || entry.second.timers > 0; });
}

// --- Publishing ---

void DriverPlugins::Sync(NodeId node, Plugin& plugin) {
  if (!plugin.up) return;
  if (plugin.busy) {
    plugin.again = true;
    return;
  }
  plugin.again = false;
  struct Pool {
    std::vector<kube::ResourceSlice> wanted;
    std::vector<Ref<ResourceSliceObject>> present;
  };
  std::map<std::pair<std::string, std::string>, Pool> pools;  // by driver and name
  const auto pool_of = [&pools](const kube::ResourceSliceSpec& spec) -> Pool& {
    return pools[{spec.driver(), spec.pool().name()}];
  };
  for (kube::ResourceSlice& slice : Wanted(node)) {
    const Name name = client_->names().Intern(slice.metadata().name());
    if (!absl::c_linear_search(plugin.names, name)) plugin.names.push_back(name);
    pool_of(slice.spec()).wanted.push_back(std::move(slice));
  }
  for (const auto& slice : Present(plugin)) pool_of(slice->object->spec()).present.push_back(slice);
  for (auto& [key, pool] : pools) {
    for (ApiRequest& call : PoolCalls(std::move(pool.wanted), pool.present, client_->names())) {
      plugin.calls.push_back(std::move(call));
    }
  }
  plugin.busy = true;
  CallOn(node, plugin, /*has_token=*/false);
}

void DriverPlugins::CallOn(NodeId node, Plugin& plugin, bool has_token) {
  while (!plugin.calls.empty()) {
    const SimDuration wait = has_token ? SimDuration() : plugin.limiter.Take(client_->now());
    if (wait > SimDuration()) return Arm(node, plugin, Timer::kCall, wait);
    has_token = false;
    const std::optional<ApiReply> reply =
        client_->Call(plugin.calls.front(), Token(node, plugin, Timer::kCall));
    if (!reply.has_value() || !Take(node, plugin, *reply)) return;
  }
  plugin.busy = false;
  plugin.failures = 0;
  if (plugin.again) return Sync(node, plugin);
  if (plugin.next_layout > 0) {
    if (plugin.may_lay_out) return TryLayout(node, plugin);
    Arm(node, plugin, Timer::kLayout, kLayoutPause);
  }
}

bool DriverPlugins::Take(NodeId node, Plugin& plugin, const ApiReply& reply) {
  const Verb verb = plugin.calls.front().verb;
  plugin.calls.pop_front();
  const bool gone = verb == Verb::kDelete && reply.code == ApiCode::kNotFound;
  if (reply.ok() || gone) {
    if (verb != Verb::kDelete) client_->Remember(reply.object);
    const bool last = plugin.calls.empty();
    if (last && verb == Verb::kCreate) Arm(node, plugin, Timer::kSync, options_.recheck);
    return true;
  }
  plugin.calls.clear();
  plugin.busy = false;
  const int64_t backoff = std::min(kFirstBackoffNs << plugin.failures, kLongestBackoffNs);
  plugin.failures = std::min(plugin.failures + 1, kMostDoublings);
  Arm(node, plugin, Timer::kSync, SimDuration(backoff));
  return false;
}

void DriverPlugins::OnReply(uint64_t token, const ApiReply& reply) {
  Plugin* const plugin = PluginOf(token);
  if (plugin == nullptr) return;
  const NodeId node(static_cast<uint32_t>(token >> kTimerBits));
  if (Take(node, *plugin, reply)) CallOn(node, *plugin, /*has_token=*/false);
}

void DriverPlugins::OnTimer(uint64_t token) {
  Plugin* const plugin = PluginOf(token);
  if (plugin == nullptr) return;
  --plugin->timers;
  const NodeId node(static_cast<uint32_t>(token >> kTimerBits));
  switch (static_cast<Timer>(token & ((1U << kTimerBits) - 1))) {
    case Timer::kSync:
      return Sync(node, *plugin);
    case Timer::kCall:
      return CallOn(node, *plugin, /*has_token=*/true);
    case Timer::kStart:
      if (plugin->outages == 0) StartPlugin(node, *plugin);
      return;
    case Timer::kWipe:
      for (const auto& slice : Present(*plugin)) kubelets_->Remove(slice->meta);
      return;
    case Timer::kLayout:
      plugin->may_lay_out = true;
      return TryLayout(node, *plugin);
  }
}

// --- Layouts of static MIG ---

bool DriverPlugins::IsHeld(NodeId node) const {
  const std::string& pool = cluster_->node_spec(node).name;
  for (const Ref<ResourceClaim>& claim : client_->cache().of<ResourceClaim>().Sorted()) {
    const Ref<Allocation>& allocation = claim->status.allocation;
    if (allocation == nullptr || !allocation->result) continue;
    for (const auto& result : allocation->result->devices().results()) {
      if (result.driver() == options_.driver && result.pool() == pool) return true;
    }
  }
  return false;
}

void DriverPlugins::TryLayout(NodeId node, Plugin& plugin) {
  if (plugin.busy || !plugin.up || !plugin.may_lay_out || plugin.next_layout == 0) return;
  if (IsHeld(node)) return;
  plugin.layout = plugin.next_layout;
  plugin.next_layout = 0;
  plugin.may_lay_out = false;
  Sync(node, plugin);
}

void DriverPlugins::OnClaim(const WatchEvent& event) {
  const ResourceClaim* const before = PeekAs<ResourceClaim>(event.before);
  if (before == nullptr || before->status.allocation == nullptr) return;
  const bool freed = event.type == WatchEvent::Type::kDeleted ||
                     PeekAs<ResourceClaim>(event.object)->status.allocation == nullptr;
  if (!freed) return;
  for (auto& [node, plugin] : plugins_) TryLayout(NodeId(node), plugin);
}

// --- What the informer delivers ---

void DriverPlugins::OnWatch(const WatchEvent& event) {
  const auto* const slice = PeekAs<ResourceSliceObject>(event.object);
  if (slice == nullptr) return OnClaim(event);
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  const ObjectMeta* const before = MetaOf(event.before);
  if (!deleted && before != nullptr && before->version == slice->meta.version) return;  // its own
  const auto served = served_.find(slice->object->spec().node_name());
  if (served == served_.end()) return;
  Plugin& plugin = *PluginOf(served->second);
  if (!absl::c_linear_search(plugin.names, slice->meta.name)) return;
  if (plugin.up) return Arm(served->second, plugin, Timer::kSync, options_.sync_delay);
  // Created while the node went away.
  if (plugin.absent && !deleted) garbage_collector_->Remove(slice->meta);
}

// All plugins have been down. Nodes to which nothing has happened have the slices that they should
// have.
void DriverPlugins::OnRestart() {
  for (auto& [number, plugin] : plugins_) {
    const NodeId node(number);
    GoDown(plugin);
    if (!plugin.there) continue;
    if (plugin.outages == 0) {
      StartPlugin(node, plugin);
    } else {
      Arm(node, plugin, Timer::kWipe, options_.wiping_delay);
    }
  }
}

// --- Checkpoints ---

template <typename Archive, typename Self>
void DriverPlugins::Fields(Archive& archive, Self& self) {
  archive(self.delays_);
  if constexpr (Archive::kLoads) {
    self.plugins_.clear();
    for (size_t left = archive.state().Count(); left > 0 && archive.ok(); --left) {
      uint32_t node = 0;
      archive(node);
      const auto [found, is_new] = self.plugins_.try_emplace(node, self.options_);
      if (!is_new || node >= self.cluster_->node_count())
        return archive.Fail("a plugin of no node");
      archive(found->second);
    }
  } else {
    archive(self.plugins_.size());
    for (const auto& [node, plugin] : self.plugins_) archive(node, plugin);
  }
}

void DriverPlugins::Save(PlaneWriter& archive) const { Fields(archive, *this); }
void DriverPlugins::Load(PlaneReader& archive) { Fields(archive, *this); }

}  // namespace drasim
