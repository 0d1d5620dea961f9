#include "sim/dra/control_plane.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "policies/framework/device_allocator.h"

namespace drasim {
namespace {

// Tokens of timers: the network's next event (0), what was shared is passed on, and the faults from
// here on.
constexpr uint64_t kPassOn = 1;
constexpr uint64_t kFirstFault = 2;

}  // namespace

// Who creates and deletes pods. Its calls may take time; what they were for is in their tokens.
class ControlPlane::User : public Actor {
 public:
  explicit User(ControlPlane* plane) : plane_(plane) {}
  void OnWatch(const WatchEvent&) override {}
  // The pod with that uid ended long enough ago.
  void OnTimer(uint64_t token) override { plane_->DeletePod(token, true); }
  // A token is 0 (nobody cares) or that of a creation.
  static uint64_t CreationToken(PodId pod, uint32_t incarnation) {
    return uint64_t{incarnation} << 32 | pod.value();
  }
  void OnReply(uint64_t token, const ApiReply& reply) override {
    if (token == 0) return;
    DRASIM_CHECK(reply.ok());
    PodState& state = plane_->pods_[static_cast<uint32_t>(token)];
    const Uid uid = MetaOf(reply.object)->uid;
    // It was deleted before it was known, and perhaps another one made in its place.
    if (token >> 32 != state.incarnation || std::exchange(state.unwanted, false)) {
      return plane_->DeletePod(uid, true);
    }
    state.uid = uid;
  }

