// One row of the table of devices, as values of CEL.
#ifndef DRASIM_POLICIES_CEL_ROW_VIEW_H_
#define DRASIM_POLICIES_CEL_ROW_VIEW_H_

#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "policies/cel/value.h"

namespace drasim::cel {

// Cheap to make; refers to the table.
class RowView {
 public:
  RowView(const DeviceColumns* columns, DeviceRow row)
      : columns_(columns), row_(row), layout_(columns->layout(row)) {}

  const DeviceColumns& columns() const { return *columns_; }
  LayoutId layout() const { return layout_; }

  Value Driver() const;
  Value Multiple() const;
  // The table's own form of the value at a slot; for slot -1, of the driver or of
  // allowMultipleAllocations.
  DeviceValue Operand(int slot, bool driver) const;
  static Value Domains(bool capacity);
  // device.attributes[domain]: an empty map for unknown domains.
  Value Domain(bool capacity, absl::string_view domain) const;
  bool HasDomain(bool capacity, absl::string_view domain) const;
  // The value at a slot; lists are copied to `heap`.
  Value At(int slot, Heap* heap) const;
  // The slot of an id in a map that Domain made; -1 if there is none.
  int SlotOf(const Value& ids, absl::string_view id) const;
  // The keys of a map that Domains or Domain made, in order of text.
  Value Keys(const Value& map, Heap* heap) const;

 private:
  const DeviceColumns* columns_;
  DeviceRow row_;
  LayoutId layout_;
};

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_ROW_VIEW_H_
