#include "sim/explain/cdi_of_pod.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/claim_change.h"
#include "model/kube/slice_facts_of.h"
#include "model/proto/resource.pb.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/yaml_proto.h"
#include "policies/devices/claim_drivers.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_seek.h"

namespace drasim {
namespace {

constexpr absl::string_view kNvidiaDriver = "gpu.nvidia.com";
constexpr absl::string_view kExampleDriver = "gpu.example.com";

// A claim as far as its allocation goes.
struct AllocatedClaim {
  ClaimIdentity identity;
  NodeId node;
  DeviceGrants grants;
  std::vector<ClaimDevice> devices;
  bool allocated = false;
  std::set<std::string> users;  // present ones
  std::set<std::string> past;   // those of this allocation that have left, too
};

// Names without "default/".
std::string ShortName(absl::string_view pod) {
  return std::string(absl::StripPrefix(pod, "default/"));
}

void Apply(const ClaimChange& change, AllocatedClaim* claim) {
  switch (change.kind) {
    case ClaimChangeKind::kCreated:
      claim->identity = change.identity;
      break;
    case ClaimChangeKind::kAllocated:
      claim->allocated = true;
      claim->node = change.node;
      claim->grants = change.grants;
      claim->devices = change.devices;
      claim->past.clear();
      break;
    case ClaimChangeKind::kReserved:
      claim->users.insert(ShortName(change.text));
      claim->past.insert(ShortName(change.text));
      break;
    case ClaimChangeKind::kUnreserved:
      claim->users.erase(ShortName(change.text));
      break;
    default:
      break;
  }
}

// The claims at that time, deleted ones too if there is none.
struct ClaimsRead {
  absl::btree_map<uint64_t, AllocatedClaim> claims;  // by uid
  std::set<std::string> pods;                        // every user or owner so far
};

absl::StatusOr<ClaimsRead> ReadClaims(LedgerSeek* ledger, const CdiRequest& request) {
  ClaimsRead read;
  for (size_t frame = 0; frame < ledger->index().claims.size(); ++frame) {
    ASSIGN_OR_RETURN(const std::vector<LoggedClaimChange> changes, ledger->ReadClaimChanges(frame));
    for (const LoggedClaimChange& logged : changes) {
      const ClaimChange& change = logged.change;
      if (request.at.has_value() && change.time > *request.at) return read;
      if (change.kind == ClaimChangeKind::kDeleted && request.at.has_value()) {
        read.claims.erase(change.claim);
        continue;
      }
      if (change.kind == ClaimChangeKind::kReserved) read.pods.insert(ShortName(change.text));
      if (change.kind == ClaimChangeKind::kCreated && !change.identity.pod.empty()) {
        read.pods.insert(ShortName(change.identity.pod));
      }
      Apply(change, &read.claims[change.claim]);
    }
  }
  return read;
}

std::vector<const MigTable*> TablesOf(const ClusterState& cluster, NodeId node) {
  std::vector<const MigTable*> tables;
  if (!node.valid() || !cluster.any_mig() || !cluster.has_mig(node)) return tables;
  for (size_t d = 0; d < static_cast<size_t>(cluster.node(node).gpu_count); ++d) {
    tables.push_back(cluster.mig_table(node, d));
  }
  return tables;
}

// The part of a GPU that the device of NVIDIA's driver is; none if that is not known.
std::optional<DeviceGrant> PartOf(const ClaimDevice& device,
                                  const std::vector<const MigTable*>& tables) {
  proto::kube::ResourceSlice slice;
  slice.mutable_spec()->set_driver(device.driver);
  proto::kube::Device* const published = slice.mutable_spec()->add_devices();
  published->set_name(device.device);
  for (const DeviceFact& fact : device.facts) {
    if (fact.kind != DeviceFactKind::kAttribute || fact.name != "profile") continue;
    (*published->mutable_attributes())["profile"].set_string_value(fact.value);
  }
  const absl::StatusOr<SliceFacts> facts = SliceFactsOf(slice);
  if (!facts.ok() || facts->devices[0].gpu.gpu < 0) return std::nullopt;
  const GpuFacts& gpu = facts->devices[0].gpu;
  DeviceGrant part;
  part.device = static_cast<uint8_t>(gpu.gpu);
  part.milli = kDeviceMilli;
  if (gpu.profile.empty()) return part;
  const auto index = static_cast<size_t>(gpu.gpu);
  const MigTable* const table = index < tables.size() ? tables[index] : nullptr;
  const int profile = table == nullptr ? -1 : table->FindProfile(gpu.profile);
  if (profile < 0) return std::nullopt;
  const int placement = table->FindPlacement(static_cast<size_t>(profile), gpu.start);
  if (placement < 0) return std::nullopt;
  part.placement = static_cast<uint8_t>(placement);
  return part;
}

absl::StatusOr<CdiSpec> StructuredSpec(const std::string& driver, uint64_t uid,
                                       const AllocatedClaim& claim, const ClusterState& cluster) {
  std::vector<std::string> names;
  std::vector<CdiGpu> gpus;
  const std::vector<const MigTable*> tables = TablesOf(cluster, claim.node);
  for (const ClaimDevice& device : claim.devices) {
    const bool listed = std::find(names.begin(), names.end(), device.device) != names.end();
    if (device.driver != driver || listed) continue;  // two shares of a device are one of CDI's
    names.push_back(device.device);
    if (const auto part = PartOf(device, tables)) gpus.push_back({device.device, *part});
  }
  if (driver == kNvidiaDriver) {
    if (gpus.size() < names.size()) {
      return absl::InvalidArgumentError("which GPUs its devices are is not known");
    }
    return CdiSpecForGpuDevices(driver, uid, gpus, tables);
  }
  if (driver == kExampleDriver) return CdiSpecForExampleDevices(driver, uid, names);
  return absl::InvalidArgumentError(absl::StrCat("the specifications of driver ", driver,
                                                 " are not known, only those of ", kNvidiaDriver,
                                                 " and ", kExampleDriver));
}

// The name of the classic driver whose class it is; classes of manifests belong to the first.
std::string ClassicDriver(const proto::Scenario& scenario, const std::string& class_name) {
  const proto::Dra& dra = scenario.front_end().dra();
  for (const proto::DraDriver& driver : dra.drivers()) {
    if (driver.class_() == class_name) return driver.name();
  }
  return dra.drivers_size() > 0 ? dra.drivers(0).name() : "gpu.resource.nvidia.com";
}

void AddSpecs(uint64_t uid, const AllocatedClaim& claim, const proto::Scenario& scenario,
              const ClusterState& cluster, PodCdi* cdi) {
  const auto add = [&](const absl::StatusOr<CdiSpec>& spec) {
    if (spec.ok()) {
      cdi->specs.push_back(*spec);
    } else {
      cdi->warnings.push_back(
          absl::StrCat("claim ", claim.identity.name, ": ", spec.status().message()));
    }
  };
  if (claim.identity.mode == ClaimMode::kStructured) {
    std::vector<std::string> drivers;
    for (const ClaimDevice& device : claim.devices) {
      const bool known = std::find(drivers.begin(), drivers.end(), device.driver) != drivers.end();
      if (!known) drivers.push_back(device.driver);
    }
    for (const std::string& driver : drivers) add(StructuredSpec(driver, uid, claim, cluster));
    return;
  }
  if (claim.grants.empty()) {
    return add(absl::InvalidArgumentError(
        "it holds no GPUs; the parameters in a specification of its driver are not in the ledger"));
  }
  add(CdiSpecForGpus(ClassicDriver(scenario, claim.identity.class_name), uid, claim.grants,
                     TablesOf(cluster, claim.node)));
}

bool Uses(const AllocatedClaim& claim, const std::string& pod, bool now) {
  if (!claim.allocated) return false;
  return now ? claim.users.count(pod) > 0 : claim.past.count(pod) > 0;
}

}  // namespace

absl::StatusOr<PodCdi> CdiOfPod(const CdiRequest& request) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerSeek> ledger, LedgerSeek::Open(request.path));
  proto::Scenario scenario;
  const LedgerReader& reader = ledger->reader();
  RETURN_IF_ERROR(MergeYaml(reader.header().scenario_yaml(), reader.path(), &scenario));
  ASSIGN_OR_RETURN(const ClaimsRead read, ReadClaims(ledger.get(), request));
  const std::string pod = ShortName(request.pod);
  PodCdi cdi;
  for (const auto& [uid, claim] : read.claims) {
    if (Uses(claim, pod, request.at.has_value())) {
      AddSpecs(uid, claim, scenario, ledger->cluster(), &cdi);
    }
  }
  if (!cdi.specs.empty() || !cdi.warnings.empty()) return cdi;
  if (read.pods.count(pod) == 0) {
    return absl::NotFoundError(
        absl::StrCat("--pod: no pod with claims in ", reader.path(), " is called '", request.pod,
                     "'", request.at.has_value() ? " by then" : "",
                     Suggest(pod, std::vector<std::string>(read.pods.begin(), read.pods.end()))));
  }
  return absl::NotFoundError(absl::StrCat("--pod: '", request.pod, "' uses no allocated claim",
                                          request.at.has_value() ? " at that time" : ""));
}

}  // namespace drasim
