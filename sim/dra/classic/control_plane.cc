#include "sim/dra/classic/control_plane.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "model/check.h"
#include "model/hash.h"
#include "model/status_macros.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/classic/classic_rules.h"

namespace drasim {
namespace {

// Tokens of the engine's timers: the network's next event, PassOn, EvictStopped, and from there on
// the planned faults.
constexpr uint64_t kNetworkDue = 0;
constexpr uint64_t kPassOn = 1;
constexpr uint64_t kEvictStopped = 2;
constexpr uint64_t kFirstFault = 3;

ClientOptions ClientWith(absl::string_view name, const ConnectionOptions& connection,
                         uint32_t watches) {
  ClientOptions client;
  client.name = std::string(name);
  client.qps = connection.qps;
  client.burst = connection.burst;
  client.read_latency = connection.read_latency;
  client.write_latency = connection.write_latency;
  client.watch_latency = connection.watch_latency;
  client.watches = watches;
  return client;
}

ClaimControllerOptions ClaimControllerOptionsOf(const ControlPlaneOptions& options) {
  ClaimControllerOptions of_controller = options.claim_controller;
  of_controller.behaviour = options.behaviour;
  return of_controller;
}

}  // namespace

ControlPlane::ControlPlane(const ClusterState* cluster, std::vector<ClaimDriver*> drivers,
                           PodObjects::ClaimsOf claims_of, const ControlPlaneOptions& options)
    : ControlPlane(cluster, drivers,
                   {std::make_unique<ClassicRules>(options.behaviour, options.seed),
                    {drivers.begin(), drivers.end()},
                    {}},
                   std::move(claims_of), options) {}

ControlPlane::ControlPlane(const ClusterState* cluster, OtherRules other,
                           PodObjects::ClaimsOf claims_of, const ControlPlaneOptions& options)
    : ControlPlane(cluster, {}, std::move(other), std::move(claims_of), options) {}

ControlPlane::ControlPlane(const ClusterState* cluster, std::vector<ClaimDriver*> drivers,
                           OtherRules other, PodObjects::ClaimsOf claims_of,
                           const ControlPlaneOptions& options)
    : cluster_(cluster),
      drivers_(std::move(drivers)),
      options_(options),
      claim_names_{options.behaviour, &names_},
      network_(&names_, options.seed),
      clock_(&network_, kNetworkDue),
      pods_(cluster, &network_.server(), &clock_, std::move(claims_of), options.finished_ttl),
      devices_(cluster, &network_.server().objects(), claim_names_),
      journal_(cluster, &network_.server().objects(), claim_names_),
      owned_scheduler_(std::make_unique<SchedulerActor>(std::move(other.rules), options.behaviour,
                                                        options.gang_timeout, options.seed, &pods_,
                                                        &clock_)),
      scheduler_(owned_scheduler_.get()),
      claim_controller_(ClaimControllerOptionsOf(options)),
      parts_(std::move(other.parts)),
      pinned_(
          [this](const Pod& pod, const PodClaim& entry) { return claim_names_.Of(pod, entry); }),
      faults_(options.faults, &network_, &clock_, &pods_, scheduler_) {
  DraManagerOptions of_kubelet = options_.kubelet;
  of_kubelet.behaviour = options_.behaviour;
  of_kubelet.seed = options_.seed;
  of_kubelet.journal = &journal_;
  dra_manager_ = std::make_unique<DraManager>(std::move(other.plugins), of_kubelet,
                                              static_cast<PodRunner*>(this));
  faults_.set_kubelets(dra_manager_.get());
  DriverControllerOptions of_driver = options_.driver_controller;
  of_driver.behaviour = options_.behaviour;
  of_driver.seed = options_.seed;
  of_driver.journal = &journal_;
  for (ClaimDriver* driver : drivers_) {
    driver_controllers_.push_back(std::make_unique<DriverController>(driver, of_driver));
  }
  network_.set_on_message([this](const ApiMessage& message) { Count(message); });
  network_.set_on_commit([this](const WatchEvent& event) {
    pinned_.OnCommit(event, network_.now());
    journal_.OnCommit(event, network_.now());
    // Not when the component that deletes the pod hears of it: it may restart before.
    const bool stops = pods_.OnCommit(event) && clock_.engine() != nullptr;
    if (stops) clock_.engine()->ArmNodeTimer(network_.now(), kEvictStopped);
  });
}

ControlPlane::~ControlPlane() = default;

void ControlPlane::Count(const ApiMessage& message) {
  if (counts_.size() <= message.client) counts_.resize(message.client + size_t{1});
  ApiCounts& counts = counts_[message.client];
  ++(IsWrite(message.verb) ? counts.writes : counts.reads);
  if (message.code != ApiCode::kOk) ++counts.refused;
  if (hear_) hear_(message);
}

absl::Status ControlPlane::Create(ObjectRef object) {
  const ApiReply reply = network_.server().Handle(WriteRequest(Verb::kCreate, std::move(object)));
  return reply.ok() ? absl::OkStatus() : absl::InvalidArgumentError(reply.message);
}

bool ControlPlane::HasComponent(absl::string_view name) const {
  return name == "scheduler" || name == "claim-controller" || name == "garbage-collector" ||
         name == "kubelet" ||
         absl::c_any_of(drivers_, [name](const ClaimDriver* d) { return d->name() == name; }) ||
         absl::c_any_of(parts_, [name](const PlanePart* part) {
           return part->can_fail() && part->connection().name == name;
         });
}

bool ControlPlane::CanHappen(const PlaneFault& fault) const {
  if (fault.of_plugin()) return dra_manager_->HasPlugin(fault.component);
  return fault.component.empty() || HasComponent(fault.component);
}

void ControlPlane::AttachClaims(PodControl* engine) {
  engine_ = engine;
  start_classes_ = network_.server().objects().of<DeviceClassObject>().Sorted();
  start_slices_ = network_.server().objects().of<ResourceSliceObject>().Sorted();
  journal_.Attach(engine);
  const auto connect = [this](absl::string_view name, const ConnectionOptions& connection,
                              uint32_t watches, Actor* actor) {
    return network_.Connect(ClientWith(name, connection, watches), actor);
  };
  pods_.Start(connect("user", options_.users, 0, &pods_));
  ApiClient* const scheduler =
      connect("scheduler", options_.scheduler, scheduler_->watches(), scheduler_);
  scheduler_->Start(scheduler, engine);
  claim_controller_.Start(connect("claim-controller", options_.controller_manager,
                                  ClaimController::kWatches, &claim_controller_));
  garbage_collector_.Start(connect("garbage-collector", options_.controller_manager,
                                   GarbageCollector::kWatches, &garbage_collector_));
  for (size_t i = 0; i < drivers_.size(); ++i) {
    DriverController* controller = driver_controllers_[i].get();
    if (drivers_[i]->keeps_node_objects()) CreateNodeObjects(*drivers_[i]);
    controller->Start(
        connect(drivers_[i]->name(), options_.drivers, DriverController::kWatches, controller));
  }
  dra_manager_->Start(
      connect("kubelet", options_.kubelets, DraManager::kWatches, dra_manager_.get()));
  for (PlanePart* part : parts_) {
    part->Start(network_.Connect(part->connection(), part));
  }
  if (options_.scheduler_reports) {
    scheduler_events_.Start(connect("scheduler-events", options_.scheduler, 0, &scheduler_events_));
    reports_.emplace(scheduler, engine, &scheduler_events_);
    scheduler_->set_reports(&*reports_);
  }
  counts_.resize(network_.clients());
  faults_.ArmTimers(clock_.engine(), kFirstFault);
  clock_.AfterCalls();
}

// Kubelet plugins create them before anything else happens.
void ControlPlane::CreateNodeObjects(const ClaimDriver& driver) {
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    auto object = std::make_shared<ParametersObject>();
    object->meta.ns = names_.Intern(driver.name());
    object->meta.name = names_.Intern(DriverController::NodeObjectName(NodeId(n)));
    object->kind = names_.Intern(DriverController::kNodeObjectKind);
    DRASIM_CHECK(Create(Ref<ParametersObject>(std::move(object))).ok());
  }
}

