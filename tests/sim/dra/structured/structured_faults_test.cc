// Random clusters, pools, claims and latencies of structured DRA, with faults: components that
// restart in the middle of what they do, lost watches, conflicts, failing preparations, nodes that
// fail, pools that change under load, users who change and delete claims and pods by force.
// Invariants are checked after every event of the engine, once more when all is over, and again
// when users have deleted everything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/objects.h"
#include "model/kube/shared_message.h"
#include "model/proto/kube.pb.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/dra/extended_resources.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/structured/slice_plugin.h"
#include "sim/dra/structured/structured_rules.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/sim/dra/classic/random_planes.h"
#include "tests/sim/dra/structured/random_slices.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace structured_faults_test {

using fault_testing::CallFault;
using fault_testing::FaultRig;
using fault_testing::FaultScenario;
using fault_testing::kMs;
using fault_testing::RandomConnection;
using fault_testing::RandomKind;
using slice_testing::DeviceKind;
using slice_testing::RandomSlices;

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
  std::vector<PoolChange> changes;
  StructuredRulesOptions options;
  bool counters_hold = true;
  // One pod in so many requests a device of the first class as an extended resource, in place of a
  // claim for it; 0: none.
  int extended = 0;
};

// Publishes the changes of the pools.
class PoolPublisher : public Actor {
 public:
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

bool IsExtended(int extended, const std::string& pod) {
  return extended > 0 && (pod.back() - '0') % extended == 0;
}

// A container that requests a device of the class by its implicit name.
SharedMessage<proto::kube::PodSpec> ContainersFor(const std::string& device_class) {
  proto::kube::PodSpec spec;
  proto::kube::Container* const container = spec.add_containers();
  container->set_name("main");
  (*container->mutable_resources()
        ->mutable_requests())[absl::StrCat(kDeviceClassResourcePrefix, device_class)] = "1";
  return SharedMessage<proto::kube::PodSpec>(std::move(spec));
}

class StructuredRig : public FaultRig {
 public:
  explicit StructuredRig(const StructuredScenario& s)
      : FaultRig(s), scenario_(s), publisher_(&scenario_, &plane().network()) {
    if (s.extended > 0) {
      plane().set_containers_of([this](const PodShape&, PodId pod) {
        const std::string name(rig().cluster().pod_name(pod));
        return IsExtended(scenario_.extended, name) ? containers_
                                                    : SharedMessage<proto::kube::PodSpec>();
      });
    }
    Nudge();
  }

  // After the teardown the scheduler holds no devices either.
  std::string CheckMemory() {
    const size_t held = rig().cluster().inventory().held().size();
    return held == 0 ? "" : absl::StrCat("the scheduler still holds ", held, " devices");
  }

 private:
  std::string CheckMore() const override {
    slice_testing::TakenDevices taken(&scenario_.slices);
    for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
      if (claim->status.allocation == nullptr) continue;
      if (std::string what = taken.Add(*claim, scenario_.counters_hold); !what.empty()) return what;
    }
    return "";
  }

  StructuredScenario scenario_;
  SharedMessage<proto::kube::PodSpec> containers_ =
      ContainersFor(scenario_.slices.drivers.front().name);
  PoolPublisher publisher_;
};

// Right after calls.
std::vector<CallFault> StepFaults(Random& random) {
  const std::vector<std::string> calls = {"",
                                          "GET resourceclaims",
                                          "POST resourceclaims",
                                          "POST pods/binding",
                                          "DELETE resourceclaims",
                                          "PATCH pods/status",
                                          "PUT resourceclaims",
                                          "PUT resourceclaims",
                                          "PUT resourceclaims/status",
                                          "PUT resourceclaims/status"};
  std::vector<CallFault> faults;
  for (uint64_t n = random.Below(2) == 0 ? 0 : random.Below(8); n > 0; --n) {
    CallFault fault;
    const uint64_t action = random.Below(6);
    fault.action = action < 4    ? CallFault::Action::kRestart
                   : action == 4 ? CallFault::Action::kBreakWatch
                                 : CallFault::Action::kLabelClaims;
    fault.call = OneOf(calls, random);
    fault.nth = 1 + random.Below(12);
    if (random.Below(2) == 0) {
      fault.length = SimDuration::Millis(static_cast<int64_t>(random.Below(3000)));
    }
    faults.push_back(fault);
  }
  return faults;
}

