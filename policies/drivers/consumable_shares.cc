#include "policies/drivers/consumable_shares.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/key_error.h"
#include "model/quantity.h"
#include "policies/drivers/slice_pool.h"

namespace drasim {
namespace {

constexpr int64_t kStepBytes = int64_t{1} << 20U;

void SetShareRange(const std::string& fallback, const std::string& min, const std::string& max,
                   const std::string& step, proto::kube::DeviceCapacity* capacity) {
  capacity->set_value(max);
  proto::kube::CapacityRequestPolicy* policy = capacity->mutable_request_policy();
  policy->set_default_value(fallback);
  policy->mutable_valid_range()->set_min(min);
  policy->mutable_valid_range()->set_max(max);
  policy->mutable_valid_range()->set_step(step);
}

}  // namespace

absl::StatusOr<ConsumableShares> ParseConsumableShares(absl::string_view text) {
  using Mode = ConsumableShares::Mode;
  ConsumableShares shares;
  if (text.empty() || text == "disabled") return shares;
  if (text == "unlimited" || text == "memory") {
    shares.mode = text == "memory" ? Mode::kMemory : Mode::kUnlimited;
    return shares;
  }
  shares.mode = Mode::kShares;
  if (!absl::SimpleAtoi(text, &shares.shares) || shares.shares < 1) {
    return KeyError("consumable_shares",
                    absl::StrCat("found '", text,
                                 "', expected disabled, unlimited, memory or a number from 1 on"));
  }
  return shares;
}

void ApplyConsumableShares(const ConsumableShares& shares, proto::kube::Device* device) {
  using Mode = ConsumableShares::Mode;
  if (shares.mode == Mode::kDisabled) return;
  device->set_allow_multiple_allocations(true);
  auto* capacities = device->mutable_capacity();
  const auto memory = capacities->find("memory");
  if (memory == capacities->end()) return;
  const absl::StatusOr<Quantity> amount = Quantity::Parse(memory->second.value());
  DRASIM_CHECK(amount.ok());
  const std::string all = BinaryAmount(amount->Value() / kStepBytes * kStepBytes);
  const std::string step = BinaryAmount(kStepBytes);
  const bool by_memory = shares.mode == Mode::kMemory;
  SetShareRange(by_memory ? all : "0", by_memory ? step : "0", all, step, &memory->second);
  if (shares.mode == Mode::kShares) {
    SetShareRange("1", "1", absl::StrCat(shares.shares), "1", &(*capacities)["shares"]);
  }
}

}  // namespace drasim
