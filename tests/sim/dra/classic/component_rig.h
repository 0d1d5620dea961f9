// An API server and its network around one component under test: the claim controller (and the
// garbage collector), the DRA manager of the kubelets, a driver's controller, or the scheduler's
// plugin. Each has a World in a namespace of its own.
//
// The writes of all others are made on the server itself, take no time and are not among the
// messages.
#ifndef DRASIM_TESTS_SIM_DRA_CLASSIC_COMPONENT_RIG_H_
#define DRASIM_TESTS_SIM_DRA_CLASSIC_COMPONENT_RIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_server.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/claim_controller.h"
#include "sim/dra/api/dra_manager.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/garbage_collector.h"
#include "sim/dra/classic/driver_controller.h"
#include "sim/dra/classic/dynamic_resources.h"

namespace drasim::component_testing {

// Claims and contexts of the server, in order of creation. Versions are left out.
struct Objects {
  std::vector<ResourceClaim> claims;
  std::vector<PodSchedulingContext> contexts;
  bool operator==(const Objects&) const = default;
};

inline std::string MetaText(const ObjectMeta& meta) {
  std::string text = absl::StrCat(meta.ns.text(), "/", meta.name.text(), " uid ", meta.uid,
                                  " owner ", meta.owner, meta.deleting ? " deleting" : "");
  for (const Name finalizer : meta.finalizers) absl::StrAppend(&text, " +", finalizer.text());
  return text;
}

// Seconds that calls and watches of a client take; 0: none.
struct CallTimes {
  double read = 0;
  double write = 0;
  double watch = 0;
};

inline ClientOptions ClientWith(absl::string_view name, uint32_t watches, const CallTimes& times) {
  ClientOptions client;
  client.name = std::string(name);
  client.watches = watches;
  if (times.read > 0) client.read_latency = Distribution::Constant(times.read).value();
  if (times.write > 0) client.write_latency = Distribution::Constant(times.write).value();
  if (times.watch > 0) client.watch_latency = Distribution::Constant(times.watch).value();
  return client;
}

inline std::string NodesText(absl::Span<const NodeId> nodes) {
  return absl::StrJoin(nodes, " ", [](std::string* out, NodeId node) {
    absl::StrAppend(out, node.valid() ? absl::StrCat(node.value()) : "-");
  });
}

// " for pods/pod(3)", for each consumer.
inline std::string ConsumersText(const ResourceClaimStatus& status) {
  std::string text;
  for (const Consumer& consumer : status.reserved_for) {
    absl::StrAppend(&text, " for ", consumer.resource.text(), "/", consumer.name.text(), "(",
                    consumer.uid, ")");
  }
  return text;
}

class ComponentRig {
 public:
  explicit ComponentRig(uint64_t seed = 1) : network_(&names_, seed) {
    network_.set_on_message([this](const ApiMessage& message) {
      messages_.push_back(absl::StrCat(CallText(message.verb, message.kind), " ",
                                       message.name.text(), " ", static_cast<int>(message.code)));
    });
  }
  ComponentRig(const ComponentRig&) = delete;
  ComponentRig& operator=(const ComponentRig&) = delete;

  NamePool& names() { return names_; }
  ApiNetwork& network() { return network_; }
  const ObjectCache& objects() const { return network_.server().objects(); }
  Name In(absl::string_view text) { return names_.Intern(text); }
  void RunMillis(int64_t ms) { network_.RunUntil(network_.now() + SimDuration::Millis(ms)); }

  // Straight into the server.
  ApiReply Do(const ApiRequest& request) {
    ApiReply reply = network_.server().Handle(request);
    EXPECT_TRUE(reply.ok()) << CallText(request.verb, request.kind) << ": " << reply.message;
    return reply;
  }
  ApiReply Do(Verb verb, ObjectRef object, StatusPart part = StatusPart::kNone) {
    ApiRequest request;
    request.verb = verb;
    request.part = part;
    request.kind = KindOf(object);
    request.object = std::move(object);
    return Do(request);
  }
  template <typename T>
  Ref<T> Send(Verb verb, T object, StatusPart part = StatusPart::kNone) {
    return As<T>(
        Do(verb, ObjectRef(Ref<T>(std::make_shared<const T>(std::move(object)))), part).object);
  }
  // The object as the server has it, changed.
  template <typename T>
  Ref<T> Change(Verb verb, Uid uid, const std::function<void(T*)>& change,
                StatusPart part = StatusPart::kNone) {
    T next = *objects().of<T>().Find(uid);
    change(&next);
    return Send(verb, std::move(next), part);
  }
  Ref<ResourceClaim> ChangeStatus(Uid claim,
                                  const std::function<void(ResourceClaimStatus*)>& change) {
    return Change<ResourceClaim>(Verb::kUpdateStatus, claim,
                                 [&](ResourceClaim* next) { change(&next->status); });
  }
  template <typename T>
  T Named(absl::string_view ns, absl::string_view name) {
    T made;
    made.meta.ns = In(ns);
    made.meta.name = In(name);
    return made;
  }
  void Bind(Name ns, Name name, NodeId node) {
    ApiRequest request;
    request.verb = Verb::kBind;
    request.kind = ObjectKind::kPod;
    request.ns = ns;
    request.name = name;
    request.node = node;
    Do(request);
  }
  void Delete(ObjectKind kind, Name ns, Name name, bool force = false) {
    ApiRequest request;
    request.verb = Verb::kDelete;
    request.kind = kind;
    request.ns = ns;
    request.name = name;
    request.force = force;
    Do(request);
  }

  Objects Snapshot() const {
    Objects found;
    for (const auto& claim : objects().of<ResourceClaim>().Sorted()) {
      found.claims.push_back(*claim);
      found.claims.back().meta.version = 0;
    }
    for (const auto& context : objects().of<PodSchedulingContext>().Sorted()) {
      found.contexts.push_back(*context);
      found.contexts.back().meta.version = 0;
    }
    return found;
  }
  // The calls since the last time: "PUT resourceclaims/status claim 200".
  std::vector<std::string> TakeMessages() { return std::exchange(messages_, {}); }

