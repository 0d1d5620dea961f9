// Random clusters, pools that change, claims, extended resources, policies and latencies for tests
// of structured DRA's control plane, with further components (random_parts.h) in some of them.
#ifndef DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_STRUCTURED_H_
#define DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_STRUCTURED_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/kube/objects.h"
#include "model/kube/shared_message.h"
#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/choice/choice_policies.h"
#include "policies/dra/extended_resources.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/structured/slice_plugin.h"
#include "sim/dra/structured/structured_rules.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/sim/dra/classic/random_planes.h"
#include "tests/sim/dra/structured/random_parts.h"
#include "tests/sim/dra/structured/random_slices.h"

namespace drasim::slice_testing {

using fault_testing::FaultScenario;
using fault_testing::RandomKind;

// A new generation of a pool: its slices are written one after the other, so that it is incomplete
// in between.
struct PoolChange {
  size_t pool = 0;
  SimTime begin;
  SimDuration step;  // from one slice to the next
  // By device, for ever changing sets: lost, or tainted. The last change of a pool restores it.
  uint64_t lost = 0;
  uint64_t tainted = 0;
};

struct StructuredScenario : FaultScenario {
  RandomSlices slices;
  RandomParts parts;
  std::set<std::string> extended;  // pods that request extended resources
  std::vector<PoolChange> changes;
  StructuredRulesOptions options;
  bool counters_hold = true;
};

// Publishes the changes of the pools.
class PoolPublisher : public Actor {
 public:
  // Both must outlive it. Its timers are its state, so that checkpoints have it.
  PoolPublisher(const StructuredScenario* s, ApiNetwork* network) : s_(s), network_(network) {
    ClientOptions client;
    client.name = "publisher";
    client_ = network->Connect(client, this);
    std::vector<int64_t> generations(s->slices.pools.size(), 1);
    for (const PoolChange& change : s->changes) {
      ++generations[change.pool];
      for (size_t i = 0; i < s->slices.pools[change.pool].size(); ++i) {
        const SimTime at = change.begin + SimDuration(change.step.ns() * static_cast<int64_t>(i));
        client_->ArmTimer(at - SimTime(), writes_.size());
        writes_.push_back({&change, i, generations[change.pool]});
      }
    }
  }
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t, const ApiReply&) override {}
  void OnTimer(uint64_t token) override {
    const Write& write = writes_[token];
    const auto& published = s_->slices.pools[write.change->pool][write.slice];
    proto::kube::ResourceSlice next = published;
    next.mutable_spec()->mutable_pool()->set_generation(write.generation);
    next.mutable_spec()->clear_devices();
    uint64_t bit = 1;
    for (proto::kube::Device device : published.spec().devices()) {
      if ((write.change->tainted & bit) != 0) {
        proto::kube::DeviceTaint* const taint = device.add_taints();
        taint->set_key("example.com/sick");
        taint->set_effect("NoSchedule");
      }
      if ((write.change->lost & bit) == 0) *next.mutable_spec()->add_devices() = device;
      bit <<= 1;
    }
    const Name name = network_->server().names().Intern(published.metadata().name());
    const auto now = network_->server().objects().of<ResourceSliceObject>().Find(Name(), name);
    if (now == nullptr) return;  // its node has failed, or its driver has yet to start
    auto object = std::make_shared<ResourceSliceObject>(*now);
    object->object = SharedMessage<proto::kube::ResourceSlice>(std::move(next));
    client_->Call(WriteRequest(Verb::kUpdate, Ref<ResourceSliceObject>(std::move(object))), 0);
  }

 private:
  struct Write {
    const PoolChange* change;
    size_t slice;
    int64_t generation;
  };
  const StructuredScenario* s_;
  ApiNetwork* network_;
  ApiClient* client_ = nullptr;
  std::vector<Write> writes_;
};

