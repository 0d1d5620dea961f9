#include "sim/compare/divergence.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/number_text.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "sim/run/simulation.h"

namespace drasim {
namespace {

// Events of one run between two looks at the other's clock.
constexpr uint64_t kEventsAtOnce = 1024;
constexpr size_t kCandidates = 3;

// A pod's decisions, kept from the first pass.
struct PodVerdict {
  enum class First : uint8_t { kNone, kBound, kRejected };
  SimTime first_at;  // meaningful unless kNone
  SimTime bound_at;  // meaningful when `node` is valid
  NodeId node;       // the first that took it for good
  First first = First::kNone;
};

bool IsTurnedAway(EvictionCause cause) { return cause == EvictionCause::kTurnedAway; }

// Whether the attempt said that there was no room.
bool SaysNoRoom(const VerdictSummaryTable& summaries, SummaryId why) {
  const auto& rejected = summaries.row(why).rejected;
  return std::any_of(rejected.begin(), rejected.end(), [&](const auto& reason_and_nodes) {
    return IsVerdict(summaries.kind(reason_and_nodes.first));
  });
}

// Keeps each pod's first verdict. A gang's "no room" is noted at its first pod, whichever pod the
// record names.
class VerdictLog : public RecordSink {
 public:
  explicit VerdictLog(const Simulation* sim) : sim_(sim) {}

  void OnRecord(const Record& record, const ClusterState&) override {
    if (!record.pod.valid()) return;
    if (rows_.size() <= record.pod.value()) rows_.resize(record.pod.value() + size_t{1});
    PodVerdict& row = rows_[record.pod.value()];
    switch (record.kind) {
      case RecordKind::kAttemptFailed:
        if (SaysNoRoom(sim_->summaries(), SummaryId(record.detail))) Reject(record);
        break;
      case RecordKind::kPodBound:
        if (row.node.valid()) break;
        row.node = record.node;
        row.bound_at = record.time;
        if (row.first == PodVerdict::First::kNone) {
          row.first = PodVerdict::First::kBound;
          row.first_at = record.time;
        }
        break;
      case RecordKind::kPodRejected:
        TakeBack(record.time, &row);
        Reject(record);
        break;
      case RecordKind::kPodEvicted:
      case RecordKind::kPodFailed:
        if (IsTurnedAway(static_cast<EvictionCause>(record.detail))) TakeBack(record.time, &row);
        break;
      default:
        break;
    }
  }

  size_t size() const { return rows_.size(); }
  const PodVerdict& row(size_t pod) const { return rows_[pod]; }

 private:
  static void TakeBack(SimTime now, PodVerdict* row) {
    if (!row->node.valid() || row->bound_at != now) return;
    row->node = NodeId();
    if (row->first == PodVerdict::First::kBound && row->first_at == now) {
      row->first = PodVerdict::First::kNone;
    }
  }
  void Reject(const Record& record) {
    const JobTable& jobs = sim_->jobs();
    PodVerdict& row = rows_[jobs.row(jobs.job_of(record.pod)).first_pod.value()];
    if (row.first != PodVerdict::First::kNone) return;
    row.first = PodVerdict::First::kRejected;
    row.first_at = record.time;
  }

  const Simulation* sim_;
  std::vector<PodVerdict> rows_;
};

// One world in the first pass.
struct WorldRun {
  std::unique_ptr<Simulation> sim;
  std::unique_ptr<VerdictLog> log;

