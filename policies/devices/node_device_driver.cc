#include "policies/devices/node_device_driver.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/kube/node_set.h"
#include "model/resource_request.h"
#include "model/status_macros.h"
#include "policies/devices/device_handles.h"
#include "policies/devices/device_reasons.h"

namespace drasim {
namespace {

// Limit on cached parsed requests.
constexpr size_t kMostParsedRequests = 4096;

std::string ClaimPath(const ObjectMeta& meta, absl::string_view name) {
  return absl::StrCat(meta.ns.text(), "/", name);
}

}  // namespace

NodeDeviceDriver::NodeDeviceDriver(const ClaimDriverInfo& info, MigRule rule,
                                   ClaimDriverOptions options)
    : info_(info), options_(std::move(options)) {
  DRASIM_CHECK(options_.cluster != nullptr);
  if (options_.name.empty()) options_.name = info.driver;
  MakeKinds(rule);
}

NodeDeviceDriver::~NodeDeviceDriver() = default;

void NodeDeviceDriver::MakeKinds(MigRule rule) {
  const ClusterState& cluster = *options_.cluster;
  const MigRuleInfo* placement =
      options_.placement.empty() ? nullptr : FindMigPlacement(options_.placement);
  DRASIM_CHECK(options_.placement.empty() || placement != nullptr);
  const bool weighted = placement != nullptr && placement->weighted;
  if (placement != nullptr) rule = placement->rule;
  place_of_.assign(cluster.node_count(), kNoPlace);
  const auto add_rules = [this, rule, weighted](const MigTable* table) {
    for (const auto& made : rules_) {
      if (&made->table() == table) return made.get();
    }
    std::vector<int64_t> weights;
    if (weighted) weights.assign(table->profiles().size(), 0);
    for (const auto& [profile_name, share] : options_.mix) {
      const int profile = table->FindProfile(profile_name);
      if (weighted && profile >= 0) weights[static_cast<size_t>(profile)] = share;
    }
    rules_.push_back(std::make_unique<MigRuleTable>(table, rule, weights));
    return rules_.back().get();
  };
  std::vector<std::pair<size_t, std::vector<KindPart>>> mixed;  // by place
  for (const NodeId node : options_.nodes) {
    DRASIM_CHECK_LT(node.value(), cluster.node_count());
    DRASIM_CHECK(kind_of_.empty() || options_.nodes[kind_of_.size() - 1] < node);
    place_of_[node.value()] = static_cast<uint32_t>(kind_of_.size());
    std::vector<KindPart> parts;
    for (const GpuModelGroup& group : cluster.GroupsOfModels(node)) {
      GpuKind described = KindOfGpus(cluster, node, group.gpus.First());
      if (described.table != nullptr) described.rules = add_rules(described.table);
      const auto known = std::find(kinds_.begin(), kinds_.end(), described);
      parts.push_back({static_cast<uint32_t>(known - kinds_.begin()), group.gpus});
      if (known == kinds_.end()) kinds_.push_back(std::move(described));
    }
    kind_of_.push_back(parts.size() == 1 ? parts[0].kind : kNoPlace);
    if (parts.size() > 1) mixed.emplace_back(kind_of_.size() - 1, std::move(parts));
  }
  AddMixedKinds(mixed);
  devices_.resize(kind_of_.size());
  claims_on_.resize(kind_of_.size());
  proposed_on_.resize(kind_of_.size());
  for (size_t place = 0; place < devices_.size(); ++place) {
    if (kind_of_[place] == kNoPlace) continue;
    devices_[place].kind = &kinds_[kind_of_[place]];
    devices_[place].all = DeviceSet::FirstN(cluster.node(options_.nodes[place]).gpu_count);
  }
}

void NodeDeviceDriver::AddMixedKinds(
    absl::Span<const std::pair<size_t, std::vector<KindPart>>> places) {
  plain_kinds_ = kinds_.size();
  for (const auto& [place, parts] : places) {
    const auto known = std::find(parts_of_.begin(), parts_of_.end(), parts);
    kind_of_[place] =
        static_cast<uint32_t>(plain_kinds_) + static_cast<uint32_t>(known - parts_of_.begin());
    if (known == parts_of_.end()) parts_of_.push_back(parts);
  }
  kinds_.resize(plain_kinds_ + parts_of_.size());
  for (size_t i = 0; i < parts_of_.size(); ++i) {
    GpuKind& kind = kinds_[plain_kinds_ + i];
    for (const KindPart& part : parts_of_[i]) {
      kind.by_gpu.resize(std::max(kind.by_gpu.size(), part.gpus.Bound()));
      for (const size_t gpu : part.gpus) kind.by_gpu[gpu] = &kinds_[part.kind];
      absl::StrAppend(&kind.model, kind.model.empty() ? "" : " + ", kinds_[part.kind].model);
    }
  }
}

// A node with several models serves a request by the options of its models, in the order of their
// first GPUs; equal options of several models become one.
void NodeDeviceDriver::MergeKinds(DeviceRequest* request) const {
  for (size_t i = 0; i < parts_of_.size(); ++i) {
    KindRequest& merged = request->kinds[plain_kinds_ + i];
    std::string lacking;
    for (const KindPart& part : parts_of_[i]) {
      const KindRequest& own = request->kinds[part.kind];
      if (own.options.empty()) {
        absl::StrAppend(&lacking, lacking.empty() ? "" : "; ", own.lacking);
        continue;
      }
      merged.eligible |= own.eligible & part.gpus;
      for (DeviceOption option : own.options) {
        const MigTable* const table = kinds_[part.kind].table;
        const auto same = [&](DeviceOption other) {
          const bool cuts = option.use != GpuUse::kWhole && option.use != GpuUse::kPart &&
                            option.use != GpuUse::kFunction;
          if (cuts && kinds_[plain_kinds_ + i].of(other.gpus.First()).table != table) return false;
          other.gpus = option.gpus;
          return other == option;
        };
        const auto known = std::find_if(merged.options.begin(), merged.options.end(), same);
        if (known != merged.options.end()) {
          known->gpus |= part.gpus;
        } else {
          option.gpus = part.gpus;
          merged.options.push_back(option);
        }
      }
    }
    if (merged.options.empty()) merged.lacking = std::move(lacking);
  }
}

const NodeDevices* NodeDeviceDriver::devices(NodeId node) const {
  const uint32_t place = PlaceOf(node);
  return place == kNoPlace ? nullptr : &devices_[place];
}

const HeldDevices* NodeDeviceDriver::held(Uid claim) const {
  const auto known = given_.find(claim);
  return known == given_.end() ? nullptr : &known->second.devices;
}

// --- Requests. ---

std::shared_ptr<const NodeDeviceDriver::Parsed> NodeDeviceDriver::Read(
    const ClaimToAllocate& claim) const {
  ParametersKey key = {0, 0, 0, 0};
  bool keep = true;
  size_t at = 0;
  for (const ParametersObject* object : {claim.claim_parameters, claim.class_parameters}) {
    if (object != nullptr) {
      key[at] = object->meta.uid;
      key[at + 1] = object->meta.version;
      keep = keep && object->meta.uid != 0 && object->meta.version != 0;
    }
    at += 2;
  }
  if (keep) {
    const auto known = parsed_.find(key);
    if (known != parsed_.end()) return known->second;
  }
  auto parsed = std::make_shared<Parsed>();
  parsed->request.shareable = options_.shareable;
  parsed->request.kinds.resize(kinds_.size());
  parsed->status = ReadRequest(claim, &parsed->request);
  if (parsed->status.ok()) MergeKinds(&parsed->request);
  if (keep) {
    if (parsed_.size() >= kMostParsedRequests) parsed_.clear();
    parsed_.emplace(key, parsed);
  }
  return parsed;
}

absl::Status NodeDeviceDriver::CheckParameters(const ClaimToAllocate& claim) const {
  return Read(claim)->status;
}

NodeDeviceDriver::Call NodeDeviceDriver::MakeCall(absl::Span<const ClaimToAllocate> claims,
                                                  NodeId node) const {
  Call call;
  for (size_t i = 0; i < claims.size(); ++i) {
    const Uid uid = claims[i].claim->meta.uid;
    // Two entries of a pod may refer to the same claim.
    const bool known = std::any_of(call.first.begin(), call.first.end(), [&](size_t first) {
      return claims[first].claim->meta.uid == uid;
    });
    if (known) continue;
    call.first.push_back(i);
    call.parsed.push_back(Read(claims[i]));
    ClaimWant want;
    if (call.parsed.back()->status.ok()) want.request = &call.parsed.back()->request;
    const auto given = given_.find(uid);
    if (given != given_.end()) {
      want.has = &given->second.devices;
      want.has_node = given->second.node;
    } else if (const HeldDevices* proposed = ProposedOn(uid, node)) {
      want.has = proposed;
      want.has_node = node;
    }
    call.wants.push_back(want);
  }
  for (size_t i = 0; i < call.wants.size(); ++i) {
    if (call.wants[i].is_tied()) Tie(claims, call, i, &call.wants[i]);
  }
  return call;
}

// The claim that lends its devices: by its entry in the pod or by its name; claims of this call
// take precedence.
void NodeDeviceDriver::Tie(absl::Span<const ClaimToAllocate> claims, const Call& call, size_t want,
                           ClaimWant* out) const {
  const std::string& tie = out->request->tie;
  for (size_t j = 0; j < call.first.size(); ++j) {
    const ClaimToAllocate& other = claims[call.first[j]];
    if (j == want) continue;
    if (other.entry.text() != tie && other.claim->meta.name.text() != tie) continue;
    out->tied_to = static_cast<int32_t>(j);
    return;
  }
  const ObjectMeta& meta = claims[call.first[want]].claim->meta;
  const std::string path = ClaimPath(meta, tie);
  for (const auto& [uid, held] : given_) {
    if (uid == meta.uid) continue;
    const bool same_pod = meta.owner != 0 && held.owner == meta.owner && held.entry == tie;
    if (!same_pod && held.name != path) continue;
    out->tied_has = &held.devices;
    out->tied_node = held.node;
    return;
  }
}

// --- Planning. ---

bool NodeDeviceDriver::PlanOn(uint32_t place, absl::Span<const ClaimWant> wants) const {
  PlanRules rules;
  rules.packed = options_.packed;
  rules.last_node = last_node_;
  rules.last_gpu = last_gpu_;
  const size_t kind = devices_[place].kind == nullptr ? 0 : kind_of_[place];
  return planner_.Plan(devices_[place], options_.nodes[place], kind, wants, rules);
}

// The fast path for common requests. REQUIRES: one option, of whole GPUs or of one MIG instance.
bool NodeDeviceDriver::FitsAlone(const NodeDevices& node, const DeviceRequest& request,
                                 const KindRequest& kind) const {
  const DeviceOption& option = kind.options[0];
  if (option.use == GpuUse::kWhole) {
    return (node.free() & kind.eligible & option.gpus).size() >= request.count;
  }
  const MigRuleTable& rules = *node.kind->of(option.gpus.First()).rules;
  for (const size_t gpu : node.cuttable() & kind.eligible & option.gpus) {
    if (rules.OnGpu(node.states[gpu], option.profile).placement != kNoPlacement) return true;
  }
  return false;
}

bool NodeDeviceDriver::Suits(const Call& call, NodeId node) const {
  const uint32_t place = PlaceOf(node);
  if (place == kNoPlace) return false;
  const NodeDevices& devices = devices_[place];
  const ClaimWant& want = call.wants[0];
  if (call.wants.size() == 1 && want.has == nullptr && want.request != nullptr) {
    if (devices.kind == nullptr) return false;
    const KindRequest& kind = want.request->kinds[kind_of_[place]];
    if (kind.options.empty()) return false;
    const GpuUse use = kind.options[0].use;
    if (kind.options.size() == 1 &&
        (use == GpuUse::kWhole || (use == GpuUse::kInstance && want.request->count == 1))) {
      return FitsAlone(devices, *want.request, kind);
    }
  }
  return PlanOn(place, call.wants);
}

std::vector<std::vector<NodeId>> NodeDeviceDriver::UnsuitableNodes(
    absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const {
  if (claims.empty()) return {};
  const Call call = MakeCall(claims);
  const bool readable = std::all_of(call.wants.begin(), call.wants.end(), [](const auto& want) {
    return want.request != nullptr || want.has != nullptr;
  });
  std::vector<NodeId> unsuitable;
  unsuitable.reserve(potential.size());
  for (const NodeId node : potential) {
    const bool suits =
        readable && (proposed_.empty() ? Suits(call, node) : Suits(MakeCall(claims, node), node));
    if (!suits) unsuitable.push_back(node);
  }
  return std::vector<std::vector<NodeId>>(claims.size(), unsuitable);
}

std::string NodeDeviceDriver::WhyUnsuitable(absl::Span<const ClaimToAllocate> claims,
                                            NodeId node) const {
  if (claims.empty()) return "";
  if (!node.valid()) return info_.immediate_refusal == nullptr ? "" : info_.immediate_refusal;
  const Call call = MakeCall(claims, node);
  for (size_t w = 0; w < call.wants.size(); ++w) {
    if (call.wants[w].request == nullptr && call.wants[w].has == nullptr) {
      return std::string(call.parsed[w]->status.message());
    }
  }
  const uint32_t place = PlaceOf(node);
  if (place == kNoPlace) return absl::StrCat(name(), " does not serve the node");
  if (PlanOn(place, call.wants)) return "";
  for (size_t w = 0; w < call.wants.size(); ++w) {
    if (planner_.plans()[w].fits) continue;
    const ClaimWant& want = call.wants[w];
    // A claim with devices elsewhere whose parameters have become unreadable.
    if (want.request == nullptr) return std::string(call.parsed[w]->status.message());
    const std::string beside_others = WhyNot(want, place);
    if (call.wants.size() == 1 || want.is_tied()) return beside_others;
    if (!PlanOn(place, absl::MakeConstSpan(&want, 1))) return WhyNot(want, place);
    return absl::StrCat(beside_others, " beside the pod's other claims");
  }
  return "";
}

// REQUIRES: the latest plan was for this node and did not serve the want.
std::string NodeDeviceDriver::WhyNot(const ClaimWant& want, uint32_t place) const {
  const HeldDevices* target = nullptr;
  if (want.tied_to >= 0) {
    target = &planner_.plans()[static_cast<size_t>(want.tied_to)].devices;
  } else if (want.tied_node == options_.nodes[place]) {
    target = want.tied_has;
  }
  return WhyNotServed(*want.request, kind_of_[place], planner_.after(), target);
}

// --- Allocation. ---

std::vector<ClaimAllocation> NodeDeviceDriver::Allocate(absl::Span<const ClaimToAllocate> claims,
                                                        NodeId node) {
  std::vector<ClaimAllocation> results(claims.size());
  if (!node.valid() && info_.immediate_refusal != nullptr) {
    for (ClaimAllocation& result : results) {
      result.status = absl::UnimplementedError(info_.immediate_refusal);
    }
    return results;
  }
  if (options_.keeps_node_objects) {
    AllocateProposed(claims, node, &results);
  } else if (node.valid()) {
    AllocateOn(claims, node, &results);
  } else {
    // Claims that take pieces of another claim's devices come after it.
    for (const bool tied : {false, true}) {
      for (size_t i = 0; i < claims.size(); ++i) {
        const std::shared_ptr<const Parsed> parsed = Read(claims[i]);
        if (!parsed->request.tie.empty() == tied) results[i].status = AllocateAnywhere(claims[i]);
      }
    }
  }
  for (size_t i = 0; i < claims.size(); ++i) {
    const auto given = given_.find(claims[i].claim->meta.uid);
    if (given == given_.end()) continue;
    // The controller calls only the driver that the class names.
    results[i].status = absl::OkStatus();
    results[i].allocation = AllocationOf(given->second, claims[i].resource_class->driver);
  }
  return results;
}

const HeldDevices* NodeDeviceDriver::ProposedOn(Uid claim, NodeId node) const {
  const auto of_claim = proposed_.find(claim);
  if (of_claim == proposed_.end()) return nullptr;
  const auto place = of_claim->second.find(node);
  return place == of_claim->second.end() ? nullptr : &place->second;
}

bool NodeDeviceDriver::Propose(absl::Span<const ClaimToAllocate> claims, NodeId node) {
  const uint32_t place = PlaceOf(node);
  if (place == kNoPlace || claims.empty()) return false;
  const Call call = MakeCall(claims, node);
  const bool readable = std::all_of(call.wants.begin(), call.wants.end(), [](const auto& want) {
    return want.request != nullptr || want.has != nullptr;
  });
  if (!readable || !PlanOn(place, call.wants)) return false;
  for (size_t w = 0; w < call.wants.size(); ++w) {
    if (call.wants[w].has != nullptr) continue;
    const HeldDevices& found = planner_.plans()[w].devices;
    for (const HeldDevice& device : found) {
      devices_[place].Take(device);
      if (!device.is_instance()) continue;
      last_node_ = node;
      last_gpu_ = device.gpu;
    }
    KeepProposed(claims[call.first[w]].claim->meta.uid, node, found);
  }
  return true;
}

void NodeDeviceDriver::KeepProposed(Uid claim, NodeId node, const HeldDevices& devices) {
  if (!proposed_[claim].emplace(node, devices).second) return;
  std::vector<Uid>& on_node = proposed_on_[PlaceOf(node)];
  on_node.insert(std::lower_bound(on_node.begin(), on_node.end(), claim), claim);
}

void NodeDeviceDriver::Forget(Uid claim) {
  const auto known = proposed_.find(claim);
  if (known == proposed_.end()) return;
  const absl::btree_map<NodeId, HeldDevices> places = std::move(known->second);
  proposed_.erase(known);
  for (const auto& [node, devices] : places) {
    const uint32_t place = PlaceOf(node);
    std::vector<Uid>& on_node = proposed_on_[place];
    on_node.erase(std::lower_bound(on_node.begin(), on_node.end(), claim));
    Recount(place);
  }
}

// Restored claims may overlap, so the remaining ones are added up again.
void NodeDeviceDriver::Recount(uint32_t place) {
  devices_[place].Clear();
  for (const Uid claim : claims_on_[place]) {
    for (const HeldDevice& device : given_.at(claim).devices) devices_[place].Take(device);
  }
  const NodeId node = options_.nodes[place];
  for (const Uid claim : proposed_on_[place]) {
    for (const HeldDevice& device : *ProposedOn(claim, node)) devices_[place].Take(device);
  }
}

void NodeDeviceDriver::AllocateProposed(absl::Span<const ClaimToAllocate> claims, NodeId node,
                                        std::vector<ClaimAllocation>* results) {
  for (size_t i = 0; i < claims.size(); ++i) {
    const Uid uid = claims[i].claim->meta.uid;
    if (given_.contains(uid)) continue;
    absl::Status& status = (*results)[i].status;
    const std::shared_ptr<const Parsed> parsed = Read(claims[i]);
    const HeldDevices* proposed = node.valid() ? ProposedOn(uid, node) : nullptr;
    if (!parsed->status.ok()) {
      status = parsed->status;
    } else if (proposed == nullptr) {
      const std::string where = node.valid() ? options_.cluster->node_spec(node).name : "";
      status = absl::FailedPreconditionError(absl::StrCat(
          "unable to allocate devices on node '", where, "': no allocations generated for claim '",
          uid, "' on node '", where, "' yet"));
    } else {
      Held held = HeldFrom(claims[i], parsed->request, node, *proposed);
      Forget(uid);
      Take(uid, std::move(held));
    }
  }
}

void NodeDeviceDriver::AllocateOn(absl::Span<const ClaimToAllocate> claims, NodeId node,
                                  std::vector<ClaimAllocation>* results) {
  Call call = MakeCall(claims);
  // A claim with devices elsewhere keeps them and needs none here.
  const HeldDevices none;
  std::vector<bool> open;
  for (ClaimWant& want : call.wants) {
    open.push_back(want.has == nullptr);
    if (want.has == nullptr || want.has_node == node) continue;
    want.has = &none;
    want.has_node = node;
  }
  const uint32_t place = PlaceOf(node);
  if (place != kNoPlace) PlanOn(place, call.wants);
  std::vector<std::pair<size_t, HeldDevices>> taken;
  for (size_t w = 0; w < call.wants.size(); ++w) {
    if (!open[w]) continue;
    absl::Status& status = (*results)[call.first[w]].status;
    if (!call.parsed[w]->status.ok()) {
      status = call.parsed[w]->status;
    } else if (place == kNoPlace) {
      status = absl::InvalidArgumentError(absl::StrCat(name(), " does not serve the node"));
    } else if (planner_.plans()[w].fits) {
      taken.emplace_back(w, planner_.plans()[w].devices);
    } else {
      status = absl::ResourceExhaustedError(WhyNot(call.wants[w], place));
    }
  }
  for (const auto& [w, devices] : taken) {
    const ClaimToAllocate& claim = claims[call.first[w]];
    Take(claim.claim->meta.uid, HeldFrom(claim, call.parsed[w]->request, node, devices));
  }
  // A claim listed twice fails twice.
  for (size_t i = 0; i < claims.size(); ++i) {
    for (const size_t first : call.first) {
      if (claims[first].claim->meta.uid != claims[i].claim->meta.uid) continue;
      (*results)[i].status = (*results)[first].status;
    }
  }
}

absl::Status NodeDeviceDriver::AllocateAnywhere(const ClaimToAllocate& claim) {
  const Call call = MakeCall(absl::MakeConstSpan(&claim, 1));
  if (call.wants[0].has != nullptr) return absl::OkStatus();
  if (!call.parsed[0]->status.ok()) return call.parsed[0]->status;
  for (const NodeId node : ImmediateOrder()) {
    const uint32_t place = PlaceOf(node);
    if (!options_.cluster->node(node).available || !Suits(call, node)) continue;
    DRASIM_CHECK(PlanOn(place, call.wants));
    const HeldDevices devices = planner_.plans()[0].devices;
    Take(claim.claim->meta.uid, HeldFrom(claim, call.parsed[0]->request, node, devices));
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(call.parsed[0]->request.wanted, " wanted, no node has room"));
}

NodeDeviceDriver::Held NodeDeviceDriver::HeldFrom(const ClaimToAllocate& claim,
                                                  const DeviceRequest& request, NodeId node,
                                                  const HeldDevices& devices) const {
  Held held;
  held.node = node;
  held.shareable = request.shareable;
  held.devices = devices;
  held.sharing = request.sharing;
  SetNames(*claim.claim, &held);
  if (held.entry.empty()) held.entry = std::string(claim.entry.text());
  return held;
}

void NodeDeviceDriver::SetNames(const ResourceClaim& claim, Held* held) {
  held->owner = claim.meta.owner;
  held->entry = std::string(claim.pod_claim_name.text());
  held->name = ClaimPath(claim.meta, claim.meta.name.text());
}

void NodeDeviceDriver::Take(Uid claim, Held held) {
  const uint32_t place = PlaceOf(held.node);
  DRASIM_CHECK(place != kNoPlace && devices_[place].kind != nullptr);
  for (const HeldDevice& device : held.devices) {
    devices_[place].Take(device);
    if (!device.is_instance()) continue;
    last_node_ = held.node;
    last_gpu_ = device.gpu;
  }
  std::vector<Uid>& on_node = claims_on_[place];
  on_node.insert(std::lower_bound(on_node.begin(), on_node.end(), claim), claim);
  DRASIM_CHECK(given_.emplace(claim, std::move(held)).second);
}

absl::Status NodeDeviceDriver::Deallocate(Uid claim) {
  const auto known = given_.find(claim);
  if (known == given_.end()) return absl::OkStatus();
  const uint32_t place = PlaceOf(known->second.node);
  std::vector<Uid>& on_node = claims_on_[place];
  on_node.erase(std::lower_bound(on_node.begin(), on_node.end(), claim));
  given_.erase(known);
  Recount(place);
  return absl::OkStatus();
}

// --- Allocations, held devices. ---

Ref<Allocation> NodeDeviceDriver::AllocationOf(const Held& held, Name driver) const {
  const GpuKind& kind = *devices_[PlaceOf(held.node)].kind;
  auto allocation = std::make_shared<Allocation>();
  allocation->handles.push_back(
      {driver, WriteHandle(kind, options_.cluster->node_spec(held.node).name,
                           {held.devices, held.sharing})});
  allocation->available_on = NodeSet::Of({held.node});
  allocation->shareable = held.shareable;
  allocation->node = held.node;
  allocation->grants = GrantsOf(kind, held.devices);
  return allocation;
}

std::optional<NodeDeviceDriver::Held> NodeDeviceDriver::ReadAllocation(
    const Allocation& allocation) const {
  Held held;
  held.node = allocation.node;
  if (!held.node.valid() && !allocation.available_on.everywhere() &&
      allocation.available_on.nodes().size() == 1) {
    held.node = allocation.available_on.nodes()[0];
  }
  held.shareable = allocation.shareable;
  const uint32_t place = PlaceOf(held.node);
  if (place == kNoPlace) return std::nullopt;
  for (const ResourceHandle& handle : allocation.handles) {
    if (handle.driver.text() != name()) continue;
    std::optional<HandleContents> contents = ReadHandle(devices_[place], handle.data);
    if (!contents.has_value()) contents = ReadGrants(devices_[place], allocation.grants);
    if (!contents.has_value()) return std::nullopt;
    held.devices = std::move(contents->devices);
    held.sharing = std::move(contents->sharing);
    return held;
  }
  return std::nullopt;
}

void NodeDeviceDriver::Reset() {
  given_.clear();
  proposed_.clear();
  for (std::vector<Uid>& claims : proposed_on_) claims.clear();
  for (NodeDevices& node : devices_) node.Clear();
  for (std::vector<Uid>& claims : claims_on_) claims.clear();
  last_node_ = NodeId();
  last_gpu_ = -1;
}

void NodeDeviceDriver::Restore(absl::Span<const Ref<ResourceClaim>> allocated) {
  Reset();
  for (const Ref<ResourceClaim>& claim : allocated) {
    if (claim->status.allocation == nullptr || given_.contains(claim->meta.uid)) continue;
    std::optional<Held> held = ReadAllocation(*claim->status.allocation);
    if (!held.has_value()) continue;
    SetNames(*claim, &*held);
    Take(claim->meta.uid, *std::move(held));
  }
  // Handles do not record the order of placements.
  last_node_ = NodeId();
  last_gpu_ = -1;
}

int64_t NodeDeviceDriver::InstancesOf(const ResourceClaim& claim) const {
  if (claim.status.allocation == nullptr) return 0;
  const std::optional<Held> held = ReadAllocation(*claim.status.allocation);
  if (!held.has_value()) return 0;
  return std::count_if(held->devices.begin(), held->devices.end(),
                       [](const HeldDevice& device) { return device.is_instance(); });
}

SimDuration NodeDeviceDriver::PrepareTime(const ResourceClaim& claim) const {
  return options_.initialise + SimDuration(options_.create_instance.ns() * InstancesOf(claim));
}

SimDuration NodeDeviceDriver::UnprepareTime(const ResourceClaim& claim) const {
  return options_.clean_up + SimDuration(options_.destroy_instance.ns() * InstancesOf(claim));
}

// --- Checkpoints. ---

void NodeDeviceDriver::Save(StateWriter& out) const {
  out.Section("node device driver");
  out.U64(given_.size());
  for (const auto& [claim, held] : given_) {
    out.U64(claim);
    out.U64(held.node.value());
    out.Bool(held.shareable);
    out.Str(held.sharing);
    out.U64(held.owner);
    out.Str(held.entry);
    out.Str(held.name);
    SaveDevices(held.devices, out);
  }
  out.U64(proposed_.size());
  for (const auto& [claim, places] : proposed_) {
    out.U64(claim);
    out.U64(places.size());
    for (const auto& [node, devices] : places) {
      out.U64(node.value());
      SaveDevices(devices, out);
    }
  }
  out.U64(last_node_.valid() ? uint64_t{last_node_.value()} + 1 : 0);
  out.I64(last_gpu_);
}

void NodeDeviceDriver::SaveDevices(const HeldDevices& devices, StateWriter& out) {
  out.U64(devices.size());
  for (const HeldDevice& device : devices) {
    out.U64(static_cast<uint64_t>(device.use));
    out.U64(device.gpu);
    out.U64(device.placement);
    out.U64(device.slices);
    out.I64(device.milli);
    out.I64(device.memory_mib);
  }
}

bool NodeDeviceDriver::LoadHeld(StateReader& in, Held* held) const {
  const uint64_t node = in.U64();
  held->shareable = in.Bool();
  held->sharing = in.Str();
  held->owner = in.U64();
  held->entry = in.Str();
  held->name = in.Str();
  if (!in.status().ok() || node >= NodeId::kInvalid) return false;
  held->node = NodeId(static_cast<uint32_t>(node));
  return LoadDevices(in, PlaceOf(held->node), &held->devices);
}

bool NodeDeviceDriver::LoadDevices(StateReader& in, uint32_t place, HeldDevices* devices) const {
  const size_t count = in.Count();
  if (!in.status().ok() || place == kNoPlace || devices_[place].kind == nullptr || count == 0) {
    return false;
  }
  for (size_t i = 0; i < count && in.status().ok(); ++i) {
    const uint64_t use = in.U64();
    const uint64_t gpu = in.U64();
    const uint64_t placement = in.U64();
    const uint64_t slices = in.U64();
    const int64_t milli = in.I64();
    const int64_t memory = in.I64();
    HeldDevice device;
    device.use = static_cast<GpuUse>(std::min<uint64_t>(use, 255));
    device.gpu = static_cast<uint8_t>(std::min<uint64_t>(gpu, 255));
    device.placement = static_cast<uint8_t>(std::min<uint64_t>(placement, 255));
    device.slices = static_cast<uint8_t>(std::min<uint64_t>(slices, 255));
    device.milli = static_cast<int16_t>(std::clamp<int64_t>(milli, -1, kDeviceMilli + 1));
    device.memory_mib = static_cast<int32_t>(std::clamp<int64_t>(memory, -1, INT32_MAX));
    if (gpu >= kMaxDevicesPerNode || !IsPossibleDevice(devices_[place], device)) return false;
    devices->push_back(device);
  }
  return in.status().ok();
}

absl::Status NodeDeviceDriver::Load(StateReader& in) {
  in.Section("node device driver");
  absl::btree_map<Uid, Held> loaded;
  const size_t entries = in.Count();
  for (size_t i = 0; i < entries && in.status().ok(); ++i) {
    const Uid claim = in.U64();
    Held held;
    if (!LoadHeld(in, &held) || !loaded.emplace(claim, std::move(held)).second) {
      if (in.status().ok()) in.Fail("a claim has devices that the driver cannot have given");
    }
  }
  absl::btree_map<Uid, absl::btree_map<NodeId, HeldDevices>> proposed;
  const size_t proposals = in.Count();
  for (size_t i = 0; i < proposals && in.status().ok(); ++i) {
    const Uid claim = in.U64();
    const size_t places = in.Count();
    for (size_t k = 0; k < places && in.status().ok(); ++k) {
      const uint64_t node = in.U64();
      HeldDevices devices;
      const bool good = node < NodeId::kInvalid &&
                        LoadDevices(in, PlaceOf(NodeId(static_cast<uint32_t>(node))), &devices);
      if (good) {
        proposed[claim].emplace(NodeId(static_cast<uint32_t>(node)), std::move(devices));
      } else if (in.status().ok()) {
        in.Fail("a claim has places that the driver cannot have proposed");
      }
    }
  }
  const uint64_t last_node = in.U64();
  const int64_t last_gpu = in.I64();
  if (last_node > NodeId::kInvalid || last_gpu < -1 || last_gpu >= kMaxDevicesPerNode) {
    in.Fail("round robin stands at an impossible GPU");
  }
  RETURN_IF_ERROR(in.status());
  Reset();
  for (auto& [claim, held] : loaded) Take(claim, std::move(held));
  for (const auto& [claim, places] : proposed) {
    for (const auto& [node, devices] : places) {
      KeepProposed(claim, node, devices);
      Recount(PlaceOf(node));
    }
  }
  last_node_ = last_node > 0 ? NodeId(static_cast<uint32_t>(last_node - 1)) : NodeId();
  last_gpu_ = static_cast<int32_t>(last_gpu);
  return absl::OkStatus();
}

}  // namespace drasim
