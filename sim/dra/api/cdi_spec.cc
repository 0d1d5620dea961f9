#include "sim/dra/api/cdi_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"

namespace drasim {
namespace {

constexpr absl::string_view kCdiVersions[] = {"0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0",
                                              "0.6.0", "0.7.0", "0.8.0", "1.0.0"};
constexpr absl::string_view kCdiHookNames[] = {"prestart",       "createRuntime", "createContainer",
                                               "startContainer", "poststart",     "poststop"};

constexpr size_t kMaxCdiVendor = 253;
constexpr size_t kMaxCdiClass = 63;
constexpr size_t kMaxCdiLabel = 63;

// linux/Documentation/admin-guide/devices.txt; the capabilities' major is the kernel's choice.
constexpr int64_t kNvidiaMajor = 195;
constexpr int64_t kNvidiaCtlMinor = 255;
constexpr int64_t kNvidiaModesetMinor = 254;

// Minors 1 and 2 are "config" and "monitor".
constexpr int64_t kFirstMigMinor = 3;
constexpr int64_t kMigComputeInstances = 8;  // of a GPU instance
constexpr int64_t kMigGpuInstances = 15;     // of a GPU
constexpr int64_t kMigGpus = 32;             // of a node

bool IsCdiLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }
bool IsCdiLetterOrDigit(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// Letters and digits, and `inner` between them.
bool IsCdiWord(absl::string_view text, absl::string_view inner) {
  if (text.empty() || !IsCdiLetterOrDigit(text.front()) || !IsCdiLetterOrDigit(text.back()))
    return false;
  return std::all_of(text.begin(), text.end(), [inner](char c) {
    return IsCdiLetterOrDigit(c) || inner.find(c) != absl::string_view::npos;
  });
}

bool IsCdiVendor(absl::string_view vendor) {
  if (vendor.empty() || vendor.size() > kMaxCdiVendor || !IsCdiLetter(vendor.front())) return false;
  const std::vector<absl::string_view> labels = absl::StrSplit(vendor, '.');
  return std::all_of(labels.begin(), labels.end(), [](absl::string_view label) {
    return label.size() <= kMaxCdiLabel && IsCdiWord(label, "-");
  });
}

bool IsCdiClass(absl::string_view name) {
  return name.size() <= kMaxCdiClass && IsCdiWord(name, "-_.") && IsCdiLetter(name.front());
}

// "vendor.com/class": the parts before and after the first slash.
std::pair<absl::string_view, absl::string_view> SplitCdiKind(absl::string_view kind) {
  return absl::StrSplit(kind, absl::MaxSplits('/', 1));
}

absl::Status WrongCdiField(absl::string_view field, absl::string_view found,
                           absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found '", found, "', expected ", expected));
}

absl::Status CheckCdiPath(absl::string_view field, absl::string_view path) {
  if (absl::StartsWith(path, "/")) return absl::OkStatus();
  return WrongCdiField(field, path, "an absolute path");
}

absl::Status CheckCdiEnv(absl::string_view field, absl::Span<const std::string> env) {
  for (size_t i = 0; i < env.size(); ++i) {
    const size_t sign = env[i].find('=');
    if (sign != std::string::npos && sign > 0) continue;
    return WrongCdiField(absl::StrCat(field, ".env[", i, "]"), env[i], "'NAME=value'");
  }
  return absl::OkStatus();
}

absl::Status CheckCdiNumber(absl::string_view field, const std::optional<int64_t>& number,
                            int64_t least) {
  if (!number.has_value() || *number >= least) return absl::OkStatus();
  return WrongCdiField(field, absl::StrCat(*number), absl::StrCat("at least ", least));
}

absl::Status CheckCdiNode(absl::string_view field, const CdiDeviceNode& node) {
  RETURN_IF_ERROR(CheckCdiPath(absl::StrCat(field, ".path"), node.path));
  if (!node.host_path.empty()) {
    RETURN_IF_ERROR(CheckCdiPath(absl::StrCat(field, ".hostPath"), node.host_path));
  }
  const absl::string_view type = node.type;
  if (!(type.empty() || type == "b" || type == "c" || type == "u" || type == "p")) {
    return WrongCdiField(absl::StrCat(field, ".type"), type, "'b', 'c', 'u' or 'p'");
  }
  RETURN_IF_ERROR(CheckCdiNumber(absl::StrCat(field, ".major"), node.major, 0));
  RETURN_IF_ERROR(CheckCdiNumber(absl::StrCat(field, ".minor"), node.minor, 0));
  if (node.permissions.find_first_not_of("rwm") == std::string::npos) return absl::OkStatus();
  return WrongCdiField(absl::StrCat(field, ".permissions"), node.permissions, "letters of 'rwm'");
}

absl::Status CheckCdiMount(absl::string_view field, const CdiMount& mount) {
  RETURN_IF_ERROR(CheckCdiPath(absl::StrCat(field, ".hostPath"), mount.host_path));
  return CheckCdiPath(absl::StrCat(field, ".containerPath"), mount.container_path);
}

absl::Status CheckCdiHook(absl::string_view field, const CdiHook& hook) {
  if (std::find(std::begin(kCdiHookNames), std::end(kCdiHookNames), hook.name) ==
      std::end(kCdiHookNames)) {
    return WrongCdiField(absl::StrCat(field, ".hookName"), hook.name,
                         absl::StrCat("one of ", absl::StrJoin(kCdiHookNames, ", ")));
  }
  RETURN_IF_ERROR(CheckCdiPath(absl::StrCat(field, ".path"), hook.path));
  RETURN_IF_ERROR(CheckCdiEnv(field, hook.env));
  return CheckCdiNumber(absl::StrCat(field, ".timeout"), hook.timeout_seconds, 1);
}

absl::Status CheckCdiEdits(absl::string_view field, const CdiEdits& edits) {
  RETURN_IF_ERROR(CheckCdiEnv(field, edits.env));
  for (size_t i = 0; i < edits.device_nodes.size(); ++i) {
    RETURN_IF_ERROR(
        CheckCdiNode(absl::StrCat(field, ".deviceNodes[", i, "]"), edits.device_nodes[i]));
  }
  for (size_t i = 0; i < edits.mounts.size(); ++i) {
    RETURN_IF_ERROR(CheckCdiMount(absl::StrCat(field, ".mounts[", i, "]"), edits.mounts[i]));
  }
  for (size_t i = 0; i < edits.hooks.size(); ++i) {
    RETURN_IF_ERROR(CheckCdiHook(absl::StrCat(field, ".hooks[", i, "]"), edits.hooks[i]));
  }
  return absl::OkStatus();
}

absl::Status CheckCdiHeader(const CdiSpec& spec) {
  const auto* const known =
      std::find(std::begin(kCdiVersions), std::end(kCdiVersions), absl::string_view(spec.version));
  if (known == std::end(kCdiVersions)) {
    return WrongCdiField("cdiVersion", spec.version,
                         absl::StrCat("one of ", absl::StrJoin(kCdiVersions, ", ")));
  }
  const auto [vendor, class_name] = SplitCdiKind(spec.kind);
  if (!IsCdiVendor(vendor) || !IsCdiClass(class_name)) {
    return WrongCdiField("kind", spec.kind, "'vendor.com/class'");
  }
  const absl::string_view least = MinimumCdiVersion(spec);
  if (known < std::find(std::begin(kCdiVersions), std::end(kCdiVersions), least)) {
    return WrongCdiField("cdiVersion", spec.version,
                         absl::StrCat("at least ", least, " for what the specification uses"));
  }
  return absl::OkStatus();
}

// --- JSON, without empty keys. ---

void WriteCdiText(absl::string_view key, absl::string_view value, JsonWriter& json) {
  if (!value.empty()) json.Key(key).String(value);
}
void WriteCdiNumber(absl::string_view key, const std::optional<int64_t>& value, JsonWriter& json) {
  if (value.has_value()) json.Key(key).Int(*value);
}
void WriteCdiTexts(absl::string_view key, absl::Span<const std::string> values, JsonWriter& json) {
  if (values.empty()) return;
  json.Key(key).Strings(values);
}
void WriteCdiItem(const CdiDeviceNode& node, JsonWriter& json) {
  WriteCdiText("path", node.path, json);
  WriteCdiText("hostPath", node.host_path, json);
  WriteCdiText("type", node.type, json);
  WriteCdiNumber("major", node.major, json);
  WriteCdiNumber("minor", node.minor, json);
  WriteCdiText("permissions", node.permissions, json);
}
void WriteCdiItem(const CdiMount& mount, JsonWriter& json) {
  WriteCdiText("hostPath", mount.host_path, json);
  WriteCdiText("containerPath", mount.container_path, json);
  WriteCdiText("type", mount.type, json);
  WriteCdiTexts("options", mount.options, json);
}
void WriteCdiItem(const CdiHook& hook, JsonWriter& json) {
  WriteCdiText("hookName", hook.name, json);
  WriteCdiText("path", hook.path, json);
  WriteCdiTexts("args", hook.args, json);
  WriteCdiTexts("env", hook.env, json);
  WriteCdiNumber("timeout", hook.timeout_seconds, json);
}
void WriteCdiItem(const CdiDevice& device, JsonWriter& json);
template <typename T>
void WriteCdiItems(absl::string_view key, const std::vector<T>& items, JsonWriter& json) {
  if (items.empty()) return;
  json.Key(key).BeginArray();
  for (const T& item : items) {
    json.BeginObject();
    WriteCdiItem(item, json);
    json.EndObject();
  }
  json.EndArray();
}
void WriteCdiEdits(const CdiEdits& edits, JsonWriter& json) {
  if (edits.empty()) return;
  json.Key("containerEdits").BeginObject();
  WriteCdiTexts("env", edits.env, json);
  WriteCdiItems("deviceNodes", edits.device_nodes, json);
  WriteCdiItems("mounts", edits.mounts, json);
  WriteCdiItems("hooks", edits.hooks, json);
  json.EndObject();
}
void WriteCdiItem(const CdiDevice& device, JsonWriter& json) {
  json.Key("name").String(device.name);
  WriteCdiEdits(device.edits, json);
}

// --- Specifications by plugins. ---

void AddCdiEnv(absl::string_view prefix, const ParametersObject* parameters, CdiEdits& edits) {
  if (parameters == nullptr) return;
  for (const auto& [key, value] : parameters->fields) {
    edits.env.push_back(absl::StrCat(prefix, key, "=", value));
  }
}

CdiDeviceNode CdiCharacterNode(std::string path, std::optional<int64_t> major,
                               std::optional<int64_t> minor) {
  CdiDeviceNode node;
  node.path = std::move(path);
  node.type = "c";
  node.major = major;
  node.minor = minor;
  node.permissions = "rw";
  return node;
}

// Each path once: two replicas of a GPU, or two instances, share its node.
void AddCdiNodeOnce(CdiDeviceNode node, CdiEdits& edits) {
  if (std::find(edits.device_nodes.begin(), edits.device_nodes.end(), node) ==
      edits.device_nodes.end()) {
    edits.device_nodes.push_back(std::move(node));
  }
}

std::string MigCapabilityPath(int64_t minor) {
  return absl::StrCat("/dev/nvidia-caps/nvidia-cap", minor);
}

}  // namespace

std::optional<CdiSpec> CdiSpecForParameters(absl::string_view driver, Uid claim,
                                            const ParametersObject* class_parameters,
                                            const ParametersObject* claim_parameters) {
  CdiDevice device;
  device.name = absl::StrCat("claim-", claim);
  AddCdiEnv("admin_", class_parameters, device.edits);
  AddCdiEnv("user_", claim_parameters, device.edits);
  if (device.edits.env.empty()) return std::nullopt;
  std::sort(device.edits.env.begin(), device.edits.env.end());
  CdiSpec spec;
  spec.kind = absl::StrCat(driver, "/test");
  spec.devices.push_back(std::move(device));
  spec.version = std::string(MinimumCdiVersion(spec));
  return spec;
}

absl::StatusOr<CdiSpec> CdiSpecForGpus(absl::string_view driver, Uid claim,
                                       const DeviceGrants& grants,
                                       absl::Span<const MigTable* const> mig_tables) {
  if (grants.empty()) return absl::InvalidArgumentError("grants: found none, expected a device");
  CdiDevice device;
  device.name = absl::StrCat("claim-", claim);
  std::vector<std::string> visible;
  for (const DeviceGrant& grant : grants) {
    const int64_t gpu = grant.device;
    std::string name = absl::StrCat(gpu);
    AddCdiNodeOnce(CdiCharacterNode(absl::StrCat("/dev/nvidia", gpu), kNvidiaMajor, gpu),
                   device.edits);
    if (grant.placement != kNoPlacement) {
      const MigTable* table = gpu < static_cast<int64_t>(mig_tables.size())
                                  ? mig_tables[static_cast<size_t>(gpu)]
                                  : nullptr;
      if (table == nullptr || grant.placement >= table->placements().size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "GPU ", gpu, ": found placement ", static_cast<int>(grant.placement), ", expected ",
            table == nullptr ? "none (it has no MIG instances)"
                             : absl::StrCat("one below ", table->placements().size())));
      }
      const int64_t instance = table->placements()[grant.placement].start;
      if (gpu >= kMigGpus || instance >= kMigGpuInstances) {
        return absl::InvalidArgumentError(
            absl::StrCat("GPU ", gpu, ", instance ", instance, ": expected at most ", kMigGpus,
                         " GPUs with at most ", kMigGpuInstances, " instances each"));
      }
      const int64_t minor = MigCapabilityMinor(gpu, instance);
      for (const int64_t capability : {minor, minor + 1}) {
        AddCdiNodeOnce(CdiCharacterNode(MigCapabilityPath(capability), std::nullopt, std::nullopt),
                       device.edits);
      }
      absl::StrAppend(&name, ":", instance);
    }
    if (std::find(visible.begin(), visible.end(), name) == visible.end()) {
      visible.push_back(std::move(name));
    }
  }
  device.edits.env.push_back(absl::StrCat("NVIDIA_VISIBLE_DEVICES=", absl::StrJoin(visible, ",")));

  CdiSpec spec;
  spec.kind = absl::StrCat("k8s.", driver, "/claim");
  spec.devices.push_back(std::move(device));
  spec.edits.device_nodes = {
      CdiCharacterNode("/dev/nvidiactl", kNvidiaMajor, kNvidiaCtlMinor),
      CdiCharacterNode("/dev/nvidia-modeset", kNvidiaMajor, kNvidiaModesetMinor),
      CdiCharacterNode("/dev/nvidia-uvm", std::nullopt, std::nullopt),
      CdiCharacterNode("/dev/nvidia-uvm-tools", std::nullopt, std::nullopt),
  };
  spec.version = std::string(MinimumCdiVersion(spec));
  return spec;
}

