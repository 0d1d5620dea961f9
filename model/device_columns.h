// DeviceColumns: what CEL selectors and constraints see of devices, as rows of small values.
//
// A row is the visible content of a device: driver, attributes, capacities and
// allowMultipleAllocations. Equal content gives the same row, so devices that no selector or
// attribute can tell apart share one row, and a verdict per row serves them all. Texts, versions,
// quantities and lists are stored once; two values of one table are the same text, version text,
// quantity text or list exactly when their `bits` are equal.
//
// Rows with the same driver and the same names share a layout: the list of names, in which a name's
// position (its slot) is the position of its value in the row. Whoever reads one name from many
// rows finds the slot once per layout.
//
//   DeviceColumns columns;
//   const DeviceRow row = columns.Add(facts);
//   const int slot = columns.AttributeSlot(columns.layout(row), domain, id);   // -1: none
//   const DeviceValue value = columns.values(row)[slot];
//
// Source of the rules: k8s.io/dynamic-resource-allocation v0.37.2 (cel). A name without a domain
// belongs to the driver's domain; a name is split at its first slash.
#ifndef DRASIM_MODEL_DEVICE_COLUMNS_H_
#define DRASIM_MODEL_DEVICE_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/quantity.h"
#include "model/semver.h"

namespace drasim {

using TextId = StrongId<struct TextIdTag>;          // row of DeviceTexts
using DeviceRow = StrongId<struct DeviceRowTag>;    // row of DeviceColumns
using LayoutId = StrongId<struct DeviceLayoutTag>;  // layout of DeviceColumns

// --- Input: one device. The texts belong to the caller and are only read. ---

struct AttributeFacts {
  enum class Kind : uint8_t {
    kNone,  // no member is set, or an empty list: every evaluation of the device is an error
    kBool,
    kInt,
    kString,
    kVersion,
    kBools,
    kInts,
    kStrings,
    kVersions,
  };
  absl::string_view name;  // as written: "domain/id" or "id"
  Kind kind = Kind::kNone;
  int64_t number = 0;                    // kInt; kBool: 0 or 1
  absl::string_view text;                // kString, kVersion
  std::vector<int64_t> numbers;          // kInts, kBools
  std::vector<absl::string_view> texts;  // kStrings, kVersions
};

struct CapacityFacts {
  absl::string_view name;
  Quantity value;
};

struct DeviceFacts {
  absl::string_view driver;
  bool allow_multiple_allocations = false;
  std::vector<AttributeFacts> attributes;  // in any order
  std::vector<CapacityFacts> capacities;   // in any order
};

// --- The table ---

// Texts with dense ids.
class DeviceTexts {
 public:
  TextId Intern(absl::string_view text);      // amortised O(length)
  TextId Find(absl::string_view text) const;  // invalid: not in the table
  const std::string& Text(TextId id) const { return texts_[id.value()]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque, for the map's keys point into it
  absl::flat_hash_map<absl::string_view, TextId> ids_;
};

struct DeviceValue {
  enum class Kind : uint8_t {
    kNone,      // unsupported value; the row has a problem
    kBool,      // bits: 0 or 1
    kInt,       // bits: the number
    kString,    // bits: TextId
    kVersion,   // bits: index for DeviceColumns::version
    kQuantity,  // bits: index for DeviceColumns::quantity
    kBools,     // bits: index for DeviceColumns::list, whose items are bits of the kind's element
    kInts,
    kStrings,
    kVersions,
  };
  Kind kind = Kind::kNone;
  int64_t bits = 0;
  friend bool operator==(const DeviceValue&, const DeviceValue&) = default;
};

class DeviceColumns {
 public:
  struct Name {
    TextId domain;  // the driver's for bare names
    TextId id;
    bool bare = false;      // written without a domain
    bool capacity = false;  // else attribute
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct Layout {
    TextId driver;
    std::vector<Name> names;  // by slot: attributes, then capacities, each in order of text
    friend bool operator==(const Layout&, const Layout&) = default;
  };
  struct Version {
    TextId text;
    Semver value;
  };

  DeviceColumns() = default;
  DeviceColumns(const DeviceColumns&) = delete;
  DeviceColumns& operator=(const DeviceColumns&) = delete;

  // The row with this content, new unless the table has it. Of two entries with one name, the
  // later one holds. O(names).
  DeviceRow Add(const DeviceFacts& facts);

