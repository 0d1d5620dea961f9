#include "sim/explain/parting.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/number_text.h"

namespace drasim {
namespace {

absl::StatusOr<DecisionExplanation> DecisionAt(const PartingRecord& where) {
  if (where.record == 0) return absl::NotFoundError("the ledger ends here");
  if (where.pod.empty()) return absl::NotFoundError("the record concerns no pod");
  DecisionRequest request;
  request.path = where.path;
  request.pod = where.pod;
  request.last_record = where.record;
  absl::StatusOr<DecisionExplanation> decision = ExplainDecision(request);
  if (decision.ok() && decision->record != where.record) {
    return absl::NotFoundError("the record is no attempt to place a pod");
  }
  return decision;
}

void WriteText(absl::string_view key, absl::string_view text, JsonWriter* j) {
  j->Key(key);
  if (text.empty()) {
    j->Null();
  } else {
    j->String(text);
  }
}

void WriteNode(const DecisionNode& node, JsonWriter* j) {
  j->BeginObject();
  j->Key("node").String(node.node);
  j->Key("score");
  if (node.candidate && !node.scores.empty()) {
    j->Int(node.total);
  } else {
    j->Null();
  }
  j->Key("scores").BeginArray();
  for (const int64_t score : node.scores) j->Int(score);
  j->EndArray();
  WriteText("verdict", node.verdict, j);
  j->EndObject();
}

// `other`: the node that the other run chose; empty if none.
void WriteSide(const PartingDecision& side, absl::string_view other, JsonWriter* j) {
  const bool known = side.decision.ok();
  const DecisionExplanation decision = known ? *side.decision : DecisionExplanation();
  j->BeginObject();
  j->Key("ledger").String(side.where.path);
  WriteText("pod", side.where.pod, j);
  j->Key("placed");
  if (known) {
    j->Bool(decision.placed);
  } else {
    j->Null();
  }
  WriteText("node", decision.node, j);
  j->Key("time_seconds");
  if (known) {
    j->Double(RoundDecimals(decision.time.seconds(), 6));
  } else {
    j->Null();
  }
  j->Key("plugins").Strings(decision.plugins);
  j->Key("candidates");
  if (known) {
    j->Uint(decision.candidates);
  } else {
    j->Null();
  }
  j->Key("nodes").BeginArray();
  for (size_t n = 0; n < decision.nodes.size(); ++n) {
    const DecisionNode& node = decision.nodes[n];
    const bool among_best = node.candidate && n < kPartingCandidates;
    if (among_best || node.chosen || node.node == other) WriteNode(node, j);
  }
  j->EndArray();
  WriteText("unknown", known ? "" : side.decision.status().message(), j);
  j->EndObject();
}

}  // namespace

std::array<PartingDecision, 2> ExplainParting(const std::array<PartingRecord, 2>& records) {
  return {PartingDecision{records[0], DecisionAt(records[0])},
          PartingDecision{records[1], DecisionAt(records[1])}};
}

void WriteParting(const std::array<PartingDecision, 2>& decisions, JsonWriter* json) {
  const auto chosen = [](const PartingDecision& side) -> absl::string_view {
    return side.decision.ok() ? absl::string_view(side.decision->node) : absl::string_view();
  };
  json->BeginObject();
  const bool same_pod = decisions[0].where.pod == decisions[1].where.pod;
  WriteText("pod", same_pod ? decisions[0].where.pod : "", json);
  json->Key("sides").BeginArray();
  WriteSide(decisions[0], chosen(decisions[1]), json);
  WriteSide(decisions[1], chosen(decisions[0]), json);
  json->EndArray().EndObject();
}

}  // namespace drasim
