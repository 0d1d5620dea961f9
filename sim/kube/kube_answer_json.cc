#include <algorithm>
#include <string>
#include <vector>

#include "model/text/json_writer.h"
#include "sim/kube/kube_case.h"

namespace drasim {
namespace {

using proto::kube::KubeAnswer;

template <typename List>
void WriteTexts(absl::string_view key, const List& texts, bool always, JsonWriter* json) {
  if (texts.empty() && !always) return;
  json->Key(key).BeginArray();
  for (const std::string& text : texts) json->String(text);
  json->EndArray();
}

void WriteText(absl::string_view key, const std::string& text, JsonWriter* json) {
  if (!text.empty()) json->Key(key).String(text);
}

template <typename List>
void WriteNumbers(absl::string_view key, const List& numbers, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const int64_t number : numbers) json->Int(number);
  json->EndArray();
}

void WriteGroup(const KubeAnswer::StatusGroup& group, JsonWriter* json) {
  json->BeginObject();
  json->Key("plugin").String(group.plugin());
  json->Key("code").String(group.code());
  WriteTexts("reasons", group.reasons(), /*always=*/true, json);
  WriteTexts("nodes", group.nodes(), /*always=*/true, json);
  json->EndObject();
}

template <typename List>
void WriteGroups(absl::string_view key, const List& groups, JsonWriter* json) {
  if (groups.empty()) return;
  json->Key(key).BeginArray();
  for (const KubeAnswer::StatusGroup& group : groups) WriteGroup(group, json);
  json->EndArray();
}

void WriteScores(const KubeAnswer::Attempt& attempt, JsonWriter* json) {
  if (attempt.scores().empty() && attempt.total().empty()) return;
  if (!attempt.scores().empty()) {
    json->Key("scores").BeginArray();
    for (const KubeAnswer::PluginScores& scores : attempt.scores()) {
      json->BeginObject();
      json->Key("plugin").String(scores.plugin());
      json->Key("weight").Int(scores.weight());
      WriteNumbers("raw", scores.raw(), json);
      WriteNumbers("weighted", scores.weighted(), json);
      json->EndObject();
    }
    json->EndArray();
  }
  WriteNumbers("total", attempt.total(), json);
}

void WritePreemption(const KubeAnswer::Preemption& preemption, JsonWriter* json) {
  json->Key("preemption").BeginObject();
  json->Key("eligible").Bool(preemption.eligible());
  WriteText("reason", preemption.reason(), json);
  WriteTexts("potential", preemption.potential(), /*always=*/true, json);
  json->Key("candidates").BeginArray();
  for (const KubeAnswer::Candidate& candidate : preemption.candidates()) {
    json->BeginObject();
    json->Key("node").String(candidate.node());
    WriteTexts("victims", candidate.victims(), /*always=*/true, json);
    json->Key("pdbViolations").Int(candidate.pdb_violations());
    json->EndObject();
  }
  json->EndArray();
  WriteGroups("rejected", preemption.rejected(), json);
  WriteTexts("best", preemption.best(), /*always=*/true, json);
  WriteText("chosen", preemption.chosen(), json);
  WriteTexts("victims", preemption.victims(), /*always=*/false, json);
  WriteTexts("clearedNominations", preemption.cleared_nominations(), /*always=*/false, json);
  json->EndObject();
}

void WriteAttempt(const KubeAnswer::Attempt& attempt, JsonWriter* json) {
  json->BeginObject();
  json->Key("pod").String(attempt.pod());
  json->Key("pass").Int(attempt.pass());
  json->Key("outcome").String(attempt.outcome());
  if (attempt.has_start()) json->Key("start").Int(attempt.start());
  if (attempt.has_next_start()) json->Key("nextStart").Int(attempt.next_start());
  if (attempt.via_nominated_node()) json->Key("viaNominatedNode").Bool(true);
  WriteTexts("feasible", attempt.feasible(), /*always=*/false, json);
  WriteGroups("infeasible", attempt.infeasible(), json);
  if (attempt.has_absent()) {
    json->Key("absent");
    WriteGroup(attempt.absent(), json);
  }
  WriteTexts("skippedFilter", attempt.skipped_filter(), /*always=*/false, json);
  WriteText("preFilterMessage", attempt.pre_filter_message(), json);
  WriteScores(attempt, json);
  WriteTexts("skippedScore", attempt.skipped_score(), /*always=*/false, json);
  WriteTexts("top", attempt.top(), /*always=*/false, json);
  WriteText("chosen", attempt.chosen(), json);
  WriteText("message", attempt.message(), json);
  WriteTexts("unschedulablePlugins", attempt.unschedulable_plugins(), /*always=*/false, json);
  if (attempt.has_post_filter()) {
    json->Key("postFilter").BeginObject();
    json->Key("code").String(attempt.post_filter().code());
    json->Key("nominated").String(attempt.post_filter().nominated());
    json->Key("mode").String(attempt.post_filter().mode());
    json->EndObject();
  }
  if (attempt.has_preemption()) WritePreemption(attempt.preemption(), json);
  WriteText("nominatedAfter", attempt.nominated_after(), json);
  json->EndObject();
}

void WriteFilterPlugins(const KubeAnswer& answer, JsonWriter* json) {
  if (answer.filter_plugins().empty()) return;
  // Sorted, because a protobuf map has no order.
  std::vector<std::string> names;
  for (const auto& entry : answer.filter_plugins()) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  json->Key("filterPlugins").BeginObject();
  for (const std::string& name : names) {
    json->Key(name).BeginArray();
    for (const auto& plugin : answer.filter_plugins().at(name).values()) {
      json->String(plugin.string_value());
    }
    json->EndArray();
  }
  json->EndObject();
}

}  // namespace

std::string KubeAnswerLine(const std::string& id, const KubeAnswer& answer) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject();
  json.Key("id").String(id);
  json.Key("answer").BeginObject();
  WriteText("configError", answer.config_error(), &json);
  WriteTexts("nodeOrder", answer.node_order(), /*always=*/false, &json);
  WriteFilterPlugins(answer, &json);
  json.Key("attempts").BeginArray();
  for (const KubeAnswer::Attempt& attempt : answer.attempts()) WriteAttempt(attempt, &json);
  json.EndArray();
  if (!answer.events().empty()) {
    json.Key("events").BeginArray();
    for (const KubeAnswer::EventAnswer& event : answer.events()) {
      json.BeginObject();
      json.Key("index").Int(event.index());
      if (event.skipped()) json.Key("skipped").Bool(true);
      WriteTexts("requeued", event.requeued(), /*always=*/true, &json);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
  json.EndObject();
  return json.text();
}

}  // namespace drasim
