// A component rig with pods and allocated claims, and the DRA manager of all kubelets as its only
// client.
#ifndef DRASIM_TESTS_SIM_DRA_DRA_MANAGER_WORLD_H_
#define DRASIM_TESTS_SIM_DRA_DRA_MANAGER_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/dra_manager.h"
#include "sim/dra/dra_release.h"
#include "tests/sim/dra/component_rig.h"

namespace drasim::dra_manager_testing {

using Lines = std::vector<std::string>;

inline constexpr NodeId kNode{uint32_t{0}};
inline constexpr NodeId kOther{uint32_t{1}};

struct WorldOptions {
  DraManagerOptions kubelet;
  // Of the kubelets' client; 0: none.
  int64_t read_ms = 0;
  int64_t write_ms = 0;
  int64_t watch_ms = 0;
  std::vector<std::string> drivers = {"gpu", "nic"};
  uint64_t seed = 1;
};

inline absl::optional<Distribution> Millis(int64_t ms) {
  if (ms == 0) return absl::nullopt;
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
    std::vector<ClaimDriver*> drivers;
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

  // What happened since the last time, as "1500 GET resourceclaims c": milliseconds, then a call
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

  ApiRequest OfPod(Verb verb, absl::string_view name) {
    ApiRequest request;
    request.verb = verb;
    request.kind = ObjectKind::kPod;
    request.ns = In("ns");
    request.name = In(name);
    return request;
  }

  // A claim that is allocated with a handle per driver.
  void AddClaim(absl::string_view name, const std::vector<std::string>& drivers = {"gpu"},
                Uid owner = 0) {
    auto claim = std::make_shared<ResourceClaim>();
    claim->meta.ns = In("ns");
    claim->meta.name = In(name);
    claim->meta.owner = owner;
    claim->spec.class_name = In("class");
    const ApiReply reply = Do(Verb::kCreate, Ref<ResourceClaim>(std::move(claim)));
    auto next = std::make_shared<ResourceClaim>(*As<ResourceClaim>(reply.object));
    auto allocation = std::make_shared<Allocation>();
    allocation->shareable = true;
    for (const std::string& driver : drivers) allocation->handles.push_back({In(driver), ""});
    next->status.driver = In("gpu");
    next->status.allocation = std::move(allocation);
    Do(Verb::kUpdateStatus, Ref<ResourceClaim>(std::move(next)));
  }
  void Reserve(absl::string_view claim, absl::string_view pod) {
    const Ref<ResourceClaim> before = objects().claim(In("ns"), In(claim));
    auto next = std::make_shared<ResourceClaim>(*before);
    next->status.reserved_for.push_back({In("pods"), In(pod), pod_uid(pod)});
    Do(Verb::kUpdateStatus, Ref<ResourceClaim>(std::move(next)));
  }
  void Release(absl::string_view claim, Uid pod) {
    const Ref<ResourceClaim> before = objects().claim(In("ns"), In(claim));
    auto next = std::make_shared<ResourceClaim>(*before);
    auto& users = next->status.reserved_for;
    for (auto it = users.begin(); it != users.end();)
      it = it->uid == pod ? users.erase(it) : it + 1;
    Do(Verb::kUpdateStatus, Ref<ResourceClaim>(std::move(next)));
  }

  // An entry that refers to a claim by name.
  PodClaim Uses(absl::string_view claim) { return {In(claim), In(claim), Name(), true}; }
  PodClaim FromTemplate(absl::string_view entry) { return {In(entry), Name(), In("t"), true}; }
  Uid AddPod(absl::string_view name, std::vector<PodClaim> claims, NodeId node = kNode) {
    auto pod = std::make_shared<Pod>();
    pod->meta.ns = In("ns");
    pod->meta.name = In(name);
    pod->claims = std::move(claims);
    pod->node = node;
    return MetaOf(Do(Verb::kCreate, Ref<Pod>(std::move(pod))).object)->uid;
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
    ApiRequest request = OfPod(Verb::kBind, name);
    request.node = node;
    Do(std::move(request));
  }
  void NameClaim(absl::string_view pod, absl::string_view entry, absl::string_view claim) {
    auto next = std::make_shared<Pod>(*this->pod(pod));
    next->claim_names.push_back({In(entry), In(claim)});
    Do(Verb::kPatchStatus, Ref<Pod>(std::move(next)), StatusPart::kClaimNames);
  }
  void SetPhase(absl::string_view pod, KubePodPhase phase) {
    auto next = std::make_shared<Pod>(*this->pod(pod));
    next->phase = phase;
    Do(Verb::kPatchStatus, Ref<Pod>(std::move(next)), StatusPart::kPhase);
  }
  void Delete(absl::string_view name, bool force = false) {
    ApiRequest request = OfPod(Verb::kDelete, name);
    request.force = force;
    Do(std::move(request));
  }

  Ref<Pod> pod(absl::string_view name) { return objects().of<Pod>().Find(In("ns"), In(name)); }
  Uid pod_uid(absl::string_view name) { return pod(name)->meta.uid; }
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

#endif  // DRASIM_TESTS_SIM_DRA_DRA_MANAGER_WORLD_H_
