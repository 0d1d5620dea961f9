// Runs of the engine with classic DRA's control plane around it, for tests and benchmarks: plain
// runs, runs told as stories, and runs with faults.
#ifndef DRASIM_TESTS_SIM_DRA_CLASSIC_DRA_RIG_H_
#define DRASIM_TESTS_SIM_DRA_CLASSIC_DRA_RIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "model/record.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/devices/counting_driver.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/classic/plane_checks.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

struct DraScenario {
  EngineScenario engine;
  ControlPlaneOptions plane;
  std::vector<CountingDriverOptions> drivers;
  // Drivers besides; may be empty.
  std::function<std::vector<std::unique_ptr<ClaimDriver>>(const ClusterState&)> more_drivers;
  // In place of the drivers: the scheduler's own rules; may be empty.
  std::function<OtherRules(ClusterState*)> rules;
  // Objects that are there from the beginning.
  std::function<void(ControlPlane&)> objects;
  std::vector<RecordSink*> sinks;  // further ones; they outlive the rig
  // Entries of the pods of the run, by the name of the pod.
  std::function<std::vector<PodClaim>(NamePool&, const std::string&)> claims;
};

// The engine with the control plane and its drivers.
class PlaneRig {
 public:
  virtual ~PlaneRig() = default;
  ControlPlane& plane() { return *plane_; }
  EngineRig& rig() { return *rig_; }
  CountingDriver& driver(size_t i) { return *counting_[i]; }
  const std::vector<ApiMessage>& messages() const { return messages_; }

 protected:
  // Once; `s` lives as long as the rig.
  void Build(DraScenario* s) {
    s->engine.extend = [this, s](ClusterState& cluster, Profile& profile) {
      for (const CountingDriverOptions& options : s->drivers) {
        auto driver = std::make_unique<CountingDriver>(options);
        counting_.push_back(driver.get());
        drivers_.push_back(std::move(driver));
      }
      if (s->more_drivers) {
        for (auto& driver : s->more_drivers(cluster)) drivers_.push_back(std::move(driver));
      }
      std::vector<ClaimDriver*> drivers;
      for (const auto& driver : drivers_) drivers.push_back(driver.get());
      const auto claims = [this, s, &cluster](const PodShape&, PodId pod) {
        return s->claims(plane_->names(), std::string(cluster.pod_name(pod)));
      };
      plane_ = s->rules
                   ? std::make_unique<ControlPlane>(&cluster, s->rules(&cluster), claims, s->plane)
                   : std::make_unique<ControlPlane>(&cluster, drivers, claims, s->plane);
      plane_->set_on_message([this](const ApiMessage& m) { Hear(m); });
      if (s->objects) s->objects(*plane_);
      profile.AddPlugin(plane_->TakePlugin(), /*first=*/true);
    };
    rig_ = std::make_unique<EngineRig>(s->engine, [this, s](EngineParts& parts) {
      parts.node_agent = plane_.get();
      parts.sinks.insert(parts.sinks.end(), s->sinks.begin(), s->sinks.end());
    });
  }
  // Every call, when it has been answered.
  virtual void Hear(const ApiMessage& m) { messages_.push_back(m); }

  std::vector<std::unique_ptr<ClaimDriver>> drivers_;
  std::vector<CountingDriver*> counting_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<EngineRig> rig_;
  std::vector<ApiMessage> messages_;
};

// A run from its beginning to its end, and what was said to the API server.
class DraRig : public PlaneRig {
 public:
  explicit DraRig(DraScenario s) : s_(std::move(s)) { Build(&s_); }

  // Runs the engine, then what is left to be said.
  absl::Status Run() {
    if (absl::Status s = rig_->engine().Run(); !s.ok()) return s;
    plane_->Settle(SimDuration::Seconds(100));
    return CheckControlPlane(*plane_, /*at_rest=*/true);
  }

  // "claim-controller POST resourceclaims", in order; the user's own and the kubelet's report of
  // the start are left out, as the figures that are compared leave them out.
  Lines Calls(bool with_all = false) const {
    Lines lines;
    for (const ApiMessage& m : messages_) {
      const std::string& client = plane_->network().client(m.client).options().name;
      if (!with_all && client == "user") continue;
      std::string line = absl::StrCat(client, " ", CallText(m.verb, m.kind));
      if (m.code != ApiCode::kOk) absl::StrAppend(&line, " ", static_cast<int>(m.code));
      if (!with_all && line == "kubelet PATCH pods/status" && !started_[m.uid]) {
        started_[m.uid] = true;
        continue;
      }
      lines.push_back(std::move(line));
    }
    started_.clear();
    return lines;
  }
  std::pair<size_t, size_t> ReadsAndWrites() const {
    size_t reads = 0;
    for (const std::string& line : Calls()) reads += line.find(" GET ") != std::string::npos;
    return {reads, Calls().size() - reads};
  }

