#include "sim/scenario/dra_faults.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/scenario/deletion_entry.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

using FaultAction = PlaneFault::Action;

constexpr int64_t kMostFailures = 1'000'000;

struct ActionInfo {
  absl::string_view name;
  FaultAction action;
  // Keys with a meaning.
  bool component, duration, claim, nodes, count;
};
constexpr ActionInfo kFaultActions[] = {
    {"restart", FaultAction::kRestart, true, true, false, false, false},
    {"break-watch", FaultAction::kBreakWatch, true, true, false, false, false},
    {"delete-claim", FaultAction::kDeleteClaim, false, false, true, false, false},
    {"plugin-down", FaultAction::kPluginDown, true, true, false, true, false},
    {"fail-prepare", FaultAction::kFailPrepare, true, false, false, false, true},
};

absl::Status Expected(absl::string_view key, absl::string_view found, absl::string_view expected) {
  return KeyError(key, absl::StrCat("found '", found, "', expected ", expected));
}

absl::Status ReadFault(const proto::DraFault& f, const std::string& key, PlaneFault* out) {
  const auto* const info =
      std::find_if(std::begin(kFaultActions), std::end(kFaultActions),
                   [&f](const ActionInfo& known) { return known.name == f.action(); });
  if (info == std::end(kFaultActions)) {
    std::vector<std::string> names;
    for (const ActionInfo& known : kFaultActions) names.emplace_back(known.name);
    return Expected(
        key + ".action", f.action(),
        absl::StrCat("one of ", absl::StrJoin(names, ", "), Suggest(f.action(), names)));
  }
  const std::string count = f.count() == 0 ? "" : absl::StrCat(f.count());
  for (const auto& [name, text, meant] :
       {std::tuple(".component", &f.component(), info->component),
        std::tuple(".duration", &f.duration(), info->duration),
        std::tuple(".claim", &f.claim(), info->claim),
        std::tuple(".nodes", &f.nodes(), info->nodes), std::tuple(".count", &count, info->count)}) {
    if (meant || text->empty()) continue;
    return Expected(key + name, *text, absl::StrCat("none with the action ", f.action()));
  }
  SimDuration at;
  RETURN_IF_ERROR(ReadDuration(key + ".at", f.at(), &at));
  RETURN_IF_ERROR(ReadDuration(key + ".duration", f.duration(), &out->duration));
  out->at = SimTime() + at;
  out->action = info->action;
  out->component = f.component();
  out->nodes = f.nodes();
  if (f.count() < 0 || f.count() > kMostFailures) {
    return Expected(key + ".count", count, absl::StrCat("1 to ", kMostFailures));
  }
  out->count = std::max<int64_t>(1, f.count());
  if (info->claim) {
    if (f.claim().empty()) return Expected(key + ".claim", "", "NAMESPACE/NAME");
    SplitObjectName(f.claim(), &out->ns, &out->claim);
  }
  if (info->component && f.component().empty()) {
    return Expected(
        key + ".component", "",
        out->of_plugin() ? "a driver's name"
        : absl::StartsWith(key, "front_end.dra.")
            ? "scheduler, claim-controller, garbage-collector, kubelet or a driver's "
              "name"
            : "scheduler, claim-controller, garbage-collector, kubelet or a driver that publishes");
  }
  return absl::OkStatus();
}

template <typename Given>
absl::Status ReadAll(const Given& given, absl::string_view front_end,
                     std::vector<PlaneFault>* faults) {
  for (int i = 0; i < given.faults_size(); ++i) {
    PlaneFault fault;
    RETURN_IF_ERROR(
        ReadFault(given.faults(i), absl::StrCat(front_end, ".faults[", i, "]"), &fault));
    faults->push_back(std::move(fault));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadFaults(const proto::Dra& given, std::vector<PlaneFault>* faults) {
  return ReadAll(given, "front_end.dra", faults);
}

absl::Status ReadFaults(const proto::StructuredDra& given, std::vector<PlaneFault>* faults) {
  return ReadAll(given, "front_end.structured", faults);
}

}  // namespace drasim