 private:
  ControlPlane* plane_;
};

ControlPlane::ControlPlane(const ClusterState* cluster, std::vector<ClaimDriver*> drivers,
                           ClaimsOf claims_of, const ControlPlaneOptions& options)
    : cluster_(cluster),
      drivers_(std::move(drivers)),
      claims_of_(std::move(claims_of)),
      options_(options),
      network_(std::make_unique<ApiNetwork>(&names_, options.seed)),
      owned_plugin_(std::make_unique<DraPlugin>(options.behaviour, options.gang_timeout,
                                                options.seed, static_cast<DraPlugin::Host*>(this))),
      plugin_(owned_plugin_.get()),
      claim_controller_([&options] {
        ClaimControllerOptions o = options.claim_controller;
        o.behaviour = options.behaviour;
        return o;
      }()),
      user_(std::make_unique<User>(this)),
      pinned_([this](const Pod& pod, const PodClaim& entry) {
        return plugin_->rules().ClaimNameOf(pod, entry);
      }) {
  ClaimKubeletOptions kubelet = options_.kubelet;
  kubelet.behaviour = options_.behaviour;
  kubelet.seed = options_.seed;
  kubelet_ = std::make_unique<ClaimKubelet>(drivers_, kubelet, static_cast<KubeletHost*>(this));
  DriverControllerOptions controller = options_.driver_controller;
  controller.behaviour = options_.behaviour;
  controller.seed = options_.seed;
  for (ClaimDriver* driver : drivers_) {
    driver_controllers_.push_back(std::make_unique<DriverController>(driver, controller));
  }
  network_->set_on_message([this](const ApiMessage& message) {
    if (counts_.size() <= message.client) counts_.resize(message.client + size_t{1});
    ApiCounts& counts = counts_[message.client];
    ++(IsWrite(message.verb) ? counts.writes : counts.reads);
    if (message.code != ApiCode::kOk) ++counts.refused;
    if (hear_) hear_(message);
  });
  network_->set_on_commit(
      [this](const WatchEvent& event) { pinned_.OnCommit(event, network_->now()); });
}

ControlPlane::~ControlPlane() = default;

absl::Status ControlPlane::Create(ObjectRef object) {
  ApiRequest request;
  request.verb = Verb::kCreate;
  request.kind = KindOf(object);
  request.object = std::move(object);
  const ApiReply reply = network_->server().Handle(request);
  return reply.ok() ? absl::OkStatus() : absl::InvalidArgumentError(reply.message);
}

std::unique_ptr<Plugin> ControlPlane::TakePlugin() { return std::move(owned_plugin_); }

ClientOptions ControlPlane::Client(const std::string& name, const ConnectionOptions& connection,
                                   uint32_t watches) const {
  ClientOptions client;
  client.name = name;
  client.qps = connection.qps;
  client.burst = connection.burst;
  client.read_latency = connection.read_latency;
  client.write_latency = connection.write_latency;
  client.watch_latency = connection.watch_latency;
  client.watches = watches;
  return client;
}

void ControlPlane::AttachClaims(PodControl* engine) {
  engine_ = engine;
  const auto connect = [this](const std::string& name, const ConnectionOptions& connection,
                              uint32_t watches, Actor* actor) {
    return network_->Connect(Client(name, connection, watches), actor);
  };
  user_client_ = connect("user", options_.users, 0, user_.get());
  ApiClient* const scheduler =
      connect("scheduler", options_.scheduler, DraPlugin::kWatches, plugin_);
  plugin_->Start(scheduler, engine);
  claim_controller_.Start(connect("claim-controller", options_.controller_manager,
                                  ClaimController::kWatches, &claim_controller_));
  garbage_collector_.Start(connect("garbage-collector", options_.controller_manager,
                                   GarbageCollector::kWatches, &garbage_collector_));
  for (size_t i = 0; i < drivers_.size(); ++i) {
    DriverController* controller = driver_controllers_[i].get();
    if (drivers_[i]->keeps_node_objects()) CreateNodeObjects(*drivers_[i]);
    controller->Start(connect(std::string(drivers_[i]->name()), options_.drivers,
                              DriverController::kWatches, controller));
  }
  kubelet_->Start(connect("kubelet", options_.kubelets, ClaimKubelet::kWatches, kubelet_.get()));
  if (options_.scheduler_reports) {
    scheduler_events_.Start(connect("scheduler-events", options_.scheduler, 0, &scheduler_events_));
    reports_.emplace(scheduler, engine, &scheduler_events_);
    plugin_->set_reports(&*reports_);
  }
  counts_.resize(network_->clients());
  for (size_t i = 0; i < options_.faults.size(); ++i) {
    host_->ArmNodeTimer(options_.faults[i].at, kFirstFault + i);
  }
  faults_ahead_ = options_.faults.size();
  Arm();
}

// Kubelet plugins make them before anything else happens.
void ControlPlane::CreateNodeObjects(const ClaimDriver& driver) {
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    auto object = std::make_shared<ParametersObject>();
    object->meta.ns = names_.Intern(driver.name());
    object->meta.name = names_.Intern(DriverController::NodeObjectName(NodeId(n)));
    object->kind = names_.Intern(DriverController::kNodeObjectKind);
    DRASIM_CHECK(Create(Ref<ParametersObject>(std::move(object))).ok());
  }
}

void ControlPlane::BeforeCalls(SimTime now) {
  if (!handling_) network_->MoveClock(now);
}

// The engine wakes the network when its next event is due.
void ControlPlane::Arm() {
  if (handling_ || host_ == nullptr) return;
  const absl::optional<SimTime> next = network_->NextTime();
  if (!next.has_value() || (armed_.has_value() && *armed_ <= *next)) return;
  armed_ = next;
  host_->ArmNodeTimer(*next, 0);
}

void ControlPlane::OnTimer(uint64_t token, SimTime now) {
  if (token == kPassOn) {
    for (const Ref<Pod>& gone : std::exchange(gone_, {})) PassOn(*gone);
    return;
  }
  if (token >= kFirstFault) {
    BeforeCalls(now);
    --faults_ahead_;
    return Happen(options_.faults[token - kFirstFault]);
  }
  if (armed_.has_value() && *armed_ <= now) armed_.reset();
  handling_ = true;
  network_->RunUntil(now);
  handling_ = false;
  Arm();
}

std::vector<PodId> ControlPlane::GangOf(PodId pod) const {
  if (host_ == nullptr) return {pod};  // the run is over
  const JobRow& row = host_->jobs().row(host_->jobs().job_of(pod));
  std::vector<PodId> gang;
  for (uint32_t i = 0; i < row.pods; ++i) gang.push_back(PodId(row.first_pod.value() + i));
  return gang;
}

