#include "sim/explain/cluster_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/kube/rules.h"
#include "model/text/json_writer.h"
#include "sim/explain/device_story_text.h"
#include "sim/record/data_table.h"

namespace drasim {
namespace {

std::string LackText(const LackInGroup& lack, bool several) {
  const std::string wanted = ShortAmountText(lack.resource, lack.wanted, true);
  const std::string largest = ShortAmountText(lack.resource, lack.most_allocatable, false);
  if (lack.resource == "pods" && lack.most_allocatable == 0) {
    return absl::StrCat(lack.reason, several ? ": they have" : ": it has", " no pod slots at all");
  }
  if (lack.resource == "pods") {
    return absl::StrCat(lack.reason, ": all ", several ? "" : absl::StrCat(largest, " "),
                        "pod slots are taken");
  }
  std::string text = absl::StrCat(lack.reason, ": wants ", wanted, ", ");
  switch (lack.kind) {
    case NodeLack::kNone:
      absl::StrAppend(&text, several ? "they have none" : "it has none");
      break;
    case NodeLack::kTooSmall:
      absl::StrAppend(&text, several ? "the largest has " : "it has ", largest, " in all");
      break;
    case NodeLack::kFull:
      absl::StrAppend(&text, several ? "at most " : "",
                      ShortAmountText(lack.resource, lack.most_free, false), " free of ", largest);
  }
  return text;
}

std::string GroupText(const RejectedGroup& group) {
  if (!group.lacks.empty()) {
    std::vector<std::string> parts;
    for (const LackInGroup& lack : group.lacks) parts.push_back(LackText(lack, group.nodes > 1));
    return absl::StrJoin(parts, "; ");
  }
  const std::string reasons = absl::StrJoin(group.reasons, ", ");
  return group.detail.empty() ? reasons : absl::StrCat(reasons, ": ", group.detail);
}

// A title and lines below it; nothing without lines.
void AppendSection(absl::string_view title, absl::Span<const std::string> lines,
                   std::string* text) {
  if (lines.empty()) return;
  absl::StrAppend(text, "\n", title, ":\n");
  for (const std::string& line : lines) absl::StrAppend(text, "  ", line, "\n");
}

std::vector<std::string> HolderLines(const HolderList& list) {
  std::vector<std::string> lines = {
      absl::StrCat(list.subject, list.summary.empty() ? "" : ": ", list.summary)};
  size_t width = 0;
  for (const HolderList::Holder& holder : list.holders) {
    width = std::max(width, holder.amount.size());
  }
  for (const HolderList::Holder& holder : list.holders) {
    const std::string pad(width - holder.amount.size(), ' ');
    lines.push_back(absl::StrCat("  ", pad, holder.amount, width > 0 ? "  " : "", holder.name, " (",
                                 holder.state, ")"));
  }
  if (list.others > 0) {
    lines.push_back(absl::StrCat("  and ", list.others, list.others == 1 ? " other" : " others"));
  }
  return lines;
}

void WriteLack(const LackInGroup& lack, JsonWriter* json) {
  json->Key("resource").String(lack.resource);
  json->Key("wanted").String(ExactAmountText(lack.resource, lack.wanted));
  json->Key("free_max").String(ExactAmountText(lack.resource, lack.most_free));
  json->Key("allocatable_max").String(ExactAmountText(lack.resource, lack.most_allocatable));
}

void WriteGroup(const RejectedGroup& group, JsonWriter* json) {
  json->BeginObject();
  json->Key("reason").String(absl::StrJoin(group.reasons, ", "));
  json->Key("plugin").String(group.plugin);
  if (!group.detail.empty()) json->Key("detail").String(group.detail);
  if (!group.lacks.empty()) WriteLack(group.lacks.front(), json);
  if (group.lacks.size() > 1) {
    json->Key("also").BeginArray();
    for (size_t i = 1; i < group.lacks.size(); ++i) {
      json->BeginObject();
      WriteLack(group.lacks[i], json);
      json->EndObject();
    }
    json->EndArray();
  }
  json->Key("nodes").Uint(group.nodes);
  json->Key("patterns").Strings(group.patterns);
  json->Key("examples").Strings(group.examples);
  json->EndObject();
}

void WriteHolders(const HolderList& list, JsonWriter* json) {
  json->BeginObject();
  json->Key("of").String(list.subject);
  if (!list.summary.empty()) json->Key("summary").String(list.summary);
  json->Key("holders").BeginArray();
  for (const HolderList::Holder& holder : list.holders) {
    json->BeginObject();
    json->Key("name").String(holder.name);
    if (!holder.amount.empty()) json->Key("amount").String(holder.amount);
    json->Key("state").String(holder.state);
    json->EndObject();
  }
  json->EndArray();
  json->Key("others").Uint(list.others);
  json->EndObject();
}

}  // namespace

std::string NodesText(const RejectedGroup& group) {
  std::string text = absl::StrCat(group.nodes, group.nodes == 1 ? " node" : " nodes");
  std::string inside = absl::StrJoin(group.patterns, ", ");
  if (group.nodes > group.patterns.size()) {
    absl::StrAppend(&inside, inside.empty() ? "" : ", ", "e.g. ", group.examples.front());
  }
  return absl::StrCat(text, " (", inside, ")");
}

std::string ShortList(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= 1) return absl::StrJoin(names, "");
  const bool cut = names.size() > most;
  const size_t shown = cut ? most : names.size() - 1;
  const std::string head =
      absl::StrJoin(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", ");
  return absl::StrCat(head, " and ",
                      cut ? absl::StrCat(names.size() - most, " more") : names.back());
}