absl::StatusOr<CdiSpec> CdiSpecForGpuDevices(absl::string_view driver, Uid claim,
                                             absl::Span<const CdiGpu> gpus,
                                             absl::Span<const MigTable* const> mig_tables) {
  if (gpus.empty()) return absl::InvalidArgumentError("devices: found none, expected one");
  CdiSpec spec;
  for (const CdiGpu& gpu : gpus) {
    ASSIGN_OR_RETURN(CdiSpec one, CdiSpecForGpus(driver, claim, {gpu.part}, mig_tables));
    one.devices[0].name = absl::StrCat(claim, "-", gpu.device);
    if (spec.kind.empty()) {
      spec = std::move(one);
    } else {
      spec.devices.push_back(std::move(one.devices[0]));
    }
  }
  spec.version = std::string(MinimumCdiVersion(spec));
  return spec;
}

absl::StatusOr<CdiSpec> CdiSpecForExampleDevices(absl::string_view driver, Uid claim,
                                                 absl::Span<const std::string> devices) {
  if (devices.empty()) return absl::InvalidArgumentError("devices: found none, expected one");
  CdiSpec spec;
  spec.kind = absl::StrCat("k8s.", driver, "/gpu");
  for (const std::string& name : devices) {
    CdiDevice& device = spec.devices.emplace_back();
    device.name = absl::StrCat(claim, "-", name);
    device.edits.env.push_back(
        absl::StrCat("GPU_DEVICE_", absl::StripPrefix(name, "gpu-"), "=", name));
  }
  spec.version = std::string(MinimumCdiVersion(spec));
  return spec;
}

