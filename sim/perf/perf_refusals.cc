#include "sim/perf/perf_refusals.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/kube/shape_of_pod.h"
#include "model/status_macros.h"

namespace drasim::perf {
namespace {

// The effect of a gate on a simulated scheduler.
enum class GateEffect : uint8_t {
  kNone,    // about calls, or of parts that no object of the data uses
  kServed,  // it has its effect
  kNoneIfOff,
  kNoneIfOn,
};

struct KnownGate {
  absl::string_view name;
  GateEffect effect;
};

// Gates that are not here are refused when they are on.
constexpr std::array<KnownGate, 6> kGates = {{
    {"DynamicResourceAllocation", GateEffect::kServed},
    {"InPlacePodVerticalScaling", GateEffect::kNoneIfOn},
    {"NodeDeclaredFeatures", GateEffect::kNoneIfOff},
    {"SchedulerAsyncAPICalls", GateEffect::kNone},
    {"SchedulerAsyncPreemption", GateEffect::kNone},
    {"SchedulerQueueingHints", GateEffect::kServed},
}};

constexpr char kDraGate[] = "DynamicResourceAllocation";

// Gates of structured DRA have this prefix.
bool IsDraGate(absl::string_view gate) { return absl::StartsWith(gate, "DRA"); }

bool IsLacking(const std::string& gate, bool on) {
  if (IsDraGate(gate)) return !ClaimOptionsOf({{gate, on}}, /*seed=*/0).ok();
  const auto* const known = std::find_if(
      kGates.begin(), kGates.end(), [&gate](const KnownGate& one) { return one.name == gate; });
  if (known == kGates.end() || known->effect == GateEffect::kNoneIfOff) return on;
  return known->effect == GateEffect::kNoneIfOn && !on;
}

constexpr char kWithoutDra[] = "structured DRA without its feature gate";

absl::string_view LackingOperation(Opcode opcode, bool dra) {
  switch (opcode) {
    case Opcode::kCreateResourceDriver:
    case Opcode::kAllocResourceClaims:
    case Opcode::kUpdateDeviceConditions:
      return dra ? "" : kWithoutDra;
    case Opcode::kCreatePodGroups:
      return "PodGroups";
    default:
      return "";
  }
}

// Kinds of objects that the operation may make.
std::vector<absl::string_view> KindsOf(Opcode opcode, bool dra) {
  switch (opcode) {
    case Opcode::kCreateNodes:
      return {"Node"};
    case Opcode::kCreatePods:
      return {"Pod"};
    case Opcode::kCreateNamespaces:
      return {"Namespace"};
    case Opcode::kCreateAny:
      if (dra) {
        return {"DeviceClass",   "DeviceTaintRule",
                "Namespace",     "PodDisruptionBudget",
                "ReplicaSet",    "ReplicationController",
                "ResourceClaim", "ResourceClaimTemplate",
                "ResourceSlice", "Service",
                "StatefulSet"};
      }
      return {"Namespace", "PodDisruptionBudget", "ReplicaSet", "ReplicationController",
              "Service",   "StatefulSet"};
    case Opcode::kUpdateAny:
      return {"Node", "Pod"};
    default:
      return {"Node", "Pod", "Service"};
  }
}

// Kinds that structured and classic DRA share by name.
bool IsClassicDra(const proto::kube::Object& object) {
  return object.has_resource_claim() || object.has_resource_claim_template();
}

class Checker {
 public:
  // `dra`: structured DRA is there.
  Checker(absl::string_view folder, bool dra, PerfTemplates* templates)
      : folder_(folder), dra_(dra), templates_(*templates) {}

  void Lack(std::string what) {
    if (named_.insert(what).second) lacking_.push_back(std::move(what));
  }

