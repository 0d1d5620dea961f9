#include "policies/drivers/nvidia_publisher.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/mig_layout.h"
#include "model/semver.h"
#include "model/status_macros.h"
#include "model/text/embedded_mig.h"
#include "model/text/mig_catalogue.h"
#include "model/text/mig_table_set.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSliceSpec;

constexpr char kNvidiaDriver[] = "gpu.nvidia.com";
constexpr int64_t kBytesPerMib = int64_t{1} << 20U;

absl::StatusOr<std::string> ReadVersion(absl::string_view key, const std::string& given,
                                        absl::string_view fallback) {
  const absl::StatusOr<Semver> version = Semver::ParseNormalized(given.empty() ? fallback : given);
  if (version.ok()) return version->ToString();
  return KeyError(key, absl::StrCat("found '", given, "', expected a version such as ", fallback));
}

std::string GpuName(size_t index) { return absl::StrCat("gpu-", index); }

std::string CounterSetName(size_t index) { return absl::StrCat(GpuName(index), "-counter-set"); }

std::string GpuUuid(const NodeHardware& node, size_t index) {
  return DeviceUuid("GPU", node.name, GpuName(index));
}

// NVML's health check since driver release 0.4: a GPU that is lost gets a taint, which stays until
// the kubelet plugin starts again.
UnhealthyDevices LostGpus() {
  UnhealthyDevices lost;
  lost.tainted = true;
  lost.taint.set_key("gpu.nvidia.com/gpu-lost");
  lost.taint.set_effect("NoSchedule");
  lost.recover_at_once = false;
  return lost;
}

