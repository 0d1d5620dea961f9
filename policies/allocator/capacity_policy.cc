#include "policies/allocator/capacity_policy.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/kube/rules.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr absl::string_view kNotRepresentable =
    "capacity request cannot be represented in the device's range arithmetic";

absl::StatusOr<Quantity> ParseCapacity(absl::string_view field, const std::string& text) {
  const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
  if (!amount.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": found '", text, "', expected a quantity such as 2 or 1.5Gi"));
  }
  if (!amount->Nanos().has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": found ", text, ", expected an amount of at most 10^24"));
  }
  return *amount;
}

absl::StatusOr<CapacityPolicy> ReadPolicy(const proto::kube::CapacityRequestPolicy& given) {
  CapacityPolicy policy;
  if (given.has_default_value()) {
    ASSIGN_OR_RETURN(policy.default_value, ParseCapacity("default", given.default_value()));
  }
  for (const std::string& text : given.valid_values()) {
    ASSIGN_OR_RETURN(const Quantity value, ParseCapacity("validValues", text));
    policy.valid_values.push_back(value);
  }
  if (!given.has_valid_range()) return policy;
  CapacityRange range;
  const proto::kube::CapacityRequestPolicyRange& ends = given.valid_range();
  if (ends.has_min()) {
    ASSIGN_OR_RETURN(range.min, ParseCapacity("validRange.min", ends.min()));
  }
  if (ends.has_max()) {
    ASSIGN_OR_RETURN(range.max, ParseCapacity("validRange.max", ends.max()));
  }
  if (ends.has_step()) {
    ASSIGN_OR_RETURN(range.step, ParseCapacity("validRange.step", ends.step()));
  }
  policy.range = std::move(range);
  return policy;
}

// In thousandths, if that is exact.
std::optional<int64_t> ExactMilli(const Quantity& amount) {
  const int64_t milli = amount.MilliValue();
  if (Quantity::FromMilli(milli).Compare(amount) != 0) return std::nullopt;
  return milli;
}

bool UseMilli(const CapacityRange& range, bool milli) {
  if (!milli) return false;
  for (const std::optional<Quantity>* part : {&range.min, &range.max, &range.step}) {
    if (part->has_value() && !ExactMilli(**part).has_value()) return false;
  }
  return !range.step.has_value() || *ExactMilli(*range.step) >= 1;
}

absl::Status TooLarge(absl::string_view what) {
  return absl::OutOfRangeError(absl::StrCat(kNotRepresentable, ": ", what));
}

// The first amount of min, min + step, ... that is not below `asked`, all three in one unit. None
// if it exceeds int64.
std::optional<int64_t> RoundUpToStep(int64_t asked, int64_t min, int64_t step) {
  if (step == 0) return asked;
  int64_t count = (asked - min) / step;
  if ((asked - min) % step != 0) ++count;
  if (min >= 0 && count > (kMaxInt64 - min) / step) return std::nullopt;
  return min + step * count;
}

// The same in releases before 1.37, whose sums wrap around.
int64_t WrapUpToStep(int64_t asked, int64_t min, int64_t step) {
  if (step == 0) return asked;
  const absl::int128 above = absl::int128(asked) - min;
  const absl::int128 count = above / step + (above % step != 0 ? 1 : 0);
  return static_cast<int64_t>(absl::Int128Low64(min + count * step));
}

absl::StatusOr<Quantity> RoundUpToRange(const Quantity& asked, const CapacityRange& range,
                                        bool milli, const ReleaseRules& rules) {
  if (asked.Compare(*range.min) < 0) return *range.min;
  if (!range.step.has_value()) return asked;
  if (!rules.checks_amounts) {
    return Quantity::FromUnits(WrapUpToStep(asked.Value(), range.min->Value(), range.step->Value()),
                               Quantity::Format::kBinarySi);
  }
  const Quantity::Format format = range.step->format();
  if (UseMilli(range, milli)) {
    const std::optional<int64_t> asked_milli = ExactMilli(asked);
    if (!asked_milli.has_value()) {
      return TooLarge(
          absl::StrCat("request ", asked.ToString(), " is not a representable milli value"));
    }
    const std::optional<int64_t> rounded =
        RoundUpToStep(*asked_milli, range.min->MilliValue(), range.step->MilliValue());
    if (!rounded.has_value()) {
      return TooLarge(absl::StrCat("rounding request ", asked.ToString(),
                                   " up to the next step passes the milli-value range"));
    }
    if (*rounded % 1000 == 0) return Quantity::FromUnits(*rounded / 1000, format);
    return Quantity::FromMilli(*rounded, format);
  }
  if (asked.Compare(Quantity::FromUnits(kMaxInt64, Quantity::Format::kDecimalSi)) > 0) {
    return TooLarge(absl::StrCat("request ", asked.ToString(), " exceeds MaxInt64"));
  }
  const std::optional<int64_t> rounded =
      RoundUpToStep(asked.Value(), range.min->Value(), range.step->Value());
  if (!rounded.has_value()) {
    return TooLarge(absl::StrCat("rounding request ", asked.ToString(),
                                 " up to the next step passes MaxInt64"));
  }
  return Quantity::FromUnits(*rounded, format);
}