 private:
  DraScenario s_;
  mutable std::map<Uid, bool> started_;
};

// ---- Objects ----

inline ObjectRef TestClass(NamePool& names, absl::string_view name, absl::string_view driver) {
  auto object = std::make_shared<ResourceClass>();
  object->meta.name = names.Intern(name);
  object->driver = names.Intern(driver);
  return Ref<ResourceClass>(std::move(object));
}

// A template or a claim: they differ by type alone.
template <typename T>
ObjectRef TestObject(NamePool& names, absl::string_view name, absl::string_view class_name,
                     AllocationMode mode) {
  auto object = std::make_shared<T>();
  object->meta.ns = names.Intern("default");
  object->meta.name = names.Intern(name);
  object->spec.class_name = names.Intern(class_name);
  object->spec.mode = mode;
  return Ref<T>(std::move(object));
}
inline ObjectRef TestTemplate(NamePool& names, absl::string_view name, absl::string_view class_name,
                              AllocationMode mode = AllocationMode::kWaitForFirstConsumer) {
  return TestObject<ResourceClaimTemplate>(names, name, class_name, mode);
}
inline ObjectRef TestClaim(NamePool& names, absl::string_view name, absl::string_view class_name,
                           AllocationMode mode = AllocationMode::kWaitForFirstConsumer) {
  return TestObject<ResourceClaim>(names, name, class_name, mode);
}

inline PodClaim FromTemplate(NamePool& names, absl::string_view entry, absl::string_view source) {
  return {names.Intern(entry), Name(), names.Intern(source), true};
}
inline PodClaim FromClaim(NamePool& names, absl::string_view entry, absl::string_view source) {
  return {names.Intern(entry), names.Intern(source), Name(), true};
}

// ---- Stories ----

// Nodes "node-0", "node-1", ... of 8 CPUs, a driver with `units` on each, of which the class
// is "class" and a template "template"; kube-scheduler's queue of the time. No pods yet.
inline constexpr char kStoryDriver[] = "gpu.example.com";
inline constexpr int64_t kStorySecond = 1'000'000'000;
inline constexpr int64_t kStoryMs = 1'000'000;

inline CountingDriverOptions StoryDriver(absl::string_view name,
                                         const std::vector<int64_t>& units) {
  CountingDriverOptions driver;
  driver.name = std::string(name);
  for (size_t n = 0; n < units.size(); ++n) driver.units.emplace_back(NodeId(n), units[n]);
  return driver;
}

inline DraScenario StoryScenario(const std::vector<int64_t>& units) {
  DraScenario s;
  s.engine.options.mode = RunMode::kReplay;
  s.engine.options.check_invariants = true;
  s.engine.identity_ranks = true;
  s.engine.policy = "consolidate";  // no GPUs, no preference: the first node that fits
  s.engine.kubernetes = KubernetesQueueOptions();
  s.engine.kubernetes.pop_from_backoff = false;  // these releases do not
  for (size_t n = 0; n < units.size(); ++n) {
    s.engine.nodes.push_back(TestNode(absl::StrCat("node-", n), 8000, 0));
  }
  // A pod with claims, and one that wants a whole node.
  s.engine.shapes = {TestShape(1000, 0), TestShape(8000, 0)};
  s.plane.behaviour.queueing_hints = true;
  s.drivers = {StoryDriver(kStoryDriver, units)};
  s.objects = [](ControlPlane& plane) {
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
    DRASIM_CHECK(plane.Create(TestTemplate(plane.names(), "template", "class")).ok());
  };
  // Pods named "plain..." have no claims.
  s.claims = [](NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims;
    if (!absl::StartsWith(pod, "plain")) claims.push_back(FromTemplate(names, "gpu", "template"));
    return claims;
  };
  return s;
}

inline Distribution Constant(double seconds) {
  return *Distribution::Parse(absl::StrCat("constant(", seconds, ")"));
}

// Changes of pods and claims, a line each, as a client without watch latency sees them; and deeds
// of users and faults at given times.
class DraStory : private Actor {
 public:
  explicit DraStory(DraRig* rig) : rig_(rig) {
    ClientOptions options;
    options.name = "story";
    options.watches = WatchBit(ObjectKind::kPod) | WatchBit(ObjectKind::kResourceClaim) |
                      WatchBit(ObjectKind::kPodSchedulingContext);
    client_ = rig->plane().network().Connect(options, this);
  }

  // Before the run.
  void At(double seconds, std::function<void()> deed) {
    client_->ArmTimer(SimDuration(static_cast<int64_t>(seconds * 1e9)), deeds_.size());
    deeds_.push_back(std::move(deed));
    // So that the engine hears of the timer.
    rig_->plane().faults().BreakWatch(client_->options().name, SimDuration());
  }
  // A call by a client other than the components, from a deed.
  void Call(ApiRequest request) { client_->Call(std::move(request), 0); }

