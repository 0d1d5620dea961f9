#include "sim/explain/decision.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "sim/core/scheduling_cycle.h"
#include "sim/explain/second_run.h"
#include "sim/record/ledger_reader.h"

namespace drasim {
namespace {

constexpr uint64_t kRecordsPerReport = 1024;
// Reading a record costs far less than simulating it again.
constexpr double kShareOfReading = 0.2;

absl::Status Cancelled() { return absl::CancelledError("the question was withdrawn"); }

bool IsStopped(const DecisionRequest& request) {
  return request.stop != nullptr && request.stop->load(std::memory_order_relaxed);
}

void Report(const DecisionRequest& request, double share) {
  if (request.on_progress) request.on_progress(share);
}

// The attempt as the ledger has it.
struct Attempt {
  PodId pod;
  uint64_t record = 0;  // its number, from 1
  Record what;
};

absl::StatusOr<Attempt> FindAttempt(const DecisionRequest& request, LedgerReader* ledger) {
  ASSIGN_OR_RETURN(const LedgerIndex index, ledger->ReadIndex());
  const bool counts_records = index.end == SimTime();
  const ClusterState& cluster = ledger->cluster();
  Attempt found;
  bool reserved = false;  // Bind is under way, and the record of its end is no new attempt
  while (true) {
    Record record;
    ASSIGN_OR_RETURN(const bool more, ledger->Next(&record));
    if (!more) break;
    const uint64_t number = ledger->records();
    if (number % kRecordsPerReport == 0) {
      if (IsStopped(request)) return Cancelled();
      Report(request, kShareOfReading * static_cast<double>(number) /
                          static_cast<double>(std::max(index.records, number)));
    }
    const SimTime time = counts_records ? SimTime(static_cast<int64_t>(number)) : record.time;
    if (request.at.has_value() && time > *request.at) break;
    if (request.last_record > 0 && number > request.last_record) break;
    if (record.kind == RecordKind::kPodArrived && !found.pod.valid() &&
        cluster.pod_name(record.pod) == request.pod) {
      found.pod = record.pod;
    }
    if (!found.pod.valid() || record.pod != found.pod) continue;
    const bool placed = record.kind == RecordKind::kPodReserved ||
                        (record.kind == RecordKind::kPodBound && !reserved);
    if (placed || record.kind == RecordKind::kAttemptFailed) {
      found.record = number;
      found.what = record;
    }
    reserved = record.kind == RecordKind::kPodReserved;
  }
  if (!found.pod.valid()) {
    return absl::NotFoundError(absl::StrCat(ledger->path(), ": no pod '", ShownText(request.pod),
                                            "' has arrived by then"));
  }
  if (found.record == 0) {
    return absl::NotFoundError(absl::StrCat(ledger->path(), ": pod '", ShownText(request.pod),
                                            "' has not been tried by then"));
  }
  return found;
}

std::string WeightText(const Profile::ScoreEntry& entry, bool alone) {
  return absl::StrCat(entry.plugin->name(),
                      alone || entry.weight == 1 ? "" : absl::StrCat(" x", entry.weight));
}

// Follows the second run, and explains its record number `attempt.record`.
class DecisionSink : public RecordSink {
 public:
  DecisionSink(const DecisionRequest* request, const Attempt* attempt)
      : request_(request), attempt_(attempt) {}

  void Follow(Simulation* sim) {
    sim_ = sim;
    trace_ = {};
    trace_.pod = attempt_->pod;
    sim->AddSink(this);
    sim->set_trace(&trace_);
    sim->set_stop(&stop_);
  }
  void Begin(uint64_t records) { records_ = first_ = records; }

  void OnRecord(const Record& record, const ClusterState& cluster) override {
    if (++records_ == attempt_->record) {
      stop_ = true;
      // Shapes, summaries and devices have the same numbers in the ledger and here.
      found_ = record == attempt_->what && cluster.pod_name(record.pod) == request_->pod;
      if (found_) Explain(record, cluster);
    } else if (record.pod == attempt_->pod) {
      trace_ = {};  // of an earlier attempt
      trace_.pod = attempt_->pod;
    }
    if (records_ % kRecordsPerReport != 0) return;
    if (IsStopped(*request_)) stop_ = true;
    const auto done = static_cast<double>(records_ - first_);
    const double all = std::max(done, static_cast<double>(attempt_->record - first_));
    Report(*request_, kShareOfReading + (1 - kShareOfReading) * done / all);
  }

  bool passed() const { return records_ >= attempt_->record; }
  bool found() const { return found_; }
  DecisionExplanation Take() { return std::move(out_); }

