#include "model/kube/slice_facts_of.h"

#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/kube/device_facts_of.h"
#include "model/quantity.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

constexpr absl::string_view kNvidiaDriver = "gpu.nvidia.com";

// Appends the counters of one set, in order of their names.
absl::Status AddCounters(const google::protobuf::Map<std::string, proto::kube::Counter>& counters,
                         uint32_t set, const std::string& set_name,
                         std::vector<CounterFacts>* facts) {
  std::map<absl::string_view, absl::string_view> sorted;
  for (const auto& [name, counter] : counters) sorted[name] = counter.value();
  for (const auto& [name, text] : sorted) {
    const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
    const bool fits = amount.ok() && amount->Nanos().has_value();
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("counter set ", set_name, ": counters[", name, "]: found '", text,
                       amount.ok() ? "', expected an amount of at most 10^24"
                                   : "', expected a quantity such as 2 or 1.5Gi"));
    }
    facts->push_back({set, set_name, name, *amount->Nanos()});
  }
  return absl::OkStatus();
}

GpuFacts NvidiaGpuOf(const proto::kube::Device& device) {
  GpuFacts facts;
  absl::string_view rest = device.name();
  if (!absl::ConsumePrefix(&rest, "gpu-")) return facts;
  const absl::string_view minor = rest.substr(0, rest.find('-'));
  rest.remove_prefix(minor.size());
  int gpu = 0;
  if (!absl::SimpleAtoi(minor, &gpu) || gpu < 0) return facts;
  if (rest.empty()) {
    facts.gpu = gpu;
    return facts;
  }
  const auto profile = device.attributes().find("profile");
  const bool is_instance = absl::StartsWith(rest, "-mig-") && profile != device.attributes().end();
  if (!is_instance || !absl::SimpleAtoi(rest.substr(rest.rfind('-') + 1), &facts.start)) {
    return facts;
  }
  facts.gpu = gpu;
  facts.profile = profile->second.string_value();
  return facts;
}

}  // namespace

absl::StatusOr<SliceFacts> SliceFactsOf(const proto::kube::ResourceSlice& slice) {
  SliceFacts facts;
  facts.driver = slice.spec().driver();
  facts.pool = slice.spec().pool().name();
  facts.generation = slice.spec().pool().generation();
  facts.node_name = slice.spec().node_name();
  uint32_t set = 0;
  for (const proto::kube::CounterSet& counters : slice.spec().shared_counters()) {
    RETURN_IF_ERROR(AddCounters(counters.counters(), set++, counters.name(), &facts.counters));
  }
  for (const proto::kube::Device& device : slice.spec().devices()) {
    SliceDeviceFacts& of = facts.devices.emplace_back();
    of.name = device.name();
    ASSIGN_OR_RETURN(of.content, DeviceFactsOf(slice.spec().driver(), device));
    uint32_t entry = 0;
    for (const auto& use : device.consumes_counters()) {
      RETURN_IF_ERROR(AddCounters(use.counters(), entry++, use.counter_set(), &of.counters));
    }
    if (facts.driver == kNvidiaDriver) of.gpu = NvidiaGpuOf(device);
  }
  return facts;
}

absl::StatusOr<std::vector<HoldFacts>> HoldFactsOf(
    const proto::kube::AllocationResultV1& allocation) {
  std::vector<HoldFacts> facts;
  for (const auto& result : allocation.devices().results()) {
    if (result.admin_access()) continue;
    HoldFacts& hold = facts.emplace_back();
    hold.driver = result.driver();
    hold.pool = result.pool();
    hold.device = result.device();
    hold.share = result.has_share_id();
    if (!hold.share) continue;
    std::map<absl::string_view, absl::string_view> sorted(result.consumed_capacity().begin(),
                                                          result.consumed_capacity().end());
    for (const auto& [name, text] : sorted) {
      ASSIGN_OR_RETURN(const Quantity amount, Quantity::Parse(text));
      hold.amounts.emplace_back(name, amount);
    }
  }
  return facts;
}

}  // namespace drasim
