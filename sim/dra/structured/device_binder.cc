#include "sim/dra/structured/device_binder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/kube_time.h"
#include "model/proto/resource.pb.h"
#include "model/random.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

bool HasConditions(const kube::DeviceRequestAllocationResult& result) {
  return result.binding_conditions_size() > 0;
}

bool IsAnswered(const ResourceClaim& claim, const kube::DeviceRequestAllocationResult& result) {
  if (!claim.status.devices) return false;
  const auto& devices = claim.status.devices->devices();
  return std::any_of(devices.begin(), devices.end(), [&result](const auto& device) {
    return device.driver() == result.driver() && device.pool() == result.pool() &&
           device.device() == result.device() && device.share_id() == result.share_id();
  });
}

void AddCondition(const std::string& type, absl::string_view reason, absl::string_view message,
                  const std::string& now, kube::AllocatedDeviceStatus* device) {
  kube::Condition* const condition = device->add_conditions();
  condition->set_type(type);
  condition->set_status("True");
  condition->set_reason(std::string(reason));
  condition->set_message(std::string(message));
  condition->set_last_transition_time(now);
}

}  // namespace

DeviceBinder::DeviceBinder(std::vector<BindingBehaviour> behaviours, uint64_t seed,
                           ClientOptions connection)
    : behaviours_(std::move(behaviours)), seed_(seed), connection_(std::move(connection)) {}

ClientOptions DeviceBinder::connection() const {
  ClientOptions connection = connection_;
  connection.watches = WatchBit(ObjectKind::kResourceClaim);
  return connection;
}

void DeviceBinder::Start(ApiClient* client) {
  client_ = client;
  OnRestart();
}

void DeviceBinder::OnRestart() {
  pending_.clear();
  const auto& table = client_->cache().of<ResourceClaim>();
  absl::erase_if(claims_,
                 [&table](const auto& entry) { return table.Find(entry.first) == nullptr; });
  for (const Ref<ResourceClaim>& claim : table.Sorted()) Consider(*claim, /*again=*/true);
}

std::vector<PlanePart::Figure> DeviceBinder::Figures() const {
  return {{"allocations_bound", "allocations bound", bound_},
          {"allocations_failed_to_bind", "allocations failed to bind", failed_}};
}

void DeviceBinder::OnWatch(const WatchEvent& event) {
  const Ref<ResourceClaim> claim = As<ResourceClaim>(event.object);
  if (claim == nullptr || !claim->spec.is_structured()) return;
  if (event.type == WatchEvent::Type::kDeleted) {
    claims_.erase(claim->meta.uid);
  } else {
    Consider(*claim, /*again=*/false);
  }
}

const BindingBehaviour* DeviceBinder::BehaviourOf(const std::string& driver, NodeId node) const {
  for (const BindingBehaviour& behaviour : behaviours_) {
    if (!behaviour.driver.empty() && behaviour.driver != driver) continue;
    const std::vector<NodeId>& nodes = behaviour.nodes;
    if (!node.valid() || std::binary_search(nodes.begin(), nodes.end(), node)) return &behaviour;
  }
  return nullptr;
}

void DeviceBinder::Consider(const ResourceClaim& claim, bool again) {
  const Ref<Allocation>& allocation = claim.status.allocation;
  if (!claim.spec.is_structured()) return;
  if (allocation == nullptr) {
    const auto known = claims_.find(claim.meta.uid);
    if (known != claims_.end()) known->second.latest = nullptr;
    return;
  }
  const auto& results = allocation->result->devices().results();
  if (std::none_of(results.begin(), results.end(), HasConditions)) return;
  ClaimState& state = claims_[claim.meta.uid];
  const bool is_new = state.latest == nullptr || !(*state.latest == *allocation);
  if (!is_new && !again) return;
  if (is_new) ++state.allocations;
  state.latest = allocation;
  for (size_t i = 0; i < behaviours_.size(); ++i) {
    const BindingBehaviour& behaviour = behaviours_[i];
    const bool concerned = std::any_of(results.begin(), results.end(), [&](const auto& result) {
      return HasConditions(result) && !IsAnswered(claim, result) &&
             BehaviourOf(result.driver(), allocation->node) == &behaviour;
    });
    if (!concerned || state.allocations <= behaviour.timeouts) continue;
    pending_[next_token_] = {claim.meta.uid, state.allocations, i,
                             Fails(behaviour, claim, state.allocations)};
    client_->ArmTimer(behaviour.delay, next_token_++);
  }
}

