// A component rig with pods, claims and contexts, and the claim controller and the garbage
// collector as its clients.
#ifndef DRASIM_TESTS_SIM_DRA_CLAIM_CONTROLLER_WORLD_H_
#define DRASIM_TESTS_SIM_DRA_CLAIM_CONTROLLER_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_server.h"
#include "sim/dra/api_types.h"
#include "sim/dra/claim_controller.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/garbage_collector.h"
#include "tests/sim/dra/component_rig.h"

namespace drasim::claim_controller_testing {

using Lines = std::vector<std::string>;

inline constexpr NodeId kWorker{uint32_t{7}};
inline constexpr SimDuration kLong = SimDuration::Seconds(3000);

struct WorldOptions {
  DraBehaviour behaviour;
  int workers = 10;
  size_t remembered_uids = 500;
  // Seconds, of both clients; 0: none.
  double read = 0;
  double write = 0;
  double watch = 0;
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
  // Where everything is from now on.
  void set_ns(absl::string_view ns) { ns_ = std::string(ns); }

  void AddTemplate(absl::string_view name, ClaimSpec spec = {}) {
    auto made = std::make_shared<ResourceClaimTemplate>();
    made->meta.ns = ns();
    made->meta.name = In(name);
    made->spec = spec;
    if (spec.class_name.empty()) made->spec.class_name = In("class");
    Do(Verb::kCreate, Ref<ResourceClaimTemplate>(std::move(made)));
  }

  // Entries "gpu" (from the template "template") or "gpu=claim".
  Uid AddPod(absl::string_view name, const Lines& entries,
             const std::function<void(Pod*)>& change = {}) {
    auto made = std::make_shared<Pod>();
    made->meta.ns = ns();
    made->meta.name = In(name);
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
      made->claims.push_back(entry);
    }
    if (change) change(made.get());
    const Uid uid = MetaOf(Do(Verb::kCreate, Ref<Pod>(std::move(made))).object)->uid;
    const int times = ++pod_names_[std::string(name)];
    pod_alias_[uid] = times == 1 ? std::string(name) : absl::StrCat(name, "(", times, ")");
    return uid;
  }
  Uid AddClaim(absl::string_view name, const std::function<void(ResourceClaim*)>& change = {}) {
    auto made = std::make_shared<ResourceClaim>();
    made->meta.ns = ns();
    made->meta.name = In(name);
    made->spec.class_name = In("class");
    if (change) change(made.get());
    return MetaOf(Do(Verb::kCreate, Ref<ResourceClaim>(std::move(made))).object)->uid;
  }
  // Of a pod, for its entry "gpu", as the controller makes them.
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
    auto next = std::make_shared<Pod>(*pod(uid));
    change(next.get());
    Do(Verb::kUpdateStatus, Ref<Pod>(std::move(next)));
  }
  void SetPhase(Uid uid, KubePodPhase phase) {
    ChangePodStatus(uid, [phase](Pod* pod) { pod->phase = phase; });
  }
  void SetClaimName(Uid uid, absl::string_view claim) {
    ChangePodStatus(uid, [&](Pod* pod) { pod->claim_names = {{In("gpu"), In(claim)}}; });
  }
  void ChangeClaim(Uid uid, const std::function<void(ResourceClaim*)>& change) {
    auto next = std::make_shared<ResourceClaim>(*claim(uid));
    change(next.get());
    Do(Verb::kUpdate, Ref<ResourceClaim>(std::move(next)));
  }
  void ChangeClaimStatus(Uid uid, const std::function<void(ClaimStatus*)>& change) {
    auto next = std::make_shared<ResourceClaim>(*claim(uid));
    change(&next->status);
    Do(Verb::kUpdateStatus, Ref<ResourceClaim>(std::move(next)));
  }
  ClaimStatus Allocated(const std::vector<Uid>& pods, bool shareable = true) {
    ClaimStatus status;
    status.driver = In("driver");
    auto allocation = std::make_shared<Allocation>();
    allocation->shareable = shareable;
    status.allocation = std::move(allocation);
    for (const Uid uid : pods) status.reserved_for.push_back(ConsumerOf(uid));
    return status;
  }
  Consumer ConsumerOf(Uid uid) { return {In("pods"), pod(uid)->meta.name, uid}; }
  void Bind(Uid uid, NodeId node = kWorker) {
    ApiRequest request;
    request.verb = Verb::kBind;
    request.ns = pod(uid)->meta.ns;
    request.name = pod(uid)->meta.name;
    request.node = node;
    EXPECT_TRUE(network().server().Handle(request).ok());
  }
  void Delete(const ObjectRef& object, bool force = false) {
    ApiRequest request;
    request.verb = Verb::kDelete;
    request.kind = KindOf(object);
    request.ns = MetaOf(object)->ns;
    request.name = MetaOf(object)->name;
    request.force = force;
    const ApiReply reply = network().server().Handle(request);
    EXPECT_TRUE(reply.ok()) << reply.message;
  }
  // At once, bound or not.
  void RemovePod(Uid uid) { Delete(pod(uid), /*force=*/true); }
  // The driver's part in the end of a claim: frees it and lets it go.
  void FreeClaim(Uid uid) {
    if (claim(uid)->status.allocation != nullptr) {
      ChangeClaimStatus(uid, [](ClaimStatus* status) { *status = ClaimStatus(); });
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
    const auto seconds = [](double length) -> absl::optional<Distribution> {
      if (length == 0) return absl::nullopt;
      return *Distribution::Constant(length);
    };
    ClientOptions options;
    options.name = std::string(name);
    options.watches = watches;
    options.read_latency = seconds(options_.read);
    options.write_latency = seconds(options_.write);
    options.watch_latency = seconds(options_.watch);
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
    const ClaimStatus& status = claim.status;
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

#endif  // DRASIM_TESTS_SIM_DRA_CLAIM_CONTROLLER_WORLD_H_
