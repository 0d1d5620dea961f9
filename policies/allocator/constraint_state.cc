#include "policies/allocator/constraint_state.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

bool ConstraintState::IsDistinct(const ConstraintValue& value) const {
  const auto overlaps = [&value](const ConstraintValue* other) {
    return !Intersection(other->elements, value.elements).empty();
  };
  if (rules_.distinct_by_device) return std::none_of(values_.begin(), values_.end(), overlaps);
  return std::none_of(last_.begin(), last_.end(),
                      [&overlaps](const auto& entry) { return overlaps(entry.second); });
}

bool ConstraintState::Accepts(const ConstraintValue& value) const {
  using Form = ConstraintValue::Form;
  if (value.form == Form::kAbsent) return false;
  if (lists_ && value.form == Form::kUnknown) return false;
  const bool is_first = distinct_ && !rules_.distinct_by_device ? last_.empty() : values_.empty();
  if (is_first) return true;
  if (value.form == Form::kUnknown) return false;
  if (!distinct_) return values_[0]->form == Form::kKnown && values_[0]->elements == value.elements;
  return IsDistinct(value);
}

bool ConstraintState::MayAdd(const ConstraintValue& value) const {
  if (lists_ && !distinct_ && value.form == ConstraintValue::Form::kKnown) {
    return values_.empty() ? !value.elements.empty()
                           : !Intersection(common_.back(), value.elements).empty();
  }
  return Accepts(value);
}

std::string ConstraintState::Content() const {
  const auto text_of = [](ConstraintValue::Form form, const std::vector<DeviceValue>& elements) {
    std::string text = absl::StrCat(static_cast<int>(form));
    for (const DeviceValue& element : elements) {
      absl::StrAppend(&text, ",", static_cast<int>(element.kind), ":", element.bits);
    }
    return text;
  };
  if (!common_.empty()) return text_of(ConstraintValue::Form::kKnown, common_.back());
  std::vector<std::string> texts;
  for (const ConstraintValue* value : values_) {
    texts.push_back(text_of(value->form, value->elements));
    // All values of a match equal the first.
    if (!distinct_) break;
  }
  std::sort(texts.begin(), texts.end());
  return absl::StrJoin(texts, ";");
}

bool ConstraintState::Add(const ConstraintValue& value, uint32_t request) {
  if (lists_ && !distinct_ && value.form == ConstraintValue::Form::kKnown) {
    // Devices that were undone have narrowed the values, unless those are restored.
    std::vector<DeviceValue> common =
        values_.empty() ? value.elements : Intersection(common_.back(), value.elements);
    if (common.empty()) return false;
    if (!rules_.restores_common) common_.clear();
    common_.push_back(std::move(common));
    values_.push_back(&value);
    return true;
  }
  if (!Accepts(value)) return false;
  values_.push_back(&value);
  if (distinct_ && !rules_.distinct_by_device) last_[request] = &value;
  return true;
}

const DeviceValue* ConstraintState::FixedElement() const {
  if (distinct_ || values_.empty() || values_[0]->form != ConstraintValue::Form::kKnown) {
    return nullptr;
  }
  const std::vector<DeviceValue>& elements = lists_ ? common_.back() : values_[0]->elements;
  return elements.size() == 1 ? &elements[0] : nullptr;
}

void ConstraintState::Remove(uint32_t request) {
  values_.pop_back();
  last_.erase(request);
  if (!common_.empty() && rules_.restores_common) common_.pop_back();
}

}  // namespace drasim
