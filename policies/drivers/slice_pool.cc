#include "policies/drivers/slice_pool.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/hash.h"
#include "model/kube/resource_lift.h"
#include "model/quantity.h"

namespace drasim {
namespace {

// Limits of validation in the API server: pkg/apis/resource/types.go.
constexpr int kMostSliceDevices = 128;
constexpr int kMostCountedDevices = 64;
constexpr int kMostCounterSets = 8;

// Lengths of names that the API server completes: apiserver/pkg/storage/names.
constexpr absl::string_view kNameLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr size_t kDrawnLetters = 5;
constexpr size_t kMostGivenBytes = 63 - kDrawnLetters;

// FNV's low bits follow short texts too closely.
uint64_t HashOfTexts(std::initializer_list<absl::string_view> texts) {
  uint64_t hash = kFnvOffset;
  for (const absl::string_view text : texts) hash = MixWord(Fnv1a(text, hash), text.size());
  return MixWord(hash, hash);
}

std::string GeneratedPrefix(absl::string_view driver, absl::string_view node, size_t index) {
  std::string prefix = absl::StrCat(absl::StrFormat("%05x-", index), driver, "-", node, "-");
  if (prefix.size() > kMostGivenBytes) prefix.resize(kMostGivenBytes);
  return prefix;
}

absl::Status CheckLimits(const std::string& node, const proto::kube::ResourceSliceSpec& spec) {
  bool extras = false;
  for (const proto::kube::Device& device : spec.devices()) {
    extras = extras || device.consumes_counters_size() > 0 || device.taints_size() > 0;
  }
  const int most = extras ? kMostCountedDevices : kMostSliceDevices;
  if (spec.devices_size() > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        node, ": ", spec.driver(), " would publish a slice of ", spec.devices_size(),
        " devices, and the API server takes at most ", most, extras ? " with counters" : ""));
  }
  if (spec.shared_counters_size() > kMostCounterSets) {
    return absl::InvalidArgumentError(absl::StrCat(
        node, ": ", spec.driver(), " would publish a slice of ", spec.shared_counters_size(),
        " counter sets, and the API server takes at most ", kMostCounterSets));
  }
  return absl::OkStatus();
}

}  // namespace

std::string SliceName(absl::string_view driver, absl::string_view node, size_t index) {
  std::string name = GeneratedPrefix(driver, node, index);
  uint64_t hash = HashOfTexts({driver, "slice", node, absl::StrCat(index)});
  for (size_t i = 0; i < kDrawnLetters; ++i) {
    name.push_back(kNameLetters[hash % kNameLetters.size()]);
    hash /= kNameLetters.size();
  }
  return name;
}

std::string DeviceUuid(absl::string_view prefix, absl::string_view node, absl::string_view device) {
  const uint64_t high = HashOfTexts({prefix, "high", node, device});
  const uint64_t low = HashOfTexts({prefix, "low", node, device});
  return absl::StrFormat("%s-%08x-%04x-%04x-%04x-%012x", prefix, high >> 32U, high >> 16U & 0xffffU,
                         high & 0xffffU, low >> 48U, low & 0xffff'ffff'ffffU);
}

std::string BinaryAmount(int64_t units) {
  return Quantity::FromUnits(units, Quantity::Format::kBinarySi).ToString();
}

proto::kube::ResourceSliceSpec* SlicePool::Add() {
  const size_t index = slices_.size();
  proto::kube::ResourceSlice& slice = slices_.emplace_back();
  slice.set_api_version(kResourceV1);
  slice.set_kind("ResourceSlice");
  slice.mutable_metadata()->set_name(SliceName(driver_, node_, index));
  slice.mutable_metadata()->set_generate_name(GeneratedPrefix(driver_, node_, index));
  proto::kube::ResourceSliceSpec* spec = slice.mutable_spec();
  spec->set_driver(driver_);
  spec->set_node_name(node_);
  spec->mutable_pool()->set_name(node_);
  spec->mutable_pool()->set_generation(generation_);
  return spec;
}

absl::StatusOr<std::vector<proto::kube::ResourceSlice>> SlicePool::Finish(DeviceOrder order) {
  std::vector<proto::kube::ResourceSlice> slices = std::move(slices_);
  slices_.clear();
  for (proto::kube::ResourceSlice& slice : slices) {
    proto::kube::ResourceSliceSpec* spec = slice.mutable_spec();
    spec->mutable_pool()->set_resource_slice_count(static_cast<int64_t>(slices.size()));
    const absl::Status within = CheckLimits(node_, *spec);
    if (!within.ok()) return within;
    SortDevices(order, spec);
  }
  return slices;
}

}  // namespace drasim
