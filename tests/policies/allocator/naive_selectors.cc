#include "tests/policies/allocator/naive_selectors.h"

#include "model/check.h"

namespace drasim {
namespace {

using proto::kube::Device;
using NaiveSelection = std::optional<bool>;

// The attribute of the driver's domain, which a bare name means too.
const proto::kube::DeviceAttribute* AttributeOf(const std::string& driver, const Device& device,
                                                const std::string& id) {
  for (const std::string& name : {id, driver + "/" + id}) {
    const auto found = device.attributes().find(name);
    if (found != device.attributes().end()) return &found->second;
  }
  return nullptr;
}

bool HasMemory(const Device& device) { return device.capacity().contains("memory"); }

struct NamedSelector {
  const char* text;
  NaiveSelection (*meaning)(const std::string& driver, const Device& device);
};

constexpr NamedSelector kSelectors[] = {
    {"true", [](const std::string&, const Device&) -> NaiveSelection { return true; }},
    {"'color' in device.attributes[device.driver]",
     [](const std::string&, const Device& device) -> NaiveSelection {
       return device.attributes().contains("color");
     }},
    {"device.attributes[device.driver].?place.orValue(0) != 1",
     [](const std::string& driver, const Device& device) -> NaiveSelection {
       const auto* place = AttributeOf(driver, device, "place");
       return (place == nullptr ? 0 : place->int_value()) != 1;
     }},
    {"device.driver == 'd'",
     [](const std::string& driver, const Device&) -> NaiveSelection { return driver == "d"; }},
    {"!device.allowMultipleAllocations",
     [](const std::string&, const Device& device) -> NaiveSelection {
       return !device.allow_multiple_allocations();
     }},
    {"has(device.attributes[device.driver].color) && device.attributes[device.driver].color != 0",
     [](const std::string&, const Device& device) -> NaiveSelection {
       const auto found = device.attributes().find("color");
       return found != device.attributes().end() && found->second.int_value() != 0;
     }},
    {"!('memory' in device.capacity[device.driver]) || "
     "device.capacity[device.driver].memory.compareTo(quantity('4')) >= 0",
     [](const std::string&, const Device& device) -> NaiveSelection {
       return !HasMemory(device) || std::stoll(device.capacity().at("memory").value()) >= 4;
     }},
    // The others are errors on some devices.
    {"device.attributes[device.driver].color < 2",
     [](const std::string&, const Device& device) -> NaiveSelection {
       const auto found = device.attributes().find("color");
       if (found == device.attributes().end()) return std::nullopt;
       return found->second.int_value() < 2;
     }},
    {"device.attributes[device.driver].list.exists(x, x == 1)",
     [](const std::string&, const Device& device) -> NaiveSelection {
       const auto found = device.attributes().find("list");
       if (found == device.attributes().end() || found->second.has_int_value()) return std::nullopt;
       for (const int64_t one : found->second.ints()) {
         if (one == 1) return true;
       }
       return false;
     }},
    {"device.driver == 'e' || device.attributes[device.driver].color > 0",
     [](const std::string& driver, const Device& device) -> NaiveSelection {
       if (driver == "e") return true;
       const auto found = device.attributes().find("color");
       if (found == device.attributes().end()) return std::nullopt;
       return found->second.int_value() > 0;
     }},
};
constexpr size_t kSafe = 7;

struct NamedDerived {
  const char* text;
  std::optional<int64_t> (*meaning)(const Device& device);
};

constexpr NamedDerived kDerived[] = {
    {"device.attributes[device.driver].?color.orValue(5) + 1",
     [](const Device& device) -> std::optional<int64_t> {
       const auto found = device.attributes().find("color");
       return (found == device.attributes().end() ? 5 : found->second.int_value()) + 1;
     }},
    {"device.attributes[device.driver].color * 2",
     [](const Device& device) -> std::optional<int64_t> {
       const auto found = device.attributes().find("color");
       if (found == device.attributes().end()) return std::nullopt;
       return found->second.int_value() * 2;
     }},
};

}  // namespace

size_t NaiveSelectorCount(bool risky) { return risky ? std::size(kSelectors) : kSafe; }

std::string NaiveSelectorText(size_t index) { return kSelectors[index].text; }

std::optional<bool> NaiveSelects(const std::string& text, const std::string& driver,
                                 const Device& device) {
  for (const NamedSelector& selector : kSelectors) {
    if (selector.text == text) return selector.meaning(driver, device);
  }
  DRASIM_CHECK(false);
  return std::nullopt;
}

size_t NaiveDerivedCount(bool risky) { return risky ? 2 : 1; }

std::string NaiveDerivedText(size_t index) { return kDerived[index].text; }

std::optional<int64_t> NaiveDerives(const std::string& text, const Device& device) {
  for (const NamedDerived& derived : kDerived) {
    if (derived.text == text) return derived.meaning(device);
  }
  DRASIM_CHECK(false);
  return std::nullopt;
}

}  // namespace drasim