int64_t MigCapabilityMinor(int64_t gpu, int64_t instance) {
  DRASIM_CHECK(gpu >= 0 && gpu < kMigGpus);
  DRASIM_CHECK(instance >= 0 && instance < kMigGpuInstances);
  return kFirstMigMinor + (gpu * kMigGpuInstances + instance) * (1 + kMigComputeInstances);
}

std::vector<std::string> CdiDeviceIds(const CdiSpec& spec) {
  std::vector<std::string> ids;
  for (const CdiDevice& device : spec.devices) {
    ids.push_back(absl::StrCat(spec.kind, "=", device.name));
  }
  return ids;
}

absl::string_view MinimumCdiVersion(const CdiSpec& spec) {
  // Dots in the class are new in 0.6, names that begin with a digit and hostPath in 0.5, types of
  // mounts in 0.4.
  if (absl::StrContains(SplitCdiKind(spec.kind).second, ".")) return "0.6.0";
  std::vector<const CdiEdits*> edits = {&spec.edits};
  for (const CdiDevice& device : spec.devices) {
    if (!device.name.empty() && !IsCdiLetter(device.name.front())) return "0.5.0";
    edits.push_back(&device.edits);
  }
  for (const CdiEdits* edit : edits) {
    for (const CdiDeviceNode& node : edit->device_nodes) {
      if (!node.host_path.empty()) return "0.5.0";
    }
  }
  for (const CdiEdits* edit : edits) {
    for (const CdiMount& mount : edit->mounts) {
      if (!mount.type.empty()) return "0.4.0";
    }
  }
  return "0.3.0";
}

