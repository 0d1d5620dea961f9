#include "sim/dra/api/pod_objects.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/job_table.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

// Token of a creation; 0 is for calls whose replies are ignored.
uint64_t CreationToken(PodId pod, uint32_t incarnation) {
  return uint64_t{incarnation} << 32 | pod.value();
}

}  // namespace

PodObjects::PodObjects(const ClusterState* cluster, const ApiServer* server, NetworkClock* clock,
                       ClaimsOf claims_of, SimDuration finished_ttl)
    : cluster_(cluster),
      server_(server),
      clock_(clock),
      claims_of_(std::move(claims_of)),
      finished_ttl_(finished_ttl) {}

Uid PodObjects::UidOf(PodId pod) const {
  return pod.value() < pods_.size() ? pods_[pod.value()].uid : 0;
}

std::vector<PodId> PodObjects::GangOf(PodId pod) const {
  if (clock_->engine() == nullptr) return {pod};  // the run is over
  const JobTable& jobs = clock_->engine()->jobs();
  const JobRow& row = jobs.row(jobs.job_of(pod));
  std::vector<PodId> gang;
  for (uint32_t i = 0; i < row.pods; ++i) gang.push_back(PodId(row.first_pod.value() + i));
  return gang;
}

void PodObjects::CreatePods(JobId job) {
  const JobRow& row = clock_->engine()->jobs().row(job);
  for (uint32_t i = 0; i < row.pods; ++i) CreatePod(PodId(row.first_pod.value() + i));
}

void PodObjects::CreatePod(PodId pod) {
  if (pods_.size() <= pod.value()) pods_.resize(pod.value() + size_t{1});
  PodState& state = pods_[pod.value()];
  // A lost object is gone before its successor is created.
  if (state.uid != 0 && !state.ended) DeleteObject(state.uid);
  auto object = std::make_shared<Pod>();
  // "NAMESPACE/NAME", or a name in the namespace "default".
  const absl::string_view full = cluster_->pod_name(pod);
  const size_t slash = full.find('/');
  const bool plain = slash == absl::string_view::npos;
  NamePool& names = client_->names();
  object->meta.ns = names.Intern(plain ? "default" : full.substr(0, slash));
  const absl::string_view name = plain ? full : full.substr(slash + 1);
  object->meta.name = names.Intern(
      state.incarnation == 0 ? std::string(name) : absl::StrCat(name, "-r", state.incarnation));
  object->claims = claims_of_(cluster_->pod_shape(pod), pod);
  if (containers_of_) object->containers = containers_of_(cluster_->pod_shape(pod), pod);
  object->row = pod;
  const uint32_t incarnation = state.incarnation + 1;
  state = PodState();
  state.incarnation = incarnation;
  const uint64_t token = CreationToken(pod, incarnation);
  const auto reply = client_->Call(WriteRequest(Verb::kCreate, std::move(object)), token);
  if (reply.has_value()) OnReply(token, *reply);
}

void PodObjects::OnReply(uint64_t token, const ApiReply& reply) {
  if (token == 0) return;
  DRASIM_CHECK(reply.ok());
  PodState& state = pods_[static_cast<uint32_t>(token)];
  const Uid uid = MetaOf(reply.object)->uid;
  // It was deleted before it was known, and perhaps replaced.
  if (token >> 32 != state.incarnation || std::exchange(state.unwanted, false)) {
    return DeleteObject(uid);
  }
  state.uid = uid;
}

// The object with that uid ended finished_ttl ago.
void PodObjects::OnTimer(uint64_t token) { DeleteObject(token); }

void PodObjects::BoundInVain(PodId pod, Uid uid) {
  if (UidOf(pod) == uid) CreatePod(pod);
}

Uid PodObjects::BeginEnd(PodId pod) {
  pods_[pod.value()].ending = true;
  return pods_[pod.value()].uid;
}

bool PodObjects::FinishEnd(const Pod& object) {
  if (!IsPresent(object)) return false;
  PodState& state = pods_[object.row.value()];
  if (state.ending) state.ended = true;
  return state.ending;
}

void PodObjects::Release(PodId pod) {
  PodState& state = pods_[pod.value()];
  if (state.ended) {
    client_->ArmTimer(finished_ttl_, state.uid);
  } else {
    DeleteObject(state.uid);
  }
  state.uid = 0;
}

void PodObjects::DeletePod(PodId pod) {
  if (pod.value() >= pods_.size()) return;
  PodState& state = pods_[pod.value()];
  state.unwanted = state.uid == 0 && !state.ended;
  if (state.uid != 0) DeleteObject(std::exchange(state.uid, Uid{0}));
}

bool PodObjects::OnCommit(const WatchEvent& event) {
  const Pod* const pod = PeekAs<Pod>(event.object);
  const bool stops = pod != nullptr && event.type == WatchEvent::Type::kModified &&
                     pod->meta.deleting && IsPresent(*pod);
  if (!stops || std::exchange(pods_[pod->row.value()].stopped, true)) return false;
  stopped_.push_back(pod->row);
  return true;
}

std::vector<PodId> PodObjects::TakeStopped() {
  std::vector<PodId> pods;
  for (const PodId pod : std::exchange(stopped_, {})) {
    if (UidOf(pod) != 0 && pods_[pod.value()].stopped) pods.push_back(pod);
  }
  return pods;
}

void PodObjects::DeleteObject(Uid uid) {
  const Ref<Pod> pod = server_->objects().pod(uid);
  if (pod == nullptr) return;
  ApiRequest request = DeleteRequest(ObjectKind::kPod, pod->meta);
  request.force = true;
  client_->Call(std::move(request), 0);
}

void PodObjects::DeleteClaim(Uid uid) {
  const Ref<ResourceClaim> claim = server_->objects().of<ResourceClaim>().Find(uid);
  if (claim != nullptr) client_->Call(DeleteRequest(ObjectKind::kResourceClaim, claim->meta), 0);
}

template <typename Archive, typename Self>
void PodObjects::Fields(Archive& archive, Self& self) {
  archive(self.pods_, self.stopped_);
}
DRASIM_PLANE_FIELDS(PodObjects);

}  // namespace drasim
