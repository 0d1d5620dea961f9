#include "gui/view/scenario_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gui/view/compare_model.h"

namespace drasim::view {
namespace {

constexpr absl::string_view kSection = "workload:";
constexpr absl::string_view kJobs = "  jobs:";

}  // namespace

std::string ScenarioOutline(absl::string_view scenario_yaml) {
  if (scenario_yaml.size() <= kLongScenario) return std::string(scenario_yaml);
  std::string outline;
  bool in_workload = false;
  bool in_jobs = false;
  for (size_t begin = 0; begin < scenario_yaml.size();) {
    const size_t newline = scenario_yaml.find('\n', begin);
    const size_t end = newline == absl::string_view::npos ? scenario_yaml.size() : newline + 1;
    const absl::string_view line = scenario_yaml.substr(begin, end - begin);
    begin = end;
    if (line[0] != ' ' && line[0] != '\n') in_workload = absl::StartsWith(line, kSection);
    // Items are indented more than their key, or stand below it with a dash.
    const bool nested = absl::StartsWith(line, "   ") || absl::StartsWith(line, "  -");
    in_jobs = in_workload && (absl::StartsWith(line, kJobs) || (in_jobs && nested));
    if (!in_jobs) absl::StrAppend(&outline, line);
  }
  return outline;
}

bool IsOutsideOutline(absl::string_view outline, absl::string_view scenario_yaml,
                      absl::string_view key) {
  return outline.size() < scenario_yaml.size() && absl::StartsWith(key, "workload.jobs.");
}

std::string PolicyText(absl::string_view policy, absl::string_view front_end) {
  if (front_end.empty() || front_end == "direct") return std::string(policy);
  return absl::StrCat(front_end, ":", policy);
}

std::string PolicyText(absl::string_view scenario_yaml) {
  return PolicyText(ScenarioValue(scenario_yaml, "scheduler.policy"),
                    ScenarioValue(scenario_yaml, "front_end.kind"));
}

}  // namespace drasim::view
