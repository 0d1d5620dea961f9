#include "model/device_columns.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {
namespace {

using ValueKind = DeviceValue::Kind;

// The index that the next element of a container gets, as the bits of a value.
template <typename Container>
int64_t NextIndex(const Container& container) {
  return static_cast<int64_t>(container.size());
}

int64_t BitsOf(TextId id) { return static_cast<int64_t>(id.value()); }

}  // namespace

TextId DeviceTexts::Intern(absl::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const TextId id(texts_.size());
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), id);
  return id;
}

TextId DeviceTexts::Find(absl::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? TextId() : found->second;
}

ValueKind DeviceColumns::ElementKind(ValueKind list) {
  switch (list) {
    case ValueKind::kBools:
      return ValueKind::kBool;
    case ValueKind::kInts:
      return ValueKind::kInt;
    case ValueKind::kStrings:
      return ValueKind::kString;
    case ValueKind::kVersions:
      return ValueKind::kVersion;
    default:
      return ValueKind::kNone;
  }
}

size_t DeviceColumns::RowHash::operator()(uint32_t row) const {
  const Row& of = columns->rows_[row];
  size_t hash = absl::HashOf(of.layout, of.problem, of.multiple);
  for (const DeviceValue& value : columns->values(DeviceRow(row))) {
    hash = absl::HashOf(hash, static_cast<int>(value.kind), value.bits);
  }
  return hash;
}

bool DeviceColumns::RowEqual::operator()(uint32_t left, uint32_t right) const {
  const Row& a = columns->rows_[left];
  const Row& b = columns->rows_[right];
  return a.layout == b.layout && a.problem == b.problem && a.multiple == b.multiple &&
         columns->values(DeviceRow(left)) == columns->values(DeviceRow(right));
}

DeviceColumns::Name DeviceColumns::NameOf(absl::string_view text, TextId driver, bool capacity) {
  Name name;
  name.capacity = capacity;
  const size_t slash = text.find('/');
  name.bare = slash == absl::string_view::npos;
  name.domain = name.bare ? driver : texts_.Intern(text.substr(0, slash));
  name.id = texts_.Intern(name.bare ? text : text.substr(slash + 1));
  return name;
}

LayoutId DeviceColumns::InternLayout(Layout layout) {
  std::string key;
  absl::StrAppend(&key, layout.driver.value());
  for (const Name& name : layout.names) {
    absl::StrAppend(&key, name.capacity ? ";" : ",", name.bare ? "" : "/", name.domain.value(), ":",
                    name.id.value());
  }
  const auto [entry, added] = layout_ids_.emplace(std::move(key), LayoutId(layouts_.size()));
  if (added) layouts_.push_back(std::move(layout));
  return entry->second;
}

int64_t DeviceColumns::InternVersion(absl::string_view text, std::string* problem) {
  const TextId id = texts_.Intern(text);
  const auto found = version_ids_.find(id);
  if (found != version_ids_.end()) return found->second;
  const absl::StatusOr<Semver> version = Semver::Parse(text);
  if (!version.ok()) {
    *problem = absl::StrCat("parse semantic version: ", version.status().message());
    return 0;
  }
  const int64_t index = NextIndex(versions_);
  versions_.push_back({id, *version});
  version_ids_.emplace(id, index);
  return index;
}

int64_t DeviceColumns::InternQuantity(const Quantity& quantity) {
  const auto [entry, added] = quantity_ids_.emplace(quantity.ToString(), NextIndex(quantities_));
  if (added) quantities_.push_back(quantity);
  return entry->second;
}

int64_t DeviceColumns::InternList(const std::vector<int64_t>& items) {
  const auto found = list_ids_.find(items);
  if (found != list_ids_.end()) return found->second;
  const int64_t index = NextIndex(lists_);
  lists_.push_back(items);
  list_ids_.emplace(items, index);
  return index;
}

DeviceValue DeviceColumns::ValueOf(const AttributeFacts& facts, std::string* problem) {
  std::vector<int64_t> items;
  switch (facts.kind) {
    case AttributeFacts::Kind::kNone:
      *problem = "unsupported attribute value";
      return DeviceValue();
    case AttributeFacts::Kind::kBool:
      return {ValueKind::kBool, facts.number != 0 ? 1 : 0};
    case AttributeFacts::Kind::kInt:
      return {ValueKind::kInt, facts.number};
    case AttributeFacts::Kind::kString:
      return {ValueKind::kString, BitsOf(texts_.Intern(facts.text))};
    case AttributeFacts::Kind::kVersion:
      return {ValueKind::kVersion, InternVersion(facts.text, problem)};
    case AttributeFacts::Kind::kBools:
      for (const int64_t number : facts.numbers) items.push_back(number != 0 ? 1 : 0);
      return {ValueKind::kBools, InternList(items)};
    case AttributeFacts::Kind::kInts:
      return {ValueKind::kInts, InternList(facts.numbers)};
    case AttributeFacts::Kind::kStrings:
      for (const absl::string_view text : facts.texts) items.push_back(BitsOf(texts_.Intern(text)));
      return {ValueKind::kStrings, InternList(items)};
    case AttributeFacts::Kind::kVersions:
      for (const absl::string_view text : facts.texts)
        items.push_back(InternVersion(text, problem));
      return {ValueKind::kVersions, InternList(items)};
  }
  DRASIM_UNREACHABLE("kind of attribute");
}