bool DeviceBinder::Fails(const BindingBehaviour& behaviour, const ResourceClaim& claim,
                         int64_t allocation) const {
  if (allocation <= behaviour.timeouts + behaviour.failures) return true;
  if (behaviour.failures_per_mille == 0) return false;
  Random draw(seed_, absl::StrCat("bindings/", behaviour.driver, "/", claim.meta.ns.text(), "/",
                                  claim.meta.name.text(), "/", allocation));
  return draw.Below(1000) < static_cast<uint64_t>(behaviour.failures_per_mille);
}

void DeviceBinder::OnTimer(uint64_t token) {
  const auto found = pending_.find(token);
  if (found == pending_.end()) return;
  const Binding binding = found->second;
  pending_.erase(found);
  const auto state = claims_.find(binding.claim);
  const Ref<ResourceClaim> claim = client_->cache().of<ResourceClaim>().Find(binding.claim);
  const bool holds = state != claims_.end() && state->second.allocations == binding.allocation;
  if (!holds || claim == nullptr || claim->status.allocation == nullptr) return;
  Answer(binding, *claim);
}

void DeviceBinder::Answer(const Binding& binding, const ResourceClaim& claim) {
  const std::string now = RunTimeText(client_->now());
  const Allocation& allocation = *claim.status.allocation;
  kube::ResourceClaimStatusV1 status;
  for (const auto& result : allocation.result->devices().results()) {
    if (!HasConditions(result) || BehaviourOf(result.driver(), allocation.node) !=
                                      &behaviours_[static_cast<size_t>(binding.behaviour)]) {
      continue;
    }
    if (binding.fails && result.binding_failure_conditions().empty()) continue;
    kube::AllocatedDeviceStatus* const device = status.add_devices();
    device->set_driver(result.driver());
    device->set_pool(result.pool());
    device->set_device(result.device());
    if (result.has_share_id()) device->set_share_id(result.share_id());
    if (binding.fails) {
      for (const std::string& type : result.binding_failure_conditions()) {
        AddCondition(type, "BindingFailed", "the device could not be bound", now, device);
      }
    } else {
      for (const std::string& type : result.binding_conditions()) {
        AddCondition(type, "Bound", "the device is bound to the node", now, device);
      }
    }
  }
  ++(binding.fails ? failed_ : bound_);
  if (status.devices().empty()) return;
  auto patch = std::make_shared<ResourceClaim>();
  patch->meta.ns = claim.meta.ns;
  patch->meta.name = claim.meta.name;
  patch->meta.uid = claim.meta.uid;
  patch->status.devices = SharedMessage<kube::ResourceClaimStatusV1>(std::move(status));
  client_->Call(PatchRequest(StatusPart::kDevices, Ref<ResourceClaim>(std::move(patch))), 0);
}

template <typename Archive, typename Self>
void DeviceBinder::Fields(Archive& archive, Self& self) {
  archive(self.claims_, self.pending_, self.next_token_, self.bound_, self.failed_);
}

void DeviceBinder::Save(PlaneWriter& out) const { Fields(out, *this); }

void DeviceBinder::Load(PlaneReader& in) {
  Fields(in, *this);
  for (const auto& [token, binding] : pending_) {
    if (binding.behaviour >= behaviours_.size() && in.ok()) in.Fail("a binding of no driver");
  }
}

}  // namespace drasim
