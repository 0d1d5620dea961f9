// Devices as rows of values.

#include "model/device_columns.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

using Fact = AttributeFacts;

DeviceFacts TwoNames(absl::string_view first, absl::string_view second) {
  DeviceFacts facts;
  facts.driver = "d";
  facts.attributes = {{first, Fact::Kind::kInt, 1, "", {}, {}},
                      {second, Fact::Kind::kString, 0, "x", {}, {}}};
  facts.capacities = {{"memory", *Quantity::Parse("1Gi")}};
  return facts;
}

TEST(DeviceColumns, EqualContentIsOneRow) {
  DeviceColumns columns;
  const DeviceRow row = columns.Add(TwoNames("a", "b"));
  EXPECT_EQ(columns.Add(TwoNames("a", "b")), row);
  DeviceFacts other = TwoNames("a", "b");
  other.attributes[0].number = 2;
  EXPECT_NE(columns.Add(other), row);
  EXPECT_EQ(columns.layout(columns.Add(other)), columns.layout(row));
  other = TwoNames("a", "b");
  other.allow_multiple_allocations = true;
  const DeviceRow multiple = columns.Add(other);
  EXPECT_NE(multiple, row);
  EXPECT_TRUE(columns.allow_multiple_allocations(multiple));
  EXPECT_FALSE(columns.allow_multiple_allocations(row));
  other = TwoNames("a", "b");
  other.driver = "e";
  EXPECT_NE(columns.layout(columns.Add(other)), columns.layout(row));
  EXPECT_EQ(columns.size(), 4U);
}

TEST(DeviceColumns, TheOrderOfNamesDoesNotCount) {
  DeviceColumns columns;
  DeviceFacts facts = TwoNames("a", "b");
  const DeviceRow row = columns.Add(facts);
  std::swap(facts.attributes[0], facts.attributes[1]);
  EXPECT_EQ(columns.Add(facts), row);
}

TEST(DeviceColumns, BareNamesBelongToTheDriver) {
  DeviceColumns columns;
  const LayoutId layout = columns.layout(columns.Add(TwoNames("a", "o/a")));
  const TextId d = columns.texts().Find("d");
  const TextId o = columns.texts().Find("o");
  const TextId a = columns.texts().Find("a");
  const int bare = columns.AttributeSlot(layout, d, a);
  const int full = columns.AttributeSlot(layout, o, a);
  ASSERT_GE(bare, 0);
  ASSERT_GE(full, 0);
  EXPECT_NE(bare, full);
  EXPECT_EQ(columns.ExactAttributeSlot(layout, d, a, /*bare=*/true), bare);
  EXPECT_EQ(columns.ExactAttributeSlot(layout, d, a, /*bare=*/false), -1);
  EXPECT_EQ(columns.ExactAttributeSlot(layout, o, a, /*bare=*/false), full);
  EXPECT_EQ(columns.AttributeSlot(layout, o, d), -1);
  EXPECT_EQ(columns.CapacitySlot(layout, d, a), -1);
  EXPECT_GE(columns.CapacitySlot(layout, d, columns.texts().Find("memory")), 0);
}

TEST(DeviceColumns, TheFullFormOfANameComesFirst) {
  DeviceColumns columns;
  const DeviceRow row = columns.Add(TwoNames("a", "d/a"));
  const TextId d = columns.texts().Find("d");
  const TextId a = columns.texts().Find("a");
  const int slot = columns.AttributeSlot(columns.layout(row), d, a);
  EXPECT_EQ(columns.values(row)[static_cast<size_t>(slot)].kind, DeviceValue::Kind::kString);
}

TEST(DeviceColumns, StoresValuesOnce) {
  DeviceColumns columns;
  DeviceFacts facts;
  facts.driver = "d";
  facts.attributes = {{"a", Fact::Kind::kVersion, 0, "1.0.0", {}, {}},
                      {"b", Fact::Kind::kVersion, 0, "1.0.0", {}, {}},
                      {"c", Fact::Kind::kStrings, 0, "", {}, {"x", "y"}},
                      {"e", Fact::Kind::kStrings, 0, "", {}, {"x", "y"}},
                      {"f", Fact::Kind::kBools, 0, "", {1, 0}, {}}};
  facts.capacities = {{"a", *Quantity::Parse("1Ki")}, {"b", *Quantity::Parse("1Ki")}};
  const DeviceRow row = columns.Add(facts);
  const absl::Span<const DeviceValue> values = columns.values(row);
  EXPECT_EQ(values[0], values[1]);
  EXPECT_EQ(values[2], values[3]);
  EXPECT_EQ(values[5], values[6]);
  EXPECT_EQ(columns.version_count(), 1U);
  EXPECT_EQ(columns.quantity_count(), 1U);
  const absl::Span<const int64_t> texts = columns.list(values[2].bits);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(columns.texts().Text(TextId(static_cast<uint32_t>(texts[1]))), "y");
  EXPECT_EQ(DeviceColumns::ElementKind(values[2].kind), DeviceValue::Kind::kString);
  EXPECT_EQ(DeviceColumns::ElementKind(values[4].kind), DeviceValue::Kind::kBool);
  EXPECT_EQ(DeviceColumns::ElementKind(values[0].kind), DeviceValue::Kind::kNone);
}

TEST(DeviceColumns, NamesTheFirstUnsupportedValue) {
  DeviceColumns columns;
  DeviceFacts facts = TwoNames("z", "o/b");
  EXPECT_EQ(columns.problem(columns.Add(facts)), "");
  facts.attributes[0].kind = Fact::Kind::kNone;
  EXPECT_EQ(columns.problem(columns.Add(facts)), "attribute z: unsupported attribute value");
  facts.attributes[1].kind = Fact::Kind::kVersion;
  EXPECT_EQ(columns.problem(columns.Add(facts)),
            "attribute o/b: parse semantic version: No Major.Minor.Patch elements found");
}

TEST(DeviceColumns, StoresComputedLists) {
  DeviceColumns columns;
  const DeviceValue x = columns.StoreText("x");
  const DeviceValue list = columns.StoreList({x, x});
  EXPECT_EQ(list.kind, DeviceValue::Kind::kStrings);
  EXPECT_EQ(columns.StoreList({x, x}), list);
  EXPECT_EQ(columns.StoreList({}).kind, DeviceValue::Kind::kNone);
  EXPECT_EQ(columns.StoreList({x, {DeviceValue::Kind::kInt, 1}}).kind, DeviceValue::Kind::kNone);
  EXPECT_EQ(columns.StoreList({list}).kind, DeviceValue::Kind::kNone);
  EXPECT_EQ(columns.StoreVersion(*Semver::Parse("1.0.0")).kind, DeviceValue::Kind::kVersion);
}

}  // namespace
}  // namespace drasim