DeviceValue DeviceColumns::StoreText(absl::string_view text) {
  return {ValueKind::kString, BitsOf(texts_.Intern(text))};
}

DeviceValue DeviceColumns::StoreVersion(const Semver& version) {
  std::string problem;
  return {ValueKind::kVersion, InternVersion(version.ToString(), &problem)};
}

DeviceValue DeviceColumns::StoreList(absl::Span<const DeviceValue> items) {
  if (items.empty()) return DeviceValue();
  std::vector<int64_t> bits;
  for (const DeviceValue& item : items) {
    if (item.kind != items[0].kind) return DeviceValue();
    bits.push_back(item.bits);
  }
  for (const ValueKind list :
       {ValueKind::kBools, ValueKind::kInts, ValueKind::kStrings, ValueKind::kVersions}) {
    if (ElementKind(list) == items[0].kind) return {list, InternList(bits)};
  }
  return DeviceValue();
}

DeviceRow DeviceColumns::Add(const DeviceFacts& facts) {
  struct Entry {
    Name name;
    absl::string_view text;
    DeviceValue value;
    std::string problem;
  };
  Layout layout;
  layout.driver = texts_.Intern(facts.driver);
  std::vector<Entry> entries;
  entries.reserve(facts.attributes.size() + facts.capacities.size());
  for (const AttributeFacts& attribute : facts.attributes) {
    std::string problem;
    const DeviceValue value = ValueOf(attribute, &problem);
    entries.push_back(
        {NameOf(attribute.name, layout.driver, false), attribute.name, value, std::move(problem)});
  }
  for (const CapacityFacts& capacity : facts.capacities) {
    entries.push_back({NameOf(capacity.name, layout.driver, true), capacity.name,
                       DeviceValue{ValueKind::kQuantity, InternQuantity(capacity.value)}, ""});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    return std::tie(left.name.capacity, left.text) < std::tie(right.name.capacity, right.text);
  });
  Row row;
  row.first_value = static_cast<uint32_t>(values_.size());
  row.multiple = facts.allow_multiple_allocations;
  for (const Entry& entry : entries) {
    if (!layout.names.empty() && layout.names.back() == entry.name) {
      values_.back() = entry.value;
    } else {
      layout.names.push_back(entry.name);
      values_.push_back(entry.value);
    }
    if (entry.problem.empty() || row.problem != 0) continue;
    const std::string problem = absl::StrCat("attribute ", entry.text, ": ", entry.problem);
    const auto found = std::find(problems_.begin(), problems_.end(), problem);
    row.problem = static_cast<uint32_t>(found - problems_.begin());
    if (found == problems_.end()) problems_.push_back(problem);
  }
  row.layout = InternLayout(std::move(layout));
  rows_.push_back(row);
  const auto [known, added] = row_set_.insert(static_cast<uint32_t>(rows_.size() - 1));
  if (!added) {
    rows_.pop_back();
    values_.resize(row.first_value);
  }
  return DeviceRow(*known);
}

int DeviceColumns::FindSlot(LayoutId layout, TextId domain, TextId id, bool capacity,
                            bool bare) const {
  const std::vector<Name>& names = layout_at(layout).names;
  const Name wanted = {domain, id, bare, capacity};
  const auto found = std::find(names.begin(), names.end(), wanted);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

int DeviceColumns::AttributeSlot(LayoutId layout, TextId domain, TextId id) const {
  const int full = FindSlot(layout, domain, id, /*capacity=*/false, /*bare=*/false);
  return full >= 0 ? full : FindSlot(layout, domain, id, /*capacity=*/false, /*bare=*/true);
}

int DeviceColumns::CapacitySlot(LayoutId layout, TextId domain, TextId id) const {
  const int full = FindSlot(layout, domain, id, /*capacity=*/true, /*bare=*/false);
  return full >= 0 ? full : FindSlot(layout, domain, id, /*capacity=*/true, /*bare=*/true);
}

int DeviceColumns::ExactAttributeSlot(LayoutId layout, TextId domain, TextId id, bool bare) const {
  return FindSlot(layout, domain, id, /*capacity=*/false, bare);
}

}  // namespace drasim
