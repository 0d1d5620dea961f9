#include "policies/devices/counting_driver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/state_io.h"

namespace drasim {
namespace {

constexpr absl::string_view kNetworkDevices = "network";
// Units of one claim; keeps sums far from overflow.
constexpr int64_t kMostUnitsOfClaim = 1'000'000'000;

bool ReadUnits(absl::string_view text, int64_t* units) {
  return absl::SimpleAtoi(text, units) && *units >= 1 && *units <= kMostUnitsOfClaim;
}

// The parsed parameters of a claim.
struct CountingRequest {
  int64_t units = 1;
  bool shareable = false;
};

// The text of a parameter; null when it is absent.
const std::string* FindParameter(const ParametersObject* parameters, absl::string_view path) {
  if (parameters == nullptr) return nullptr;
  for (const auto& [known, text] : parameters->fields) {
    if (known == path) return &text;
  }
  return nullptr;
}

absl::StatusOr<CountingRequest> ReadCountingRequest(const ClaimToAllocate& claim,
                                                    bool shareable_by_default) {
  CountingRequest request;
  // The claim's own value overrides the class's, which must be valid all the same.
  for (const ParametersObject* given : {claim.class_parameters, claim.claim_parameters}) {
    const std::string* count = FindParameter(given, "count");
    if (count == nullptr) continue;
    if (!ReadUnits(*count, &request.units)) {
      return absl::InvalidArgumentError(absl::StrCat("parameters \"", given->meta.name.text(),
                                                     "\": count: expected 1 to ", kMostUnitsOfClaim,
                                                     ", not \"", *count, "\""));
    }
  }
  request.shareable = shareable_by_default;
  const std::string* shareable = FindParameter(claim.class_parameters, "shareable");
  if (shareable == nullptr) return request;
  request.shareable = *shareable == "true";
  if (!request.shareable && *shareable != "false") {
    return absl::InvalidArgumentError(
        absl::StrCat("parameters \"", claim.class_parameters->meta.name.text(),
                     "\": shareable: expected \"true\" or \"false\", not \"", *shareable, "\""));
  }
  return request;
}

std::string CountingHandleData(NodeId node, int64_t units) {
  const std::string place =
      node.valid() ? absl::StrCat(node.value()) : std::string(kNetworkDevices);
  return absl::StrCat("node=", place, ",units=", units);
}

bool ReadCountingHandle(absl::string_view data, NodeId* node, int64_t* units) {
  if (!absl::ConsumePrefix(&data, "node=")) return false;
  const size_t comma = data.find(',');
  if (comma == absl::string_view::npos) return false;
  const absl::string_view place = data.substr(0, comma);
  data.remove_prefix(comma + 1);
  *node = NodeId();
  if (place != kNetworkDevices) {
    uint32_t id = 0;
    if (!absl::SimpleAtoi(place, &id) || id == NodeId::kInvalid) return false;
    *node = NodeId(id);
  }
  return absl::ConsumePrefix(&data, "units=") && ReadUnits(data, units);
}

}  // namespace

CountingDriver::CountingDriver(CountingDriverOptions options) : options_(std::move(options)) {
  std::vector<NodeId> nodes;
  for (const auto& [node, units] : options_.units) {
    DRASIM_CHECK(node.valid() && (nodes.empty() || nodes.back() < node));
    DRASIM_CHECK_GE(units, int64_t{0});
    nodes.push_back(node);
  }
  DRASIM_CHECK_GE(options_.network_units, int64_t{0});
  nodes_ = NodeSet::Of(std::move(nodes));
  Reset();
}

void CountingDriver::Reset() {
  given_.clear();
  free_.clear();
  for (const auto& [node, units] : options_.units) free_.push_back(units);
  network_free_ = options_.network_units;
}

size_t CountingDriver::PlaceOf(NodeId node) const {
  const auto& units = options_.units;
  const auto found =
      std::lower_bound(units.begin(), units.end(), node,
                       [](const auto& entry, NodeId wanted) { return entry.first < wanted; });
  if (found == units.end() || found->first != node) return units.size();
  return static_cast<size_t>(found - units.begin());
}

int64_t* CountingDriver::FreeOf(NodeId node) {
  if (!options_.node_local) return node.valid() ? nullptr : &network_free_;
  const size_t place = PlaceOf(node);
  return place == free_.size() ? nullptr : &free_[place];
}

int64_t CountingDriver::free_units(NodeId node) const {
  if (!options_.node_local) return network_free_;
  const size_t place = PlaceOf(node);
  return place == free_.size() ? 0 : free_[place];
}

absl::Status CountingDriver::CheckParameters(const ClaimToAllocate& claim) const {
  return ReadCountingRequest(claim, options_.shareable).status();
}

absl::StatusOr<NodeId> CountingDriver::Choose(int64_t units, NodeId node) const {
  if (node.valid() && PlaceOf(node) == options_.units.size()) {
    return absl::InvalidArgumentError(absl::StrCat(name(), " does not serve the node"));
  }
  if (!options_.node_local) {
    // An allocation that no node can reach is of no use.
    if (network_free_ >= units && !options_.units.empty()) return NodeId();
    return absl::ResourceExhaustedError(
        absl::StrCat(units, " units wanted, ", std::max<int64_t>(network_free_, 0), " free"));
  }
  if (node.valid()) {
    const int64_t free = free_[PlaceOf(node)];
    if (free >= units) return node;
    return absl::ResourceExhaustedError(
        absl::StrCat(units, " units wanted, ", std::max<int64_t>(free, 0), " free on the node"));
  }
  for (size_t place = 0; place < free_.size(); ++place) {
    if (free_[place] >= units) return options_.units[place].first;
  }
  return absl::ResourceExhaustedError(absl::StrCat("no node has ", units, " free units"));
}

void CountingDriver::Take(Uid claim, const Given& given) {
  int64_t* free = FreeOf(given.node);
  DRASIM_CHECK(free != nullptr);
  *free -= given.units;
  given_[claim] = given;
}

Ref<Allocation> CountingDriver::AllocationOf(const Given& given, Name driver) const {
  auto allocation = std::make_shared<Allocation>();
  allocation->handles.push_back({driver, CountingHandleData(given.node, given.units)});
  allocation->available_on = given.node.valid() ? NodeSet::Of({given.node}) : nodes_;
  allocation->shareable = given.shareable;
  allocation->node = given.node;
  return allocation;
}

std::vector<ClaimAllocation> CountingDriver::Allocate(absl::Span<const ClaimToAllocate> claims,
                                                      NodeId node) {
  std::vector<ClaimAllocation> results(claims.size());
  for (size_t i = 0; i < claims.size(); ++i) {
    const Uid uid = claims[i].claim->meta.uid;
    // The controller calls only the driver that the class names.
    const Name driver = claims[i].resource_class->driver;
    if (const auto known = given_.find(uid); known != given_.end()) {
      results[i].allocation = AllocationOf(known->second, driver);
      continue;
    }
    const auto request = ReadCountingRequest(claims[i], options_.shareable);
    if (!request.ok()) {
      results[i].status = request.status();
      continue;
    }
    const absl::StatusOr<NodeId> chosen = Choose(request->units, node);
    if (!chosen.ok()) {
      results[i].status = chosen.status();
      continue;
    }
    const Given given = {*chosen, request->units, request->shareable};
    Take(uid, given);
    results[i].allocation = AllocationOf(given, driver);
  }
  return results;
}

std::vector<std::vector<NodeId>> CountingDriver::UnsuitableNodes(
    absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const {
  absl::InlinedVector<const Given*, 4> given_before;
  int64_t new_units = 0;  // for the other claims
  bool readable = true;
  for (const ClaimToAllocate& claim : claims) {
    const auto known = given_.find(claim.claim->meta.uid);
    if (known != given_.end()) {
      given_before.push_back(&known->second);
      continue;
    }
    const auto request = ReadCountingRequest(claim, options_.shareable);
    readable = readable && request.ok();
    if (request.ok()) new_units += request->units;
  }
  std::vector<NodeId> unsuitable;
  const auto& units = options_.units;
  for (const NodeId node : potential) {
    // Most drivers serve nodes without gaps in their ids.
    size_t place = units.empty() ? 0 : size_t{node.value()} - units.front().first.value();
    if (place >= units.size() || units[place].first != node) place = PlaceOf(node);
    bool fits = readable && place != units.size();
    if (fits) {
      int64_t wanted = new_units;
      bool all_here = given_before.size() == claims.size();
      for (const Given* given : given_before) {
        if (!options_.node_local || given->node == node) continue;
        wanted += given->units;
        all_here = false;
      }
      fits = all_here || wanted <= (options_.node_local ? free_[place] : network_free_);
    }
    if (!fits) unsuitable.push_back(node);
  }
  return std::vector<std::vector<NodeId>>(claims.size(), unsuitable);
}

absl::Status CountingDriver::Deallocate(Uid claim) {
  const auto known = given_.find(claim);
  if (known == given_.end()) return absl::OkStatus();
  *FreeOf(known->second.node) += known->second.units;
  given_.erase(known);
  return absl::OkStatus();
}

void CountingDriver::Restore(absl::Span<const Ref<ResourceClaim>> allocated) {
  Reset();
  for (const Ref<ResourceClaim>& claim : allocated) {
    Given given;
    given.shareable = claim->status.allocation->shareable;
    for (const ResourceHandle& handle : claim->status.allocation->handles) {
      if (handle.driver.text() != name()) continue;
      if (!ReadCountingHandle(handle.data, &given.node, &given.units)) continue;
      if (FreeOf(given.node) != nullptr) Take(claim->meta.uid, given);
      break;
    }
  }
}

void CountingDriver::Save(StateWriter& out) const {
  out.Section("counting driver");
  out.U64(given_.size());
  for (const auto& [claim, given] : given_) {
    out.U64(claim);
    out.U64(given.node.valid() ? uint64_t{given.node.value()} + 1 : 0);
    out.I64(given.units);
    out.Bool(given.shareable);
  }
}

absl::Status CountingDriver::Load(StateReader& in) {
  in.Section("counting driver");
  CountingDriver loaded(options_);
  const size_t entries = in.Count();
  for (size_t i = 0; i < entries && in.status().ok(); ++i) {
    const Uid claim = in.U64();
    const uint64_t node = in.U64();
    Given given;
    given.units = in.I64();
    given.shareable = in.Bool();
    if (!in.status().ok()) break;
    if (node > 0 && node <= NodeId::kInvalid) given.node = NodeId(static_cast<uint32_t>(node - 1));
    if (node > NodeId::kInvalid || given.units < 1 || given.units > kMostUnitsOfClaim ||
        loaded.FreeOf(given.node) == nullptr || loaded.given_.contains(claim)) {
      in.Fail("a claim has devices that the driver cannot have given");
      break;
    }
    loaded.Take(claim, given);
  }
  if (in.status().ok()) *this = std::move(loaded);
  return in.status();
}

}  // namespace drasim
