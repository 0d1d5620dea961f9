#include "policies/allocator/match_index.h"

#include <algorithm>
#include <limits>

namespace drasim {
namespace {

std::pair<int, int64_t> KeyOf(const DeviceValue& element) {
  return {static_cast<int>(element.kind), element.bits};
}

}  // namespace

void MatchIndex::Add(uint32_t request, const DevicePlace& place, bool shared,
                     const ConstraintValue& value) {
  for (const DeviceValue& element : value.elements) {
    Holders& holders = holders_[KeyOf(element)];
    holders.by_request[request].push_back(place);
    holders.devices.push_back(place.device);
    holders.any_shared = holders.any_shared || shared;
  }
}

void MatchIndex::Finish(const PlannedClaim& claim, const ConstraintPlan& constraint,
                        const ClaimPlan& plan) {
  for (auto& [key, holders] : holders_) {
    std::vector<uint32_t>& devices = holders.devices;
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    holders.suffice = Suffice(holders, claim, constraint, plan);
  }
}

bool MatchIndex::Suffice(const Holders& holders, const PlannedClaim& claim,
                         const ConstraintPlan& constraint, const ClaimPlan& plan) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  int64_t left = static_cast<int64_t>(holders.devices.size());
  for (const RequestGroup& group : claim.groups) {
    int64_t least = kNever;
    for (const uint32_t option : group.options) {
      if (!constraint.applies[option]) {
        least = 0;
        continue;
      }
      const auto found = holders.by_request.find(option);
      const size_t count = found == holders.by_request.end() ? 0 : found->second.size();
      const int64_t wanted = plan.request(option).count;
      if (static_cast<int64_t>(count) >= wanted) least = std::min(least, wanted);
    }
    if (least == kNever) return false;
    // The requests of one claim share no device, unless it is given in shares.
    left -= std::min(least, left + 1);
    if (left < 0 && !holders.any_shared) return false;
    left = std::max(left, int64_t{0});
  }
  return true;
}

bool MatchIndex::MayBegin(const ConstraintValue& value) const {
  if (value.form != ConstraintValue::Form::kKnown) return true;
  return std::any_of(value.elements.begin(), value.elements.end(), [this](const DeviceValue& one) {
    const auto found = holders_.find(KeyOf(one));
    return found != holders_.end() && found->second.suffice;
  });
}

const std::vector<DevicePlace>& MatchIndex::Having(uint32_t request,
                                                   const DeviceValue& element) const {
  static const std::vector<DevicePlace>& none = *new std::vector<DevicePlace>();
  const auto found = holders_.find(KeyOf(element));
  if (found == holders_.end()) return none;
  const auto of_request = found->second.by_request.find(request);
  return of_request == found->second.by_request.end() ? none : of_request->second;
}

}  // namespace drasim