Uid ControlPlane::UidOf(PodId pod) const {
  return pod.value() < pods_.size() ? pods_[pod.value()].uid : 0;
}

void ControlPlane::PodsCreated(JobId job, SimTime now) {
  BeforeCalls(now);
  const JobRow& row = host_->jobs().row(job);
  for (uint32_t i = 0; i < row.pods; ++i) CreatePod(PodId(row.first_pod.value() + i));
  Arm();
}

void ControlPlane::CreatePod(PodId pod) {
  if (pods_.size() <= pod.value()) pods_.resize(pod.value() + size_t{1});
  PodState& state = pods_[pod.value()];
  // What was lost is gone before its successor comes.
  if (state.uid != 0 && !state.ended) DeletePod(state.uid, true);
  auto object = std::make_shared<Pod>();
  // "NAMESPACE/NAME", or a name in the namespace "default".
  const absl::string_view full = cluster_->pod_name(pod);
  const size_t slash = full.find('/');
  const bool plain = slash == absl::string_view::npos;
  object->meta.ns = names_.Intern(plain ? "default" : full.substr(0, slash));
  const absl::string_view name = plain ? full : full.substr(slash + 1);
  object->meta.name = names_.Intern(
      state.incarnation == 0 ? std::string(name) : absl::StrCat(name, "-r", state.incarnation));
  object->claims = claims_of_(cluster_->pod_shape(pod), pod);
  object->row = pod;
  const uint32_t incarnation = state.incarnation + 1;
  state = PodState();
  state.incarnation = incarnation;
  ApiRequest request;
  request.verb = Verb::kCreate;
  request.kind = ObjectKind::kPod;
  request.object = Ref<Pod>(std::move(object));
  const uint64_t token = User::CreationToken(pod, incarnation);
  const auto reply = user_client_->Call(std::move(request), token);
  if (reply.has_value()) user_->OnReply(token, *reply);
}

// Its node was lost, say, while the binding was under way. As with any pod that was bound and lost,
// the object is deleted and another one takes its place.
void ControlPlane::BoundInVain(PodId pod, Uid uid) {
  if (UidOf(pod) == uid) CreatePod(pod);
}

void ControlPlane::DeletePod(Uid uid, bool force) {
  const Ref<Pod> pod = network_->server().objects().pod(uid);
  if (pod == nullptr) return;
  ApiRequest request;
  request.verb = Verb::kDelete;
  request.kind = ObjectKind::kPod;
  request.ns = pod->meta.ns;
  request.name = pod->meta.name;
  request.uid = uid;
  request.force = force;
  user_client_->Call(std::move(request), 0);
}

Admission ControlPlane::Admit(PodId pod, NodeId node, SimTime) {
  Admission admission;
  admission.starts_later = true;
  const Ref<Pod> object = network_->server().objects().pod(UidOf(pod));
  if (object == nullptr) return admission;
  admission = DevicesOfPod(*object, node);
  // It may have started before the engine learnt that it is bound: with the rest of a gang, or
  // after a restart of the scheduler. What the kubelet has told counts: the rest it will tell.
  admission.starts_later = !kubelet_->IsRunning(object->meta.uid);
  admission.has_started = !admission.starts_later;
  return admission;
}

Admission ControlPlane::DevicesOfPod(const Pod& object, NodeId node) const {
  Admission admission;
  const ObjectCache& objects = network_->server().objects();
  for (const PodClaim& entry : object.claims) {
    const Ref<ResourceClaim> claim =
        objects.claim(object.meta.ns, plugin_->rules().ClaimNameOf(object, entry));
    if (claim == nullptr || claim->status.allocation == nullptr) continue;
    const Allocation& allocation = *claim->status.allocation;
    // What several pods share is charged to the first of them.
    const bool first = !claim->status.reserved_for.empty() &&
                       claim->status.reserved_for.front().uid == object.meta.uid;
    if (allocation.node != node || !first) continue;
    for (const DeviceGrant& grant : allocation.grants) admission.grants.push_back(grant);
  }
  admission.devices = DevicesOf(admission.grants);
  // What was taken by force may still be in use there.
  if (!admission.grants.empty() && !cluster_->CanGrant(node, admission.devices, admission.grants)) {
    admission.grants.clear();
    admission.devices = 0;
  }
  return admission;
}

