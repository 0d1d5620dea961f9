// ConstraintState: the devices taken so far, as one constraint of a claim sees them.
#ifndef DRASIM_POLICIES_ALLOCATOR_CONSTRAINT_STATE_H_
#define DRASIM_POLICIES_ALLOCATOR_CONSTRAINT_STATE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "model/device_columns.h"

namespace drasim {

// The value of an attribute, as constraints compare it: equal values have the same kind and bits.
// Several elements are a list, which only the gate DRAListTypeAttributes knows.
struct ConstraintValue {
  enum class Form : uint8_t {
    kAbsent,   // the device lacks the attribute
    kUnknown,  // a type that cannot be compared
    kKnown,
  };
  Form form = Form::kAbsent;
  std::vector<DeviceValue> elements;  // sorted, without duplicates
};

// `value` as constraints see it; `lists`: the gate DRAListTypeAttributes.
ConstraintValue ConstraintValueOf(const DeviceColumns& columns, const DeviceValue& value,
                                  bool lists);

// matchAttribute: all devices have the same value, or a common element. distinctAttribute: no two
// of them have.
//
// The first device of a match may have an unknown value; so may the first of a distinct one.
class ConstraintState {
 public:
  ConstraintState(bool distinct, bool lists) : distinct_(distinct), lists_(lists) {}

  // Adds a device unless that would break the constraint. `value` must outlive the addition.
  // O(devices x elements).
  bool Add(const ConstraintValue& value);
  // Undoes the last Add that succeeded.
  void Remove();

  size_t size() const { return values_.size(); }
  // The element that every further device of a match must have; null while none or several may do.
  const DeviceValue* FixedElement() const;

 private:
  bool Accepts(const ConstraintValue& value) const;

  bool distinct_;
  bool lists_;
  std::vector<const ConstraintValue*> values_;
  std::vector<std::vector<DeviceValue>> common_;  // lists: after each Add
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CONSTRAINT_STATE_H_