bool ControlPlane::IsBusy() const {
  return faults_.AnyPending() || dra_manager_->CallsPlugins() ||
         scheduler_->gangs().AnyTimeoutAhead() ||
         absl::c_any_of(parts_, [](const PlanePart* part) { return part->IsBusy(); });
}

void ControlPlane::OnTimer(uint64_t token, SimTime now) {
  if (token == kNetworkDue) return clock_.OnTimer(now);
  if (token == kPassOn) return devices_.PassOn(engine_);
  if (token == kEvictStopped) return EvictStopped();
  faults_.Happen(token - kFirstFault, now);
}

// Their owners replace them after the grace period.
void ControlPlane::EvictStopped() {
  for (const PodId pod : pods_.TakeStopped()) engine_->EvictPod(pod);
}

void ControlPlane::PodsCreated(JobId job, SimTime now) {
  clock_.BeforeCalls(now);
  pods_.CreatePods(job);
  clock_.AfterCalls();
}

void ControlPlane::AttemptFailed(const FailedAttempt& attempt, SimTime now) {
  scheduler_->AttemptFailed(attempt, now);
}

Admission ControlPlane::Admit(PodId pod, NodeId node, SimTime) {
  Admission admission;
  admission.starts_later = true;
  const Ref<Pod> object = pods_.ObjectOf(pod);
  if (object == nullptr) return admission;
  admission = devices_.DevicesOf(*object, node);
  // The pod may have started before the engine learnt of its binding, with the rest of a gang or
  // after a restart of the scheduler. The kubelet has reported that start, and will report the
  // others.
  admission.starts_later = !dra_manager_->IsRunning(object->meta.uid);
  admission.has_started = !admission.starts_later;
  return admission;
}