  bool done() const { return sim->engine().finished(); }
  SimTime now() const { return sim->engine().now(); }
  absl::string_view pod_name(size_t pod) const { return sim->cluster().pod_name(PodId(pod)); }
  const std::string& node_name(NodeId node) const { return sim->cluster().node_spec(node).name; }
};
using WorldRuns = std::array<WorldRun, 2>;

absl::StatusOr<std::unique_ptr<Simulation>> BuildWorld(const RunSpec& spec) {
  absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(spec);
  if (built.ok()) (*built)->set_stop_after_events(kEventsAtOnce);
  return built;
}

struct Parting {
  enum class State : uint8_t { kNone, kParted, kOpen };
  State state = State::kNone;
  SimTime at;             // of kOpen: not before
  bool by_first = false;  // by the first verdicts; else by where they are bound
};

Parting PartedAt(SimTime at, bool by_first) { return {Parting::State::kParted, at, by_first}; }
Parting OpenSince(SimTime at) { return {Parting::State::kOpen, at, false}; }

// The parting of the runs about one pod, as far as they have gone.
Parting PartingOf(const WorldRuns& runs, size_t pod) {
  const std::array<PodVerdict, 2> rows = {
      pod < runs[0].log->size() ? runs[0].log->row(pod) : PodVerdict(),
      pod < runs[1].log->size() ? runs[1].log->row(pod) : PodVerdict()};
  const auto decided = [&](size_t w) { return rows[w].first != PodVerdict::First::kNone; };
  if (decided(0) && decided(1) && rows[0].first != rows[1].first) {
    return PartedAt(std::min(rows[0].first_at, rows[1].first_at), true);
  }
  if (rows[0].node.valid() && rows[1].node.valid()) {
    if (runs[0].node_name(rows[0].node) == runs[1].node_name(rows[1].node)) return {};
    return PartedAt(std::min(rows[0].bound_at, rows[1].bound_at), false);
  }
  for (size_t w = 0; w < 2; ++w) {
    if (!rows[w].node.valid()) continue;
    return runs[1 - w].done() ? PartedAt(rows[w].bound_at, false) : OpenSince(rows[w].bound_at);
  }
  for (size_t w = 0; w < 2; ++w) {
    // The other may still take it at its first attempt.
    if (decided(w) && !decided(1 - w) && !runs[1 - w].done()) return OpenSince(rows[w].first_at);
  }
  return {};
}

struct Found {
  size_t pod = 0;
  Parting parting;
};

// The earliest parting, if it is sure that none will come to light that is earlier.
std::optional<Found> EarliestParting(const WorldRuns& runs) {
  const size_t pods = std::max(runs[0].log->size(), runs[1].log->size());
  Found first;
  for (size_t pod = 0; pod < pods; ++pod) {
    const Parting parting = PartingOf(runs, pod);
    if (parting.state == Parting::State::kNone) continue;
    if (first.parting.state == Parting::State::kNone || parting.at < first.parting.at) {
      first = {pod, parting};
    }
  }
  // An open one that comes first has to be waited for.
  if (first.parting.state != Parting::State::kParted) return std::nullopt;
  for (const WorldRun& run : runs) {
    if (!run.done() && run.now() <= first.parting.at) return std::nullopt;
  }
  return first;
}

absl::Status CheckSamePods(const WorldRuns& runs, size_t* checked) {
  const size_t both = std::min(runs[0].log->size(), runs[1].log->size());
  for (; *checked < both; ++*checked) {
    if (runs[0].pod_name(*checked) == runs[1].pod_name(*checked)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the workloads differ: pod ", *checked, " is '", runs[0].pod_name(*checked),
                     "' in one world and '", runs[1].pod_name(*checked), "' in the other"));
  }
  return absl::OkStatus();
}

// The first pass.
absl::StatusOr<std::optional<Found>> RunUntilParted(WorldRuns* runs) {
  size_t checked = 0;
  uint64_t steps = 0;
  // Looking costs as much as there are pods, so it is done ever more rarely.
  uint64_t next_look = 1;
  while (true) {
    WorldRun* behind = nullptr;
    for (WorldRun& run : *runs) {
      if (!run.done() && (behind == nullptr || run.now() < behind->now())) behind = &run;
    }
    if (behind != nullptr) {
      RETURN_IF_ERROR(behind->sim->Run());
      if (++steps < next_look) continue;
      next_look = steps + std::max<uint64_t>(1, steps / 2);
    }
    RETURN_IF_ERROR(CheckSamePods(*runs, &checked));
    const std::optional<Found> found = EarliestParting(*runs);
    if (found.has_value() || behind == nullptr) return found;
  }
}

// Follows one pod in the second pass, up to what decided it.
class DecisionProbe : public RecordSink {
 public:
  // `decision` says which kind of decision, and when.
  DecisionProbe(const Simulation* sim, PodId pod, WorldDecision decision)
      : sim_(sim), pod_(pod), decision_(std::move(decision)) {}

  void OnRecord(const Record& record, const ClusterState& cluster) override {
    if (stop_) return;
    if (decision_.kind == WorldDecision::Kind::kWaiting && record.time > decision_.time) {
      stop_ = true;
      return;
    }
    if (!record.pod.valid()) return;
    switch (record.kind) {
      case RecordKind::kPodArrived:
        arrived_ |= record.pod == pod_;
        break;
      case RecordKind::kPodReserved:
      case RecordKind::kPodBound:
        if (record.pod == pod_) Choose(record, cluster);
        break;
      case RecordKind::kPodUnreserved:
        if (record.pod == pod_) chosen_ = false;
        break;
      case RecordKind::kAttemptFailed:
        if (IsOurs(record.pod)) Fail(record, cluster);
        break;
      case RecordKind::kPodRejected:
        if (IsOurs(record.pod)) TurnAway(record);
        break;
      default:
        break;
    }
  }

  const std::atomic<bool>& stop() const { return stop_; }
  const WorldDecision& decision() const { return decision_; }

