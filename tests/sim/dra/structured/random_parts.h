// Components of structured DRA for random runs, and what they may do: kubelet plugins that publish
// a driver's slices and whose devices break, DeviceTaintRules with evictions, drivers that bind
// devices.
#ifndef DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_PARTS_H_
#define DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_PARTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/kube/kube_time.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/publisher_basics.h"
#include "policies/drivers/slice_publisher.h"
#include "sim/core/engine_parts.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/object_cache.h"
#include "sim/dra/api/plane_part.h"
#include "sim/dra/classic/control_plane_options.h"
#include "sim/dra/structured/device_binder.h"
#include "sim/dra/structured/driver_plugins.h"
#include "sim/dra/structured/slice_remover.h"
#include "sim/dra/structured/taint_admin.h"
#include "sim/dra/structured/taint_eviction.h"
#include "tests/sim/dra/structured/random_slices.h"

namespace drasim::slice_testing {

inline constexpr char kRuleTaint[] = "example.com/broken";
inline constexpr char kLostTaint[] = "example.com/lost";

// Parts of further components in a run.
struct RandomParts {
  // --- Drivers with kubelet plugins, by the number of the driver ---
  std::vector<bool> publishes;
  std::vector<bool> starts_up;  // nothing is published at the beginning
  std::vector<UnhealthyDevices> unhealthy;
  SimDuration sync_delay;
  std::vector<NodeTransition> transitions;
  // --- Taints ---
  bool evicts = false;
  std::vector<TaintRuleEvent> rules;
  // --- Binding ---
  std::vector<BindingBehaviour> bindings;

  bool publishes_any() const {
    return std::find(publishes.begin(), publishes.end(), true) != publishes.end();
  }
};

// Publishes the pools of one driver as they were drawn, for the nodes that they are named after.
class RandomPublisher : public SlicePublisher {
 public:
  RandomPublisher(const RandomSlices& drawn, const std::string& driver, UnhealthyDevices unhealthy)
      : unhealthy_(std::move(unhealthy)) {
    for (const auto& pool : drawn.pools) {
      const proto::kube::ResourceSliceSpec& spec = pool.front().spec();
      if (spec.driver() == driver && !spec.all_nodes()) pools_[spec.pool().name()] = pool;
    }
  }
  absl::StatusOr<std::vector<proto::kube::ResourceSlice>> Publish(const NodeHardware& node,
                                                                  int64_t generation) override {
    const auto pool = pools_.find(node.name);
    if (pool == pools_.end()) return std::vector<proto::kube::ResourceSlice>();
    std::vector<proto::kube::ResourceSlice> slices = pool->second;
    size_t number = 0;
    for (proto::kube::ResourceSlice& slice : slices) {
      slice.mutable_spec()->mutable_pool()->set_generation(generation);
      auto devices = std::move(*slice.mutable_spec()->mutable_devices());
      slice.mutable_spec()->clear_devices();
      for (proto::kube::Device& device : devices) {
        AddTaints(node, number, &device);
        if (!IsWithdrawn(node, number++)) *slice.mutable_spec()->add_devices() = std::move(device);
      }
    }
    return slices;
  }
  size_t DeviceCount(const NodeHardware& node) const override {
    size_t count = 0;
    const auto pool = pools_.find(node.name);
    if (pool == pools_.end()) return 0;
    for (const auto& slice : pool->second)
      count += static_cast<size_t>(slice.spec().devices_size());
    return count;
  }
  const UnhealthyDevices& unhealthy() const override { return unhealthy_; }