std::string ClusterExplanationText(const ClusterExplanation& explanation) {
  std::string text =
      absl::StrCat(explanation.pod, " (", explanation.phase, "): ", explanation.summary, ".\n");
  if (!explanation.message.empty()) absl::StrAppend(&text, explanation.message, "\n");

  size_t width = 0;
  for (const RejectedGroup& group : explanation.groups) {
    width = std::max(width, absl::StrCat(group.nodes).size());
  }
  std::vector<std::string> lines;
  for (const RejectedGroup& group : explanation.groups) {
    const std::string pad(width - absl::StrCat(group.nodes).size(), ' ');
    lines.push_back(absl::StrCat(pad, NodesText(group), ": ", GroupText(group)));
  }
  AppendSection("Nodes that do not take it", lines, &text);

  lines.clear();
  if (explanation.devices.has_value()) lines = DeviceRequestLines(*explanation.devices);
  AppendSection("Devices for its claims", lines, &text);

  lines.clear();
  for (const HolderList& list : explanation.holders) {
    for (std::string& line : HolderLines(list)) lines.push_back(std::move(line));
  }
  AppendSection("Who holds what it wants", lines, &text);

  lines.clear();
  for (const AwaitedAct& act : explanation.waits_for) {
    lines.push_back(absl::StrCat(act.who, " ", act.what));
  }
  AppendSection("It waits for", lines, &text);
  AppendSection("What would help", explanation.helps, &text);
  AppendSection("Notes", explanation.notes, &text);
  if (!explanation.not_looked_at.empty()) {
    absl::StrAppend(&text, "\nNot looked at: ", absl::StrJoin(explanation.not_looked_at, "; "),
                    ".\n");
  }
  return text;
}

std::string ClusterExplanationJson(const ClusterExplanation& explanation) {
  JsonWriter json;
  json.BeginDocument("explain-cluster");
  json.Key("pod").String(explanation.pod);
  json.Key("phase").String(explanation.phase);
  json.Key("node").String(explanation.node);
  json.Key("verdict").String(explanation.verdict);
  json.Key("summary").String(explanation.summary);
  json.Key("message").String(explanation.message);
  json.Key("groups").BeginArray();
  for (const RejectedGroup& group : explanation.groups) WriteGroup(group, &json);
  json.EndArray();
  if (explanation.devices.has_value()) {
    json.Key("devices");
    WriteDeviceStory(*explanation.devices, &json);
  }
  json.Key("waits_for").BeginArray();
  for (const AwaitedAct& act : explanation.waits_for) {
    json.BeginObject();
    json.Key("who").String(act.who);
    json.Key("what").String(act.what);
    json.EndObject();
  }
  json.EndArray();
  json.Key("holders").BeginArray();
  for (const HolderList& list : explanation.holders) WriteHolders(list, &json);
  json.EndArray();
  json.Key("would_help").Strings(explanation.helps);
  json.Key("notes").Strings(explanation.notes);
  json.Key("not_looked_at").Strings(explanation.not_looked_at);
  json.EndObject();
  return json.text();
}

std::string ClusterExplanationCsv(const ClusterExplanation& explanation) {
  DataTable table({"pod", "verdict", "plugin", "reasons", "detail", "nodes", "examples"});
  for (const RejectedGroup& group : explanation.groups) {
    table.AddRow().Text(explanation.pod).Text(explanation.verdict).Text(group.plugin);
    table.Text(absl::StrJoin(group.reasons, "; ")).Text(group.detail);
    table.Int(static_cast<int64_t>(group.nodes)).Text(absl::StrJoin(group.examples, ";"));
  }
  if (explanation.groups.empty()) {
    table.AddRow().Text(explanation.pod).Text(explanation.verdict);
    table.Empty().Empty().Empty().Empty().Empty();
  }
  return table.Csv();
}

}  // namespace drasim