 private:
  NamePool names_;
  ApiNetwork network_;
  std::vector<std::string> messages_;
};

}  // namespace drasim::component_testing

// A component rig with pods, claims and contexts, and the claim controller and the garbage
// collector as its clients.
namespace drasim::claim_controller_testing {

using Lines = std::vector<std::string>;

inline constexpr NodeId kWorker{uint32_t{7}};
inline constexpr SimDuration kLong = SimDuration::Seconds(3000);

// The times are those of both clients.
struct WorldOptions : component_testing::CallTimes {
  DraBehaviour behaviour;
  int workers = 10;
  size_t remembered_uids = 500;
  uint64_t seed = 1;
  double watch_spread = 0;  // a watch takes up to so much longer
};

inline WorldOptions OfRelease(DraRelease release) {
  WorldOptions options;
  options.behaviour.release = release;
  return options;
}

inline WorldOptions Slow(double write, double watch) {
  WorldOptions options;
  options.read = write;
  options.write = write;
  options.watch = watch;
  return options;
}

class World : public component_testing::ComponentRig {
 public:
  explicit World(const WorldOptions& options = {})
      : ComponentRig(options.seed),
        options_(options),
        controller_({options.behaviour, options.workers, options.remembered_uids}) {
    network().set_on_message([this](const ApiMessage& message) { Log(message); });
  }

  // --- The actors. ---

  void StartController() {
    controller_client_ =
        network().Connect(Options("claim-controller", ClaimController::kWatches), &controller_);
    controller_.Start(controller_client_);
  }
  void StartCollector() {
    collector_client_ =
        network().Connect(Options("garbage-collector", GarbageCollector::kWatches), &collector_);
    collector_.Start(collector_client_);
  }
  ClaimController& controller() { return controller_; }
  GarbageCollector& collector() { return collector_; }
  ApiClient& controller_client() { return *controller_client_; }
  ApiClient& collector_client() { return *collector_client_; }
  SimTime now() { return network().now(); }
  void Run(SimDuration length) { network().RunUntil(network().now() + length); }
  // Until nothing is under way.
  void Rest() { EXPECT_TRUE(network().RunToRest(network().now() + kLong)); }

  // The calls of the clients since the last time, "PUT resourceclaims/status a-gpu-*", with the
  // code if it was not 200. Made-up ends of names are stars.
  Lines TakeCalls() { return std::exchange(calls_, {}); }

  // --- The objects. ---

  Name ns() { return In(ns_); }
  // The namespace of all objects from now on.
  void set_ns(absl::string_view ns) { ns_ = std::string(ns); }

  void AddTemplate(absl::string_view name, ClaimSpec spec = {}) {
    auto made = Named<ResourceClaimTemplate>(ns_, name);
    made.spec = spec;
    if (spec.class_name.empty()) made.spec.class_name = In("class");
    Send(Verb::kCreate, std::move(made));
  }

  // Entries "gpu" (from the template "template") or "gpu=claim".
  Uid AddPod(absl::string_view name, const Lines& entries,
             const std::function<void(Pod*)>& change = {}) {
    Pod made = Named<Pod>(ns_, name);
    for (const std::string& text : entries) {
      PodClaim entry;
      const size_t equals = text.find('=');
      entry.entry = In(text.substr(0, equals));
      if (equals == std::string::npos) {
        entry.from_template = In("template");
      } else if (text[equals + 1] == '@') {
        entry.from_template = In(text.substr(equals + 2));
      } else {
        entry.claim = In(text.substr(equals + 1));
      }
      made.claims.push_back(entry);
    }
    if (change) change(&made);
    const Uid uid = Send(Verb::kCreate, std::move(made))->meta.uid;
    const int times = ++pod_names_[std::string(name)];
    pod_alias_[uid] = times == 1 ? std::string(name) : absl::StrCat(name, "(", times, ")");
    return uid;
  }
  Uid AddClaim(absl::string_view name, const std::function<void(ResourceClaim*)>& change = {}) {
    auto made = Named<ResourceClaim>(ns_, name);
    made.spec.class_name = In("class");
    if (change) change(&made);
    return Send(Verb::kCreate, std::move(made))->meta.uid;
  }
  // A claim of the pod's entry "gpu", as the controller makes it.
  Uid AddOwnClaim(absl::string_view name, Uid pod,
                  const std::function<void(ResourceClaim*)>& change = {}) {
    return AddClaim(name, [&](ResourceClaim* claim) {
      claim->meta.owner = pod;
      claim->pod_claim_name = In("gpu");
      if (change) change(claim);
    });
  }

  Ref<Pod> pod(Uid uid) const { return objects().pod(uid); }
  Ref<ResourceClaim> claim(Uid uid) const { return objects().of<ResourceClaim>().Find(uid); }
  // The claim of an entry of a pod, by the pod's status; null if there is none.
  Ref<ResourceClaim> ClaimOf(Uid pod_uid, absl::string_view entry) {
    for (const Pod::ClaimName& known : pod(pod_uid)->claim_names) {
      if (known.entry.text() == entry) return objects().claim(pod(pod_uid)->meta.ns, known.claim);
    }
    return nullptr;
  }

