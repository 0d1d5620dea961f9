#include "sim/kube/case_compare.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/text/text_table.h"

namespace drasim {
namespace {

using proto::kube::KubeAnswer;

template <typename List>
std::string Joined(const List& list) {
  return absl::StrJoin(list, " ");
}

// Groups are sets: sorted by what they say.
template <typename List>
std::string GroupsText(const List& groups) {
  std::vector<std::string> texts;
  for (const KubeAnswer::StatusGroup& group : groups) {
    texts.push_back(absl::StrCat(group.plugin(), " ", group.code(), " [",
                                 absl::StrJoin(group.reasons(), "; "),
                                 "]: ", Joined(group.nodes())));
  }
  std::sort(texts.begin(), texts.end());
  return absl::StrJoin(texts, " | ");
}

std::string StatusText(const KubeAnswer::Attempt& attempt) {
  std::string text =
      absl::StrCat(GroupsText(attempt.infeasible()), " skipped: ", Joined(attempt.skipped_filter()),
                   " ", attempt.pre_filter_message());
  // Code and reasons count only without a feasible node: otherwise the nodes may merely not have
  // been visited.
  if (attempt.has_absent() && attempt.feasible().empty()) {
    absl::StrAppend(&text, " absent: ", attempt.absent().plugin(), " ", attempt.absent().code(),
                    " [", absl::StrJoin(attempt.absent().reasons(), "; "), "]");
  }
  if (attempt.has_absent()) absl::StrAppend(&text, " absent: ", Joined(attempt.absent().nodes()));
  return text;
}

std::string ScoresText(const KubeAnswer::Attempt& attempt, bool weighted) {
  std::string text;
  for (const KubeAnswer::PluginScores& scores : attempt.scores()) {
    absl::StrAppend(&text, scores.plugin(), "*", scores.weight(), ": ",
                    Joined(weighted ? scores.weighted() : scores.raw()), " | ");
  }
  return absl::StrCat(text, weighted ? Joined(attempt.total()) : Joined(attempt.skipped_score()));
}

std::string PreemptionText(const KubeAnswer::Attempt& attempt) {
  const KubeAnswer::Preemption& preemption = attempt.preemption();
  std::string text = absl::StrCat(
      attempt.has_post_filter() ? "ran" : "", " ", attempt.post_filter().code(), " ",
      attempt.post_filter().mode(), " to '", attempt.post_filter().nominated(), "', now '",
      attempt.nominated_after(), "'; ", preemption.eligible() ? "eligible " : "",
      preemption.reason(), " potential: ", Joined(preemption.potential()));
  for (const KubeAnswer::Candidate& candidate : preemption.candidates()) {
    absl::StrAppend(&text, " | ", candidate.node(), ": ", Joined(candidate.victims()), " (",
                    candidate.pdb_violations(), ")");
  }
  absl::StrAppend(&text, " rejected: ", GroupsText(preemption.rejected()),
                  " best: ", Joined(preemption.best()), " chosen: ", preemption.chosen(),
                  " victims: ", Joined(preemption.victims()),
                  " cleared: ", Joined(preemption.cleared_nominations()));
  return text;
}

std::string EventText(const KubeAnswer::EventAnswer& event) {
  return absl::StrCat(event.skipped() ? "skipped " : "", Joined(event.requeued()));
}

}  // namespace

absl::string_view CaseFieldName(CaseField field) {
  constexpr absl::string_view kNames[] = {"refused",    "nodeOrder", "outcome",  "feasible",
                                          "infeasible", "raw",       "weighted", "top",
                                          "preemption", "nextStart", "message",  "events"};
  return kNames[static_cast<size_t>(field)];
}

void CaseComparison::Note(CaseField field, const std::string& place, const std::string& ours,
                          const std::string& theirs) {
  Count& count = (*family_)[static_cast<size_t>(field)];
  ++count.compared;
  if (ours == theirs) {
    ++count.equal;
    return;
  }
  equal_ = false;
  std::string& first = first_[static_cast<size_t>(field)];
  if (first.empty())
    first = absl::StrCat(place, "\n    is:       ", ours, "\n    expected: ", theirs);
}

void CaseComparison::CompareAttempt(const std::string& place, const KubeAnswer::Attempt& ours,
                                    const KubeAnswer::Attempt& theirs) {
  Note(CaseField::kOutcome, place,
       absl::StrCat(ours.pod(), " ", ours.outcome(), " ", ours.chosen()),
       absl::StrCat(theirs.pod(), " ", theirs.outcome(), " ", theirs.chosen()));
  Note(CaseField::kFeasible, place, Joined(ours.feasible()), Joined(theirs.feasible()));
  Note(CaseField::kInfeasible, place, StatusText(ours), StatusText(theirs));
  if (!ours.scores().empty() || !theirs.scores().empty() || !ours.total().empty() ||
      !theirs.total().empty()) {
    Note(CaseField::kRaw, place, ScoresText(ours, false), ScoresText(theirs, false));
    Note(CaseField::kWeighted, place, ScoresText(ours, true), ScoresText(theirs, true));
  }
  Note(CaseField::kTop, place, Joined(ours.top()), Joined(theirs.top()));
  if (ours.has_post_filter() || theirs.has_post_filter() || ours.has_preemption() ||
      theirs.has_preemption()) {
    Note(CaseField::kPreemption, place, PreemptionText(ours), PreemptionText(theirs));
  }
  const auto start = [](const KubeAnswer::Attempt& attempt) {
    return attempt.has_start() ? absl::StrCat(attempt.start(), " to ", attempt.next_start(),
                                              attempt.via_nominated_node() ? " nominated" : "")
                               : std::string("none");
  };
  Note(CaseField::kNextStart, place, start(ours), start(theirs));
  Note(CaseField::kMessage, place,
       absl::StrCat(ours.message(), " ", Joined(ours.unschedulable_plugins())),
       absl::StrCat(theirs.message(), " ", Joined(theirs.unschedulable_plugins())));
}

void CaseComparison::Add(const std::string& id, const std::string& family, const KubeAnswer& answer,
                         const KubeAnswer& stored) {
  family_ = &counts_[family];
  equal_ = true;
  const bool refused = !answer.config_error().empty();
  const bool expected = !stored.config_error().empty();
  if (refused || expected) {
    Note(CaseField::kRefused, id, refused ? absl::StrCat("refused") : "accepted",
         expected ? absl::StrCat("refused") : "accepted");
  }
  if (!refused && !expected) {
    Note(CaseField::kNodeOrder, id, Joined(answer.node_order()), Joined(stored.node_order()));
    const int attempts = std::max(answer.attempts_size(), stored.attempts_size());
    for (int i = 0; i < attempts; ++i) {
      const std::string place = absl::StrCat(id, ", attempt ", i + 1);
      if (i < answer.attempts_size() && i < stored.attempts_size()) {
        const KubeAnswer::Attempt& theirs = stored.attempts(i);
        CompareAttempt(absl::StrCat(place, ", pod ", theirs.pod()), answer.attempts(i), theirs);
        continue;
      }
      const bool ours = i < answer.attempts_size();
      const std::string& pod = ours ? answer.attempts(i).pod() : stored.attempts(i).pod();
      Note(CaseField::kOutcome, place, ours ? pod : "no attempt", ours ? "no attempt" : pod);
    }
    const int events = std::max(answer.events_size(), stored.events_size());
    for (int i = 0; i < events; ++i) {
      Note(CaseField::kEvents, absl::StrCat(id, ", event ", i),
           i < answer.events_size() ? EventText(answer.events(i)) : "none",
           i < stored.events_size() ? EventText(stored.events(i)) : "none");
    }
  }
  ++cases_;
  if (equal_) return;
  ++unequal_cases_;
  absl::StrAppend(&unequal_ids_, unequal_ids_.empty() ? "" : " ", id);
}

std::string CaseComparison::Text() const {
  std::vector<std::string> head = {"family"};
  for (size_t field = 0; field < kCaseFields; ++field) {
    head.emplace_back(CaseFieldName(static_cast<CaseField>(field)));
  }
  TextTable table(head);
  std::array<Count, kCaseFields> sum;
  const auto add_row = [&table](const std::string& name,
                                const std::array<Count, kCaseFields>& counts) {
    std::vector<std::string> row = {name};
    for (const Count& count : counts) {
      row.push_back(count.compared == 0 ? "" : absl::StrCat(count.equal, "/", count.compared));
    }
    table.AddRow(row);
  };
  for (const auto& [family, counts] : counts_) {
    add_row(family, counts);
    for (size_t field = 0; field < kCaseFields; ++field) {
      sum[field].equal += counts[field].equal;
      sum[field].compared += counts[field].compared;
    }
  }
  add_row("all", sum);
  std::string text = table.Render(/*ansi=*/false);
  for (size_t field = 0; field < kCaseFields; ++field) {
    if (first_[field].empty()) continue;
    absl::StrAppend(&text, "first difference in ", CaseFieldName(static_cast<CaseField>(field)),
                    ": ", first_[field], "\n");
  }
  absl::StrAppend(&text, cases_ - unequal_cases_, " of ", cases_, " cases are equal\n");
  return text;
}

}  // namespace drasim