  absl::Status Check(const PerfAction& action) {
    if (const absl::string_view what = LackingOperation(action.opcode, dra_); !what.empty()) {
      Lack(absl::StrCat(what, " (", OpcodeName(action.opcode), ")"));
      return absl::OkStatus();
    }
    for (const std::string& path : action.templates) {
      const bool built_in = path.empty();
      if (built_in && action.opcode == Opcode::kCreateNamespaces) continue;
      const bool node = action.opcode == Opcode::kCreateNodes;
      RETURN_IF_ERROR(CheckTemplate(action, built_in ? "" : folder_,
                                    !built_in ? path.c_str()
                                    : node    ? kBuiltInNode
                                              : kBuiltInPod));
    }
    for (const std::string& path : {action.volume_template, action.claim_template}) {
      if (!path.empty()) RETURN_IF_ERROR(Note(templates_.Find(folder_, path).status()));
    }
    return absl::OkStatus();
  }

  absl::Status Result() const {
    if (lacking_.empty() && missing_.empty()) return absl::OkStatus();
    std::vector<std::string> all = lacking_;
    all.insert(all.end(), missing_.begin(), missing_.end());
    const std::string text = absl::StrJoin(all, "; ");
    return lacking_.empty() ? absl::NotFoundError(text) : absl::UnimplementedError(text);
  }

 private:
  // Keeps what may come together with other findings.
  absl::Status Note(const absl::Status& status) {
    if (!absl::IsNotFound(status)) return status;
    std::string what(status.message());
    if (named_.insert(what).second) missing_.push_back(std::move(what));
    return absl::OkStatus();
  }

  absl::Status CheckTemplate(const PerfAction& action, absl::string_view folder,
                             absl::string_view path) {
    const absl::StatusOr<const TextTemplate*> found = templates_.Find(folder, path);
    if (!found.ok()) return Note(found.status());
    ObjectSeries series(*found, action.count, action.params);
    ASSIGN_OR_RETURN(const ObjectKind kind, series.Kind());
    const std::vector<absl::string_view> known = KindsOf(action.opcode, dra_);
    if (std::find(known.begin(), known.end(), kind.kind) == known.end()) {
      Lack(absl::StrCat(kind.kind, " of ", kind.api_version, " in ", OpcodeName(action.opcode)));
      return absl::OkStatus();
    }
    const absl::StatusOr<ObjectSeries::Object> object = series.At(0);
    if (absl::IsUnimplemented(object.status())) {
      Lack(std::string(object.status().message()));
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(object.status());
    if (!dra_ && (*object)->has_pod() && (*object)->pod().spec().resource_claims_size() > 0) {
      Lack(absl::StrCat(kWithoutDra, " (pods with resource claims)"));
    }
    if (dra_ && IsClassicDra(**object)) {
      Lack(absl::StrCat(kind.kind, " of ", kind.api_version, " in ", OpcodeName(action.opcode)));
    }
    return absl::OkStatus();
  }

  std::string folder_;
  bool dra_;
  PerfTemplates& templates_;
  std::set<std::string> named_;
  std::vector<std::string> lacking_;
  std::vector<std::string> missing_;
};

}  // namespace

absl::Status CheckWorkload(const std::vector<PerfAction>& actions, const FeatureGates& gates,
                           absl::string_view folder, PerfTemplates* templates) {
  Checker checker(folder, SchedulerGatesOf(gates).dra.has_value(), templates);
  for (const auto& [gate, on] : gates) {
    if (IsLacking(gate, on)) {
      checker.Lack(absl::StrCat("feature gate ", gate, "=", on ? "true" : "false"));
    }
  }
  for (const PerfAction& action : actions) RETURN_IF_ERROR(checker.Check(action));
  return checker.Result();
}

SchedulerGates SchedulerGatesOf(const FeatureGates& gates) {
  SchedulerGates result;
  DraGates dra_gates;
  bool dra = false;
  for (const auto& [gate, on] : gates) {
    if (gate == "SchedulerQueueingHints") result.queueing_hints = on;
    if (gate == kDraGate ? on : IsDraGate(gate) && on) dra = true;
    if (IsDraGate(gate)) dra_gates[gate] = on;
  }
  if (dra) result.dra = std::move(dra_gates);
  return result;
}

}  // namespace drasim::perf