  void ChangePodStatus(Uid uid, const std::function<void(Pod*)>& change) {
    Change<Pod>(Verb::kUpdateStatus, uid, change);
  }
  void SetPhase(Uid uid, KubePodPhase phase) {
    ChangePodStatus(uid, [phase](Pod* pod) { pod->phase = phase; });
  }
  void SetClaimName(Uid uid, absl::string_view claim) {
    ChangePodStatus(uid, [&](Pod* pod) { pod->claim_names = {{In("gpu"), In(claim)}}; });
  }
  void ChangeClaim(Uid uid, const std::function<void(ResourceClaim*)>& change) {
    Change<ResourceClaim>(Verb::kUpdate, uid, change);
  }
  void ChangeClaimStatus(Uid uid, const std::function<void(ResourceClaimStatus*)>& change) {
    ChangeStatus(uid, change);
  }
  ResourceClaimStatus Allocated(const std::vector<Uid>& pods, bool shareable = true) {
    ResourceClaimStatus status;
    status.driver = In("driver");
    auto allocation = std::make_shared<Allocation>();
    allocation->shareable = shareable;
    status.allocation = std::move(allocation);
    for (const Uid uid : pods) status.reserved_for.push_back(ConsumerOf(uid));
    return status;
  }
  Consumer ConsumerOf(Uid uid) { return {In("pods"), pod(uid)->meta.name, uid}; }
  void Bind(Uid uid, NodeId node = kWorker) {
    ComponentRig::Bind(pod(uid)->meta.ns, pod(uid)->meta.name, node);
  }
  void Delete(const ObjectRef& object, bool force = false) {
    ComponentRig::Delete(KindOf(object), MetaOf(object)->ns, MetaOf(object)->name, force);
  }
  // At once, bound or not.
  void RemovePod(Uid uid) { Delete(pod(uid), /*force=*/true); }
  // The driver's part in the end of a claim: frees it and lets it go.
  void FreeClaim(Uid uid) {
    if (claim(uid)->status.allocation != nullptr) {
      ChangeClaimStatus(uid, [](ResourceClaimStatus* status) { *status = ResourceClaimStatus(); });
    }
    ChangeClaim(uid, [](ResourceClaim* claim) { claim->meta.finalizers.clear(); });
  }

  // Everything there is of claims, then of contexts, then of what pods say of claims; every field
  // but uids and versions, in order of creation.
  Lines State() const {
    Lines lines;
    for (const auto& claim : objects().of<ResourceClaim>().Sorted()) {
      lines.push_back(ClaimText(*claim));
    }
    for (const auto& context : objects().of<PodSchedulingContext>().Sorted()) {
      std::string text = absl::StrCat("context ", MetaText(context->meta));
      if (context->selected.valid()) absl::StrAppend(&text, " node ", context->selected.value());
      if (!context->potential.empty()) absl::StrAppend(&text, " with potential nodes");
      if (!context->claims.empty()) absl::StrAppend(&text, " with status");
      lines.push_back(std::move(text));
    }
    for (const auto& pod : objects().of<Pod>().Sorted()) {
      if (pod->claim_names.empty()) continue;
      std::string text = absl::StrCat("pod ", pod_alias_.at(pod->meta.uid), ":");
      for (const Pod::ClaimName& name : pod->claim_names) {
        absl::StrAppend(&text, " ", name.entry.text(), "=", Starred(pod->meta.ns, name.claim));
      }
      lines.push_back(std::move(text));
    }
    return lines;
  }

 private:
  ClientOptions Options(absl::string_view name, uint32_t watches) const {
    ClientOptions options = component_testing::ClientWith(name, watches, options_);
    if (options_.watch_spread > 0) {
      options.watch_latency = *Distribution::Parse(absl::StrCat(
          "uniform(low=", options_.watch, ",high=", options_.watch + options_.watch_spread, ")"));
    }
    return options;
  }

  void Log(const ApiMessage& message) {
    if (message.verb == Verb::kCreate && message.kind == ObjectKind::kResourceClaim &&
        message.code == ApiCode::kOk && options_.behaviour.generated_names()) {
      std::string name(message.name.text());
      stars_[{message.ns, message.name}] = name.substr(0, name.size() - 5) + "*";
    }
    std::string text =
        absl::StrCat(CallText(message.verb, message.kind), " ", Starred(message.ns, message.name));
    if (message.code != ApiCode::kOk) {
      absl::StrAppend(&text, " = ", static_cast<int>(message.code));
    }
    calls_.push_back(std::move(text));
  }

  std::string Starred(Name ns, Name name) const {
    const auto star = stars_.find({ns, name});
    return star == stars_.end() ? std::string(name.text()) : star->second;
  }

  std::string MetaText(const ObjectMeta& meta) const {
    std::string text = Starred(meta.ns, meta.name);
    if (meta.ns.text() != "default") text = absl::StrCat(meta.ns.text(), "/", text);
    if (meta.owner != 0) {
      const auto owner = pod_alias_.find(meta.owner);
      absl::StrAppend(&text, " of ", owner == pod_alias_.end() ? "?" : owner->second);
    }
    for (const Name finalizer : meta.finalizers) absl::StrAppend(&text, " +", finalizer.text());
    if (meta.deleting) text += " deleting";
    return text;
  }

  std::string ClaimText(const ResourceClaim& claim) const {
    std::string text = absl::StrCat("claim ", MetaText(claim.meta));
    if (!claim.pod_claim_name.empty()) absl::StrAppend(&text, " @", claim.pod_claim_name.text());
    absl::StrAppend(&text, " ", claim.spec.class_name.text());
    if (!claim.spec.parameters.kind.empty()) {
      absl::StrAppend(&text, " ", claim.spec.parameters.kind.text(), "/",
                      claim.spec.parameters.name.text());
    }
    if (claim.spec.mode == AllocationMode::kImmediate) text += " immediate";
    const ResourceClaimStatus& status = claim.status;
    if (status.allocation != nullptr) {
      text += status.allocation->shareable ? " allocated" : " allocated alone";
    }
    for (const Consumer& consumer : status.reserved_for) {
      const auto user = pod_alias_.find(consumer.uid);
      absl::StrAppend(&text, " for ", consumer.resource.text(), "/",
                      user == pod_alias_.end() ? consumer.name.text() : user->second);
    }
    if (status.deallocation_requested) text += " deallocate";
    return text;
  }

  struct ByText {
    bool operator()(const std::pair<Name, Name>& a, const std::pair<Name, Name>& b) const {
      return std::make_pair(a.first.text(), a.second.text()) <
             std::make_pair(b.first.text(), b.second.text());
    }
  };

  WorldOptions options_;
  ClaimController controller_;
  GarbageCollector collector_;
  ApiClient* controller_client_ = nullptr;
  ApiClient* collector_client_ = nullptr;
  std::string ns_ = "default";
  std::map<std::string, int> pod_names_;
  std::map<Uid, std::string> pod_alias_;
  std::map<std::pair<Name, Name>, std::string, ByText> stars_;
  Lines calls_;
};

}  // namespace drasim::claim_controller_testing