 private:
  UnhealthyDevices unhealthy_;
  std::map<std::string, std::vector<proto::kube::ResourceSlice>> pools_;  // by node
};

inline SimTime RandomInstant(Random& random, uint64_t most_ms) {
  return SimTime(static_cast<int64_t>(random.Below(most_ms)) * 1'000'000);
}

// Devices that break and plugins that go, for a while: with `all_return` for a while only.
inline void RandomPublishing(size_t nodes, const RandomSlices& slices, bool all_return,
                             Random& random, RandomParts* parts) {
  using Action = DeviceTransition::Action;
  parts->sync_delay = SimDuration::Millis(static_cast<int64_t>(random.Below(10'000)));
  for (size_t d = 0; d < slices.drivers.size(); ++d) {
    parts->publishes.push_back(slices.drivers[d].kind != DeviceKind::kFabric &&
                               random.Below(4) > 0);
    parts->starts_up.push_back(parts->publishes[d] && random.Below(4) == 0);
    UnhealthyDevices unhealthy;
    unhealthy.tainted = random.Below(2) == 0;
    unhealthy.taint.set_key(kLostTaint);
    unhealthy.taint.set_effect(random.Below(2) == 0 ? "NoExecute" : "NoSchedule");
    unhealthy.recover_at_once = random.Below(2) == 0;
    parts->unhealthy.push_back(unhealthy);
    if (!parts->publishes[d]) continue;
    const auto happens = [&](SimTime at, Action action, size_t node, DeviceSet devices) {
      NodeTransition change;
      change.at = at;
      change.node = NodeId(node);
      change.action = NodeTransition::Action::kDevices;
      change.devices = {change.node, action, devices, 0, static_cast<uint32_t>(d)};
      parts->transitions.push_back(change);
    };
    for (uint64_t n = random.Below(4); n > 0; --n) {
      const auto node = static_cast<size_t>(random.Below(nodes));
      const SimTime begin = RandomInstant(random, 30'000);
      const SimTime end = begin + SimDuration::Millis(static_cast<int64_t>(random.Below(15'000)));
      const bool breaks = random.Below(2) == 0;
      DeviceSet devices;
      if (breaks) devices.Add(static_cast<size_t>(random.Below(3)));
      happens(begin, breaks ? Action::kUnhealthy : Action::kPluginGone, node, devices);
      if (!all_return && random.Below(3) == 0) continue;
      happens(end, breaks ? Action::kHealthy : Action::kPluginBack, node, devices);
      if (!breaks || unhealthy.recover_at_once) continue;
      // A driver that starts again looks at its devices.
      happens(end + SimDuration::Seconds(1), Action::kPluginGone, node, DeviceSet());
      happens(end + SimDuration::Seconds(2), Action::kPluginBack, node, DeviceSet());
    }
  }
}

inline proto::kube::DeviceTaintRule RandomRule(const std::string& name, size_t nodes,
                                               const RandomSlices& slices, Random& random) {
  proto::kube::DeviceTaintRule rule;
  rule.mutable_metadata()->set_name(name);
  auto* const selector = rule.mutable_spec()->mutable_device_selector();
  if (random.Below(2) == 0) selector->set_driver(OneOf(slices.drivers, random).name);
  if (random.Below(2) == 0) selector->set_pool(absl::StrCat("node-", random.Below(nodes)));
  if (random.Below(2) == 0) selector->set_device(absl::StrCat("device-", random.Below(3)));
  auto* const taint = rule.mutable_spec()->mutable_taint();
  taint->set_key(kRuleTaint);
  const uint64_t effect = random.Below(8);
  taint->set_effect(effect < 6 ? "NoExecute" : effect == 6 ? "NoSchedule" : "None");
  return rule;
}

// Rules that come, change and go. With `all_go` none stays.
inline void RandomRules(size_t nodes, const RandomSlices& slices, bool all_go, Random& random,
                        RandomParts* parts) {
  using Action = TaintRuleEvent::Action;
  parts->evicts = true;
  for (uint64_t r = 1 + random.Below(3); r > 0; --r) {
    const std::string name = absl::StrCat("rule-", r);
    const auto happens = [&](SimTime at, Action action) {
      parts->rules.push_back({at, action, RandomRule(name, nodes, slices, random), 0});
    };
    SimTime at = RandomInstant(random, 20'000);
    happens(at, Action::kCreate);
    for (uint64_t n = random.Below(3); n > 0; --n) {
      at = at + SimDuration::Millis(static_cast<int64_t>(random.Below(10'000)));
      happens(at, Action::kChange);
    }
    if (!all_go && random.Below(3) == 0) continue;
    at = at + SimDuration::Millis(static_cast<int64_t>(random.Below(20'000)));
    happens(at, Action::kDelete);
  }
}

// Tolerations of the driver's claims: of nothing, of rules for ever, or for a time.
inline void RandomTolerations(Random& random, RandomDriver* driver) {
  const uint64_t kind = random.Below(5);
  if (kind < 2) return;
  proto::kube::DeviceToleration toleration;
  toleration.set_key(kRuleTaint);
  toleration.set_operator_("Exists");
  toleration.set_effect("NoExecute");
  if (kind > 2) toleration.set_toleration_seconds(static_cast<int64_t>(random.Below(8)));
  driver->tolerations.push_back(toleration);
  // The least time counts.
  if (random.Below(4) > 0) return;
  toleration.set_toleration_seconds(static_cast<int64_t>(random.Below(8)));
  driver->tolerations.push_back(toleration);
}

// Devices of some drivers that bind after their allocation, fail to, or do not answer.
inline void RandomBindings(size_t nodes, Random& random, RandomSlices* slices, RandomParts* parts) {
  for (const RandomDriver& driver : slices->drivers) {
    if (random.Below(3) == 0) continue;
    BindingBehaviour behaviour;
    behaviour.driver = driver.name;
    for (size_t n = 0; n < nodes; ++n) behaviour.nodes.push_back(NodeId(n));
    behaviour.delay = SimDuration::Millis(static_cast<int64_t>(random.Below(2) * 2500));
    behaviour.timeouts = static_cast<int64_t>(random.Below(2));
    behaviour.failures = static_cast<int64_t>(random.Below(2));
    behaviour.failures_per_mille = static_cast<int64_t>(random.Below(2) * 200);
    parts->bindings.push_back(behaviour);
    for (auto& pool : slices->pools) {
      for (proto::kube::ResourceSlice& slice : pool) {
        if (slice.spec().driver() != driver.name) continue;
        for (proto::kube::Device& device : *slice.mutable_spec()->mutable_devices()) {
          device.add_binding_conditions("example.com/Bound");
          device.add_binding_failure_conditions("example.com/Failed");
        }
      }
    }
  }
}

// The components of one control plane.
class PartsOfPlane {
 public:
  // The cluster must outlive it.
  PartsOfPlane(const RandomParts& parts, const RandomSlices& slices,
               const ControlPlaneOptions& plane, const ClusterState* cluster) {
    const auto client = [](const std::string& name, const ConnectionOptions& connection) {
      ClientOptions options;
      options.name = name;
      options.qps = connection.qps;
      options.burst = connection.burst;
      options.read_latency = connection.read_latency;
      options.write_latency = connection.write_latency;
      options.watch_latency = connection.watch_latency;
      return options;
    };
    if (parts.publishes_any()) {
      const auto add_remover = [&](const char* name, const ConnectionOptions& connection) {
        auto remover = std::make_unique<SliceRemover>(client(name, connection));
        SliceRemover* const added = remover.get();
        parts_.push_back(std::move(remover));
        return added;
      };
      SliceRemover* const collector = add_remover("slice-collector", plane.controller_manager);
      SliceRemover* const kubelets = add_remover("slice-wiper", plane.kubelets);
      for (size_t d = 0; d < parts.publishes.size(); ++d) {
        if (!parts.publishes[d]) continue;
        publishers_.push_back(
            std::make_unique<RandomPublisher>(slices, slices.drivers[d].name, parts.unhealthy[d]));
        DriverPluginsOptions options;
        options.driver = slices.drivers[d].name;
        options.connection = client(options.driver, plane.drivers);
        options.number = static_cast<uint32_t>(d);
        for (size_t n = 0; n < cluster->node_count(); ++n) options.nodes.push_back(NodeId(n));
        options.start_up = parts.starts_up[d];
        options.sync_delay = parts.sync_delay;
        options.seed = plane.seed;
        parts_.push_back(std::make_unique<DriverPlugins>(options, publishers_.back().get(), cluster,
                                                         collector, kubelets));
      }
    }
    if (!parts.rules.empty()) {
      parts_.push_back(
          std::make_unique<TaintAdmin>(parts.rules, client(TaintAdmin::kName, plane.users)));
    }
    if (parts.evicts) {
      parts_.push_back(std::make_unique<TaintEviction>(
          /*rules=*/true, client(TaintEviction::kName, plane.controller_manager)));
    }
    if (!parts.bindings.empty()) {
      parts_.push_back(std::make_unique<DeviceBinder>(parts.bindings, plane.seed,
                                                      client(DeviceBinder::kName, plane.drivers)));
    }
  }

  std::vector<PlanePart*> all() const {
    std::vector<PlanePart*> all;
    for (const auto& part : parts_) all.push_back(part.get());
    return all;
  }

 private:
  std::vector<std::unique_ptr<SlicePublisher>> publishers_;
  std::vector<std::unique_ptr<PlanePart>> parts_;
};

// Reasons for which pods may be evicted, by the plan of the run alone: the taints that rules and
// drivers give to devices at any time before.
class EvictionReasons {
 public:
  EvictionReasons(const RandomParts* parts, const RandomSlices* slices)
      : parts_(parts), slices_(slices) {}

  // Notes which pods claims are reserved for.
  void Note(const ObjectCache& objects) {
    for (const Ref<ResourceClaim>& claim : objects.of<ResourceClaim>().Sorted()) {
      if (claim->status.allocation == nullptr) continue;
      for (const Consumer& consumer : claim->status.reserved_for) {
        for (const auto& result : claim->status.allocation->result->devices().results()) {
          Use use{result.driver(), result.pool(), result.device()};
          used_[consumer.uid].emplace(std::move(use), LeastSeconds(result));
        }
      }
    }
  }

  // Takes over the notes of `other`, of the same scenario.
  void TakeOver(const EvictionReasons& other) { used_ = other.used_; }
  // Whether a pod may be deleted at that time.
  bool Justify(Uid pod, SimTime now) const {
    const auto used = used_.find(pod);
    if (used == used_.end()) return false;
    return std::any_of(used->second.begin(), used->second.end(), [&](const auto& entry) {
      const auto& [driver, pool, device] = entry.first;
      return ByRule(driver, pool, device, entry.second, now) || ByDriver(driver, pool, device, now);
    });
  }

  // Seconds for which a result tolerates rules; none: for ever.
  static std::optional<int64_t> LeastSeconds(
      const proto::kube::DeviceRequestAllocationResult& result) {
    std::optional<int64_t> least;
    for (const proto::kube::DeviceToleration& toleration : result.tolerations()) {
      if (!toleration.has_toleration_seconds()) return std::nullopt;
      least = std::min(least.value_or(INT64_MAX), toleration.toleration_seconds());
    }
    return least.value_or(0);
  }
  static bool Selects(const proto::kube::DeviceTaintRule& rule, const std::string& driver,
                      const std::string& pool, const std::string& device) {
    const auto& selector = rule.spec().device_selector();
    return (!selector.has_driver() || selector.driver() == driver) &&
           (!selector.has_pool() || selector.pool() == pool) &&
           (!selector.has_device() || selector.device() == device);
  }

 private:
  using Use = std::tuple<std::string, std::string, std::string>;  // driver, pool, device

  bool ByRule(const std::string& driver, const std::string& pool, const std::string& device,
              std::optional<int64_t> seconds, SimTime now) const {
    if (!seconds.has_value()) return false;
    const auto evicts = [](const TaintRuleEvent& event) {
      return event.action != TaintRuleEvent::Action::kDelete &&
             event.rule.spec().taint().effect() == "NoExecute";
    };
    for (const TaintRuleEvent& event : parts_->rules) {
      if (!evicts(event) || event.at > now || !Selects(event.rule, driver, pool, device)) continue;
      // A change of devices alone leaves timeAdded, which is in whole seconds, as it is.
      SimTime added = event.at;
      for (const TaintRuleEvent& before : parts_->rules) {
        const bool is_same = before.rule.metadata().name() == event.rule.metadata().name();
        if (is_same && evicts(before)) added = std::min(added, before.at);
      }
      added = SimTime(added.ns() / kSecondNs * kSecondNs);
      if (added + SimDuration::Seconds(*seconds) <= now) return true;
    }
    return false;
  }
  bool ByDriver(const std::string& driver, const std::string& pool, const std::string& device,
                SimTime now) const {
    for (const NodeTransition& change : parts_->transitions) {
      const size_t number = change.devices.driver;
      const UnhealthyDevices& unhealthy = parts_->unhealthy[number];
      if (change.devices.action != DeviceTransition::Action::kUnhealthy || change.at > now ||
          !unhealthy.tainted || unhealthy.taint.effect() != "NoExecute" ||
          slices_->drivers[number].name != driver ||
          pool != absl::StrCat("node-", change.node.value())) {
        continue;
      }
      size_t index = 0;
      for (const auto& slices : slices_->pools) {
        if (slices.front().spec().driver() != driver ||
            slices.front().spec().pool().name() != pool) {
          continue;
        }
        for (const auto& slice : slices) {
          for (const auto& known : slice.spec().devices()) {
            if (change.devices.devices.Contains(index++) && known.name() == device) return true;
          }
        }
      }
    }
    return false;
  }

  const RandomParts* parts_;
  const RandomSlices* slices_;
  std::map<Uid, std::set<std::pair<Use, std::optional<int64_t>>>> used_;  // by pod
};

// Pods that run on devices from which rules evict them: they have to go soon.
inline std::vector<Ref<Pod>> PodsToEvict(const ObjectCache& objects, SimTime now) {
  std::vector<Ref<Pod>> pods;
  const auto rules = objects.of<DeviceTaintRuleObject>().Sorted();
  for (const Ref<ResourceClaim>& claim : objects.of<ResourceClaim>().Sorted()) {
    if (rules.empty() || claim->status.allocation == nullptr) continue;
    for (const auto& result : claim->status.allocation->result->devices().results()) {
      const std::optional<int64_t> seconds = EvictionReasons::LeastSeconds(result);
      const bool is_over = std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
        const proto::kube::DeviceTaint& taint = rule->object->spec().taint();
        return seconds.has_value() && taint.effect() == "NoExecute" &&
               RunTimeOf(taint.time_added()) + SimDuration::Seconds(*seconds) <= now &&
               EvictionReasons::Selects(*rule->object, result.driver(), result.pool(),
                                        result.device());
      });
      if (!is_over) continue;
      for (const Consumer& consumer : claim->status.reserved_for) {
        const Ref<Pod> pod = objects.pod(consumer.uid);
        if (pod == nullptr || pod->meta.deleting || pod->phase != KubePodPhase::kRunning) continue;
        pods.push_back(pod);
      }
    }
  }
  return pods;
}

}  // namespace drasim::slice_testing

#endif  // DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_PARTS_H_
