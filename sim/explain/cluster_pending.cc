#include "sim/explain/cluster_pending.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/text/json_writer.h"

namespace drasim {
namespace {

constexpr size_t kExamplesOfGroup = 3;

std::vector<std::string> WaitsOf(const ClusterExplanation& explanation) {
  std::vector<std::string> waits;
  for (const AwaitedAct& act : explanation.waits_for) {
    waits.push_back(absl::StrCat(act.who, " ", act.what));
  }
  return waits;
}

// The answer that pods of a group share. Which nodes take a pod does not matter.
std::string AnswerOf(const ClusterExplanation& explanation) {
  if (!explanation.message.empty()) {
    return absl::StrCat(explanation.verdict, "\n", explanation.message);
  }
  return absl::StrCat(explanation.verdict, "\n\n", absl::StrJoin(WaitsOf(explanation), "\n"));
}

// A pod whose answer depends on more than its kind (ClusterRules::KindOf).
bool IsSpecial(const DumpPod& pod) {
  return !pod.spec().resource_claims().empty() || !pod.status().nominated_node_name().empty();
}

// The facts that determine the answer about a pod that is not special.
std::string GistOf(const DumpPod& pod, ClusterRules* rules) {
  if (!pod.spec().scheduling_gates().empty()) {
    std::string gist = "gates";
    for (const auto& gate : pod.spec().scheduling_gates())
      absl::StrAppend(&gist, "\n", gate.name());
    return gist;
  }
  const auto& volumes = pod.spec().volumes();
  const bool undecided =
      !rules->judges_volumes() && std::any_of(volumes.begin(), volumes.end(), [](const auto& one) {
        return one.has_persistent_volume_claim() || one.has_ephemeral();
      });
  return absl::StrCat(undecided ? "volumes\n" : "plain\n", rules->Message(pod));
}

// The words about a group with several pods: those about single nodes are its first pod's.
std::string SummaryOf(const PendingGroup& group) {
  if (group.pods == 1 || group.first.verdict != "schedulable") return group.first.summary;
  return "some nodes would take each of them now";
}

std::string GroupText(const PendingGroup& group) {
  std::string text = absl::StrCat(
      group.pods, group.pods == 1 ? " pod (" : " pods (", absl::StrJoin(group.examples, ", "),
      group.pods > group.examples.size()
          ? absl::StrCat(" and ", group.pods - group.examples.size(), " more")
          : std::string(),
      "): ", SummaryOf(group), ".\n");
  if (!group.first.message.empty()) absl::StrAppend(&text, "  ", group.first.message, "\n");
  for (const std::string& wait : WaitsOf(group.first)) {
    absl::StrAppend(&text, "  waits for ", wait, "\n");
  }
  if (!group.first.helps.empty()) {
    absl::StrAppend(&text, "  ", group.pods > 1 ? absl::StrCat("for ", group.first.pod, ": ") : "",
                    group.first.helps.front(), "\n");
  }
  return text;
}

std::string TextOf(const PendingReport& report) {
  std::string text = absl::StrCat(report.pending, " of ", report.pods, " pods are pending");
  if (report.pending == 0) return absl::StrCat(text, ".\n");
  absl::StrAppend(&text, ", with ", report.groups.size(),
                  report.groups.size() == 1 ? " answer" : " different answers",
                  ", each for itself as the cluster stands.\n");
  for (const PendingGroup& group : report.groups) {
    absl::StrAppend(&text, "\n", GroupText(group));
  }
  const std::vector<std::string>& left_out = report.groups.front().first.not_looked_at;
  if (!left_out.empty()) {
    absl::StrAppend(&text, "\nNot looked at: ", absl::StrJoin(left_out, "; "), ".\n");
  }
  return text;
}

std::string JsonOf(const PendingReport& report) {
  JsonWriter json;
  json.BeginDocument("explain-cluster-pending");
  json.Key("pods").Uint(report.pods);
  json.Key("pending").Uint(report.pending);
  json.Key("groups").BeginArray();
  for (const PendingGroup& group : report.groups) {
    json.BeginObject();
    json.Key("verdict").String(group.first.verdict);
    json.Key("summary").String(SummaryOf(group));
    json.Key("message").String(group.first.message);
    json.Key("pods").Uint(group.pods);
    json.Key("examples").Strings(group.examples);
    json.Key("waits_for").Strings(WaitsOf(group.first));
    json.Key("would_help").Strings(group.first.helps);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.text();
}

std::string CsvOf(const PendingReport& report) {
  DataTable table({"verdict", "pods", "examples", "message", "would_help"});
  for (const PendingGroup& group : report.groups) {
    table.AddRow().Text(group.first.verdict).Int(static_cast<int64_t>(group.pods));
    table.Text(absl::StrJoin(group.examples, ";")).Text(group.first.message);
    table.Text(absl::StrJoin(group.first.helps, "; "));
  }
  return table.Csv();
}

}  // namespace

PendingReport GroupPending(const ClusterDump& dump, ClusterRules* rules,
                           absl::FunctionRef<ClusterExplanation(const DumpPod&)> explain) {
  PendingReport report;
  report.pods = dump.pods().size();
  std::map<std::string, size_t> by_answer;
  std::map<uint64_t, size_t> by_kind;
  std::map<std::string, size_t> by_gist;
  for (const DumpPod& pod : dump.pods()) {
    if (pod.is_finished() || pod.is_deleting() || !pod.spec().node_name().empty()) continue;
    ++report.pending;
    const bool special = IsSpecial(pod);
    size_t place = report.groups.size();
    const auto find = [&place](const auto& known, const auto& key) {
      const auto found = known.find(key);
      if (found != known.end()) place = found->second;
      return found != known.end();
    };
    // From the cheapest look to the dearest.
    const uint64_t kind = special ? 0 : rules->KindOf(pod);
    if (special || !find(by_kind, kind)) {
      const std::string gist = special ? std::string() : GistOf(pod, rules);
      if (special || !find(by_gist, gist)) {
        ClusterExplanation first = explain(pod);
        const std::string answer = AnswerOf(first);
        if (!find(by_answer, answer)) {
          by_answer[answer] = place;
          report.groups.push_back({std::move(first), {}, 0});
        }
        if (!special) by_gist[gist] = place;
      }
      if (!special) by_kind[kind] = place;
    }
    PendingGroup& group = report.groups[place];
    ++group.pods;
    if (group.examples.size() < kExamplesOfGroup) group.examples.push_back(pod.key);
  }
  std::stable_sort(report.groups.begin(), report.groups.end(),
                   [](const PendingGroup& a, const PendingGroup& b) { return a.pods > b.pods; });
  return report;
}

std::string PendingText(const PendingReport& report, OutputFormat format) {
  return format == OutputFormat::kJson  ? JsonOf(report)
         : format == OutputFormat::kCsv ? CsvOf(report)
                                        : TextOf(report);
}

}  // namespace drasim
