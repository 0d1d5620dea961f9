#include "model/kube/validate_capacity.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/quantity.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr int kMaxValidValues = 10;

// Adds a problem and returns none for text that is no quantity.
std::optional<Quantity> ReadAmount(const std::string& path, const std::string& text,
                                   ApiCheck* check) {
  absl::StatusOr<Quantity> amount = Quantity::Parse(text);
  if (amount.ok()) return *std::move(amount);
  check->Invalid(path, text, "expected a quantity such as 2, 500m or 1.5Gi");
  return std::nullopt;
}

// Whole amounts as plain digits.
std::string PlainText(const Quantity& amount) {
  const bool whole = amount.UnitsFitInt64() &&
                     amount.Compare(Quantity::FromUnits(amount.Value(), amount.format())) == 0;
  return whole ? absl::StrCat(amount.Value()) : amount.ToString();
}

void CheckValidValues(const std::string& path, const Quantity& capacity,
                      const Quantity& default_value, const kube::CapacityRequestPolicy& policy,
                      ApiCheck* check) {
  if (!check->AtMost(path, policy.valid_values_size(), kMaxValidValues)) return;
  std::vector<Quantity> values;
  for (int i = 0; i < policy.valid_values_size(); ++i) {
    const std::optional<Quantity> value =
        ReadAmount(KubeIndex(path, i), policy.valid_values(i), check);
    if (!value.has_value()) return;
    values.push_back(*value);
  }
  // Problems of one sort after the other, as upstream.
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1].Compare(values[i]) <= 0) continue;
    check->Invalid(KubeIndex(path, static_cast<int>(i)), values[i].ToString(),
                   "values must be sorted in ascending order");
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].Compare(capacity) <= 0) continue;
    check->Invalid(KubeIndex(path, static_cast<int>(i)), values[i].ToString(),
                   absl::StrCat("option is larger than capacity value: ", capacity.ToString()));
  }
  const auto equals = [](const Quantity& value) {
    return [&value](const Quantity& other) { return other.Compare(value) == 0; };
  };
  for (size_t i = 0; i < values.size(); ++i) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::none_of(values.begin(), end, equals(values[i]))) continue;
    check->Duplicate(KubeIndex(path, static_cast<int>(i)), PlainText(values[i]));
  }
  if (std::none_of(values.begin(), values.end(), equals(default_value))) {
    check->Invalid(path, default_value.ToString(),
                   "default value is not valid according to the requestPolicy");
  }
}

// The amounts of a range, beside its default.
struct PolicyRange {
  Quantity default_value;
  Quantity min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;

  // With the names that messages have for them.
  std::vector<std::pair<const char*, const Quantity*>> All() const {
    std::vector<std::pair<const char*, const Quantity*>> all = {{"default", &default_value},
                                                                {"min", &min}};
    if (max.has_value()) all.emplace_back("max", &*max);
    if (step.has_value()) all.emplace_back("step", &*step);
    return all;
  }
};

bool IsFractional(const Quantity& amount) {
  return amount.UnitsFitInt64() &&
         amount.Compare(Quantity::FromUnits(amount.Value(), amount.format())) != 0;
}

// Whether all amounts are exact in thousandths.
bool FitMilli(const std::string& path, const PolicyRange& range, ApiCheck* check) {
  bool fit = true;
  for (const auto& [name, amount] : range.All()) {
    if (amount->MilliFitsInt64() &&
        amount->Compare(Quantity::FromMilli(amount->MilliValue())) == 0) {
      continue;
    }
    check->Invalid(KubeField(path, name), amount->ToString(),
                   "value cannot be represented as a milli value");
    fit = false;
  }
  return fit;
}

// Whether all amounts are from 0 to 2^63-1.
bool FitUnits(const std::string& path, const PolicyRange& range, ApiCheck* check) {
  const Quantity most =
      Quantity::FromUnits(std::numeric_limits<int64_t>::max(), Quantity::Format::kDecimalSi);
  bool fit = true;
  for (const auto& [name, amount] : range.All()) {
    const bool negative = amount->Compare(Quantity()) < 0;
    if (!negative && amount->Compare(most) <= 0) continue;
    check->Invalid(KubeField(path, name), amount->ToString(),
                   negative ? "must be greater than or equal to 0"
                            : "must not be larger than 9223372036854775807");
    fit = false;
  }
  return fit;
}

void CheckStep(const std::string& path, const Quantity& capacity, const PolicyRange& range,
               bool milli, ApiCheck* check) {
  const std::string at = KubeField(path, "step");
  if (range.step->Compare(Quantity()) <= 0) {
    return check->Invalid(at, range.step->ToString(), "must be greater than zero");
  }
  const Quantity one_step = range.min + *range.step;
  if (one_step.Compare(capacity) > 0) {
    check->Invalid(at, range.step->ToString(),
                   absl::StrCat("one step ", one_step.ToString(),
                                " is larger than capacity value: ", capacity.ToString()));
  }
  if (!milli && !FitUnits(path, range, check)) return;
  const auto on_step = [&](const Quantity& value) {
    const auto number = [milli](const Quantity& amount) {
      return static_cast<uint64_t>(milli ? amount.MilliValue() : amount.Value());
    };
    const auto distance = static_cast<int64_t>(number(value) - number(range.min));
    if (distance % static_cast<int64_t>(number(*range.step)) == 0) return;
    check->Invalid(at, value.ToString(),
                   absl::StrCat("value is not a multiple of a given step (", range.step->ToString(),
                                ") from (", range.min.ToString(), ")"));
  };
  on_step(range.default_value);
  if (range.max.has_value()) on_step(*range.max);
}