  // Values that are computed rather than read. A list takes the kind of its items; empty lists and
  // lists of mixed kinds give kNone.
  DeviceValue StoreText(absl::string_view text);
  DeviceValue StoreVersion(const Semver& version);
  DeviceValue StoreList(absl::Span<const DeviceValue> items);

  // Texts that selectors and constraints ask for are interned here, too.
  DeviceTexts& texts() { return texts_; }
  const DeviceTexts& texts() const { return texts_; }

  size_t size() const { return rows_.size(); }             // rows: 0 to size() - 1
  size_t layout_count() const { return layouts_.size(); }  // grows with rows, never shrinks
  LayoutId layout(DeviceRow row) const { return rows_[row.value()].layout; }
  const Layout& layout_at(LayoutId id) const { return layouts_[id.value()]; }
  TextId driver(DeviceRow row) const { return layout_at(layout(row)).driver; }
  bool allow_multiple_allocations(DeviceRow row) const { return rows_[row.value()].multiple; }

  // By slot, as many as the layout has names. Valid until the next Add.
  absl::Span<const DeviceValue> values(DeviceRow row) const {
    const Row& of = rows_[row.value()];
    return absl::MakeConstSpan(values_.data() + of.first_value,
                               layouts_[of.layout.value()].names.size());
  }

  // Why no expression can be evaluated on the row, such as "attribute NAME: unsupported attribute
  // value"; empty if there is no reason. The first such attribute in order of text counts; upstream
  // names any one of them.
  const std::string& problem(DeviceRow row) const { return problems_[rows_[row.value()].problem]; }

  // The slot of a name as CEL sees it, -1 if the layout lacks it. If a device has both the bare and
  // the full form of a name, this is the full form; upstream takes either. O(names).
  int AttributeSlot(LayoutId layout, TextId domain, TextId id) const;
  int CapacitySlot(LayoutId layout, TextId domain, TextId id) const;

  // The slot of an attribute in the form in which the device has it.
  int ExactAttributeSlot(LayoutId layout, TextId domain, TextId id, bool bare) const;

  const Version& version(int64_t bits) const { return versions_[static_cast<size_t>(bits)]; }
  const Quantity& quantity(int64_t bits) const { return quantities_[static_cast<size_t>(bits)]; }
  size_t version_count() const { return versions_.size(); }
  size_t quantity_count() const { return quantities_.size(); }
  absl::Span<const int64_t> list(int64_t bits) const { return lists_[static_cast<size_t>(bits)]; }
  // The kind of the items of a list of kind `list`.
  static DeviceValue::Kind ElementKind(DeviceValue::Kind list);

 private:
  struct Row {
    LayoutId layout;
    uint32_t first_value = 0;
    uint32_t problem = 0;
    bool multiple = false;
  };
  // Rows by content, for the set of rows.
  struct RowHash {
    const DeviceColumns* columns;
    size_t operator()(uint32_t row) const;
  };
  struct RowEqual {
    const DeviceColumns* columns;
    bool operator()(uint32_t left, uint32_t right) const;
  };

  Name NameOf(absl::string_view text, TextId driver, bool capacity);
  LayoutId InternLayout(Layout layout);
  int64_t InternVersion(absl::string_view text, std::string* problem);
  int64_t InternQuantity(const Quantity& quantity);
  int64_t InternList(const std::vector<int64_t>& items);
  DeviceValue ValueOf(const AttributeFacts& facts, std::string* problem);
  int FindSlot(LayoutId layout, TextId domain, TextId id, bool capacity, bool bare) const;

  DeviceTexts texts_;
  std::vector<Layout> layouts_;
  absl::flat_hash_map<std::string, LayoutId> layout_ids_;  // by the bytes of driver and names
  std::vector<Row> rows_;
  std::vector<DeviceValue> values_;
  absl::flat_hash_set<uint32_t, RowHash, RowEqual> row_set_{0, RowHash{this}, RowEqual{this}};
  std::vector<std::string> problems_ = {""};
  std::deque<Version> versions_;
  absl::flat_hash_map<TextId, int64_t> version_ids_;
  std::deque<Quantity> quantities_;
  absl::flat_hash_map<std::string, int64_t> quantity_ids_;  // by text
  std::deque<std::vector<int64_t>> lists_;
  absl::flat_hash_map<std::vector<int64_t>, int64_t> list_ids_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_COLUMNS_H_