void ControlPlane::PassOn(const Pod& gone) {
  const ObjectCache& objects = network_->server().objects();
  for (const PodClaim& entry : gone.claims) {
    const Ref<ResourceClaim> claim =
        objects.claim(gone.meta.ns, plugin_->rules().ClaimNameOf(gone, entry));
    if (claim == nullptr || claim->status.allocation == nullptr) continue;
    const Allocation& allocation = *claim->status.allocation;
    if (allocation.grants.empty()) continue;
    for (const Consumer& consumer : claim->status.reserved_for) {
      const Ref<Pod> pod = objects.pod(consumer.uid);
      if (pod == nullptr || consumer.uid == gone.meta.uid || !pod->row.valid()) continue;
      if (cluster_->pod_phase(pod->row) != PodPhase::kBound ||
          cluster_->pod_node(pod->row) != allocation.node || cluster_->pod_devices(pod->row) != 0) {
        continue;
      }
      const uint32_t devices = DevicesOf(allocation.grants);
      if (cluster_->CanGrant(allocation.node, devices, allocation.grants)) {
        engine_->GiveDevices(pod->row, devices, allocation.grants);
      }
      break;
    }
  }
}

bool ControlPlane::EndPod(PodId pod, bool failed, SimTime now) {
  PodState& state = pods_[pod.value()];
  state.ending = true;
  BeforeCalls(now);
  kubelet_->WorkDone(state.uid, failed);
  Arm();
  return true;
}

void ControlPlane::PodStarted(const Pod& pod) {
  if (UidOf(pod.row) == pod.meta.uid) engine_->PodStarted(pod.row);
}

void ControlPlane::PodEnded(const Pod& pod) {
  if (UidOf(pod.row) != pod.meta.uid) return;
  PodState& state = pods_[pod.row.value()];
  if (!state.ending) return;
  state.ended = true;
  engine_->PodEnded(pod.row);
}

void ControlPlane::Removed(PodId pod, NodeId, SimTime now) {
  PodState& state = pods_[pod.value()];
  BeforeCalls(now);
  const Ref<Pod> object = network_->server().objects().pod(state.uid);
  const auto is_shared = [](const PodClaim& entry) { return !entry.claim.empty(); };
  if (object != nullptr && absl::c_any_of(object->claims, is_shared)) {
    // Its devices are free when this event is over.
    if (gone_.empty() && host_ != nullptr) host_->ArmNodeTimer(now, kPassOn);
    gone_.push_back(object);
  }
  if (state.ended) {
    user_client_->ArmTimer(options_.finished_ttl, state.uid);
  } else {
    DeletePod(state.uid, true);
  }
  state.uid = 0;
  Arm();
}

void ControlPlane::PodDeleted(PodId pod, SimTime now) {
  if (pod.value() >= pods_.size()) return;
  PodState& state = pods_[pod.value()];
  BeforeCalls(now);
  state.unwanted = state.uid == 0 && !state.ended;
  if (state.uid != 0) DeletePod(std::exchange(state.uid, Uid{0}), true);
  Arm();
}

void ControlPlane::NodeLost(NodeId node, SimTime now) {
  BeforeCalls(now);
  kubelet_->NodeLost(node);
  Arm();
}

void ControlPlane::Save(StateWriter& out) const { out.Section("control plane"); }

absl::Status ControlPlane::Load(StateReader&) {
  return absl::UnimplementedError("a run with classic DRA cannot be resumed from a checkpoint");
}

void ControlPlane::Settle(SimDuration limit) {
  host_ = nullptr;  // the run is over; nobody needs to be woken
  handling_ = true;
  network_->RunUntil(network_->now() + limit);
  handling_ = false;
}

}  // namespace drasim