  // "12.000 pod: bound to node-0".
  const Lines& lines() const { return lines_; }
  int Count(absl::string_view text) const {
    int count = 0;
    for (const std::string& line : lines_) count += absl::StrContains(line, text) ? 1 : 0;
    return count;
  }
  // Seconds of the first line that ends so; -1: none.
  double TimeOf(absl::string_view end) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (absl::EndsWith(lines_[i], end)) return times_[i];
    }
    return -1;
  }
  double BoundAt(absl::string_view pod) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (absl::StrContains(lines_[i], absl::StrCat(" ", pod, ": bound"))) return times_[i];
    }
    return -1;
  }
  // Deallocations that the scheduler asked for: nothing but the node kept the pod from running.
  int Deallocations() const { return Count("deallocation requested for a pod that waits"); }

  Lines Messages() const {
    Lines lines;
    for (const ApiMessage& m : rig_->messages()) {
      const std::string& client = rig_->plane().network().client(m.client).options().name;
      std::string line = absl::StrCat(TimeText(m.done), " ", client, " ", CallText(m.verb, m.kind),
                                      " ", m.name.text());
      if (m.code != ApiCode::kOk) absl::StrAppend(&line, " ", static_cast<int>(m.code));
      lines.push_back(std::move(line));
    }
    return lines;
  }
  int Messages(absl::string_view client, absl::string_view call, ApiCode code) const {
    int count = 0;
    for (const ApiMessage& m : rig_->messages()) {
      if (m.code == code && CallText(m.verb, m.kind) == call &&
          rig_->plane().network().client(m.client).options().name == client) {
        ++count;
      }
    }
    return count;
  }
  int Messages(absl::string_view client, absl::string_view call) const {
    return Messages(client, call, ApiCode::kOk);
  }
  // For failures.
  std::string Text() const {
    return absl::StrCat("what happened:\n", absl::StrJoin(lines_, "\n"), "\ncalls:\n",
                        absl::StrJoin(Messages(), "\n"), "\nrecords:\n",
                        absl::StrJoin(rig_->rig().RecordLines(), "\n"), "\n");
  }

  // The claim of an entry of a pod, or one of that name; null: none.
  Ref<ResourceClaim> Claim(absl::string_view name, absl::string_view entry = "") const {
    for (const auto& claim : client_->cache().of<ResourceClaim>().Sorted()) {
      if (NameOf(*claim) == (entry.empty() ? std::string(name) : absl::StrCat(name, "/", entry))) {
        return claim;
      }
    }
    return nullptr;
  }
  const ObjectCache& objects() const { return client_->cache(); }
  Ref<Pod> PodNamed(absl::string_view name) const {
    NamePool& names = rig_->plane().names();
    return client_->cache().of<Pod>().Find(names.Intern("default"), names.Intern(name));
  }

 private:
  void OnReply(uint64_t, const ApiReply&) override {}
  void OnTimer(uint64_t token) override { deeds_[token](); }
  void OnWatch(const WatchEvent& event) override {
    const bool gone = event.type == WatchEvent::Type::kDeleted;
    if (const auto pod = As<Pod>(event.object)) {
      Tell(*pod, As<Pod>(event.before).get(), gone);
    } else if (const auto claim = As<ResourceClaim>(event.object)) {
      Tell(*claim, As<ResourceClaim>(event.before).get(), gone);
    } else if (const auto context = As<PodSchedulingContext>(event.object)) {
      Tell(*context, As<PodSchedulingContext>(event.before).get(), gone);
    }
  }

  void Say(absl::string_view what, absl::string_view how) {
    times_.push_back(client_->now().seconds());
    lines_.push_back(absl::StrCat(TimeText(client_->now()), " ", what, ": ", how));
  }
  static std::string TimeText(SimTime time) {
    const int64_t ms = time.ns() / kStoryMs;
    return absl::StrCat(absl::Dec(ms / 1000, absl::kSpacePad4), ".",
                        absl::Dec(ms % 1000, absl::kZeroPad3));
  }
  static std::string Node(NodeId node) {
    return node.valid() ? absl::StrCat("node-", node.value()) : std::string("no node");
  }
  // "pod/entry" of a claim made from a template, also when the pod is gone.
  std::string NameOf(const ResourceClaim& claim) const {
    const absl::string_view name = claim.meta.name.text();
    const auto owner = pod_names_.find(claim.meta.owner);
    if (owner == pod_names_.end()) return std::string(name);
    // Releases without generated names do not say the entry elsewhere.
    return absl::StrCat(owner->second, "/",
                        claim.pod_claim_name.empty() ? name.substr(owner->second.size() + 1)
                                                     : claim.pod_claim_name.text());
  }

  void Tell(const Pod& pod, const Pod* before, bool gone) {
    const absl::string_view name = pod.meta.name.text();
    if (gone) return Say(name, "deleted");
    if (before == nullptr) {
      pod_names_[pod.meta.uid] = std::string(name);
      return Say(name, "created");
    }
    if (pod.node != before->node) Say(name, absl::StrCat("bound to ", Node(pod.node)));
    if (pod.phase == before->phase) return;
    Say(name, pod.phase == KubePodPhase::kRunning ? "runs" : "ended");
  }

  void Tell(const ResourceClaim& claim, const ResourceClaim* before, bool gone) {
    const std::string name = NameOf(claim);
    if (gone) return Say(name, "gone");
    if (before == nullptr) return Say(name, "created");
    const ResourceClaimStatus& now = claim.status;
    const ResourceClaimStatus& then = before->status;
    if (now.allocation != nullptr && then.allocation == nullptr) {
      Say(name, absl::StrCat("allocated on ", Node(now.allocation->node)));
    }
    for (const Consumer& c : now.reserved_for) {
      if (!IsReservedFor(*before, c.uid)) Say(name, absl::StrCat("reserved for ", c.name.text()));
    }
    for (const Consumer& c : then.reserved_for) {
      if (!IsReservedFor(claim, c.uid)) Say(name, absl::StrCat("released by ", c.name.text()));
    }
    if (now.deallocation_requested && !then.deallocation_requested) {
      const Ref<Pod> owner = client_->cache().pod(claim.meta.owner);
      const bool waits = owner != nullptr && !owner->node.valid();
      Say(name, absl::StrCat("deallocation requested", waits ? " for a pod that waits" : ""));
    }
    if (now.allocation == nullptr && then.allocation != nullptr) Say(name, "freed");
    if (claim.meta.deleting && !before->meta.deleting) Say(name, "is to be deleted");
  }

  void Tell(const PodSchedulingContext& context, const PodSchedulingContext* before, bool gone) {
    const std::string name = absl::StrCat(context.meta.name.text(), " (context)");
    if (gone) return Say(name, "gone");
    const PodSchedulingContext none;
    if (before == nullptr) before = &none;
    if (context.potential != before->potential) {
      Say(name, absl::StrCat(context.potential.size(), " potential nodes"));
    }
    if (context.selected != before->selected) {
      Say(name, absl::StrCat("selects ", Node(context.selected)));
    }
    for (const auto& claim : context.claims) {
      bool same = false;
      for (const auto& known : before->claims) same = same || known == claim;
      if (same) continue;
      std::vector<std::string> nodes;
      for (const NodeId node : claim.unsuitable) nodes.push_back(Node(node));
      if (nodes.size() > 4) nodes = {absl::StrCat(nodes.size(), " nodes")};
      Say(name, absl::StrCat("unsuitable for ", claim.entry.text(), ": ",
                             nodes.empty() ? "none" : absl::StrJoin(nodes, ", ")));
    }
  }

  DraRig* rig_;
  ApiClient* client_;
  std::vector<std::function<void()>> deeds_;
  std::map<Uid, std::string> pod_names_;
  Lines lines_;
  std::vector<double> times_;
};

}  // namespace drasim