 private:
  bool IsOurs(PodId pod) const {
    return arrived_ && sim_->jobs().job_of(pod) == sim_->jobs().job_of(pod_);
  }

  void Choose(const Record& record, const ClusterState& cluster) {
    const std::string& node = cluster.node_spec(record.node).name;
    if (!chosen_) Look(record.pod, cluster);
    chosen_ = true;
    if (first_choice_.empty()) first_choice_ = node;
    if (record.kind != RecordKind::kPodBound) return;
    decision_.node = node;
    chosen_ = false;
    if (decision_.kind != WorldDecision::Kind::kBound || record.time != decision_.time) return;
    if (first_choice_ != node) decision_.first_choice = first_choice_;
    stop_ = true;
  }
  void Fail(const Record& record, const ClusterState& cluster) {
    chosen_ = false;
    ++decision_.failed_attempts;
    decision_.why = sim_->summaries().Text(SummaryId(record.detail));
    if (decision_.kind != WorldDecision::Kind::kRejected || record.time != decision_.time ||
        !SaysNoRoom(sim_->summaries(), SummaryId(record.detail))) {
      return;
    }
    decision_.node.clear();
    Look(record.pod, cluster);
    stop_ = true;
  }
  void TurnAway(const Record& record) {
    const auto failure = static_cast<AdmissionFailure>(record.detail & ~kGivenUp);
    decision_.why = absl::StrCat(AdmissionReason(failure), ": ", AdmissionMessage(failure));
    if (decision_.kind != WorldDecision::Kind::kRejected || record.time != decision_.time) return;
    decision_.kind = WorldDecision::Kind::kTurnedAway;
    stop_ = true;
  }
  // At what the attempt saw.
  void Look(PodId pod, const ClusterState& cluster) {
    size_t fitting = 0;
    const auto best = sim_->cycle().Candidates(cluster.pod_shape_id(pod), kCandidates, &fitting);
    decision_.feasible = static_cast<int64_t>(fitting);
    decision_.candidates.clear();
    for (const SchedulingCycle::Candidate& c : best) {
      CandidateNode candidate{cluster.node_spec(c.node).name, std::nullopt};
      if (c.score.has_value()) candidate.score = *c.score;
      decision_.candidates.push_back(std::move(candidate));
    }
  }

