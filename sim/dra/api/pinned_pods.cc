#include "sim/dra/api/pinned_pods.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

double PodSeconds(int64_t pods, SimTime from, SimTime to) {
  return static_cast<double>(pods) * static_cast<double>((to - from).ns()) / 1e9;
}

}  // namespace

void PinnedPods::OnCommit(const WatchEvent& event, SimTime now) {
  now_ = now;
  const bool deleted = event.type == WatchEvent::Type::kDeleted;
  if (const Pod* pod = PeekAs<Pod>(event.object)) {
    OnPod(*pod, deleted);
  } else if (const ResourceClaim* claim = PeekAs<ResourceClaim>(event.object)) {
    OnClaim(*claim, deleted);
  }
}

double PinnedPods::Mean(SimTime end) const {
  if (end <= SimTime()) return 0;
  const double pod_seconds = pod_seconds_ + PodSeconds(count_, since_, end);
  return pod_seconds / (static_cast<double>((end - SimTime()).ns()) / 1e9);
}

void PinnedPods::OnPod(const Pod& pod, bool deleted) {
  if (pod.claims.empty()) return;
  Forget(pod.meta.uid);
  if (deleted || pod.node.valid() || IsDone(pod)) return;
  Waiting& waiting = waiting_[pod.meta.uid];
  for (const PodClaim& entry : pod.claims) {
    const Name name = name_of_(pod, entry);
    const Key key(pod.meta.ns, name);
    if (name.empty() || !allocated_.contains(key)) ++waiting.missing;
    // Two entries may refer to the same claim.
    if (name.empty()) continue;
    waiting.claims.push_back(key);
    users_[key].push_back(pod.meta.uid);
  }
  if (waiting.missing == 0) Count(1);
}

void PinnedPods::OnClaim(const ResourceClaim& claim, bool deleted) {
  const Key key(claim.meta.ns, claim.meta.name);
  const bool is_allocated = !deleted && claim.status.allocation != nullptr;
  if (is_allocated == allocated_.contains(key)) return;
  if (is_allocated) {
    allocated_.insert(key);
  } else {
    allocated_.erase(key);
  }
  const auto users = users_.find(key);
  if (users == users_.end()) return;
  for (const Uid user : users->second) {
    Waiting& waiting = waiting_.find(user)->second;
    if (!is_allocated && waiting.missing++ == 0) Count(-1);
    if (is_allocated && --waiting.missing == 0) Count(1);
  }
}

void PinnedPods::Forget(Uid pod) {
  const auto found = waiting_.find(pod);
  if (found == waiting_.end()) return;
  if (found->second.missing == 0) Count(-1);
  for (const Key& key : found->second.claims) {
    const auto users = users_.find(key);
    users->second.erase(absl::c_find(users->second, pod));
    if (users->second.empty()) users_.erase(users);
  }
  waiting_.erase(found);
}

void PinnedPods::Count(int64_t change) {
  pod_seconds_ += PodSeconds(count_, since_, now_);
  since_ = now_;
  count_ += change;
  most_ = std::max(most_, count_);
}

template <typename Archive, typename Self>
void PinnedPods::Fields(Archive& archive, Self& self) {
  archive(self.waiting_, self.users_, self.allocated_, self.now_, self.since_, self.count_,
          self.most_, self.pod_seconds_);
}
DRASIM_PLANE_FIELDS(PinnedPods);

}  // namespace drasim
