#include "policies/drivers/example_publisher.h"

#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "model/go_random.h"
#include "model/key_error.h"
#include "model/status_macros.h"
#include "policies/drivers/slice_pool.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSliceSpec;

constexpr char kExampleDriver[] = "gpu.example.com";
constexpr size_t kUsualDevices = 8;
constexpr int32_t kMostExampleDevices = 128;
constexpr int64_t kMemoryBytes = int64_t{80} << 30U;
constexpr int64_t kCompute = 100;

// The bytes of math/rand's Read: seven of each number, lowest first.
class GoRandomBytes {
 public:
  explicit GoRandomBytes(int64_t seed) : random_(seed) {}
  uint8_t Next() {
    if (left_ == 0) {
      value_ = random_.Int63();
      left_ = 7;
    }
    const auto byte = static_cast<uint8_t>(value_ & 0xff);
    value_ >>= 8U;
    --left_;
    return byte;
  }

 private:
  GoRandom random_;
  int64_t value_ = 0;
  int left_ = 0;
};

// The driver's hash of a node's name.
int64_t SeedOf(const std::string& node) {
  uint64_t hash = 0;
  for (const char c : node) hash = 31 * hash + static_cast<unsigned char>(c);
  return static_cast<int64_t>(hash);
}

std::string NextUuid(GoRandomBytes* bytes) {
  std::array<char, 16> drawn{};
  for (char& byte : drawn) byte = static_cast<char>(bytes->Next());
  const std::string hex = absl::BytesToHexString(absl::string_view(drawn.data(), drawn.size()));
  return absl::StrCat("gpu-", hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                      hex.substr(16, 4), "-", hex.substr(20));
}

std::string CounterSetOf(size_t index) { return absl::StrCat("gpu-", index, "-counters"); }

void SetCounters(int64_t parts, google::protobuf::Map<std::string, proto::kube::Counter>* to) {
  (*to)["memory"].set_value(BinaryAmount(kMemoryBytes / parts));
  (*to)["compute"].set_value(absl::StrCat(kCompute / parts));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlicePublisher>> ExamplePublisher::Make(
    const proto::SliceDriver& options) {
  auto made = std::unique_ptr<ExamplePublisher>(new ExamplePublisher());
  ASSIGN_OR_RETURN(made->basics_, ReadPublisherBasics(options, kExampleDriver));
  if (options.devices() < 0 || options.devices() > kMostExampleDevices) {
    return KeyError("devices", absl::StrCat("found ", options.devices(), ", expected 0 to ",
                                            kMostExampleDevices));
  }
  if (options.partitions() < 0 || options.partitions() > kCompute) {
    return KeyError("partitions",
                    absl::StrCat("found ", options.partitions(), ", expected 0 to ", kCompute));
  }
  made->devices_ = static_cast<size_t>(options.devices());
  made->partitions_ = options.partitions();
  made->shared_ = options.shared();
  made->binding_conditions_ = options.binding_conditions();
  return made;
}

Device* ExamplePublisher::AddDevice(const std::string& name, size_t index, const std::string& uuid,
                                    int64_t parts, ResourceSliceSpec* spec) const {
  Device* device = spec->add_devices();
  device->set_name(name);
  auto& attributes = *device->mutable_attributes();
  attributes["index"].set_int_value(static_cast<int64_t>(index));
  attributes["uuid"].set_string_value(uuid);
  attributes["model"].set_string_value("LATEST-GPU-MODEL");
  attributes["driverVersion"].set_version_value("1.0.0");
  auto& capacity = *device->mutable_capacity();
  capacity["memory"].set_value(BinaryAmount(kMemoryBytes / parts));
  if (shared_) {
    device->set_allow_multiple_allocations(true);
    capacity["compute"].set_value(absl::StrCat(kCompute / parts));
  }
  if (partitions_ > 0) {
    attributes["partitionable"].set_bool_value(true);
    auto* consumption = device->add_consumes_counters();
    consumption->set_counter_set(CounterSetOf(index));
    SetCounters(parts, consumption->mutable_counters());
  }
  if (binding_conditions_) {
    device->add_binding_conditions("BindingConditions");
    device->add_binding_failure_conditions("BindingFailureConditions");
    device->set_given_binding_conditions(true);
  }
  return device;
}

size_t ExamplePublisher::DeviceCount(const NodeHardware& node) const {
  if (devices_ > 0) return devices_;
  return node.gpus.empty() ? kUsualDevices : node.gpus.size();
}

absl::StatusOr<std::vector<proto::kube::ResourceSlice>> ExamplePublisher::Publish(
    const NodeHardware& node, int64_t generation) {
  const size_t count = DeviceCount(node);
  SlicePool pool(basics_.driver, node.name, generation);
  GoRandomBytes bytes(SeedOf(node.name));
  ResourceSliceSpec* totals = pool.Add();
  for (size_t i = 0; partitions_ > 0 && i < count; ++i) {
    if (IsWithdrawn(node, i)) continue;
    proto::kube::CounterSet* set = totals->add_shared_counters();
    set->set_name(CounterSetOf(i));
    SetCounters(1, set->mutable_counters());
  }
  ResourceSliceSpec* spec = partitions_ > 0 && basics_.split_slices ? pool.Add() : totals;
  for (size_t i = 0; i < count; ++i) {
    const std::string gpu = absl::StrCat("gpu-", i);
    const std::string uuid = NextUuid(&bytes);
    if (IsWithdrawn(node, i)) continue;
    for (int64_t part = 0; part < partitions_; ++part) {
      Device* device =
          AddDevice(absl::StrCat(gpu, "-partition-", part), i, uuid, partitions_, spec);
      (*device->mutable_attributes())["partition"].set_int_value(part);
      AddTaints(node, i, device);
    }
    Device* whole = AddDevice(partitions_ > 0 ? gpu + "-full" : gpu, i, uuid, 1, spec);
    if (partitions_ > 0) (*whole->mutable_attributes())["full"].set_bool_value(true);
    AddTaints(node, i, whole);
  }
  return pool.Finish(basics_.order);
}

}  // namespace drasim
