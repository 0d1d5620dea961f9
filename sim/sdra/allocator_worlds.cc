#include "sim/sdra/allocator_worlds.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "policies/allocator/dra_features.h"

namespace drasim {
namespace {

using proto::kube::CounterSet;
using proto::kube::Device;
using proto::kube::DeviceRequest;
using proto::kube::ResourceSlice;

constexpr char kGpuDriver[] = "gpu.example.com";
constexpr char kGpuClass[] = "gpu";
constexpr size_t kDevicesOfSlice = 128;  // the API's limit
constexpr int64_t kDevicesOfNuma = 4;

// A case for the allocator with one class and one claim.
class GpuCase {
 public:
  explicit GpuCase(std::string name) {
    case_.name = std::move(name);
    case_.several_nodes = true;
    case_.features = DefaultDraFeatures(StructuredRelease::k1_37);
    proto::kube::DeviceClass& gpu = case_.classes.emplace_back();
    gpu.mutable_metadata()->set_name(kGpuClass);
    gpu.mutable_spec()->add_selectors()->mutable_cel()->set_expression(
        absl::StrCat("device.driver == \"", kGpuDriver, "\""));
    case_.claims.emplace_back().mutable_metadata()->set_name("claim");
  }

  // A pool of the node's name: one slice of counters if there are any, then slices of devices.
  void AddNode(const std::string& name, std::vector<Device> devices,
               std::vector<CounterSet> counters = {}) {
    case_.nodes.emplace_back().mutable_metadata()->set_name(name);
    const size_t first = case_.slices.size();
    if (!counters.empty()) {
      ResourceSlice& slice = AddSlice(name, 0);
      for (CounterSet& set : counters)
        *slice.mutable_spec()->add_shared_counters() = std::move(set);
    }
    for (size_t i = 0; i < devices.size(); i += kDevicesOfSlice) {
      ResourceSlice& slice = AddSlice(name, i / kDevicesOfSlice + 1);
      for (size_t d = i; d < std::min(devices.size(), i + kDevicesOfSlice); ++d) {
        *slice.mutable_spec()->add_devices() = std::move(devices[d]);
      }
    }
    const size_t count = case_.slices.size() - first;
    for (size_t i = first; i < case_.slices.size(); ++i) {
      case_.slices[i].mutable_spec()->mutable_pool()->set_resource_slice_count(
          static_cast<int64_t>(count));
    }
  }

  void Request(int64_t count, const std::string& selector = "") {
    auto* const devices = case_.claims[0].mutable_spec()->mutable_devices();
    DeviceRequest* const request = devices->add_requests();
    request->set_name(absl::StrCat("r", devices->requests_size() - 1));
    request->mutable_exactly()->set_device_class_name(kGpuClass);
    request->mutable_exactly()->set_allocation_mode("ExactCount");
    request->mutable_exactly()->set_count(count);
    if (selector.empty()) return;
    request->mutable_exactly()->add_selectors()->mutable_cel()->set_expression(selector);
  }

  void Match(const std::string& attribute) {
    auto* const devices = case_.claims[0].mutable_spec()->mutable_devices();
    devices->add_constraints()->set_match_attribute(attribute);
  }

  void Hold(const std::string& node, const std::string& device) {
    case_.use.dedicated.push_back({kGpuDriver, node, device});
  }

  CaseSet Take() {
    CaseSet set;
    set.push_back({std::move(case_), ""});
    return set;
  }

 private:
  ResourceSlice& AddSlice(const std::string& node, size_t index) {
    ResourceSlice& slice = case_.slices.emplace_back();
    // Slices of a pool are taken in order of their names.
    slice.mutable_metadata()->set_name(absl::StrCat(node, "-", absl::Dec(index, absl::kZeroPad5)));
    slice.mutable_spec()->set_driver(kGpuDriver);
    slice.mutable_spec()->set_node_name(node);
    slice.mutable_spec()->mutable_pool()->set_name(node);
    slice.mutable_spec()->mutable_pool()->set_generation(1);
    return slice;
  }