void RandomChanges(Random& random, StructuredScenario* s) {
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

StructuredScenario RandomStructured(uint64_t seed, const RandomKind& kind, Random& random) {
  StructuredScenario s;
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
  // Upstream reads what held devices consume from the slices as they are now, so that lost devices
  // are free of charge.
  s.counters_hold = !s.options.allocator.strict_upstream || s.changes.empty();
  s.objects = [slices = s.slices](ControlPlane& plane) {
    slice_testing::CreateSlices(slices, plane);
  };
  const SimDuration prepare = SimDuration::Millis(static_cast<int64_t>(random.Below(2) * 700));
  auto plugins = std::make_shared<std::vector<std::unique_ptr<SlicePlugin>>>();
  for (const auto& driver : s.slices.drivers) {
    plugins->push_back(std::make_unique<SlicePlugin>(driver.name, prepare, prepare));
  }
  s.rules = [options = s.options, plugins](ClusterState* cluster) {
    OtherRules other;
    other.rules = std::make_unique<StructuredRules>(options, cluster);
    for (const auto& plugin : *plugins) other.plugins.push_back(plugin.get());
    return other;
  };
  const int sharers = kind.easy ? 0 : kind.crowd ? 4 : static_cast<int>(random.Below(4));
  s.extended = kind.crowd ? 0 : static_cast<int>(seed % 3);
  s.claims = [drivers = s.slices.drivers, sharers, extended = s.extended](NamePool& names,
                                                                          const std::string& pod) {
    std::vector<PodClaim> claims;
    for (size_t d = 0; d < drivers.size(); ++d) {
      if (d == 0 && IsExtended(extended, pod)) continue;
      const bool shares = (pod.back() - '0' + static_cast<int>(d)) % 4 < sharers;
      const std::string entry = absl::StrCat("entry-", d);
      claims.push_back(shares ? FromClaim(names, entry, absl::StrCat("shared-", drivers[d].name))
                              : FromTemplate(names, entry, drivers[d].name));
    }
    return claims;
  };
  s.faults = StepFaults(random);
  if (random.Below(3) == 0) {
    s.meddler.pause = *Distribution::Parse("exponential(mean=1)");
    s.meddler.deeds = 40;
    s.meddler.deletions_per_mille = kind.easy ? 0 : random.Below(2) * 150;
    s.meddler.connection = RandomConnection(random);
  }
  return s;
}

// Between two events of the engine.
void FaultBetween(const RandomKind& kind, Random& random, FaultRig& rig) {
  const std::string component = OneOf(rig.Components(), random);
  const SimDuration length = SimDuration::Millis(static_cast<int64_t>(random.Below(5000)));
  switch (random.Below(kind.easy ? 4 : 5)) {
    case 0:
    case 1:
      return rig.Restart(component, length);
    case 2:
      return rig.BreakWatch(component, length);
    case 3:
      return rig.LabelAllClaims();
    default: {
      const auto claims = rig.objects().of<ResourceClaim>().Sorted();
      if (!claims.empty()) rig.DeleteClaim(OneOf(claims, random)->meta.uid);
    }
  }
}

struct RunTally {
  std::set<std::string> struck;
  uint64_t easy = 0;
  uint64_t changing = 0;
  uint64_t pods = 0;
  uint64_t unended = 0;
  std::set<DeviceKind> kinds;
};

constexpr int kMostEvents = 60'000;
// Pods that nothing has happened to for so long wait for what will not come.
constexpr SimDuration kHopeless = SimDuration::Seconds(100);

// Empty, or what is wrong.
std::string RunOne(uint64_t seed, RunTally* tally) {
  Random random(seed, "structured faults");
  RandomKind kind;
  kind.easy = seed % 4 == 1;
  kind.crowd = seed % 100 == 50;
  const StructuredScenario scenario = RandomStructured(seed, kind, random);
  StructuredRig rig(scenario);
  uint64_t left = random.Below(3) == 0 ? 0 : 1 + random.Below(6);
  std::string problem;
  int events = 0;
  while (!rig.finished() && problem.empty() && ++events <= kMostEvents) {
    if (!kind.easy && rig.idle() > kHopeless) break;
    problem = rig.Step();
    if (left > 0 && random.Below(40) == 0 && !rig.finished() && problem.empty()) {
      --left;
      FaultBetween(kind, random, rig);
    }
  }
  tally->struck.insert(rig.struck().begin(), rig.struck().end());
  tally->easy += kind.easy;
  tally->changing += !scenario.changes.empty();
  tally->pods += rig.rig().jobs().size();
  tally->unended += rig.Unended().size();
  for (const auto& driver : scenario.slices.drivers) tally->kinds.insert(driver.kind);
  if (problem.empty() && events > kMostEvents) problem = "the run does not end";
  if (problem.empty() && kind.easy && !rig.Unended().empty()) problem = "some pods never end";
  if (problem.empty()) problem = rig.CheckRest();
  if (problem.empty()) problem = rig.CheckTeardown();
  if (problem.empty()) problem = rig.CheckMemory();
  if (problem.empty()) return "";
  return absl::StrCat(problem, rig.CallsText());
}

TEST(StructuredFaultsTest, InvariantsHoldAndNothingLeaks) {
  // `make soak` asks for more.
  const uint64_t runs = SoakSeeds(500, 10'000);
  RunTally tally;
  int failures = 0;
  for (uint64_t seed = 1; seed <= runs && failures < 5; ++seed) {
    const std::string problem = RunOne(seed, &tally);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
  EXPECT_EQ(tally.easy, runs / 4);
  EXPECT_GT(tally.changing, runs / 2);
  EXPECT_EQ(tally.kinds.size(), 4U);
  // Most pods get what they want.
  EXPECT_LT(tally.unended, tally.pods / 3) << tally.pods;
  for (const char* call :
       {"claim-controller POST resourceclaims", "claim-controller PUT resourceclaims",
        "claim-controller PUT resourceclaims/status", "claim-controller PATCH pods/status",
        "claim-controller DELETE resourceclaims", "kubelet GET resourceclaims",
        "kubelet PATCH pods/status", "scheduler PUT resourceclaims",
        "scheduler PUT resourceclaims/status", "scheduler POST pods/binding",
        "scheduler POST resourceclaims", "scheduler DELETE resourceclaims",
        "scheduler PATCH pods/status"}) {
    EXPECT_EQ(tally.struck.count(call), 1U) << call;
  }
}

}  // namespace structured_faults_test
}  // namespace drasim
