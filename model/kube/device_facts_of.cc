#include "model/kube/device_facts_of.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/quantity.h"

namespace drasim {
namespace {

using proto::kube::DeviceAttribute;

AttributeFacts AttributeFactsOf(const std::string& name, const DeviceAttribute& attribute) {
  using Kind = AttributeFacts::Kind;
  AttributeFacts facts;
  facts.name = name;
  if (!attribute.ints().empty()) {
    facts.kind = Kind::kInts;
    facts.numbers.assign(attribute.ints().begin(), attribute.ints().end());
  } else if (!attribute.bools().empty()) {
    facts.kind = Kind::kBools;
    for (const bool value : attribute.bools()) facts.numbers.push_back(value ? 1 : 0);
  } else if (!attribute.strings().empty()) {
    facts.kind = Kind::kStrings;
    facts.texts.assign(attribute.strings().begin(), attribute.strings().end());
  } else if (!attribute.versions().empty()) {
    facts.kind = Kind::kVersions;
    facts.texts.assign(attribute.versions().begin(), attribute.versions().end());
  } else if (attribute.has_int_value()) {
    facts.kind = Kind::kInt;
    facts.number = attribute.int_value();
  } else if (attribute.has_bool_value()) {
    facts.kind = Kind::kBool;
    facts.number = attribute.bool_value() ? 1 : 0;
  } else if (attribute.has_string_value()) {
    facts.kind = Kind::kString;
    facts.text = attribute.string_value();
  } else if (attribute.has_version_value()) {
    facts.kind = Kind::kVersion;
    facts.text = attribute.version_value();
  }
  return facts;
}

}  // namespace

absl::StatusOr<DeviceFacts> DeviceFactsOf(absl::string_view driver,
                                          const proto::kube::Device& device) {
  DeviceFacts facts;
  facts.driver = driver;
  facts.allow_multiple_allocations = device.allow_multiple_allocations();
  for (const auto& [name, attribute] : device.attributes()) {
    facts.attributes.push_back(AttributeFactsOf(name, attribute));
  }
  for (const auto& [name, capacity] : device.capacity()) {
    absl::StatusOr<Quantity> value = Quantity::Parse(capacity.value());
    if (!value.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("capacity[", name, "].value: ", value.status().message()));
    }
    facts.capacities.push_back({name, *std::move(value)});
  }
  return facts;
}

}  // namespace drasim
