#include "sim/app/scenario_flags.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "sim/scenario/comparison.h"
#include "sim/scenario/scheduler_spec.h"

namespace drasim {
namespace {

// Texts for --help that follow the registry; they live as long as the program.
absl::string_view PolicyNames() {
  static const auto* const text = [] {
    std::vector<std::string> names;
    for (const PolicyEntry& entry : BuiltinRegistry().policies()) names.push_back(entry.name);
    names.emplace_back(kKubeSchedulerPolicy);
    return new std::string(absl::StrJoin(names, ", "));
  }();
  return *text;
}

absl::string_view QueueChoices() {
  static const auto* const text = new std::string(
      absl::StrCat(absl::StrJoin(QueueNames(), ", "), " (in a replay; default: kubernetes)"));
  return *text;
}

absl::string_view ChooserNames() {
  static const auto* const text = new std::string(absl::StrCat(
      absl::StrJoin(BuiltinRegistry().allocator_names(), ", "), " (default: the policy's own)"));
  return *text;
}

// The text of the flag as a value of its key.
absl::StatusOr<std::string> FlagToKey(const FlagSpec& spec, const std::string& value) {
  if (!spec.on_off) return value;
  if (value == "on" || value == "true") return std::string("true");
  if (value == "off" || value == "false") return std::string("false");
  return absl::InvalidArgumentError(
      absl::StrCat("--", spec.name, ": found '", value, "', expected on or off"));
}

}  // namespace

const std::vector<FlagSpec>& ScenarioFlags() {
  static const auto* const flags = new std::vector<FlagSpec>{
      {"scenario", "", "FILE", "the scenario file; - is standard input"},
      {"trace", "workload.trace.format", "FORMAT",
       "format of the pod list: a format's name or a mapping file"},
      {"nodes", "cluster.path", "FILE", "the node list, .csv, or Node objects, .yaml; perhaps .gz"},
      {"snapshot", "cluster.manifests", "FILE",
       "a cluster as it stands: what kubectl get nodes,pods,... -A -o yaml prints, or a folder"},
      {"pods", "workload.trace.path", "FILE", "the pod list, .csv or .csv.gz"},
      {"policy", "scheduler.policy", "NAME", PolicyNames()},
      {"queue", "scheduler.queue", "NAME", QueueChoices()},
      {"device-chooser", "scheduler.device_chooser", "NAME", ChooserNames()},
      {"mode", "mode", "MODE", "use of time", "fill,replay"},
      {"order", "order", "ORDER", "arrival order and tie-breaks", "artifact,seeded,trace"},
      {"seed", "seed", "N", "of every random choice (default 42)"},
      {"tuning-ratio", "workload.tuning.ratio", "R",
       "inflate or thin the workload to R times the cluster's GPUs"},
      {"limit", "workload.limit", "N", "at most N jobs"},
      {"lenient", "workload.trace.lenient", "", "skip and count bad rows instead of stopping"},
      {"sort-window", "workload.trace.sort_window", "TIME",
       "keep so much of the trace in order while reading, such as 1h"},
      {"cache", "scheduler.cache", "on|off", "per-shape caches; never changes a decision", "on,off",
       true},
      {"set", "", "KEY=VALUE",
       "any scenario key, such as workload.generated.pods=1000; may be repeated"},
  };
  return *flags;
}

absl::StatusOr<GivenScenario> ScenarioFromFlags(const ParsedFlags& flags) {
  std::vector<std::string> files = flags.All("scenario");
  files.insert(files.end(), flags.positional().begin(), flags.positional().end());
  if (files.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one scenario file, found ", absl::StrJoin(files, ", ")));
  }
  GivenScenario given;
  if (!files.empty()) {
    ASSIGN_OR_RETURN(given, ReadGiven(files[0]));
  }
  for (const GivenFlag& flag : flags.given()) {
    if (flag.spec.key.empty()) continue;
    ASSIGN_OR_RETURN(const std::string text, FlagToKey(flag.spec, flag.value));
    RETURN_IF_ERROR(OverrideKey(flag.spec.key, text, absl::StrCat("--", flag.spec.name), &given));
  }
  for (const std::string& setting : flags.All("set")) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    if (setting.find('=') == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--set: found '", setting, "', expected KEY=VALUE"));
    }
    RETURN_IF_ERROR(OverrideKey(pair.first, pair.second, "--set", &given));
  }
  return given;
}

ContenderFlags ContenderFlagsOf(const ParsedFlags& flags) {
  ContenderFlags given;
  given.policies = flags.Get("policies");
  given.queues = flags.Get("queues");
  given.seeds = flags.Get("seeds");
  given.worlds = flags.Get("worlds");
  given.queue = flags.Get("queue");
  return given;
}

}  // namespace drasim