 private:
  void Explain(const Record& record, const ClusterState& cluster) {
    out_.time = record.time;
    out_.record = attempt_->record;
    out_.pod = request_->pod;
    out_.placed = record.kind != RecordKind::kAttemptFailed;
    Profiles profiles = sim_->profiles();
    const size_t profile = profiles.IndexOf(cluster.pod_shape_id(record.pod)).value_or(0);
    const std::vector<Profile::ScoreEntry>& entries = profiles.at(profile).scores();
    for (const Profile::ScoreEntry& entry : entries) {
      out_.plugins.push_back(WeightText(entry, entries.size() == 1));
    }
    const AttemptExplainer explainer(&cluster, &sim_->jobs(), &sim_->summaries(), profiles,
                                     ClaimHooksOf(*sim_));
    out_.claims = explainer.ClaimsOf(record.pod);
    if (out_.placed) {
      out_.node = cluster.node_spec(record.node).name;
      if (trace_.chosen != record.node) trace_ = {};  // decided without the cycle
      AddNodes(cluster, trace_.verdicts);
      return;
    }
    out_.why = explainer.OfFailure(record.pod, SummaryId(record.detail), record.time);
    if (!trace_.verdicts.empty()) return AddNodes(cluster, trace_.verdicts);
    // KubeCycle keeps no verdicts by node.
    if (!FiltersRefused(record) || sim_->kube_cycle() != nullptr) return;
    // An attempt that must fail as the last one did, because no node has changed since, is not
    // decided again. The cycle still has the verdicts.
    const ShapeId shape = cluster.pod_shape_id(record.pod);
    std::vector<ReasonIndex> verdicts;
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      verdicts.push_back(sim_->cycle().verdict(shape, NodeId(n)));
    }
    AddNodes(cluster, verdicts);
  }

  // Other plugins refuse the pod ahead of any look at nodes.
  bool FiltersRefused(const Record& record) const {
    const VerdictSummaryTable::Row& row = sim_->summaries().row(SummaryId(record.detail));
    const std::vector<Profile::FilterEntry>& filters = sim_->profile().filters();
    return std::any_of(row.rejected.begin(), row.rejected.end(), [&filters](const auto& rejected) {
      return std::any_of(filters.begin(), filters.end(),
                         [&rejected](const auto& filter) { return filter.gives(rejected.first); });
    });
  }

  void AddNodes(const ClusterState& cluster, const std::vector<ReasonIndex>& verdicts) {
    for (size_t n = 0; n < verdicts.size(); ++n) {
      DecisionNode node;
      node.node = cluster.node_spec(NodeId(n)).name;
      if (verdicts[n] == kNotThere) {
        node.verdict = "not part of the cluster";
      } else if (verdicts[n] != kFits) {
        node.verdict = sim_->profile().reasons()[verdicts[n] - size_t{1}];
      } else {
        node.verdict = "kept out by the pod's claims";
      }
      out_.nodes.push_back(std::move(node));
    }
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      DecisionNode& node = out_.nodes[trace_.nodes[i].value()];
      node.candidate = true;
      node.chosen = trace_.nodes[i] == trace_.chosen;
      node.verdict.clear();
      for (const std::vector<int64_t>& scores : trace_.scores) {
        node.scores.push_back(scores[i]);
        node.total += scores[i];
      }
    }
    out_.candidates = trace_.nodes.size();
    std::vector<size_t> order(out_.nodes.size());
    for (size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      const DecisionNode& left = out_.nodes[a];
      const DecisionNode& right = out_.nodes[b];
      if (left.candidate != right.candidate) return left.candidate;
      if (!left.candidate) return false;
      if (left.total != right.total) return left.total > right.total;
      return sim_->ranks()[a] < sim_->ranks()[b];
    });
    std::vector<DecisionNode> sorted;
    for (const size_t n : order) sorted.push_back(std::move(out_.nodes[n]));
    out_.nodes = std::move(sorted);
  }

  const DecisionRequest* request_;
  const Attempt* attempt_;
  const Simulation* sim_ = nullptr;
  SchedulingCycle::Trace trace_;
  std::atomic<bool> stop_{false};
  uint64_t first_ = 0;
  uint64_t records_ = 0;
  bool found_ = false;
  DecisionExplanation out_;
};

}  // namespace

absl::StatusOr<DecisionExplanation> ExplainDecision(const DecisionRequest& request) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> ledger, LedgerReader::Open(request.path));
  ASSIGN_OR_RETURN(const RunSpec spec, ScenarioOfLedger(*ledger));
  ASSIGN_OR_RETURN(const Attempt attempt, FindAttempt(request, ledger.get()));
  DecisionSink sink(&request, &attempt);
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(const SecondRun run,
                   StartSecondRun(
                       spec, ledger.get(), attempt.record - 1,
                       [&sink](Simulation* sim) { sink.Follow(sim); }, &warnings));
  sink.Begin(run.records);
  const absl::Status ran = run.sim->Run();
  if (!sink.passed() && IsStopped(request)) return Cancelled();
  if (!ran.ok() && !absl::IsCancelled(ran)) return ran;
  if (!sink.found()) {
    return absl::FailedPreconditionError(
        absl::StrCat(ledger->path(),
                     ": simulated again, the run takes another course; was it made by another "
                     "build of drasim?"));
  }
  DecisionExplanation decision = sink.Take();
  decision.warnings = std::move(warnings);
  return decision;
}

}  // namespace drasim