  AllocatorCase case_;
};

Device PlainGpu(int64_t index) {
  Device device;
  device.set_name(absl::StrCat("gpu-", index));
  auto& attributes = *device.mutable_attributes();
  attributes["index"].set_int_value(index);
  attributes["model"].set_string_value("A100");
  attributes["uuid"].set_string_value(absl::StrCat("GPU-", index));
  attributes["driverVersion"].set_version_value("570.86.15");
  attributes["numa"].set_int_value(index / kDevicesOfNuma);
  (*device.mutable_capacity())["memory"].set_value("80Gi");
  return device;
}

std::vector<Device> PlainGpus(int64_t count) {
  std::vector<Device> devices;
  devices.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) devices.push_back(PlainGpu(i));
  return devices;
}

std::string NameOfNode(int64_t node) { return absl::StrCat("node-", node); }

std::string Attribute(absl::string_view name) {
  return absl::StrCat("device.attributes['", kGpuDriver, "'].", name);
}

struct A100Profile {
  const char* name;
  int slices;  // of compute
  int memory;  // slices of memory
  int placements;
  int stride;
};
// NVIDIA's profiles of the A100-40GB; "1g5gb-me" is the one with media engines, "gpu" the whole.
constexpr A100Profile kA100Profiles[] = {{"1g5gb", 1, 1, 7, 1},  {"1g5gb-me", 1, 1, 7, 1},
                                         {"1g10gb", 1, 2, 4, 2}, {"2g10gb", 2, 2, 3, 2},
                                         {"3g20gb", 3, 4, 2, 4}, {"4g20gb", 4, 4, 1, 4},
                                         {"7g40gb", 7, 8, 1, 8}, {"gpu", 7, 8, 1, 8}};
constexpr int kMigGpus = 8;
constexpr int kMemorySlices = 8;
constexpr int kComputeSlices = 7;
constexpr int kMultiprocessorsOfSlice = 14;

std::string MemorySlice(int index) { return absl::StrCat("memory-slice-", index); }

std::string MigDevice(int gpu, absl::string_view profile, int place) {
  return absl::StrCat("gpu-", gpu, "-", profile, "-", place);
}

CounterSet MigCounters(int gpu) {
  CounterSet set;
  set.set_name(absl::StrCat("gpu-", gpu));
  (*set.mutable_counters())["multiprocessors"].set_value(
      absl::StrCat(kMultiprocessorsOfSlice * kComputeSlices));
  for (int i = 0; i < kMemorySlices; ++i) {
    (*set.mutable_counters())[MemorySlice(i)].set_value("1");
  }
  return set;
}

Device MigPartition(int gpu, const A100Profile& profile, int place) {
  Device device;
  device.set_name(MigDevice(gpu, profile.name, place));
  (*device.mutable_attributes())["profile"].set_string_value(profile.name);
  (*device.mutable_attributes())["parent"].set_int_value(gpu);
  auto* const use = device.add_consumes_counters();
  use->set_counter_set(absl::StrCat("gpu-", gpu));
  (*use->mutable_counters())["multiprocessors"].set_value(
      absl::StrCat(kMultiprocessorsOfSlice * profile.slices));
  for (int i = 0; i < profile.memory; ++i) {
    (*use->mutable_counters())[MemorySlice(place * profile.stride + i)].set_value("1");
  }
  return device;
}

void AddMigNode(const std::string& name, GpuCase* made) {
  std::vector<Device> devices;
  std::vector<CounterSet> sets;
  for (int gpu = 0; gpu < kMigGpus; ++gpu) {
    sets.push_back(MigCounters(gpu));
    for (const A100Profile& profile : kA100Profiles) {
      for (int place = 0; place < profile.placements; ++place) {
        devices.push_back(MigPartition(gpu, profile, place));
      }
    }
  }
  made->AddNode(name, std::move(devices), std::move(sets));
}

CelCase OneCelCase(size_t expression, const std::string& text, int64_t device) {
  CelCase made;
  made.name = absl::StrCat("expression-", expression, "-device-", device);
  made.expression = text;
  made.driver = kGpuDriver;
  made.device = PlainGpu(device);
  // Every third device lacks a capacity that some expressions read.
  if (device % 3 == 2) made.device.clear_capacity();
  return made;
}

std::vector<std::string> CelExpressions() {
  const std::string memory = absl::StrCat("device.capacity['", kGpuDriver, "'].memory");
  return {
      absl::StrCat("device.driver == '", kGpuDriver, "'"),
      absl::StrCat(Attribute("index"), " == 1"),
      absl::StrCat(memory, ".isGreaterThan(quantity('40Gi'))"),
      absl::StrCat("device.driver == '", kGpuDriver, "' && ", Attribute("model"), " == 'A100' && ",
                   memory, ".compareTo(quantity('40Gi')) >= 0"),
      absl::StrCat(Attribute("model"), ".lowerAscii().matches('^.*a100.*$')"),
      absl::StrCat("device.attributes['", kGpuDriver, "'].exists(x, x == 'uuid')"),
      absl::StrCat(Attribute("driverVersion"), ".isGreaterThan(semver('560.0.0'))"),
      absl::StrCat("[", Attribute("index"), ", 7].all(x, x < 8 && x % 2 == 1)"),
      absl::StrCat(Attribute("uuid"), ".split('-')[1] in ['0', '2', '4']"),
      absl::StrCat("cel.bind(numa, ", Attribute("numa"), ", numa == 0 ? numa < 1 : false)"),
      // Errors: a missing attribute, a division, types, syntax, an unknown name.
      absl::StrCat(Attribute("nothing"), " == 1"),
      absl::StrCat("8 / ", Attribute("index"), " > 2"),
      "device.driver == 1",
      "device.driver ==",
      "gadget.driver == 'x'",
  };
}

}  // namespace