bool ControlPlane::EndPod(PodId pod, bool failed, SimTime now) {
  const Uid uid = pods_.BeginEnd(pod);
  clock_.BeforeCalls(now);
  dra_manager_->WorkDone(uid, failed);
  clock_.AfterCalls();
  return true;
}

void ControlPlane::PodStarted(const Pod& pod) {
  if (pods_.IsPresent(pod)) engine_->PodStarted(pod.row);
}

void ControlPlane::PodEnded(const Pod& pod) {
  if (pods_.FinishEnd(pod)) engine_->PodEnded(pod.row);
}

void ControlPlane::Removed(PodId pod, NodeId, SimTime now) {
  clock_.BeforeCalls(now);
  // The pod's devices are free at the end of this event.
  if (devices_.PodGone(pods_.ObjectOf(pod)) && clock_.engine() != nullptr) {
    clock_.engine()->ArmNodeTimer(now, kPassOn);
  }
  pods_.Release(pod);
  clock_.AfterCalls();
}

void ControlPlane::PodDeleted(PodId pod, SimTime now) {
  clock_.BeforeCalls(now);
  pods_.DeletePod(pod);
  clock_.AfterCalls();
}

void ControlPlane::NodeLost(NodeId node, SimTime now) {
  clock_.BeforeCalls(now);
  dra_manager_->NodeLost(node);
  clock_.AfterCalls();
}

void ControlPlane::NodeChanged(NodeId node, NodePresence presence, SimTime now) {
  clock_.BeforeCalls(now);
  for (PlanePart* part : parts_) part->OnNode(node, presence);
  clock_.AfterCalls();
}

void ControlPlane::OnTransition(const DeviceTransition& change, SimTime now) {
  clock_.BeforeCalls(now);
  for (PlanePart* part : parts_) part->OnTransition(change);
  clock_.AfterCalls();
}

template <typename Archive, typename Self>
void ControlPlane::Fields(Archive& archive, Self& self) {
  archive(self.network_, self.clock_, self.pods_, self.devices_, self.journal_, *self.scheduler_);
  if (self.reports_.has_value()) archive(self.scheduler_events_, *self.reports_);
  archive(self.claim_controller_, self.garbage_collector_);
  for (const auto& controller : self.driver_controllers_) archive(*controller);
  archive(*self.dra_manager_, self.pinned_, self.faults_, self.counts_);
}

// Classes and slices that were there before the run, which are not written.
template <typename Archive>
void ControlPlane::KnowStart(Archive& archive) const {
  for (const Ref<DeviceClassObject>& known : start_classes_) archive.Know(known->object);
  for (const Ref<ResourceSliceObject>& known : start_slices_) archive.Know(known->object);
}

uint64_t ControlPlane::StartDigest() const {
  if (start_digest_.has_value()) return *start_digest_;
  uint64_t digest = MixWord(start_classes_.size(), start_slices_.size());
  const auto add = [&digest](const std::string& bytes) {
    digest = Fnv1a(bytes, MixWord(digest, bytes.size()));
  };
  for (const auto& known : start_classes_) add(plane_archive::BytesOfMessage(*known->object));
  for (const auto& known : start_slices_) add(plane_archive::BytesOfMessage(*known->object));
  return start_digest_.emplace(digest);
}

void ControlPlane::Save(StateWriter& out) const {
  out.Section("control plane");
  PlaneWriter archive(&out);
  archive(StartDigest());
  KnowStart(archive);
  Fields(archive, *this);
  for (const PlanePart* part : parts_) part->Save(archive);
  for (const ClaimDriver* driver : drivers_) driver->Save(out);
}

absl::Status ControlPlane::Load(StateReader& in) {
  in.Section("control plane");
  PlaneReader archive(&in, &names_);
  uint64_t digest = 0;
  archive(digest);
  if (archive.ok() && digest != StartDigest()) {
    in.Fail("the slices and classes at the start are not those of the run that was saved");
  }
  RETURN_IF_ERROR(in.status());
  KnowStart(archive);
  Fields(archive, *this);
  for (PlanePart* part : parts_) part->Load(archive);
  if (in.status().ok() && counts_.size() != network_.clients()) {
    in.Fail("the counts are not those of the components");
  }
  RETURN_IF_ERROR(in.status());
  for (ClaimDriver* driver : drivers_) RETURN_IF_ERROR(driver->Load(in));
  return absl::OkStatus();
}

}  // namespace drasim
