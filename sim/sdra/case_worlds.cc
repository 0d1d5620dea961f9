#include "sim/sdra/case_worlds.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/key_error.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/sdra/allocator_worlds.h"
#include "sim/sdra/plugin_worlds.h"

namespace drasim {
namespace {

constexpr int64_t kMostDevices = 1'000'000;
constexpr int64_t kDevicesOfMigNode = 208;

// Zero: the world has no such number.
struct Numbers {
  int64_t nodes = 0;
  int64_t devices = 0;
  int64_t wanted = 0;
  int64_t pods = 0;
};

struct World {
  const char* name;
  Numbers defaults;
  CaseSet (*make)(const Numbers&);
  CaseKind kind = CaseKind::kSdra;
};

constexpr World kCaseWorlds[] = {
    {"gpus", {1, 8, 1, 0}, [](const Numbers& n) { return GpuWorld(n.nodes, n.devices, n.wanted); }},
    {"same-numa",
     {500, 8, 4, 0},
     [](const Numbers& n) { return SameNumaWorld(n.nodes, n.devices, n.wanted); }},
    {"last-matches",
     {0, 10'000, 0, 0},
     [](const Numbers& n) { return LastMatchesWorld(n.devices); }},
    {"selectors", {0, 10'000, 0, 0}, [](const Numbers& n) { return SelectorWorld(n.devices); }},
    {"next-impossible",
     {0, 20, 10, 0},
     [](const Numbers& n) { return NextImpossibleWorld(n.devices, n.wanted); }},
    {"one-too-many", {0, 22, 0, 0}, [](const Numbers& n) { return OneTooManyWorld(n.devices); }},
    {"mig", {100, 0, 0, 0}, [](const Numbers& n) { return MigWorld(n.nodes, MigUse::kNone); }},
    {"mig-last-free",
     {1, 0, 0, 0},
     [](const Numbers& n) { return MigWorld(n.nodes, MigUse::kAllButLastSmall); }},
    {"mig-none-fits",
     {1, 0, 0, 0},
     [](const Numbers& n) { return MigWorld(n.nodes, MigUse::kAllSmall); }},
    {"cel", {0, 3, 0, 0}, [](const Numbers& n) { return CelWorld(n.devices); }, CaseKind::kCel},
    {"life-cycle",
     {4, 4, 2, 12},
     [](const Numbers& n) { return LifeCycleWorld(n.nodes, n.devices, n.wanted, n.pods); }},
};

struct NumberKey {
  const char* key;
  std::optional<int64_t> CaseWorldSize::*given;
  int64_t Numbers::*number;
};
constexpr NumberKey kNumberKeys[] = {
    {"nodes", &CaseWorldSize::nodes, &Numbers::nodes},
    {"devices", &CaseWorldSize::devices, &Numbers::devices},
    {"wanted", &CaseWorldSize::wanted, &Numbers::wanted},
    {"pods", &CaseWorldSize::pods, &Numbers::pods},
};

absl::Status ReadNumber(const World& world, const NumberKey& key, const CaseWorldSize& size,
                        Numbers* numbers) {
  const std::optional<int64_t>& given = size.*key.given;
  if (!given.has_value()) return absl::OkStatus();
  if (numbers->*key.number == 0) {
    return KeyError(key.key, absl::StrCat("found ", *given, ", expected none: the world ",
                                          world.name, " has no ", key.key));
  }
  if (*given < 1 || *given > kMostDevices) {
    return KeyError(key.key,
                    absl::StrCat("found ", *given, ", expected a number from 1 to ", kMostDevices));
  }
  numbers->*key.number = *given;
  return absl::OkStatus();
}

absl::Status CheckDevices(const World& world, const Numbers& numbers) {
  // MIG nodes have a fixed number of devices.
  const int64_t of_node = world.defaults.devices == 0 ? kDevicesOfMigNode : numbers.devices;
  const int64_t nodes = std::max<int64_t>(1, numbers.nodes);
  if (of_node <= kMostDevices / nodes) return absl::OkStatus();
  return KeyError(world.defaults.nodes == 0 ? "devices" : "nodes",
                  absl::StrCat("found ", nodes, " nodes with ", of_node,
                               " devices each, expected at most ", kMostDevices, " devices"));
}

struct SizedWorld {
  const World* world = nullptr;
  Numbers numbers;
};

absl::StatusOr<SizedWorld> ReadWorld(absl::string_view name, const CaseWorldSize& size) {
  const auto* const world = std::find_if(std::begin(kCaseWorlds), std::end(kCaseWorlds),
                                         [name](const World& one) { return name == one.name; });
  if (world == std::end(kCaseWorlds)) {
    const std::vector<std::string> names = CaseWorldNames();
    return KeyError("world", absl::StrCat("found '", name, "', expected one of ",
                                          absl::StrJoin(names, ", "), Suggest(name, names)));
  }
  Numbers numbers = world->defaults;
  for (const NumberKey& key : kNumberKeys) {
    RETURN_IF_ERROR(ReadNumber(*world, key, size, &numbers));
  }
  RETURN_IF_ERROR(CheckDevices(*world, numbers));
  return SizedWorld{world, numbers};
}

}  // namespace

std::vector<std::string> CaseWorldNames() {
  std::vector<std::string> names;
  for (const World& world : kCaseWorlds) names.emplace_back(world.name);
  return names;
}

absl::StatusOr<CaseKind> CheckCaseWorld(absl::string_view name, const CaseWorldSize& size) {
  ASSIGN_OR_RETURN(const SizedWorld sized, ReadWorld(name, size));
  return sized.world->kind;
}

absl::StatusOr<CaseSet> MakeCaseWorld(absl::string_view name, const CaseWorldSize& size) {
  ASSIGN_OR_RETURN(const SizedWorld sized, ReadWorld(name, size));
  return sized.world->make(sized.numbers);
}

}  // namespace drasim