void CheckRange(const std::string& path, const Quantity& capacity, const PolicyRange& range,
                ApiCheck* check) {
  const auto refuse = [&](const char* name, const Quantity& shown, absl::string_view detail,
                          const Quantity& limit) {
    check->Invalid(KubeField(path, name), shown.ToString(),
                   absl::StrCat(detail, ": ", limit.ToString()));
  };
  const Quantity& min = range.min;
  const Quantity& default_value = range.default_value;
  if (min.Compare(capacity) > 0) refuse("min", min, "min is larger than capacity value", capacity);
  if (default_value.Compare(min) < 0) {
    refuse("default", default_value, "default is less than min", min);
  }
  if (range.max.has_value()) {
    const Quantity& max = *range.max;
    if (min.Compare(max) > 0) refuse("max", min, "min is larger than max", max);
    if (max.Compare(capacity) > 0) {
      refuse("max", max, "max is larger than capacity value", capacity);
    }
    if (default_value.Compare(max) > 0) {
      refuse("default", default_value, "default is more than max", max);
    }
  }
  bool milli = false;
  for (const auto& [name, amount] : range.All()) milli = milli || IsFractional(*amount);
  if (milli && !FitMilli(path, range, check)) return;
  if (range.step.has_value()) CheckStep(path, capacity, range, milli, check);
}

void ReadAndCheckRange(const std::string& path, const Quantity& capacity,
                       const Quantity& default_value, const kube::CapacityRequestPolicyRange& given,
                       ApiCheck* check) {
  if (!given.has_min()) {
    return check->Required(KubeField(path, "min"), "required when validRange is defined");
  }
  PolicyRange range;
  range.default_value = default_value;
  const std::optional<Quantity> min = ReadAmount(KubeField(path, "min"), given.min(), check);
  if (!min.has_value()) return;
  range.min = *min;
  if (given.has_max()) {
    range.max = ReadAmount(KubeField(path, "max"), given.max(), check);
    if (!range.max.has_value()) return;
  }
  if (given.has_step()) {
    range.step = ReadAmount(KubeField(path, "step"), given.step(), check);
    if (!range.step.has_value()) return;
  }
  CheckRange(path, capacity, range, check);
}

void CheckPolicy(const std::string& path, const Quantity& capacity,
                 const kube::CapacityRequestPolicy& policy, ApiCheck* check) {
  const std::string default_path = KubeField(path, "default");
  std::optional<Quantity> default_value;
  if (policy.has_default_value()) {
    default_value = ReadAmount(default_path, policy.default_value(), check);
    if (!default_value.has_value()) return;
  }
  const bool values = policy.valid_values_size() > 0;
  if (values && policy.has_valid_range()) {
    return check->Forbidden(path,
                            "exactly one policy can be specified, cannot specify \"validValues\" "
                            "and \"validRange\" at the same time");
  }
  if (!values && !policy.has_valid_range()) return;
  if (!default_value.has_value()) {
    return check->Required(default_path, values ? "required when validValues is defined"
                                                : "required when validRange is defined");
  }
  if (values) {
    CheckValidValues(KubeField(path, "validValues"), capacity, *default_value, policy, check);
  } else {
    ReadAndCheckRange(KubeField(path, "validRange"), capacity, *default_value, policy.valid_range(),
                      check);
  }
}

}  // namespace

bool CheckQuantity(const std::string& path, const std::string& text, ApiCheck* check) {
  return ReadAmount(path, text, check).has_value();
}

void CheckSign(const std::string& path, const std::string& text, bool zero,
               absl::string_view detail, ApiCheck* check) {
  const std::optional<Quantity> amount = ReadAmount(path, text, check);
  if (!amount.has_value()) return;
  const int sign = amount->Compare(Quantity());
  if (sign < 0 || (sign == 0 && !zero)) check->Invalid(path, amount->ToString(), detail);
}

void CheckDeviceCapacity(const std::string& path, const kube::DeviceCapacity& capacity, bool shared,
                         ApiCheck* check) {
  const std::string value_path = KubeField(path, "value");
  // As upstream, a capacity without a value is 0.
  std::optional<Quantity> value = Quantity();
  if (!capacity.value().empty()) value = ReadAmount(value_path, capacity.value(), check);
  if (!capacity.has_request_policy()) return;
  const std::string policy_path = KubeField(path, "requestPolicy");
  if (!shared) return check->Forbidden(policy_path, "allowMultipleAllocations must be true");
  if (value.has_value()) CheckPolicy(policy_path, *value, capacity.request_policy(), check);
}

}  // namespace drasim