inline void RandomChanges(Random& random, StructuredScenario* s) {
  for (size_t pool = 0; pool < s->slices.pools.size(); ++pool) {
    if (random.Below(2) == 0) continue;
    SimTime at;
    const uint64_t changes = 1 + random.Below(4);
    for (uint64_t c = 0; c <= changes; ++c) {
      PoolChange change;
      change.pool = pool;
      at = at + SimDuration::Millis(1 + static_cast<int64_t>(random.Below(15'000)));
      change.begin = at;
      change.step = SimDuration::Millis(static_cast<int64_t>(random.Below(3000)));
      at = at + change.step + change.step;
      const bool restores = c == changes;
      if (!restores && random.Below(2) == 0) change.lost = random.Below(1 << 10);
      if (!restores && random.Below(2) == 0) change.tainted = random.Below(1 << 10);
      s->changes.push_back(change);
    }
  }
}

// Some pods request devices as extended resources, with a claim besides or without one. On some
// nodes a device plugin serves the first driver's resource.
inline void RandomResources(const RandomKind& kind, Random& random, StructuredScenario* s) {
  const std::vector<RandomDriver>& drivers = s->slices.drivers;
  std::vector<std::string> resources;
  for (const RandomDriver& driver : drivers) {
    resources.push_back(ResourceOf(driver));
    resources.push_back(absl::StrCat(kDeviceClassResourcePrefix, driver.name));
  }
  std::sort(resources.begin(), resources.end());
  const std::string of_plugin = ResourceOf(drivers.front());
  for (NodeSpec& node : s->engine.nodes) {
    const bool has_plugin = random.Below(4) == 0;
    for (const std::string& resource : resources) {
      const bool reported = has_plugin && resource == of_plugin;
      // Without faults that last, some node can take every pod.
      const int64_t amount = kind.easy ? 2 : 1 + static_cast<int64_t>(random.Below(2));
      node.extended.emplace_back(resource, reported ? amount : 0);
    }
  }
  for (JobArrival& job : s->engine.jobs) {
    if (random.Below(2) == 0) continue;
    s->extended.insert(job.name);
    PodShape shape = s->engine.shapes[job.shape.value()];
    const int64_t amount = kind.crowd ? 1 : 1 + static_cast<int64_t>(random.Below(2));
    shape.request.extended.emplace_back(OneOf(resources, random), amount);
    job.shape = ShapeId(s->engine.shapes.size());
    s->engine.shapes.push_back(shape);
  }
  // Every attempt has a claim of its own, which never gets beyond its first allocation.
  for (BindingBehaviour& behaviour : s->parts.bindings) behaviour.timeouts = behaviour.failures = 0;
}

inline SharedMessage<proto::kube::PodSpec> ContainersOf(const PodShape& shape) {
  if (shape.request.extended.empty()) return {};
  proto::kube::PodSpec spec;
  proto::kube::Container* const container = spec.add_containers();
  container->set_name("main");
  for (const auto& [resource, amount] : shape.request.extended) {
    (*container->mutable_resources()->mutable_requests())[resource] = absl::StrCat(amount);
  }
  return SharedMessage<proto::kube::PodSpec>(std::move(spec));
}

inline void RandomComponents(const RandomKind& kind, Random& random, StructuredScenario* s) {
  const size_t nodes = s->engine.nodes.size();
  if (random.Below(3) == 0) RandomPublishing(nodes, s->slices, kind.easy, random, &s->parts);
  if (random.Below(3) == 0) {
    for (RandomDriver& driver : s->slices.drivers) RandomTolerations(random, &driver);
    RandomRules(nodes, s->slices, kind.easy, random, &s->parts);
    // A pod whose toleration is over is evicted again and again.
    s->engine.options.interruption.grace_period =
        SimDuration::Millis(500 + static_cast<int64_t>(random.Below(4000)));
    s->plane.kubelet.grace_period = s->engine.options.interruption.grace_period;
  }
  if (random.Below(4) == 0) {
    RandomBindings(nodes, random, &s->slices, &s->parts);
    // A claim that binds after the first look needs a second one, which comes 5 s later.
    const int64_t least = kind.easy ? 6 : 5;
    s->options.plugin.binding_timeout_ns =
        (least + static_cast<int64_t>(random.Below(10))) * kSecondNs;
  }
  if (random.Below(3) == 0) RandomResources(kind, random, s);
  if (random.Below(3) == 0) {
    const auto policies = ChoicePolicyInfos();
    const char* const policy = policies[static_cast<size_t>(random.Below(policies.size()))].name;
    s->options.allocator.policy = *MakeChoicePolicy(policy, {});
  }
  auto& changes = s->engine.node_changes;
  changes.insert(changes.end(), s->parts.transitions.begin(), s->parts.transitions.end());
  std::stable_sort(changes.begin(), changes.end(),
                   [](const NodeTransition& a, const NodeTransition& b) { return a.at < b.at; });
}

inline StructuredScenario RandomStructured(uint64_t seed, const RandomKind& kind, Random& random,
                                           bool filters_at_once = true) {
  StructuredScenario s;
  s.options.filters_at_once = filters_at_once;
  s.seed = seed;
  RandomWork(kind, random, &s.engine);
  for (JobArrival& job : s.engine.jobs) job.pods = 1;
  s.engine.options.check_invariants = seed % 8 == 0;
  RandomPlane(kind, random, &s);
  s.plane.behaviour = StructuredBehaviour();
  // A former life has written all that it was about to write before the next one begins, as with
  // upstream's leases.
  s.shortest_restart = SimDuration::Seconds(4);
  s.slices = slice_testing::DrawSlices(s.engine.nodes.size(), kind.easy, random);
  RandomChanges(random, &s);
  s.options.allocator.strict_upstream = random.Below(2) == 0;
  s.options.plugin.seed = seed;
  RandomComponents(kind, random, &s);
  // Upstream reads what held devices consume from the slices as they are now, so that lost devices
  // are free of charge.
  s.counters_hold =
      !s.options.allocator.strict_upstream || (s.changes.empty() && !s.parts.publishes_any());
  std::set<std::string> unpublished;
  for (size_t d = 0; d < s.parts.starts_up.size(); ++d) {
    if (s.parts.starts_up[d]) unpublished.insert(s.slices.drivers[d].name);
  }
  s.objects = [slices = s.slices, unpublished](ControlPlane& plane) {
    slice_testing::CreateSlices(slices, plane, unpublished);
    plane.set_containers_of([](const PodShape& shape, PodId) { return ContainersOf(shape); });
  };
  const SimDuration prepare = SimDuration::Millis(static_cast<int64_t>(random.Below(2) * 700));
  auto plugins = std::make_shared<std::vector<std::unique_ptr<SlicePlugin>>>();
  for (const auto& driver : s.slices.drivers) {
    plugins->push_back(std::make_unique<SlicePlugin>(driver.name, prepare, prepare));
  }
  auto planes = std::make_shared<std::vector<std::unique_ptr<PartsOfPlane>>>();
  s.rules = [options = s.options, plugins, planes, parts = s.parts, slices = s.slices,
             plane = s.plane](ClusterState* cluster) {
    OtherRules other;
    other.rules = std::make_unique<StructuredRules>(options, cluster);
    for (const auto& plugin : *plugins) other.plugins.push_back(plugin.get());
    planes->push_back(std::make_unique<PartsOfPlane>(parts, slices, plane, cluster));
    other.parts = planes->back()->all();
    return other;
  };
  const int sharers = kind.easy ? 0 : kind.crowd ? 4 : static_cast<int>(random.Below(4));
  const bool claims_besides = !kind.easy && random.Below(2) == 0;
  s.claims = [drivers = s.slices.drivers, sharers, extended = s.extended, claims_besides](
                 NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims;
    if (!claims_besides && extended.count(pod) > 0) return claims;
    for (size_t d = 0; d < drivers.size(); ++d) {
      const bool shares = (pod.back() - '0' + static_cast<int>(d)) % 4 < sharers;
      const std::string entry = absl::StrCat("entry-", d);
      claims.push_back(shares ? FromClaim(names, entry, absl::StrCat("shared-", drivers[d].name))
                              : FromTemplate(names, entry, drivers[d].name));
    }
    return claims;
  };
  return s;
}

}  // namespace drasim::slice_testing

#endif  // DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_STRUCTURED_H_