// ---- Faults: components that restart or lose their watches right after one of their calls or
// between two events, a user who meddles with claims, nodes and pods that go. The invariants are
// checked after every event of the engine. ----

namespace drasim::fault_testing {

// A fault of the calling component, as soon as the call has been answered.
struct CallFault {
  enum class Action : uint8_t { kRestart, kBreakWatch, kLabelClaims };
  Action action = Action::kRestart;
  std::string component;  // whose call; empty: anybody's but a user's
  std::string call;       // "PUT resourceclaims/status"; empty: any
  uint64_t nth = 1;       // of such calls
  SimDuration length;     // for so long it is down, or hears nothing
};

// A user who labels claims, so that the writes of others meet a newer version, and deletes some.
struct MeddlerOptions {
  std::optional<Distribution> pause;  // seconds between two deeds; absent: there is no such user
  int64_t deeds = 0;                  // at most
  uint64_t deletions_per_mille = 0;   // of the deeds; the others are labels
  ConnectionOptions connection;
};

struct FaultScenario : DraScenario {
  std::vector<CallFault> faults;
  // No component, and no driver, is back sooner. A write of a former life that the server commits
  // after the new one has listed everything is news that nobody tells: a driver gives out what it
  // has given away, the claim controller makes a claim twice.
  SimDuration shortest_restart;
  SimDuration shortest_driver_restart;
  MeddlerOptions meddler;
  uint64_t seed = 0;
};

class Meddler : public Actor {
 public:
  Meddler(const MeddlerOptions& options, uint64_t seed)
      : options_(options), choices_(seed, "meddler") {}
  void Start(ApiNetwork* network) {
    network_ = network;
    ClientOptions client;
    client.name = "meddler";
    client.read_latency = options_.connection.read_latency;
    client.write_latency = options_.connection.write_latency;
    client_ = network->Connect(client, this);
    Pause();
  }
  // All but the timers, which are those of the network.
  void TakeOver(const Meddler& other) {
    options_.deeds = other.options_.deeds;
    choices_ = other.choices_;
  }
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t, const ApiReply&) override {}
  void OnTimer(uint64_t) override {
    const auto claims = network_->server().objects().of<ResourceClaim>().Sorted();
    if (!claims.empty()) Meddle(*OneOf(claims, choices_));
    Pause();
  }