// A component rig with pods and allocated claims, and the DRA manager of all kubelets as its only
// client.
namespace drasim::dra_manager_testing {

using Lines = std::vector<std::string>;

inline constexpr NodeId kNode{uint32_t{0}};
inline constexpr NodeId kOther{uint32_t{1}};

struct WorldOptions {
  DraManagerOptions kubelet;
  // Times of the kubelets' client; 0: none.
  int64_t read_ms = 0;
  int64_t write_ms = 0;
  int64_t watch_ms = 0;
  std::vector<std::string> drivers = {"gpu", "nic"};
  uint64_t seed = 1;
};

inline std::optional<Distribution> Millis(int64_t ms) {
  if (ms == 0) return std::nullopt;
  return Distribution::Constant(static_cast<double>(ms) / 1000).value();
}

// Retries come after 10 s sharp, those of preparing too.
inline WorldOptions Sharp() {
  WorldOptions options;
  options.kubelet.prepare_retry = options.kubelet.retry;
  options.kubelet.retry_jitter = 0;
  return options;
}
inline WorldOptions OfRelease(DraRelease release) {
  WorldOptions options = Sharp();
  options.kubelet.behaviour.release = release;
  return options;
}

class World : public component_testing::ComponentRig, public PodRunner {
 public:
  // A plugin: how long it takes depends on the claim. The kubelet asks when a call begins.
  class Plugin : public ClaimDriver {
   public:
    Plugin(World* world, std::string name) : world_(world), name_(std::move(name)) {}
    absl::string_view name() const override { return name_; }
    SimDuration PrepareTime(const ResourceClaim& claim) const override {
      world_->Log("prepare ", name_, " ", claim.meta.name.text());
      return TimeOf(world_->prepare_ms, claim);
    }
    SimDuration UnprepareTime(const ResourceClaim& claim) const override {
      world_->Log("unprepare ", name_, " ", claim.meta.name.text());
      return TimeOf(world_->unprepare_ms, claim);
    }

    absl::Status CheckParameters(const ClaimToAllocate&) const override { return absl::OkStatus(); }
    std::vector<ClaimAllocation> Allocate(absl::Span<const ClaimToAllocate>, NodeId) override {
      return {};
    }
    std::vector<std::vector<NodeId>> UnsuitableNodes(absl::Span<const ClaimToAllocate>,
                                                     absl::Span<const NodeId>) const override {
      return {};
    }
    absl::Status Deallocate(Uid) override { return absl::OkStatus(); }
    void Restore(absl::Span<const Ref<ResourceClaim>>) override {}
    void Save(StateWriter&) const override {}
    absl::Status Load(StateReader&) override { return absl::OkStatus(); }

   private:
    static SimDuration TimeOf(const std::map<std::string, int64_t>& ms,
                              const ResourceClaim& claim) {
      const auto found = ms.find(std::string(claim.meta.name.text()));
      return SimDuration::Millis(found == ms.end() ? 0 : found->second);
    }
    World* world_;
    std::string name_;
  };

  explicit World(const WorldOptions& options = Sharp()) : ComponentRig(options.seed) {
    std::vector<NodePlugin*> drivers;
    for (const std::string& name : options.drivers) {
      plugins_.push_back(std::make_unique<Plugin>(this, name));
      drivers.push_back(plugins_.back().get());
    }
    kubelet_ = std::make_unique<DraManager>(std::move(drivers), options.kubelet, this);
    ClientOptions client;
    client.name = "kubelet";
    client.watches = DraManager::kWatches;
    client.read_latency = Millis(options.read_ms);
    client.write_latency = Millis(options.write_ms);
    client.watch_latency = Millis(options.watch_ms);
    client_ = network().Connect(client, kubelet_.get());
    network().set_on_message([this](const ApiMessage& message) { LogCall(message); });
    kubelet_->Start(client_);
  }

  // By claim; others take no time.
  std::map<std::string, int64_t> prepare_ms;
  std::map<std::string, int64_t> unprepare_ms;
  std::function<void(const Pod&)> on_started;
  std::function<void(const Pod&)> on_ended;

  // --- The actors. ---