absl::Status AtGpu(const NodeHardware& node, size_t index, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat(node.name, ": ", GpuName(index), ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlicePublisher>> NvidiaPublisher::Make(
    const proto::SliceDriver& options) {
  auto made = std::unique_ptr<NvidiaPublisher>(new NvidiaPublisher());
  ASSIGN_OR_RETURN(made->basics_, ReadPublisherBasics(options, kNvidiaDriver, LostGpus()));
  RETURN_IF_ERROR(made->ReadMigOptions(options));
  RETURN_IF_ERROR(made->ReadVersions(options));
  ASSIGN_OR_RETURN(made->shares_, ParseConsumableShares(options.consumable_shares()));
  made->gates_.time_slicing = options.time_slicing();
  made->gates_.mps = options.mps();
  if (options.mps() && made->mig_ == Mig::kDynamic) {
    return KeyError("mps", "found true, which the driver refuses beside mig: dynamic");
  }
  return made;
}

absl::Status NvidiaPublisher::ReadMigOptions(const proto::SliceDriver& options) {
  const std::string& mig = options.mig();
  if (mig == "static") {
    mig_ = Mig::kStatic;
  } else if (mig == "dynamic") {
    mig_ = Mig::kDynamic;
  } else if (!mig.empty() && mig != "none") {
    return KeyError("mig", absl::StrCat("found '", mig, "', expected none, static or dynamic"));
  }
  const std::string& mode = options.mig_mode();
  if (mode == "on") {
    ampere_ = AmpereMode::kOn;
  } else if (mode == "off") {
    ampere_ = AmpereMode::kOff;
  } else if (!mode.empty() && mode != "any") {
    return KeyError("mig_mode", absl::StrCat("found '", mode, "', expected any, on or off"));
  }
  if (!mode.empty() && mig_ != Mig::kDynamic) {
    return KeyError("mig_mode", absl::StrCat("found '", mode, "' without mig: dynamic"));
  }
  if (mig_ == Mig::kStatic) return ReadLayout(options.layout());
  if (options.layout().empty()) return absl::OkStatus();
  return KeyError("layout", absl::StrCat("found '", options.layout(), "' without mig: static"));
}

absl::Status NvidiaPublisher::ReadVersions(const proto::SliceDriver& options) {
  ASSIGN_OR_RETURN(driver_version_,
                   ReadVersion("driver_version", options.driver_version(), "580.95.5"));
  ASSIGN_OR_RETURN(cuda_version_, ReadVersion("cuda_version", options.cuda_version(), "13.0"));
  addressing_mode_ = options.addressing_mode();
  if (addressing_mode_.empty() || addressing_mode_ == "HMM" || addressing_mode_ == "ATS" ||
      addressing_mode_ == "None") {
    return absl::OkStatus();
  }
  return KeyError("addressing_mode",
                  absl::StrCat("found '", addressing_mode_, "', expected HMM, ATS or None"));
}

absl::Status NvidiaPublisher::ReadLayout(const std::string& layout) {
  if (layout.empty()) {
    return KeyError("layout",
                    "expected instances such as 3g.20gb:2 or a configuration such as all-balanced, "
                    "for mig: static");
  }
  layout_ = layout;
  return LayoutOf(layout).status();
}

absl::StatusOr<const std::optional<MigPartedConfig>*> NvidiaPublisher::LayoutOf(
    const std::string& layout) {
  const auto [found, added] = layouts_.try_emplace(layout);
  if (!added) return &found->second;
  ASSIGN_OR_RETURN(std::vector<MigPartedConfig> configs,
                   ParseMigParted(EmbeddedMigPartedConfig(), "mig_parted_default.yaml"));
  for (MigPartedConfig& config : configs) {
    if (config.name == layout) found->second = std::move(config);
  }
  return &found->second;
}

absl::Status NvidiaPublisher::CheckConfig(absl::string_view parameters) const {
  return CheckNvidiaConfig(parameters, gates_);
}

NvidiaPublisher::Model* NvidiaPublisher::ModelOf(const std::string& name) {
  const auto [found, added] = models_.try_emplace(name);
  if (added) found->second.gpu = NvidiaGpuOf(name);
  return &found->second;
}

bool NvidiaPublisher::Partitions(const NvidiaGpu& gpu) const {
  return gpu.mig != nullptr && (gpu.toggles_mig() || ampere_ != AmpereMode::kOff);
}

absl::StatusOr<std::vector<proto::kube::ResourceSlice>> NvidiaPublisher::Publish(
    const NodeHardware& node, int64_t generation) {
  SlicePool pool(basics_.driver, node.name, generation);
  if (node.gpus.empty()) return pool.Finish(basics_.order);
  if (!node.layout.empty() && mig_ != Mig::kStatic) {
    return KeyError("layout", absl::StrCat("found '", node.layout, "' without mig: static"));
  }
  RETURN_IF_ERROR(mig_ == Mig::kDynamic ? AddDynamic(node, &pool) : AddStatic(node, &pool));
  return pool.Finish(basics_.order);
}

absl::StatusOr<std::vector<MigState>> NvidiaPublisher::StatesOf(const NodeHardware& node) {
  std::vector<const MigTable*> tables;
  for (const GpuHardware& hardware : node.gpus) {
    Model* model = ModelOf(hardware.model);
    if (model->gpu.mig != nullptr && model->table == nullptr) {
      ASSIGN_OR_RETURN(MigTable table,
                       MigTable::Make(*model->gpu.mig, RulesOfDriver(*model->gpu.mig, 0)));
      model->table = std::make_unique<MigTable>(std::move(table));
    }
    tables.push_back(model->table.get());
  }
  std::vector<MigState> states(tables.size(), kNoMigState);
  const std::string& layout = node.layout.empty() ? layout_ : node.layout;
  ASSIGN_OR_RETURN(const std::optional<MigPartedConfig>* const config, LayoutOf(layout));
  if (config->has_value()) {
    absl::StatusOr<NodeMigLayout> laid_out = LayOutNode(**config, tables);
    if (!laid_out.ok()) return KeyError("layout", laid_out.status().message());
    for (size_t i = 0; i < states.size(); ++i) {
      if (laid_out->mig_enabled[i]) states[i] = laid_out->states[i];
    }
    return states;
  }
  for (size_t i = 0; i < states.size(); ++i) {
    if (tables[i] == nullptr) continue;
    const absl::StatusOr<MigRequest> request = ParseLayout(*tables[i], layout, MigCatalogue());
    if (!request.ok()) return KeyError("layout", request.status().message());
    states[i] = FindLayout(*tables[i], *request);
    if (states[i] != kNoMigState) continue;
    return KeyError("layout", absl::StrCat("found '", layout, "', which does not fit on a ",
                                           node.gpus[i].model));
  }
  return states;
}

absl::Status NvidiaPublisher::AddStatic(const NodeHardware& node, SlicePool* pool) {
  std::vector<MigState> states(node.gpus.size(), kNoMigState);
  if (mig_ == Mig::kStatic) {
    ASSIGN_OR_RETURN(states, StatesOf(node));
  }
  ResourceSliceSpec* spec = pool->Add();
  for (size_t i = 0; i < node.gpus.size(); ++i) {
    if (IsWithdrawn(node, i)) continue;
    const Model* model = ModelOf(node.gpus[i].model);
    if (states[i] == kNoMigState) {
      *spec->add_devices() = GpuDevice(node, i, model->gpu);
      continue;
    }
    const MigTable& table = *model->table;
    const int first = spec->devices_size();
    for (size_t p = 0; p < table.placements().size(); ++p) {
      if ((table.set(states[i]) & PlacementBit(p)) == 0) continue;
      const MigProfile& profile = table.profiles()[table.placements()[p].profile];
      const int32_t start = table.placements()[p].start;
      Device* device = spec->add_devices();
      device->set_name(absl::StrCat(GpuName(i), MigDeviceSuffix(profile, start)));
      RETURN_IF_ERROR(AtGpu(node, i, SetMigCapacities(table.product(), profile, device)));
      for (int32_t unit = start; unit < start + profile.size; ++unit) {
        (*device->mutable_capacity())[absl::StrCat("memorySlice", unit)].set_value("1");
      }
      SetAttributes(node.gpus[i], model->gpu, device);
      auto& attributes = *device->mutable_attributes();
      attributes["type"].set_string_value("mig");
      attributes["profile"].set_string_value(profile.name);
      attributes["parentUUID"].set_string_value(GpuUuid(node, i));
      attributes["uuid"].set_string_value(DeviceUuid("MIG", node.name, device->name()));
      ApplyConsumableShares(shares_, device);
      AddTaints(node, i, device);
    }
    std::sort(spec->mutable_devices()->begin() + first, spec->mutable_devices()->end(),
              [](const Device& a, const Device& b) { return a.name() < b.name(); });
  }
  return absl::OkStatus();
}

absl::Status NvidiaPublisher::AddDynamic(const NodeHardware& node, SlicePool* pool) {
  std::vector<const Model*> models;
  bool any_partitions = false;
  for (size_t i = 0; i < node.gpus.size(); ++i) {
    Model* model = ModelOf(node.gpus[i].model);
    models.push_back(model);
    if (!Partitions(model->gpu)) continue;
    any_partitions = true;
    if (model->partitions.has_value()) continue;
    absl::StatusOr<MigPartitions> made = MigPartitions::Make(*model->gpu.mig);
    RETURN_IF_ERROR(AtGpu(node, i, made.status()));
    model->partitions = *std::move(made);
  }
  const auto add_totals = [&](size_t index, ResourceSliceSpec* spec) {
    if (!Partitions(models[index]->gpu) || IsWithdrawn(node, index)) return;
    proto::kube::CounterSet* totals = spec->add_shared_counters();
    *totals = models[index]->partitions->totals();
    totals->set_name(CounterSetName(index));
  };
  const bool split = basics_.split_slices && any_partitions;
  if (split) {
    ResourceSliceSpec* counters = pool->Add();
    for (size_t i = 0; i < models.size(); ++i) add_totals(i, counters);
  }
  for (size_t i = 0; i < models.size(); ++i) {
    if (IsWithdrawn(node, i)) continue;
    ResourceSliceSpec* spec = pool->Add();
    const NvidiaGpu& gpu = models[i]->gpu;
    if (!split) add_totals(i, spec);
    if (Partitions(gpu)) {
      AddInstances(node, i, gpu, *models[i]->partitions, spec);
    } else {
      *spec->add_devices() = GpuDevice(node, i, gpu);
    }
  }
  return absl::OkStatus();
}

void NvidiaPublisher::AddInstances(const NodeHardware& node, size_t index, const NvidiaGpu& gpu,
                                   const MigPartitions& partitions, ResourceSliceSpec* spec) const {
  const std::string set_name = CounterSetName(index);
  const std::string uuid = GpuUuid(node, index);
  // The GPU's name is a prefix of all others, so it is the first by name.
  if (gpu.toggles_mig() || ampere_ != AmpereMode::kOn) {
    Device* whole = spec->add_devices();
    *whole = partitions.whole();
    whole->set_name(GpuName(index));
    whole->mutable_consumes_counters(0)->set_counter_set(set_name);
    SetAttributes(node.gpus[index], gpu, whole);
    (*whole->mutable_attributes())["type"].set_string_value("gpu");
    (*whole->mutable_attributes())["uuid"].set_string_value(uuid);
    ApplyConsumableShares(shares_, whole);
    AddTaints(node, index, whole);
  }
  for (const Device& partition : partitions.partitions()) {
    Device* device = spec->add_devices();
    *device = partition;
    device->set_name(absl::StrCat(GpuName(index), partition.name()));
    device->mutable_consumes_counters(0)->set_counter_set(set_name);
    SetAttributes(node.gpus[index], gpu, device);
    (*device->mutable_attributes())["parentUUID"].set_string_value(uuid);
    ApplyConsumableShares(shares_, device);
    AddTaints(node, index, device);
  }
}

Device NvidiaPublisher::GpuDevice(const NodeHardware& node, size_t index,
                                  const NvidiaGpu& gpu) const {
  Device device;
  device.set_name(GpuName(index));
  SetAttributes(node.gpus[index], gpu, &device);
  (*device.mutable_attributes())["type"].set_string_value("gpu");
  (*device.mutable_attributes())["uuid"].set_string_value(GpuUuid(node, index));
  if (gpu.memory_mib != kUnknownAmount) {
    (*device.mutable_capacity())["memory"].set_value(BinaryAmount(gpu.memory_mib * kBytesPerMib));
  }
  ApplyConsumableShares(shares_, &device);
  AddTaints(node, index, &device);
  return device;
}

void NvidiaPublisher::SetAttributes(const GpuHardware& hardware, const NvidiaGpu& gpu,
                                    Device* device) const {
  auto& attributes = *device->mutable_attributes();
  const auto set_text = [&attributes](const char* name, const std::string& value) {
    if (!value.empty()) attributes[name].set_string_value(value);
  };
  const auto set_version = [&attributes](const char* name, const std::string& value) {
    if (!value.empty()) attributes[name].set_version_value(value);
  };
  set_text("productName", hardware.model.empty() ? "" : gpu.product_name);
  set_text("brand", gpu.brand);
  set_text("architecture", gpu.architecture);
  set_version("cudaComputeCapability", gpu.compute_capability);
  set_version("driverVersion", driver_version_);
  set_version("cudaDriverVersion", cuda_version_);
  set_text("addressingMode", addressing_mode_);
  set_text("resource.kubernetes.io/pciBusID", hardware.pci_bus_id);
  set_text("resource.kubernetes.io/pcieRoot", hardware.pcie_root);
  if (hardware.numa_node >= 0) {
    attributes["resource.kubernetes.io/numaNode"].set_int_value(hardware.numa_node);
  }
}

}  // namespace drasim