CaseSet GpuWorld(int64_t nodes, int64_t devices, int64_t wanted) {
  GpuCase made("gpus");
  for (int64_t i = 0; i < nodes; ++i) made.AddNode(NameOfNode(i), PlainGpus(devices));
  made.Request(wanted);
  return made.Take();
}

CaseSet SameNumaWorld(int64_t nodes, int64_t devices, int64_t wanted) {
  GpuCase made("same-numa");
  for (int64_t i = 0; i < nodes; ++i) made.AddNode(NameOfNode(i), PlainGpus(devices));
  made.Request(wanted);
  made.Match(absl::StrCat(kGpuDriver, "/numa"));
  return made.Take();
}

CaseSet LastMatchesWorld(int64_t devices) {
  GpuCase made("last-matches");
  made.AddNode(NameOfNode(0), PlainGpus(devices));
  made.Request(1, absl::StrCat(Attribute("index"), " == ", devices - 1));
  return made.Take();
}

CaseSet NextImpossibleWorld(int64_t devices, int64_t wanted) {
  GpuCase made("next-impossible");
  made.AddNode(NameOfNode(0), PlainGpus(devices));
  made.Request(wanted);
  made.Request(1, "false");
  return made.Take();
}

CaseSet OneTooManyWorld(int64_t devices) {
  GpuCase made("one-too-many");
  made.AddNode(NameOfNode(0), PlainGpus(devices));
  made.Request(devices + 1);
  return made.Take();
}

CaseSet SelectorWorld(int64_t devices) {
  GpuCase made("selectors");
  made.AddNode(NameOfNode(0), PlainGpus(devices));
  const std::string memory = absl::StrCat("device.capacity['", kGpuDriver, "'].memory");
  const std::string version = Attribute("driverVersion");
  // From the last device on, so that each request looks at all of them.
  const std::vector<std::string> conditions = {
      "true",
      absl::StrCat(memory, ".isGreaterThan(quantity('40Gi'))"),
      absl::StrCat(Attribute("model"), ".lowerAscii().startsWith('a')"),
      absl::StrCat(version, ".isGreaterThan(semver('560.0.0'))"),
      absl::StrCat("device.attributes['", kGpuDriver, "'].exists(x, x == 'uuid')"),
      absl::StrCat(Attribute("uuid"), ".matches('^GPU-[0-9]+$')"),
  };
  int64_t index = devices;
  for (const std::string& condition : conditions) {
    --index;
    made.Request(1, absl::StrCat(condition, " && ", Attribute("index"), " == ", index));
  }
  return made.Take();
}

CaseSet MigWorld(int64_t nodes, MigUse use) {
  constexpr absl::string_view kNames[] = {"mig", "mig-last-free", "mig-none-fits"};
  constexpr absl::string_view kWanted[] = {"2g10gb", "1g5gb", "3g20gb"};
  GpuCase made{std::string(kNames[static_cast<size_t>(use)])};
  for (int64_t i = 0; i < nodes; ++i) {
    AddMigNode(NameOfNode(i), &made);
    if (use == MigUse::kNone) continue;
    for (int gpu = 0; gpu < kMigGpus; ++gpu) {
      const bool keeps_one = use == MigUse::kAllButLastSmall && gpu == kMigGpus - 1;
      for (int place = 0; place < kComputeSlices - (keeps_one ? 1 : 0); ++place) {
        made.Hold(NameOfNode(i), MigDevice(gpu, kA100Profiles[0].name, place));
      }
    }
  }
  made.Request(1,
               absl::StrCat(Attribute("profile"), " == '", kWanted[static_cast<size_t>(use)], "'"));
  return made.Take();
}

CaseSet CelWorld(int64_t devices) {
  CaseSet set;
  const std::vector<std::string> expressions = CelExpressions();
  for (size_t e = 0; e < expressions.size(); ++e) {
    for (int64_t d = 0; d < devices; ++d) set.push_back({OneCelCase(e, expressions[e], d), ""});
  }
  return set;
}

}  // namespace drasim