  const Simulation* sim_;
  PodId pod_;
  WorldDecision decision_;
  bool arrived_ = false;
  bool chosen_ = false;  // a node, in an attempt that has come to no end yet
  std::string first_choice_;
  std::atomic<bool> stop_ = false;
};

// The decision that the second pass looks for.
WorldDecision DecisionToFind(const PodVerdict& row, const Parting& parting) {
  WorldDecision decision;
  decision.time = parting.at;
  if (parting.by_first && row.first == PodVerdict::First::kRejected) {
    decision.kind = WorldDecision::Kind::kRejected;
    decision.time = row.first_at;
  } else if (row.node.valid()) {
    decision.kind = WorldDecision::Kind::kBound;
    decision.time = row.bound_at;
  }
  return decision;
}

// The second pass of one world.
absl::StatusOr<WorldDecision> FollowWorld(const RunSpec& spec, PodId pod, WorldDecision wanted) {
  ASSIGN_OR_RETURN(std::unique_ptr<Simulation> sim, BuildWorld(spec));
  DecisionProbe probe(sim.get(), pod, std::move(wanted));
  sim->AddSink(&probe);
  sim->set_stop(&probe.stop());
  RETURN_IF_ERROR(sim->Start());
  while (!probe.stop() && !sim->engine().finished()) {
    const absl::Status s = sim->Run();
    if (!s.ok() && !probe.stop()) return s;
  }
  return probe.decision();
}

std::string SecondsText(SimTime time) {
  return absl::StrCat(DoubleText(RoundDecimals(time.seconds(), 6)), " s");
}

// The lines about one world, indented.
std::string DecisionLines(const WorldDecision& d, absl::string_view world) {
  std::string text = absl::StrCat("  ", world, ": ");
  const auto line = [&text](const auto&... parts) { absl::StrAppend(&text, parts..., "\n"); };
  const std::string at = SecondsText(d.time);
  const bool bound = d.kind == WorldDecision::Kind::kBound;
  switch (d.kind) {
    case WorldDecision::Kind::kBound:
      line("bound to ", d.node, " at ", at);
      break;
    case WorldDecision::Kind::kTurnedAway:
      line("bound to ", d.node, " at ", at, ", which turned it away");
      break;
    case WorldDecision::Kind::kRejected:
      line("no node at ", at);
      break;
    case WorldDecision::Kind::kWaiting:
      line("waiting at ", at);
      break;
  }
  const int64_t before = d.failed_attempts - (d.kind == WorldDecision::Kind::kRejected ? 1 : 0);
  if (before > 0) line("    failed attempts before: ", before);
  if (!d.first_choice.empty()) line("    first choice: ", d.first_choice);
  if (!d.why.empty()) line(bound ? "    the last failed with: " : "    ", d.why);
  if (d.kind == WorldDecision::Kind::kWaiting) return text;
  const auto append = [](std::string* out, const CandidateNode& c) {
    absl::StrAppend(out, c.node);
    if (c.score.has_value()) absl::StrAppend(out, " (", *c.score, ")");
  };
  const bool scored = !d.candidates.empty() && d.candidates[0].score.has_value();
  const bool more = static_cast<size_t>(d.feasible) > d.candidates.size();
  line("    nodes that passed the filters: ", d.feasible, d.candidates.empty() ? "" : "; ",
       scored ? "best scores: " : "", absl::StrJoin(d.candidates, ", ", append),
       more ? ", ..." : "");
  return text;
}

const char* DecisionName(WorldDecision::Kind kind) {
  switch (kind) {
    case WorldDecision::Kind::kBound:
      return "bound";
    case WorldDecision::Kind::kTurnedAway:
      return "turned away";
    case WorldDecision::Kind::kRejected:
      return "rejected";
    case WorldDecision::Kind::kWaiting:
      return "waiting";
  }
  return "";
}

void WriteDecision(const WorldDecision& d, absl::string_view world, JsonWriter* j) {
  const auto text = [j](const char* key, const std::string& value) {
    j->Key(key);
    if (value.empty()) {
      j->Null();
    } else {
      j->String(value);
    }
  };
  j->BeginObject();
  j->Key("world").String(world);
  j->Key("decision").String(DecisionName(d.kind));
  j->Key("time_seconds").Double(RoundDecimals(d.time.seconds(), 6));
  text("node", d.node);
  text("first_choice", d.first_choice);
  j->Key("failed_attempts").Int(d.failed_attempts);
  text("why", d.why);
  j->Key("feasible_nodes").Int(d.feasible);
  j->Key("candidates").BeginArray();
  for (const CandidateNode& c : d.candidates) {
    j->BeginObject().Key("node").String(c.node).Key("score");
    if (c.score.has_value()) {
      j->Int(*c.score);
    } else {
      j->Null();
    }
    j->EndObject();
  }
  j->EndArray().EndObject();
}

}  // namespace

absl::StatusOr<std::optional<Divergence>> FindDivergence(const RunSpec& a, const RunSpec& b) {
  const std::array<const RunSpec*, 2> specs = {&a, &b};
  std::array<PodVerdict, 2> rows;
  std::optional<Found> found;
  Divergence divergence;
  {
    WorldRuns runs;
    for (size_t w = 0; w < 2; ++w) {
      ASSIGN_OR_RETURN(runs[w].sim, BuildWorld(*specs[w]));
      runs[w].log = std::make_unique<VerdictLog>(runs[w].sim.get());
      runs[w].sim->AddSink(runs[w].log.get());
      RETURN_IF_ERROR(runs[w].sim->Start());
    }
    ASSIGN_OR_RETURN(found, RunUntilParted(&runs));
    if (!found.has_value()) return std::optional<Divergence>();
    for (size_t w = 0; w < 2; ++w) {
      if (found->pod >= runs[w].log->size()) continue;
      rows[w] = runs[w].log->row(found->pod);
      divergence.pod = std::string(runs[w].pod_name(found->pod));
    }
  }
  divergence.time = found->parting.at;
  for (size_t w = 0; w < 2; ++w) {
    ASSIGN_OR_RETURN(divergence.decisions[w], FollowWorld(*specs[w], PodId(found->pod),
                                                          DecisionToFind(rows[w], found->parting)));
  }
  return std::optional<Divergence>(std::move(divergence));
}

std::string DivergenceText(const Divergence& d, absl::string_view a, absl::string_view b) {
  return absl::StrCat("first divergence between ", a, " and ", b, ": pod ", d.pod, " at ",
                      SecondsText(d.time), "\n", DecisionLines(d.decisions[0], a),
                      DecisionLines(d.decisions[1], b));
}

void WriteDivergence(const Divergence& d, absl::string_view a, absl::string_view b, JsonWriter* j) {
  j->BeginObject();
  j->Key("pod").String(d.pod);
  j->Key("time_seconds").Double(RoundDecimals(d.time.seconds(), 6));
  j->Key("decisions").BeginArray();
  WriteDecision(d.decisions[0], a, j);
  WriteDecision(d.decisions[1], b, j);
  j->EndArray().EndObject();
}

}  // namespace drasim
