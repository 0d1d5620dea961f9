#include "model/kube/claim_devices_of.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/proto/resource.pb.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

std::string BoolText(bool value) { return value ? "true" : "false"; }

std::string TaintName(const kube::DeviceTaint& taint) {
  return absl::StrCat(taint.key(), taint.value().empty() ? "" : "=", taint.value());
}

}  // namespace

std::set<std::string> ClassesOfClaim(const kube::DeviceClaim& claim) {
  std::set<std::string> classes;
  for (const kube::DeviceRequest& request : claim.requests()) {
    if (request.has_exactly()) classes.insert(request.exactly().device_class_name());
    for (const kube::DeviceSubRequest& alternative : request.first_available()) {
      classes.insert(alternative.device_class_name());
    }
  }
  return classes;
}

std::string AttributeText(const kube::DeviceAttribute& attribute) {
  if (attribute.has_int_value()) return absl::StrCat(attribute.int_value());
  if (attribute.has_bool_value()) return BoolText(attribute.bool_value());
  if (attribute.has_string_value()) return attribute.string_value();
  if (attribute.has_version_value()) return attribute.version_value();
  if (!attribute.ints().empty()) return absl::StrJoin(attribute.ints(), ", ");
  if (!attribute.strings().empty()) return absl::StrJoin(attribute.strings(), ", ");
  if (!attribute.versions().empty()) return absl::StrJoin(attribute.versions(), ", ");
  return absl::StrJoin(attribute.bools(), ", ",
                       [](std::string* out, bool value) { absl::StrAppend(out, BoolText(value)); });
}

ClaimDevice DescribeClaimDevice(const kube::DeviceRequestAllocationResult& result,
                                const std::string& slice, const kube::Device* device) {
  ClaimDevice described;
  described.request = result.request();
  described.driver = result.driver();
  described.pool = result.pool();
  described.device = result.device();
  std::vector<DeviceFact>& facts = described.facts;
  for (const auto& [name, value] : result.consumed_capacity()) {
    facts.push_back({DeviceFactKind::kConsumed, name, value});
  }
  if (device != nullptr) {
    described.slice = slice;
    for (const auto& [name, attribute] : device->attributes()) {
      facts.push_back({DeviceFactKind::kAttribute, name, AttributeText(attribute)});
    }
    for (const auto& [name, capacity] : device->capacity()) {
      facts.push_back({DeviceFactKind::kCapacity, name, capacity.value()});
    }
    for (const kube::DeviceCounterConsumption& set : device->consumes_counters()) {
      for (const auto& [name, counter] : set.counters()) {
        facts.push_back({DeviceFactKind::kCounter, absl::StrCat(set.counter_set(), "/", name),
                         counter.value()});
      }
    }
    for (const kube::DeviceTaint& taint : device->taints()) {
      facts.push_back({DeviceFactKind::kTaint, TaintName(taint), taint.effect()});
    }
  }
  std::sort(facts.begin(), facts.end(), [](const DeviceFact& a, const DeviceFact& b) {
    return std::tie(a.kind, a.name, a.value) < std::tie(b.kind, b.name, b.value);
  });
  return described;
}

}  // namespace drasim