absl::Status ValidateCdiSpec(const CdiSpec& spec) {
  RETURN_IF_ERROR(CheckCdiHeader(spec));
  if (spec.devices.empty()) {
    return absl::InvalidArgumentError("devices: found none, expected at least one");
  }
  absl::flat_hash_set<absl::string_view> names;
  for (size_t i = 0; i < spec.devices.size(); ++i) {
    const CdiDevice& device = spec.devices[i];
    const std::string field = absl::StrCat("devices[", i, "]");
    if (!IsCdiWord(device.name, "-_.:")) {
      return WrongCdiField(absl::StrCat(field, ".name"), device.name,
                           "letters and digits, with '-', '_', '.' or ':' between them");
    }
    if (!names.insert(device.name).second) {
      return WrongCdiField(absl::StrCat(field, ".name"), device.name,
                           "a name that no other device has");
    }
    const std::string edits = absl::StrCat(field, ".containerEdits");
    if (device.edits.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(edits, ": found none, expected at least one"));
    }
    RETURN_IF_ERROR(CheckCdiEdits(edits, device.edits));
  }
  return CheckCdiEdits("containerEdits", spec.edits);
}

std::string CdiSpecJson(const CdiSpec& spec) {
  JsonWriter json;
  json.BeginObject();
  json.Key("cdiVersion").String(spec.version);
  json.Key("kind").String(spec.kind);
  WriteCdiItems("devices", spec.devices, json);
  WriteCdiEdits(spec.edits, json);
  json.EndObject();
  return json.text();
}

}  // namespace drasim