 private:
  void Pause() {
    if (!options_.pause.has_value() || options_.deeds-- <= 0) return;
    const double seconds = std::clamp(options_.pause->Sample(choices_), 0.0, 100.0);
    client_->ArmTimer(SimDuration(static_cast<int64_t>(seconds * 1e9)), 0);
  }
  void Meddle(const ResourceClaim& claim) {
    ApiRequest request;
    request.kind = ObjectKind::kResourceClaim;
    if (choices_.Bernoulli(options_.deletions_per_mille, 1000)) {
      request.verb = Verb::kDelete;
      request.ns = claim.meta.ns;
      request.name = claim.meta.name;
      request.uid = claim.meta.uid;
      request.force = true;
    } else {
      auto next = std::make_shared<ResourceClaim>(claim);
      next->labels = {{"meddled", absl::StrCat(options_.deeds)}};
      request.verb = Verb::kUpdate;
      request.object = Ref<ResourceClaim>(std::move(next));
    }
    client_->Call(std::move(request), 0);
  }

  MeddlerOptions options_;
  Random choices_;
  ApiNetwork* network_ = nullptr;
  ApiClient* client_ = nullptr;
};

class FaultRig : public PlaneRig {
 public:
  explicit FaultRig(FaultScenario s) : s_(std::move(s)), meddler_(s_.meddler, s_.seed) {
    s_.engine.options.stop_after_events = 1;
    // A run in which nothing happens for long is taken for one that hangs.
    s_.plane.kubelet.prepare_retry = s_.plane.kubelet.retry;
    seen_.resize(s_.faults.size());
    // Clients are connected before the run begins, as checkpoints demand.
    s_.objects = [this, objects = s_.objects](ControlPlane& plane) {
      if (objects) objects(plane);
      if (s_.meddler.pause.has_value()) meddler_.Start(&plane.network());
    };
    Build(&s_);
  }

  // One event of the engine. Empty, or what is wrong after it.
  std::string Step() {
    if (absl::Status s = rig_->engine().Run(); !s.ok()) return std::string(s.message());
    return Check();
  }
  bool finished() const { return rig_->engine().finished(); }
  // Continues the run of `other`, which has the same scenario and outlives this, from its saved
  // state. Empty, or what is wrong with the state that was loaded.
  std::string TakeOver(const FaultRig& other) {
    const std::string state = other.rig_->State();
    StateReader in(state);
    if (absl::Status s = rig_->engine().Load(in); !s.ok()) return std::string(s.message());
    messages_ = other.messages_;
    meddler_.TakeOver(other.meddler_);
    seen_ = other.seen_;
    struck_ = other.struck_;
    pods_ = other.pods_;
    gone_ = other.gone_;
    progress_ = other.progress_;
    labels_ = other.labels_;
    checked_ = ~ResourceVersion{0};
    if (rig_->State() != state) return "the state that was loaded is saved otherwise";
    return Check();
  }
  // Runs to the end, or for at most `max_events` events.
  std::string Run(int max_events) {
    for (int event = 0; event < max_events && !finished(); ++event) {
      if (std::string problem = Step(); !problem.empty()) return problem;
    }
    return finished() ? "" : "the run does not end";
  }

  // --- Faults between two events of the engine. ---

  void Restart(absl::string_view component, SimDuration down) {
    MoveClock();
    RestartNow(component, down);
  }
  void BreakWatch(absl::string_view component, SimDuration length) {
    MoveClock();
    plane_->faults().BreakWatch(component, length);
  }
  void DeleteClaim(Uid uid) {
    MoveClock();
    const Ref<ResourceClaim> claim = objects().of<ResourceClaim>().Find(uid);
    if (claim != nullptr) Delete(ObjectKind::kResourceClaim, claim->meta);
    Nudge();
  }
  void LabelAllClaims() {
    MoveClock();
    LabelClaims();
    Nudge();
  }
  // "claim-controller", "garbage-collector", "kubelet", the drivers, "scheduler", further parts.
  std::vector<std::string> Components() const {
    std::vector<std::string> names = {"claim-controller", "garbage-collector", "kubelet"};
    for (const auto& driver : drivers_) names.emplace_back(driver->name());
    names.emplace_back("scheduler");
    for (const PlanePart* part : plane_->parts()) {
      if (part->can_fail()) names.push_back(part->connection().name);
    }
    return names;
  }