  DraManager& kubelet() { return *kubelet_; }
  void Rest() {
    EXPECT_TRUE(network().RunToRest(network().now() + SimDuration::Seconds(10'000)));
    EXPECT_TRUE(kubelet_->idle());
  }
  void Restart(int64_t down_ms) { network().Restart(client_->id(), SimDuration::Millis(down_ms)); }

  void PodStarted(const Pod& pod) override {
    Log("started ", pod.meta.name.text());
    if (on_started) on_started(pod);
  }
  void PodEnded(const Pod& pod) override {
    Log("ended ", pod.meta.name.text());
    if (on_ended) on_ended(pod);
  }

  // The log since the last time, as "1500 GET resourceclaims c": milliseconds, then a call
  // (with its code if that is not 200, and the phase that a PATCH left), a claim of a call to a
  // plugin when that begins, or what the host heard.
  Lines Take() { return std::exchange(lines_, {}); }
  // Without the times.
  Lines TakeBare() {
    Lines bare;
    for (const std::string& line : Take()) bare.push_back(line.substr(line.find(' ') + 1));
    return bare;
  }

  // --- The objects. ---

  // A claim that is allocated with a handle per driver.
  void AddClaim(absl::string_view name, const std::vector<std::string>& drivers = {"gpu"},
                Uid owner = 0) {
    auto claim = Named<ResourceClaim>("ns", name);
    claim.meta.owner = owner;
    claim.spec.class_name = In("class");
    auto allocation = std::make_shared<Allocation>();
    allocation->shareable = true;
    for (const std::string& driver : drivers) allocation->handles.push_back({In(driver), ""});
    ChangeStatus(Send(Verb::kCreate, std::move(claim))->meta.uid, [&](ResourceClaimStatus* status) {
      status->driver = In("gpu");
      status->allocation = std::move(allocation);
    });
  }
  void Reserve(absl::string_view claim, absl::string_view pod) {
    ChangeStatus(claim_uid(claim), [&](ResourceClaimStatus* status) {
      status->reserved_for.push_back({In("pods"), In(pod), pod_uid(pod)});
    });
  }
  void Release(absl::string_view claim, Uid pod) {
    ChangeStatus(claim_uid(claim), [&](ResourceClaimStatus* status) {
      auto& users = status->reserved_for;
      users.erase(std::remove_if(users.begin(), users.end(),
                                 [&](const Consumer& user) { return user.uid == pod; }),
                  users.end());
    });
  }

  // An entry that refers to a claim by name.
  PodClaim Uses(absl::string_view claim) { return {In(claim), In(claim), Name(), true}; }
  PodClaim FromTemplate(absl::string_view entry) { return {In(entry), Name(), In("t"), true}; }
  Uid AddPod(absl::string_view name, std::vector<PodClaim> claims, NodeId node = kNode) {
    Pod pod = Named<Pod>("ns", name);
    pod.claims = std::move(claims);
    pod.node = node;
    return Send(Verb::kCreate, std::move(pod))->meta.uid;
  }
  // As the scheduler does it: reserves, then binds.
  Uid RunPod(absl::string_view name, const std::vector<std::string>& claims, NodeId node = kNode) {
    std::vector<PodClaim> entries;
    for (const std::string& claim : claims) entries.push_back(Uses(claim));
    const Uid uid = AddPod(name, std::move(entries), NodeId());
    for (const std::string& claim : claims) Reserve(claim, name);
    Bind(name, node);
    return uid;
  }
  void Bind(absl::string_view name, NodeId node = kNode) {
    ComponentRig::Bind(In("ns"), In(name), node);
  }
  void NameClaim(absl::string_view pod, absl::string_view entry, absl::string_view claim) {
    Pod next = *this->pod(pod);
    next.claim_names.push_back({In(entry), In(claim)});
    Send(Verb::kPatchStatus, std::move(next), StatusPart::kClaimNames);
  }
  void SetPhase(absl::string_view pod, KubePodPhase phase) {
    Pod next = *this->pod(pod);
    next.phase = phase;
    Send(Verb::kPatchStatus, std::move(next), StatusPart::kPhase);
  }
  void Delete(absl::string_view name, bool force = false) {
    ComponentRig::Delete(ObjectKind::kPod, In("ns"), In(name), force);
  }

  Ref<Pod> pod(absl::string_view name) { return objects().of<Pod>().Find(In("ns"), In(name)); }
  Uid pod_uid(absl::string_view name) { return pod(name)->meta.uid; }
  Uid claim_uid(absl::string_view name) { return objects().claim(In("ns"), In(name))->meta.uid; }
  KubePodPhase phase(absl::string_view name) { return pod(name)->phase; }

 private:
  template <typename... Parts>
  void Log(const Parts&... parts) {
    lines_.push_back(absl::StrCat(network().now().ns() / 1'000'000, " ", parts...));
  }
  void LogCall(const ApiMessage& message) {
    std::string line = absl::StrCat(CallText(message.verb, message.kind), " ", message.name.text());
    if (message.code != ApiCode::kOk) {
      absl::StrAppend(&line, " ", static_cast<int>(message.code));
    } else if (message.verb == Verb::kPatchStatus) {
      static constexpr absl::string_view kPhases[] = {"Pending", "Running", "Succeeded", "Failed"};
      const auto phase = static_cast<size_t>(objects().pod(message.uid)->phase);
      absl::StrAppend(&line, " ", kPhases[phase]);
    }
    Log(line);
  }

  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::unique_ptr<DraManager> kubelet_;
  ApiClient* client_ = nullptr;
  Lines lines_;
};

}  // namespace drasim::dra_manager_testing

// A component rig with a driver that follows a script, and the DriverController around it.
namespace drasim::driver_controller_testing {

using Outcome = DriverController::Outcome;
using Texts = std::vector<std::string>;
using component_testing::MetaText;
using component_testing::NodesText;
using component_testing::Objects;
using Nodes = std::vector<NodeId>;

inline constexpr char kDriverName[] = "mock-driver";
inline constexpr NodeId kWorker{uint32_t{4}};
inline constexpr NodeId kWorker2{uint32_t{9}};

// Allocates everything on the node, shareable or not, and finds every node suitable, unless told
// otherwise. Its calls are kept as text.
class MockDriver : public ClaimDriver {
 public:
  explicit MockDriver(std::function<SimTime()> clock) : clock_(std::move(clock)) {}

  // By name of the claim.
  std::map<std::string, absl::Status> allocate_errors;
  std::map<std::string, absl::Status> parameter_errors;
  std::map<std::string, Nodes> unsuitable;  // by entry of the pod
  absl::Status deallocate_error;
  bool gives_null = false;
  // Writes down when calls come, and parameters.
  bool verbose = false;

  absl::string_view name() const override { return kDriverName; }
  absl::Status CheckParameters(const ClaimToAllocate& claim) const override {
    const std::string text(claim.claim->meta.name.text());
    if (verbose) Note("CheckParameters ", ClaimText(claim));
    const auto found = parameter_errors.find(text);
    return found == parameter_errors.end() ? absl::OkStatus() : found->second;
  }
  std::vector<ClaimAllocation> Allocate(absl::Span<const ClaimToAllocate> claims,
                                        NodeId node) override {
    Note("Allocate ", ClaimTexts(claims), " on ", NodesText({node}));
    std::vector<ClaimAllocation> results;
    for (const ClaimToAllocate& claim : claims) {
      const auto failed = allocate_errors.find(std::string(claim.claim->meta.name.text()));
      ClaimAllocation result;
      if (failed != allocate_errors.end()) {
        result.status = failed->second;
      } else if (!gives_null) {
        result.allocation = AllocationFor(*claim.claim, node, claim.resource_class->driver);
      }
      results.push_back(std::move(result));
    }
    return results;
  }
  std::vector<std::vector<NodeId>> UnsuitableNodes(
      absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const override {
    Note("UnsuitableNodes ", ClaimTexts(claims), " of ", NodesText(potential));
    std::vector<std::vector<NodeId>> lists;
    for (const ClaimToAllocate& claim : claims) {
      const auto found = unsuitable.find(std::string(claim.entry.text()));
      lists.push_back(found == unsuitable.end() ? Nodes() : found->second);
    }
    return lists;
  }
  absl::Status Deallocate(Uid claim) override {
    Note("Deallocate ", claim);
    return deallocate_error;
  }
  void Restore(absl::Span<const Ref<ResourceClaim>> allocated) override {
    restored_ = absl::StrJoin(allocated, " ", [](std::string* out, const Ref<ResourceClaim>& it) {
      absl::StrAppend(out, it->meta.name.text());
    });
  }
  void Save(StateWriter&) const override {}
  absl::Status Load(StateReader& in) override { return in.status(); }

  static Ref<Allocation> AllocationFor(const ResourceClaim& claim, NodeId node, Name driver) {
    auto allocation = std::make_shared<Allocation>();
    allocation->handles.push_back({driver, absl::StrCat("for ", claim.meta.uid)});
    if (node.valid()) allocation->available_on = NodeSet::Of({node});
    allocation->node = node;
    return allocation;
  }
  Texts TakeCalls() { return std::exchange(calls_, {}); }
  const std::string& restored() const { return restored_; }

 private:
  template <typename... Parts>
  void Note(const Parts&... parts) const {
    const std::string when = verbose ? absl::StrCat(clock_().ns() / 1'000'000, " ms: ") : "";
    calls_.push_back(absl::StrCat(when, parts...));
  }
  std::string ClaimText(const ClaimToAllocate& claim) const {
    std::string text(claim.claim->meta.name.text());
    if (!claim.entry.empty()) absl::StrAppend(&text, "=", claim.entry.text());
    if (claim.class_parameters != nullptr) {
      absl::StrAppend(&text, " class:", claim.class_parameters->meta.name.text());
    }
    if (claim.claim_parameters != nullptr) {
      absl::StrAppend(&text, " claim:", claim.claim_parameters->meta.name.text());
    }
    return text;
  }
  std::string ClaimTexts(absl::Span<const ClaimToAllocate> claims) const {
    return absl::StrJoin(claims, ",", [this](std::string* out, const ClaimToAllocate& claim) {
      absl::StrAppend(out, ClaimText(claim));
    });
  }

  std::function<SimTime()> clock_;
  mutable Texts calls_;
  std::string restored_;
};

inline std::string ObjectsText(const Objects& objects) {
  std::string text;
  for (const ResourceClaim& claim : objects.claims) {
    const ResourceClaimStatus& status = claim.status;
    absl::StrAppend(&text, "  claim ", MetaText(claim.meta));
    if (status.allocation != nullptr) {
      const Allocation& given = *status.allocation;
      absl::StrAppend(
          &text, " by ", status.driver.text(), " on ",
          given.available_on.everywhere() ? "every node" : NodesText(given.available_on.nodes()));
      for (const auto& handle : given.handles) absl::StrAppend(&text, " {", handle.data, "}");
    }
    text += component_testing::ConsumersText(status);
    absl::StrAppend(&text, status.deallocation_requested ? " deallocate\n" : "\n");
  }
  for (const PodSchedulingContext& context : objects.contexts) {
    absl::StrAppend(&text, "  context ", MetaText(context.meta), " potential [",
                    NodesText(context.potential), "] selected ", NodesText({context.selected}));
    for (const auto& claim : context.claims) {
      absl::StrAppend(&text, " ", claim.entry.text(), " not [", NodesText(claim.unsuitable), "]");
    }
    text += "\n";
  }
  return text;
}

struct WorldOptions : component_testing::CallTimes {
  DriverControllerOptions controller;
};

class World : public component_testing::ComponentRig {
 public:
  explicit World(const WorldOptions& options = WorldOptions())
      : driver([this] { return network().now(); }),
        options_(options),
        controller_(&driver, options.controller) {}

  // The controller's cache starts with what is there now; all of it is synced at once as far as no
  // call takes time. Nothing else happens until the network runs.
  void Connect() {
    client_ = network().Connect(
        component_testing::ClientWith("driver", DriverController::kWatches, options_),
        &controller_);
  }
  void Start() {
    if (client_ == nullptr) Connect();
    controller_.Start(client_);
  }
  DriverController& controller() { return controller_; }
  ApiClient& client() { return *client_; }
  Name N(absl::string_view text) { return In(text); }
  void RunTo(int64_t ms) { network().RunUntil(SimTime(ms * 1'000'000)); }

  template <typename T>
  Ref<T> Change(Verb verb, const T& object, const std::function<void(T*)>& change) {
    return ComponentRig::Change(verb, object.meta.uid, change);
  }
  Ref<ResourceClaim> ChangeStatus(const ResourceClaim& claim,
                                  const std::function<void(ResourceClaimStatus*)>& change) {
    return ComponentRig::ChangeStatus(claim.meta.uid, change);
  }
  template <typename T>
  void Delete(const T& object, bool force = false) {
    ComponentRig::Delete(KindOf(ObjectRef(Ref<T>())), object.meta.ns, object.meta.name, force);
  }
  // With its status: created, then given one.
  Ref<ResourceClaim> AddClaim(const ResourceClaim& claim) {
    ResourceClaim bare = claim;
    bare.status = ResourceClaimStatus();
    const Ref<ResourceClaim> added = Send(Verb::kCreate, bare);
    if (claim.status == ResourceClaimStatus()) return added;
    const auto set = [&](bool request) {
      return ChangeStatus(*added, [&](ResourceClaimStatus* status) {
        *status = claim.status;
        // The handle names the claim by its uid.
        if (status->allocation != nullptr) {
          status->allocation =
              MockDriver::AllocationFor(*added, claim.status.allocation->node, claim.status.driver);
        }
        status->deallocation_requested = request;
      });
    };
    const Ref<ResourceClaim> full = set(false);
    return claim.status.deallocation_requested ? set(true) : full;
  }
  Ref<ResourceClass> AddClass(absl::string_view name, absl::string_view driver_name) {
    ResourceClass made;
    made.meta.name = N(name);
    made.driver = N(driver_name);
    return Send(Verb::kCreate, made);
  }
  Ref<Pod> AddPod(const std::vector<std::pair<std::string, std::string>>& entries,
                  absl::string_view name = "pod") {
    Pod made = Named<Pod>("default", name);
    for (const auto& [entry, claim] : entries) {
      PodClaim source;
      source.entry = N(entry);
      source.claim = N(claim);
      made.claims.push_back(source);
    }
    return Send(Verb::kCreate, made);
  }
  Ref<PodSchedulingContext> AddContext(const Pod& pod, const Nodes& potential, NodeId selected) {
    PodSchedulingContext made;
    made.meta.ns = pod.meta.ns;
    made.meta.name = pod.meta.name;
    made.meta.owner = pod.meta.uid;
    made.potential = potential;
    made.selected = selected;
    return Send(Verb::kCreate, made);
  }
  ResourceClaim ClaimOf(absl::string_view name, absl::string_view class_name = "mock-class",
                        AllocationMode mode = AllocationMode::kWaitForFirstConsumer) {
    auto claim = Named<ResourceClaim>("default", name);
    claim.spec.class_name = N(class_name);
    claim.spec.mode = mode;
    return claim;
  }
  Name Finalizer() { return N("mock-driver/deletion-protection"); }

  // As the driver and its controller leave an allocated claim.
  void Allocated(NodeId node, ResourceClaim* claim) {
    if (claim->meta.finalizers.empty()) claim->meta.finalizers.push_back(Finalizer());
    claim->status.driver = N(kDriverName);
    claim->status.allocation = MockDriver::AllocationFor(*claim, node, N(kDriverName));
  }
  void Reserved(const Pod& pod, ResourceClaim* claim) {
    claim->status.reserved_for.push_back({N("pods"), pod.meta.name, pod.meta.uid});
  }

  // "done 1, requeue 0, periodic 0, failed 1".
  std::string Outcomes() const {
    return absl::StrCat("done ", controller_.outcomes(Outcome::kDone), ", requeue ",
                        controller_.outcomes(Outcome::kRequeue), ", periodic ",
                        controller_.outcomes(Outcome::kPeriodic), ", failed ",
                        controller_.outcomes(Outcome::kFailed));
  }

  MockDriver driver;

 private:
  WorldOptions options_;
  DriverController controller_;
  ApiClient* client_ = nullptr;
};

// The expected changes of objects, and the expected calls.
struct Want {
  std::function<void(World&, Objects*)> change;  // of what was there before
  Texts driver_calls;
  Texts messages;
  std::string outcomes;
  std::string error;
};

inline void Verify(World& world, const Objects& before, const Want& want) {
  Objects wanted = before;
  if (want.change) want.change(world, &wanted);
  const Objects now = world.Snapshot();
  EXPECT_TRUE(now == wanted) << "left\n" << ObjectsText(now) << "not\n" << ObjectsText(wanted);
  const Texts calls = world.driver.TakeCalls();
  EXPECT_EQ(calls, want.driver_calls) << "asked the driver\n  " << absl::StrJoin(calls, "\n  ");
  const Texts messages = world.TakeMessages();
  EXPECT_EQ(messages, want.messages) << "sent\n  " << absl::StrJoin(messages, "\n  ");
  EXPECT_EQ(world.Outcomes(), want.outcomes);
  EXPECT_EQ(world.controller().last_result().error, want.error);
}

}  // namespace drasim::driver_controller_testing

// A component rig with the scheduler's plugin DynamicResources as its only client.
namespace drasim::dynamic_resources_testing {

using Plugin = DynamicResources;
using Code = Plugin::Code;
using Reason = Plugin::Reason;
using Hint = Plugin::Hint;
using Status = Plugin::Status;
using component_testing::MetaText;
using component_testing::Objects;

inline constexpr NodeId kWorker{uint32_t{7}};

inline std::string NodesText(absl::Span<const NodeId> nodes) {
  return absl::StrCat("[", component_testing::NodesText(nodes), "]");
}

inline std::string NodeSetText(const NodeSet& set) {
  return set.everywhere() ? "everywhere" : NodesText(set.nodes());
}

inline std::string ObjectsText(const Objects& objects) {
  std::string text;
  for (const ResourceClaim& claim : objects.claims) {
    absl::StrAppend(&text, "  claim ", MetaText(claim.meta), " class ",
                    claim.spec.class_name.text(),
                    claim.spec.mode == AllocationMode::kImmediate ? " Immediate" : "");
    const ResourceClaimStatus& status = claim.status;
    if (status.allocation != nullptr) {
      absl::StrAppend(&text, " allocated on ", NodeSetText(status.allocation->available_on));
    }
    text += component_testing::ConsumersText(status);
    for (const auto& label : claim.labels) absl::StrAppend(&text, " ", label.first);
    absl::StrAppend(&text, status.deallocation_requested ? " deallocate\n" : "\n");
  }
  for (const PodSchedulingContext& context : objects.contexts) {
    absl::StrAppend(&text, "  context ", MetaText(context.meta), " potential ",
                    NodesText(context.potential));
    if (context.selected.valid()) absl::StrAppend(&text, " selected ", context.selected.value());
    for (const auto& claim : context.claims) {
      absl::StrAppend(&text, " ", claim.entry.text(), " not ", NodesText(claim.unsuitable));
    }
    text += "\n";
  }
  return text;
}

inline std::string StatusDump(const Status& status) {
  return absl::StrCat("code ", static_cast<int>(status.code), " reason ",
                      static_cast<int>(status.reason), " (", StatusText(status), ") object '",
                      status.object.text(), "'");
}

struct WorldOptions : component_testing::CallTimes {
  DraBehaviour behaviour;
  uint64_t seed = 1;
};

inline WorldOptions OfRelease(DraRelease release) {
  WorldOptions options;
  options.behaviour.release = release;
  return options;
}

class World : public component_testing::ComponentRig, public Actor {
 public:
  explicit World(const WorldOptions& options) : ComponentRig(options.seed), options_(options) {}

  // The plugin's cache starts with what is there now.
  void Start() {
    client_ =
        network().Connect(component_testing::ClientWith("scheduler", kWatchAll, options_), this);
    plugin_ = std::make_unique<Plugin>(client_, options_.behaviour, options_.seed);
    cycle.token = 77;
  }

  Name N(absl::string_view text) { return In(text); }
  Plugin& plugin() { return *plugin_; }
  ApiClient& client() { return *client_; }
  const DraBehaviour& behaviour() const { return options_.behaviour; }

  void Delete(ObjectKind kind, absl::string_view name) {
    ComponentRig::Delete(kind, N("default"), N(name));
  }
  // With its status: created, then given one.
  Ref<ResourceClaim> AddClaim(const ResourceClaim& claim) {
    ResourceClaim empty = claim;
    empty.status = ResourceClaimStatus();
    const Ref<ResourceClaim> added = Send(Verb::kCreate, empty);
    if (claim.status == ResourceClaimStatus()) return added;
    const auto set = [&](bool request) {
      return ChangeStatus(added->meta.uid, [&](ResourceClaimStatus* status) {
        *status = claim.status;
        status->deallocation_requested = request;
      });
    };
    const Ref<ResourceClaim> full = set(false);
    return claim.status.deallocation_requested ? set(true) : full;
  }
  Ref<PodSchedulingContext> AddContext(const PodSchedulingContext& context) {
    PodSchedulingContext empty = context;
    empty.claims.clear();
    const Ref<PodSchedulingContext> added = Send(Verb::kCreate, empty);
    if (context.claims.empty()) return added;
    return Change<PodSchedulingContext>(
        Verb::kUpdateStatus, added->meta.uid,
        [&](PodSchedulingContext* full) { full->claims = context.claims; });
  }
  Ref<ResourceClass> AddClass(absl::string_view name, const NodeSet& nodes = NodeSet()) {
    ResourceClass made;
    made.meta.name = N(name);
    made.driver = N("some-driver");
    made.suitable_nodes = nodes;
    return Send(Verb::kCreate, made);
  }
  // A pod with a named claim per entry, "my-resource" = "my-pod-my-resource".
  Pod PodWith(absl::string_view name, const std::vector<std::string>& entries) {
    Pod made = Named<Pod>("default", name);
    for (const std::string& entry : entries) {
      PodClaim claim;
      claim.entry = N(entry);
      claim.claim = N(absl::StrCat("my-pod-", entry));
      made.claims.push_back(claim);
    }
    return made;
  }
  Ref<Pod> AddPod(const Pod& made) {
    Pod empty = made;
    empty.claim_names.clear();
    const Ref<Pod> added = Send(Verb::kCreate, empty);
    if (made.claim_names.empty()) return added;
    return Change<Pod>(Verb::kUpdateStatus, added->meta.uid,
                       [&](Pod* full) { full->claim_names = made.claim_names; });
  }
  ResourceClaim ClaimOf(absl::string_view entry, AllocationMode mode, Uid owner) {
    auto claim = Named<ResourceClaim>("default", absl::StrCat("my-pod-", entry));
    claim.meta.owner = owner;
    claim.spec.class_name = N("my-resource-class");
    claim.spec.mode = mode;
    return claim;
  }
  void Allocate(const NodeSet& nodes, bool shareable, ResourceClaim* claim) {
    auto allocation = std::make_shared<Allocation>();
    allocation->available_on = nodes;
    allocation->shareable = shareable;
    claim->status.driver = N("some-driver");
    claim->status.allocation = std::move(allocation);
  }
  Consumer ConsumerOf(const Pod& of) { return {N("pods"), of.meta.name, of.meta.uid}; }
  PodSchedulingContext ContextOf(const Pod& of) {
    PodSchedulingContext context;
    context.meta.ns = of.meta.ns;
    context.meta.name = of.meta.name;
    context.meta.owner = of.meta.uid;
    return context;
  }

  // Runs the events due now: without watch latency, the cache then equals the server.
  void Settle() { network().RunUntil(network().now()); }
  // Everything under way arrives.
  void Rest() { EXPECT_TRUE(network().RunToRest(network().now() + SimDuration::Seconds(1000))); }
  // The result of a step, waited for if it has to wait.
  Status Await(Status status) {
    waited_ = status.code == Code::kWaiting;
    last_ = status;
    while (last_.code == Code::kWaiting &&
           network().Step(network().now() + SimDuration::Seconds(1000))) {
    }
    EXPECT_NE(last_.code, Code::kWaiting) << "no reply came";
    return last_;
  }
  // Whether the step awaited last had to wait at all.
  bool waited() const { return waited_; }

  // Without the uids of contexts.
  Objects Snapshot() const {
    Objects found = ComponentRig::Snapshot();
    for (PodSchedulingContext& context : found.contexts) context.meta.uid = 0;
    return found;
  }
  const ResourceClaim& ClaimNow(absl::string_view name) {
    return *network().server().objects().claim(N("default"), N(name));
  }
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t token, const ApiReply& reply) override {
    EXPECT_EQ(token, cycle.token);
    last_ = plugin_->Resume(&cycle, reply);
  }
  void OnTimer(uint64_t) override { ADD_FAILURE() << "the plugin arms no timers"; }

  Plugin::Cycle cycle;
  Ref<Pod> pod;  // the one that the test is about

 private:
  WorldOptions options_;
  ApiClient* client_ = nullptr;
  std::unique_ptr<Plugin> plugin_;
  Status last_;
  bool waited_ = false;
};

// The expected result of a point of the plugin, its changes of objects, and its calls.
struct Want {
  Status status;
  std::function<void(Objects*)> change;
  std::vector<std::string> calls;
};

// Compares after a step; `before` is what Snapshot() was before it.
inline void Verify(World& world, absl::string_view step, const Status& status,
                   const Objects& before, const Want& want) {
  Objects wanted = before;
  if (want.change) want.change(&wanted);
  const Objects now = world.Snapshot();
  const std::vector<std::string> calls = world.TakeMessages();
  EXPECT_TRUE(status == want.status)
      << step << " returned " << StatusDump(status) << "\nnot " << StatusDump(want.status);
  EXPECT_TRUE(now == wanted) << step << " left\n"
                             << ObjectsText(now) << "not\n"
                             << ObjectsText(wanted);
  EXPECT_EQ(calls, want.calls) << step << " called\n  " << absl::StrJoin(calls, "\n  ");
}

}  // namespace drasim::dynamic_resources_testing

#endif  // DRASIM_TESTS_SIM_DRA_CLASSIC_COMPONENT_RIG_H_
