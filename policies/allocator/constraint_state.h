// ConstraintState: the devices taken so far, as one constraint of a claim sees them.
#ifndef DRASIM_POLICIES_ALLOCATOR_CONSTRAINT_STATE_H_
#define DRASIM_POLICIES_ALLOCATOR_CONSTRAINT_STATE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/device_columns.h"
#include "policies/allocator/release_rules.h"

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
  ConstraintState(bool distinct, bool lists, const ReleaseRules& rules = {})
      : distinct_(distinct), lists_(lists), rules_(rules) {}

  // Adds a device unless that would break the constraint. `value` must outlive the addition;
  // `request` is the number of the request in its claim. O(devices x elements).
  bool Add(const ConstraintValue& value, uint32_t request = 0);
  // Whether Add would succeed, and equal contents for states that accept the same values from now
  // on. Only where devices are compared, and undone, one by one (ReleaseRules of 1.37).
  bool MayAdd(const ConstraintValue& value) const;
  std::string Content() const;
  // Undoes the last Add that succeeded, which had the same request.
  void Remove(uint32_t request = 0);

  size_t size() const { return values_.size(); }
  // The element that every further device of a match must have; null while none or several may do.
  const DeviceValue* FixedElement() const;

 private:
  bool Accepts(const ConstraintValue& value) const;
  // Whether the devices that the constraint remembers have no element of `value`.
  bool IsDistinct(const ConstraintValue& value) const;

  bool distinct_;
  bool lists_;
  ReleaseRules rules_;
  std::vector<const ConstraintValue*> values_;
  std::vector<std::vector<DeviceValue>> common_;  // lists: after each Add
  // Where distinctAttribute remembers requests: the last value of each.
  std::map<uint32_t, const ConstraintValue*> last_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CONSTRAINT_STATE_H_