  // Time since a pod was last created, bound or reported, on the clock of the run.
  SimDuration idle() const { return rig_->engine().now() - progress_; }

  // --- The end. ---

  // Everything that is under way comes to its end, and nothing has leaked. REQUIRES: the engine is
  // not run any more.
  std::string CheckRest() {
    plane_->Settle(SimDuration::Seconds(400));
    if (absl::Status s = CheckControlPlane(*plane_, true); !s.ok()) return std::string(s.message());
    if (std::string what = CheckBoundPods(); !what.empty()) return what;
    return CheckBooks();
  }

  // Users delete all their pods and claims: then nothing is left of any of them anywhere.
  std::string CheckTeardown() {
    for (const Ref<Pod>& pod : objects().of<Pod>().Sorted()) Delete(ObjectKind::kPod, pod->meta);
    for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
      Delete(ObjectKind::kResourceClaim, claim->meta);
    }
    plane_->Settle(SimDuration::Seconds(1500));
    for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
      return absl::StrCat("claim ", claim->meta.name.text(), " is still there, with ",
                          claim->meta.finalizers.size(), " finalizers and ",
                          claim->status.reserved_for.size(), " consumers");
    }
    for (const auto& context : objects().of<PodSchedulingContext>().Sorted()) {
      return absl::StrCat("context ", context->meta.name.text(), " is still there");
    }
    for (size_t n = 0; n < s_.engine.nodes.size(); ++n) {
      const size_t prepared = plane_->dra_manager().prepared_claims(NodeId(n));
      if (prepared > 0) return absl::StrCat(prepared, " claims are still prepared on node ", n);
    }
    if (!plane_->dra_manager().idle()) return "the kubelet is still at work";
    return CheckBooks();
  }

  // The jobs that have not ended.
  std::vector<JobId> Unended() const {
    std::vector<JobId> jobs;
    for (size_t j = 0; j < rig_->jobs().size(); ++j) {
      const JobState state = rig_->jobs().row(JobId(j)).state;
      const bool over = state == JobState::kSucceeded || state == JobState::kFailed ||
                        state == JobState::kDeleted || state == JobState::kDropped;
      if (!over) jobs.push_back(JobId(j));
    }
    return jobs;
  }

  const ObjectCache& objects() const { return plane_->network().server().objects(); }
  // The calls that restarts followed: "gpu.example.com PUT resourceclaims".
  const std::set<std::string>& struck() const { return struck_; }
  const std::string& NameOf(ClientId client) const {
    return plane_->network().client(client).options().name;
  }
  // Since the last write.
  SimDuration since_last_write() const {
    for (size_t i = messages_.size(); i-- > 0;) {
      if (IsWrite(messages_[i].verb)) return rig_->engine().now() - messages_[i].done;
    }
    return rig_->engine().now() - SimTime();
  }
  // The last calls, a line each.
  std::string CallsText(size_t most = 60) const {
    std::string text;
    const size_t first = messages_.size() > most ? messages_.size() - most : 0;
    for (size_t i = first; i < messages_.size(); ++i) {
      const ApiMessage& m = messages_[i];
      absl::StrAppend(&text, "\n  ", m.done.ns() / 1'000'000, " ms ", NameOf(m.client), " ",
                      CallText(m.verb, m.kind), " ", m.name.text(), " ", static_cast<int>(m.code));
    }
    return text;
  }

 protected:
  // Further invariants of the objects.
  virtual std::string CheckMore() const { return ""; }
  // Nothing happens to a client without watches, but the engine learns when the network is due.
  void Nudge() { plane_->faults().BreakWatch("user", SimDuration()); }
  void Hear(const ApiMessage& m) override {
    PlaneRig::Hear(m);
    if (m.verb == Verb::kCreate && m.kind == ObjectKind::kPod && m.code == ApiCode::kOk) {
      pods_.insert(m.uid);
    }
    if (m.kind == ObjectKind::kPod && IsWrite(m.verb) && m.code == ApiCode::kOk) progress_ = m.done;
    const std::string& component = NameOf(m.client);
    if (!plane_->HasComponent(component)) return;
    std::string call;
    for (size_t i = 0; i < s_.faults.size(); ++i) {
      const CallFault& fault = s_.faults[i];
      if (!fault.component.empty() && fault.component != component) continue;
      if (call.empty()) call = CallText(m.verb, m.kind);
      if (!fault.call.empty() && fault.call != call) continue;
      if (++seen_[i] != fault.nth) continue;
      if (fault.action == CallFault::Action::kRestart) {
        struck_.insert(absl::StrCat(component, " ", call));
      }
      Strike(fault, component);
    }
  }

 private:
  void Strike(const CallFault& fault, const std::string& component) {
    switch (fault.action) {
      case CallFault::Action::kRestart:
        return RestartNow(component, fault.length);
      case CallFault::Action::kBreakWatch:
        return plane_->faults().BreakWatch(component, fault.length);
      case CallFault::Action::kLabelClaims:
        return LabelClaims();
    }
  }

  void RestartNow(absl::string_view component, SimDuration down) {
    const bool is_driver = std::any_of(drivers_.begin(), drivers_.end(), [&](const auto& driver) {
      return driver->name() == component;
    });
    down = std::max(down, is_driver ? s_.shortest_driver_restart : s_.shortest_restart);
    plane_->faults().Restart(component, down);
  }

  // Straight into the server: a user's call that takes no time.
  void LabelClaims() {
    const std::string value = absl::StrCat(++labels_);
    for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
      auto next = std::make_shared<ResourceClaim>(*claim);
      next->labels = {{"meddled", value}};
      ApiRequest request;
      request.verb = Verb::kUpdate;
      request.kind = ObjectKind::kResourceClaim;
      request.object = Ref<ResourceClaim>(std::move(next));
      plane_->network().server().Handle(request);
    }
  }
  void Delete(ObjectKind kind, const ObjectMeta& meta) {
    ApiRequest request;
    request.verb = Verb::kDelete;
    request.kind = kind;
    request.ns = meta.ns;
    request.name = meta.name;
    request.uid = meta.uid;
    request.force = true;
    plane_->network().server().Handle(request);
  }
  void MoveClock() { plane_->network().MoveClock(rig_->engine().now()); }

  // --- Invariants. ---

  // Nothing about objects is to be said again as long as none has changed.
  std::string Check() {
    const ResourceVersion version = plane_->network().server().version();
    if (version == checked_) return "";
    checked_ = version;
    if (absl::Status s = CheckControlPlane(*plane_, false); !s.ok())
      return std::string(s.message());
    if (std::string what = CheckUnits(); !what.empty()) return what;
    if (std::string what = CheckGrants(); !what.empty()) return what;
    if (std::string what = CheckConsumers(); !what.empty()) return what;
    if (std::string what = CheckMore(); !what.empty()) return what;
    return CheckPods();
  }

  // By what is written, no driver has given out more units than there are.
  std::string CheckUnits() const {
    for (const CountingDriverOptions& driver : s_.drivers) {
      int64_t in_all = 0;
      std::map<NodeId, int64_t> on_node;
      for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
        if (claim->status.allocation == nullptr || claim->status.driver.text() != driver.name) {
          continue;
        }
        if (IsReleased(*claim)) continue;
        const int64_t units = UnitsOf(*claim->status.allocation);
        in_all += units;
        on_node[claim->status.allocation->node] += units;
      }
      if (!driver.node_local) {
        if (in_all > driver.network_units) return absl::StrCat("too many units of ", driver.name);
        continue;
      }
      for (const auto& [node, units] : driver.units) {
        if (on_node[node] > units) {
          return absl::StrCat("too many units of ", driver.name, " on node ", node.value());
        }
      }
    }
    return "";
  }
  // The library frees devices first and says so afterwards (KEP-3063's order): until then they may
  // be written twice.
  static bool IsReleased(const ResourceClaim& claim) {
    return (claim.status.deallocation_requested || claim.meta.deleting) &&
           claim.status.reserved_for.empty();
  }
  // By what is written, no two claims have the same device, or the same slot of one.
  std::string CheckGrants() const {
    std::vector<Ref<ResourceClaim>> claims;
    for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
      if (claim->status.allocation == nullptr || IsReleased(*claim)) continue;
      if (claim->status.allocation->grants.empty()) continue;
      for (const Ref<ResourceClaim>& other : claims) {
        if (!Clash(*claim->status.allocation, *other->status.allocation)) continue;
        return absl::StrCat("claims ", claim->meta.name.text(), " and ", other->meta.name.text(),
                            " have the same device");
      }
      claims.push_back(claim);
    }
    return "";
  }
  bool Clash(const Allocation& a, const Allocation& b) const {
    if (!a.node.valid() || a.node != b.node) return false;
    const MigTable* table = rig_->cluster().mig_table(a.node);
    for (const DeviceGrant& one : a.grants) {
      for (const DeviceGrant& two : b.grants) {
        if (one.device != two.device) continue;
        const bool instances = one.placement != kNoPlacement && two.placement != kNoPlacement;
        const bool parts = one.placement == kNoPlacement && two.placement == kNoPlacement;
        if (instances) {
          const auto& placements = table->placements();
          if ((placements[one.placement].units & placements[two.placement].units) != 0) return true;
        } else if (!parts || one.milli + two.milli > kDeviceMilli) {
          return true;
        }
      }
    }
    return false;
  }
  static int64_t UnitsOf(const Allocation& allocation) {
    absl::string_view data = allocation.handles.front().data;
    int64_t units = 0;
    return absl::SimpleAtoi(data.substr(data.rfind('=') + 1), &units) ? units : 1'000'000;
  }

  // Consumers are pods, of this run, and do not stay in the list for ever after their end.
  std::string CheckConsumers() {
    const SimTime now = plane_->network().now();
    std::map<std::pair<Uid, Uid>, SimTime> gone;
    for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
      for (const Consumer& consumer : claim->status.reserved_for) {
        if (consumer.resource.text() != "pods" || pods_.count(consumer.uid) == 0) {
          return absl::StrCat("claim ", claim->meta.name.text(), " is reserved for ",
                              consumer.name.text(), ", which never was a pod");
        }
        const Ref<Pod> pod = objects().pod(consumer.uid);
        if (pod != nullptr && !IsDone(*pod)) continue;
        const auto key = std::make_pair(claim->meta.uid, consumer.uid);
        const auto since = gone_.find(key);
        const SimTime begin = since == gone_.end() ? now : since->second;
        gone.emplace(key, begin);
        if (now - begin > SimDuration::Seconds(120)) {
          return absl::StrCat("claim ", claim->meta.name.text(), " is still reserved for ",
                              consumer.name.text(), ", which ended long ago");
        }
      }
    }
    gone_ = std::move(gone);
    return "";
  }

  // A pod that runs has what it claims, on its node. One that is only bound may still lack it: the
  // scheduler may have met its own reservation in the cache after taking it back.
  std::string CheckPods() const {
    for (const Ref<Pod>& pod : objects().of<Pod>().Sorted()) {
      if (pod->phase != KubePodPhase::kRunning || pod->meta.deleting) continue;
      for (const PodClaim& entry : pod->claims) {
        const Ref<ResourceClaim> claim =
            objects().claim(pod->meta.ns, plane_->scheduler().rules().ClaimNameOf(*pod, entry));
        const std::string who = absl::StrCat("pod ", pod->meta.name.text(), " runs, and its claim ",
                                             entry.entry.text());
        if (claim == nullptr) return absl::StrCat(who, " is gone");
        if (claim->status.allocation == nullptr) return absl::StrCat(who, " is not allocated");
        if (!IsReservedFor(*claim, pod->meta.uid)) return absl::StrCat(who, " is not reserved");
        if (!claim->status.allocation->available_on.Contains(pod->node)) {
          return absl::StrCat(who, " is elsewhere");
        }
      }
    }
    return "";
  }

  // At rest: of a pod that is bound but does not run, the claim controller has reserved what it
  // can.
  std::string CheckBoundPods() const {
    if (!s_.plane.behaviour.serves_bound_pods()) return "";
    for (const Ref<Pod>& pod : objects().of<Pod>().Sorted()) {
      if (pod->meta.deleting || IsDone(*pod) || !pod->node.valid()) continue;
      for (const PodClaim& entry : pod->claims) {
        const Ref<ResourceClaim> claim =
            objects().claim(pod->meta.ns, plane_->scheduler().rules().ClaimNameOf(*pod, entry));
        // One after the other.
        if (claim == nullptr || claim->status.allocation == nullptr) break;
        const bool may = CanBeReserved(*claim) && !claim->meta.deleting &&
                         !claim->status.deallocation_requested &&
                         claim->status.reserved_for.size() < kMaxReservedFor;
        if (may && !IsReservedFor(*claim, pod->meta.uid)) {
          return absl::StrCat("pod ", pod->meta.name.text(), " is bound, and its claim ",
                              entry.entry.text(), " not reserved");
        }
      }
    }
    return "";
  }

  // The drivers' own books agree with the written allocations.
  std::string CheckBooks() const {
    for (const CountingDriver* driver : counting_) {
      size_t written = 0;
      for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
        written +=
            claim->status.allocation != nullptr && claim->status.driver.text() == driver->name();
      }
      // Upstream loses what it gave to a claim that was gone before that was written.
      const bool may_lose = s_.plane.behaviour.strict_upstream;
      const size_t given = driver->allocated_claims();
      if (may_lose ? given >= written : given == written) continue;
      return absl::StrCat(driver->name(), " has given ", given, " claims something, of which ",
                          written, " are written");
    }
    return "";
  }

  FaultScenario s_;
  Meddler meddler_;
  std::vector<uint64_t> seen_;  // by fault: such calls so far
  std::set<std::string> struck_;
  std::set<Uid> pods_;                           // that were ever created
  std::map<std::pair<Uid, Uid>, SimTime> gone_;  // claim, consumer that ended: since when
  SimTime progress_;
  ResourceVersion checked_ = ~ResourceVersion{0};
  int labels_ = 0;
};

}  // namespace drasim::fault_testing

#endif  // DRASIM_TESTS_SIM_DRA_CLASSIC_DRA_RIG_H_