absl::StatusOr<Quantity> ConsumedOf(const Quantity* asked, const DeviceCapacityLimit& capacity,
                                    bool milli, const ReleaseRules& rules) {
  if (asked == nullptr) {
    const bool has_default = capacity.policy.has_value() && capacity.policy->default_value;
    return has_default ? *capacity.policy->default_value : capacity.value;
  }
  if (!capacity.policy.has_value()) return *asked;
  if (capacity.policy->range.has_value() && capacity.policy->range->min.has_value()) {
    return RoundUpToRange(*asked, *capacity.policy->range, milli, rules);
  }
  for (const Quantity& value : capacity.policy->valid_values) {
    if (asked->Compare(value) <= 0) return value;
  }
  return *asked;
}

bool ViolatesRange(const Quantity& amount, const CapacityRange& range, bool milli) {
  if (range.max.has_value() && amount.Compare(*range.max) > 0) return true;
  if (!range.step.has_value()) return false;
  const Quantity zero;
  const Quantity& min = range.min.has_value() ? *range.min : zero;
  int64_t step = range.step->Value();
  int64_t above = amount.Value() - min.Value();
  if (UseMilli(range, milli)) {
    const std::optional<int64_t> exact = ExactMilli(amount);
    if (!exact.has_value()) return true;
    step = range.step->MilliValue();
    above = *exact - min.MilliValue();
  }
  return step != 0 && above % step != 0;
}

// Upstream compares the structs: the same number in another notation is not identical.
bool Identical(const Quantity& left, const Quantity& right) {
  return left.format() == right.format() && left.ToString() == right.ToString();
}

bool ViolatesPolicy(const Quantity& amount, const CapacityPolicy& policy, bool milli) {
  if (policy.default_value.has_value() && Identical(amount, *policy.default_value)) return false;
  if (policy.range.has_value()) return ViolatesRange(amount, *policy.range, milli);
  if (policy.valid_values.empty()) return false;
  for (const Quantity& value : policy.valid_values) {
    if (amount.Compare(value) == 0) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<DeviceCapacities> ReadDeviceCapacities(const proto::kube::Device& device) {
  std::map<std::string, const proto::kube::DeviceCapacity*> sorted;
  for (const auto& [name, capacity] : device.capacity()) sorted[name] = &capacity;
  DeviceCapacities capacities;
  for (const auto& [name, capacity] : sorted) {
    DeviceCapacityLimit limit;
    limit.name = name;
    const std::string field = absl::StrCat("device ", device.name(), ": capacity[", name, "]");
    ASSIGN_OR_RETURN(limit.value, ParseCapacity(field, capacity->value()));
    limit.nanos = *limit.value.Nanos();
    if (capacity->has_request_policy()) {
      absl::StatusOr<CapacityPolicy> policy = ReadPolicy(capacity->request_policy());
      if (!policy.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(field, ".requestPolicy.", policy.status().message()));
      }
      limit.policy = *std::move(policy);
    }
    capacities.push_back(std::move(limit));
  }
  return capacities;
}

absl::StatusOr<CapacityRequest> ReadCapacityRequest(
    const proto::kube::CapacityRequirements& requirements) {
  CapacityRequest request;
  for (const auto& [name, text] : SortedTexts(requirements.requests())) {
    ASSIGN_OR_RETURN(request[name],
                     ParseCapacity(absl::StrCat("capacity.requests[", name, "]"), text));
  }
  return request;
}

CapacityDemand DemandOf(const CapacityRequest& request, const DeviceCapacities& capacities,
                        bool milli, const ReleaseRules& rules) {
  CapacityDemand demand;
  size_t found = 0;
  for (const DeviceCapacityLimit& capacity : capacities) found += request.count(capacity.name);
  if (found < request.size()) {
    demand.verdict = CapacityDemand::Verdict::kSkip;
    return demand;
  }
  // Errors of any capacity go before misfits of any other.
  for (const DeviceCapacityLimit& capacity : capacities) {
    const auto asked = request.find(capacity.name);
    absl::StatusOr<Quantity> amount =
        ConsumedOf(asked == request.end() ? nullptr : &asked->second, capacity, milli, rules);
    std::string problem;
    if (!amount.ok()) {
      problem = std::string(amount.status().message());
    } else if (rules.checks_amounts && amount->Compare(Quantity()) < 0) {
      problem = "capacity value is negative";
    } else if (!amount->Nanos().has_value()) {
      problem = absl::StrCat("amount ", amount->ToString(), " exceeds 10^24");
    }
    if (!problem.empty()) {
      demand.verdict = CapacityDemand::Verdict::kError;
      demand.error = absl::StrCat("capacity \"", capacity.name, "\": ", problem);
      return demand;
    }
    demand.nanos.push_back(*amount->Nanos());
    demand.amounts.push_back(*std::move(amount));
  }
  for (size_t i = 0; i < capacities.size(); ++i) {
    const bool violates = capacities[i].policy.has_value() &&
                          ViolatesPolicy(demand.amounts[i], *capacities[i].policy, milli);
    if (violates || demand.nanos[i] > capacities[i].nanos) {
      demand.verdict = CapacityDemand::Verdict::kSkip;
    }
  }
  return demand;
}

}  // namespace drasim
