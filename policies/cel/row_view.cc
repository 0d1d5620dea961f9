#include "policies/cel/row_view.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace drasim::cel {
namespace {

Value ItemValue(const DeviceColumns& columns, DeviceValue::Kind kind, int64_t bits) {
  switch (kind) {
    case DeviceValue::Kind::kBool:
      return Value::Bool(bits != 0);
    case DeviceValue::Kind::kInt:
      return Value::Int(bits);
    case DeviceValue::Kind::kString:
      return Value::Text(columns.texts().Text(TextId(static_cast<uint32_t>(bits))));
    case DeviceValue::Kind::kVersion:
      return Value::Of(&columns.version(bits).value);
    case DeviceValue::Kind::kQuantity:
      return Value::Of(&columns.quantity(bits));
    default:
      return Value::Null();
  }
}

}  // namespace

Value RowView::Driver() const {
  return Value::Text(columns_->texts().Text(columns_->layout_at(layout_).driver));
}

Value RowView::Multiple() const { return Value::Bool(columns_->allow_multiple_allocations(row_)); }

DeviceValue RowView::Operand(int slot, bool driver) const {
  if (slot >= 0) return columns_->values(row_)[static_cast<size_t>(slot)];
  if (driver) {
    return {DeviceValue::Kind::kString,
            static_cast<int64_t>(columns_->layout_at(layout_).driver.value())};
  }
  return {DeviceValue::Kind::kBool, columns_->allow_multiple_allocations(row_) ? 1 : 0};
}

Value RowView::Domains(bool capacity) {
  Value value;
  value.kind = ValueKind::kDomains;
  value.flag = capacity ? 1 : 0;
  return value;
}

Value RowView::Domain(bool capacity, absl::string_view domain) const {
  Value value;
  value.kind = ValueKind::kIds;
  value.flag = capacity ? 1 : 0;
  const TextId id = columns_->texts().Find(domain);
  value.size = id.value();
  return value;
}

bool RowView::HasDomain(bool capacity, absl::string_view domain) const {
  const TextId id = columns_->texts().Find(domain);
  const std::vector<DeviceColumns::Name>& names = columns_->layout_at(layout_).names;
  return id.valid() && std::any_of(names.begin(), names.end(), [&](const auto& name) {
           return name.capacity == capacity && name.domain == id;
         });
}

Value RowView::At(int slot, Heap* heap) const {
  const DeviceValue value = columns_->values(row_)[static_cast<size_t>(slot)];
  const DeviceValue::Kind element = DeviceColumns::ElementKind(value.kind);
  if (element == DeviceValue::Kind::kNone) return ItemValue(*columns_, value.kind, value.bits);
  const absl::Span<const int64_t> items = columns_->list(value.bits);
  const absl::Span<Value> room = heap->Values(items.size());
  for (size_t i = 0; i < items.size(); ++i) room[i] = ItemValue(*columns_, element, items[i]);
  return Value::List(room);
}

int RowView::SlotOf(const Value& ids, absl::string_view id) const {
  const TextId domain(ids.size);
  const TextId text = columns_->texts().Find(id);
  if (!domain.valid() || !text.valid()) return -1;
  return ids.flag != 0 ? columns_->CapacitySlot(layout_, domain, text)
                       : columns_->AttributeSlot(layout_, domain, text);
}

Value RowView::Keys(const Value& map, Heap* heap) const {
  const bool capacity = map.flag != 0;
  std::vector<absl::string_view> keys;
  for (const DeviceColumns::Name& name : columns_->layout_at(layout_).names) {
    if (name.capacity != capacity) continue;
    if (map.kind == ValueKind::kIds && name.domain.value() != map.size) continue;
    keys.push_back(columns_->texts().Text(map.kind == ValueKind::kIds ? name.id : name.domain));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const absl::Span<Value> room = heap->Values(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) room[i] = Value::Text(keys[i]);
  return Value::List(room);
}

}  // namespace drasim::cel
