#include "sim/dra/api/gang_claims.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace drasim {
namespace {

// After a release of claims: drivers check every 30 s for claims that others wait for.
constexpr SimDuration kGangPause = SimDuration::Seconds(60);
constexpr uint64_t kGangPauseSpread = 120;  // additional seconds, drawn at random
constexpr uint32_t kGiveBacksThatCount = 50;

}  // namespace

void GangClaims::Start(ApiClient* client, PodControl* engine, const DraBehaviour& behaviour) {
  client_ = client;
  engine_ = engine;
  names_ = ClaimNames{behaviour, &client->names()};
}

bool GangClaims::Keeps(PodId pod) const {
  if (pods_->GangOf(pod).size() < 2) return false;
  const Uid uid = pods_->UidOf(pod);
  const Ref<Pod> object = client_->cache().pod(uid);
  if (object == nullptr) return false;
  bool keeps = false;
  for (const PodClaim& entry : object->claims) {
    const Ref<ResourceClaim> claim = names_.Find(client_->cache(), *object, entry);
    keeps |= claim != nullptr && IsReservedFor(*claim, uid);
  }
  return keeps;
}

bool GangClaims::IsPaused(PodId pod) const {
  if (pauses_.empty()) return false;
  const auto pause = pauses_.find(pods_->GangOf(pod).front());
  return pause != pauses_.end() && client_->now() < pause->second;
}

void GangClaims::OnFailure(PodId pod) {
  const std::vector<PodId> gang = pods_->GangOf(pod);
  if (gang.size() < 2) return;
  const SimTime deadline = client_->now() + timeout_;
  if (deadlines_.try_emplace(gang.front(), deadline).second) {
    client_->ArmTimer(timeout_, gang.front().value());
  }
}

bool GangClaims::AnyTimeoutAhead() const {
  return absl::c_any_of(deadlines_, [this](const auto& gang) {
    const auto number = give_backs_.find(gang.first);
    return number == give_backs_.end() || number->second < kGiveBacksThatCount;
  });
}

void GangClaims::OnTimer(uint64_t token) {
  const PodId first(static_cast<uint32_t>(token));
  const auto pause = pauses_.find(first);
  if (pause != pauses_.end() && client_->now() >= pause->second) {
    pauses_.erase(pause);
    for (PodId pod : pods_->GangOf(first)) engine_->RecheckPod(pod);
    return;
  }
  const auto deadline = deadlines_.find(first);
  if (deadline == deadlines_.end() || client_->now() < deadline->second) return;
  deadlines_.erase(deadline);
  // Without a pause the gang would reclaim its devices at once, because it is the first to learn of
  // their release. The random length keeps colliding gangs from colliding again and again.
  const auto extra = static_cast<int64_t>(draws_.Below(kGangPauseSpread));
  const SimDuration length = kGangPause + SimDuration::Seconds(extra);
  pauses_[first] = client_->now() + length;
  client_->ArmTimer(length, token);
  if (++give_backs_[first] <= kGiveBacksThatCount) engine_->NoteProgress();
  for (PodId pod : pods_->GangOf(first)) GiveBack(pod);
}

void GangClaims::OnRestart() {
  for (const auto& [first, deadline] : deadlines_) {
    client_->ArmTimer(std::max(deadline - client_->now(), SimDuration()), first.value());
  }
  for (const auto& [first, pause] : pauses_) {
    client_->ArmTimer(std::max(pause - client_->now(), SimDuration()), first.value());
  }
}

// Same as PostFilter's; a conflict leaves the claim unchanged until the next timeout.
void GangClaims::GiveBack(PodId pod) {
  const Ref<Pod> object = client_->cache().pod(pods_->UidOf(pod));
  if (object == nullptr || object->node.valid()) return;
  const Ref<PodSchedulingContext> context =
      client_->cache().context(object->meta.ns, object->meta.name);
  if (context != nullptr && context->selected.valid()) {
    auto cleared = std::make_shared<PodSchedulingContext>(*context);
    cleared->selected = NodeId();
    client_->Call(WriteRequest(Verb::kUpdate, std::move(cleared)), 0);
  }
  for (const PodClaim& entry : object->claims) {
    const Ref<ResourceClaim> claim = names_.Find(client_->cache(), *object, entry);
    if (claim == nullptr || claim->status.allocation == nullptr) continue;
    const auto& consumers = claim->status.reserved_for;
    const bool own =
        consumers.empty() || (consumers.size() == 1 && consumers.front().uid == object->meta.uid);
    if (!own || claim->spec.mode == AllocationMode::kImmediate) continue;
    auto released = std::make_shared<ResourceClaim>(*claim);
    released->status.reserved_for.clear();
    released->status.deallocation_requested = true;
    client_->Call(WriteRequest(Verb::kUpdateStatus, std::move(released)), 0);
  }
}

}  // namespace drasim
