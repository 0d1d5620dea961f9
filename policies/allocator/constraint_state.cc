#include "policies/allocator/constraint_state.h"

#include <algorithm>
#include <iterator>

#include "absl/types/span.h"

namespace drasim {
namespace {

bool Before(const DeviceValue& left, const DeviceValue& right) {
  return std::make_pair(left.kind, left.bits) < std::make_pair(right.kind, right.bits);
}

bool IsList(DeviceValue::Kind kind) {
  return kind == DeviceValue::Kind::kBools || kind == DeviceValue::Kind::kInts ||
         kind == DeviceValue::Kind::kStrings || kind == DeviceValue::Kind::kVersions;
}

std::vector<DeviceValue> Intersection(const std::vector<DeviceValue>& left,
                                      const std::vector<DeviceValue>& right) {
  std::vector<DeviceValue> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::back_inserter(common), Before);
  return common;
}

}  // namespace

ConstraintValue ConstraintValueOf(const DeviceColumns& columns, const DeviceValue& value,
                                  bool lists) {
  ConstraintValue result;
  const bool is_list = IsList(value.kind);
  if (value.kind == DeviceValue::Kind::kNone || (is_list && !lists)) {
    result.form = ConstraintValue::Form::kUnknown;
    return result;
  }
  result.form = ConstraintValue::Form::kKnown;
  if (!is_list) {
    result.elements = {value};
    return result;
  }
  const DeviceValue::Kind element = DeviceColumns::ElementKind(value.kind);
  for (const int64_t bits : columns.list(value.bits)) result.elements.push_back({element, bits});
  std::sort(result.elements.begin(), result.elements.end(), Before);
  result.elements.erase(std::unique(result.elements.begin(), result.elements.end()),
                        result.elements.end());
  return result;
}

bool ConstraintState::Accepts(const ConstraintValue& value) const {
  using Form = ConstraintValue::Form;
  if (value.form == Form::kAbsent) return false;
  if (lists_ && value.form == Form::kUnknown) return false;
  if (values_.empty()) return true;
  if (value.form == Form::kUnknown) return false;
  if (!distinct_) return values_[0]->form == Form::kKnown && values_[0]->elements == value.elements;
  return std::none_of(values_.begin(), values_.end(), [&value](const ConstraintValue* other) {
    return !Intersection(other->elements, value.elements).empty();
  });
}

bool ConstraintState::Add(const ConstraintValue& value) {
  if (lists_ && !distinct_ && value.form == ConstraintValue::Form::kKnown) {
    std::vector<DeviceValue> common =
        common_.empty() ? value.elements : Intersection(common_.back(), value.elements);
    if (common.empty()) return false;
    common_.push_back(std::move(common));
    values_.push_back(&value);
    return true;
  }
  if (!Accepts(value)) return false;
  values_.push_back(&value);
  return true;
}

const DeviceValue* ConstraintState::FixedElement() const {
  if (distinct_ || values_.empty() || values_[0]->form != ConstraintValue::Form::kKnown) {
    return nullptr;
  }
  const std::vector<DeviceValue>& elements = lists_ ? common_.back() : values_[0]->elements;
  return elements.size() == 1 ? &elements[0] : nullptr;
}

void ConstraintState::Remove() {
  values_.pop_back();
  if (!common_.empty()) common_.pop_back();
}

}  // namespace drasim
