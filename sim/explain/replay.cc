#include "sim/explain/replay.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/explain/attempt.h"
#include "sim/explain/node_room.h"
#include "sim/explain/second_run.h"
#include "sim/explain/story_sink.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/progress.h"

namespace drasim {
namespace {

// Names that are looked through for a similar one.
constexpr size_t kMostNames = 100'000;

// Ranks of a pod's name by its similarity to the typed one, the best first.
constexpr size_t kExactName = 0;
constexpr size_t kDefaultNamespace = 1;  // one of the two says "default/", the other nothing
constexpr size_t kFirstOfJob = 2;
constexpr size_t kNoMatch = 4;

// The findings of one pass over the ledger.
struct LedgerFindings {
  RunSpec spec;
  std::string path;
  bool complete = false;
  PodId pod;
  size_t rank = kNoMatch;  // quality of the name's match, see MatchOf
  uint64_t same_name = 0;  // pods whose names fit as well
  SimTime arrival;
  uint64_t arrival_records = 0;  // records ahead of its arrival
  uint64_t records = 0;          // up to the time that is asked about
  uint64_t pod_hash = 0;         // over the pod's records among them
  SimTime time;                  // that is asked about
  SimTime end;                   // of the last record
};

// The text as typed, and its other readings: the namespace "default" need not be said. Pods of
// traces are in it.
std::vector<std::string> NamesMeant(const std::string& typed) {
  const absl::string_view alone = absl::StripPrefix(typed, "default/");
  if (alone != typed) return {typed, std::string(alone)};
  return {typed, absl::StrContains(typed, '/') ? typed : absl::StrCat("default/", typed)};
}

size_t MatchOf(absl::string_view name, const std::vector<std::string>& meant) {
  if (name == meant[0]) return kExactName;
  if (name == meant[1]) return kDefaultNamespace;
  if (!absl::EndsWith(name, "-0")) return kNoMatch;
  name.remove_suffix(2);
  return name == meant[0] ? kFirstOfJob : name == meant[1] ? kFirstOfJob + 1 : kNoMatch;
}

absl::Status NoSuchPod(const std::string& typed, const LedgerReader& ledger) {
  std::vector<std::string> known;
  const ClusterState& cluster = ledger.cluster();
  for (size_t p = 0; p < cluster.pod_count() && known.size() < kMostNames; ++p) {
    known.emplace_back(cluster.pod_name(PodId(p)));
  }
  // A pod of the same name in another namespace is more likely than a misspelt one.
  const std::string wanted = typed.substr(typed.find('/') + 1);
  std::string suggestion;
  for (const std::string& name : known) {
    if (!suggestion.empty() || name.substr(name.find('/') + 1) != wanted) continue;
    suggestion =
        absl::StrCat(" (there is '", absl::StrContains(name, '/') ? "" : "default/", name, "')");
  }
  if (suggestion.empty()) suggestion = Suggest(typed, known);
  for (const std::string& name : known) {
    if (!suggestion.empty() || typed.empty()) break;
    if (absl::StrContains(name, typed)) {
      suggestion = absl::StrCat(" (did you mean '", name, "'?)");
    }
  }
  if (suggestion.empty() && !known.empty()) {
    const size_t shown = std::min<size_t>(known.size(), 3);
    const std::vector<std::string> first(known.begin(),
                                         known.begin() + static_cast<std::ptrdiff_t>(shown));
    suggestion =
        absl::StrCat("; there are ", cluster.pod_count(), ", such as ", absl::StrJoin(first, ", "));
  }
  return absl::NotFoundError(
      absl::StrCat("--pod: no pod of ", ledger.path(), " is called '", typed, "'", suggestion));
}

std::string TimeOfRun(SimTime time) { return absl::FormatDuration(absl::Nanoseconds(time.ns())); }

// Notes one record: its time, and whether it is about the pod that is looked for.
void NoteRecord(const Record& record, const LedgerReader& ledger, const ExplainRequest& request,
                const std::vector<std::string>& names, LedgerFindings* found) {
  const ClusterState& cluster = ledger.cluster();
  if (record.kind == RecordKind::kPodArrived) {
    const size_t rank = MatchOf(cluster.pod_name(record.pod), names);
    if (rank < found->rank) {
      found->pod = record.pod;
      found->rank = rank;
      found->arrival = record.time;
      found->arrival_records = ledger.records() - 1;
      found->same_name = 0;
      found->pod_hash = EmptyPodHash();
    }
    if (rank == found->rank && rank != kNoMatch) ++found->same_name;
  }
  found->end = record.time;
  if (request.at.has_value() && record.time > *request.at) return;
  found->records = ledger.records();
  if (record.pod.valid() && record.pod == found->pod) {
    found->pod_hash = HashPodRecord(found->pod_hash, record, cluster, ledger.summaries());
  }
}

absl::StatusOr<LedgerFindings> SearchLedger(const ExplainRequest& request) {
  absl::StatusOr<std::unique_ptr<LedgerReader>> opened = LedgerReader::Open(request.path);
  std::error_code error;
  if (absl::IsNotFound(opened.status()) && std::filesystem::is_directory(request.path, error)) {
    return absl::NotFoundError(absl::StrCat(
        request.path, ": has no ledger; a run leaves one in its folder unless it is told not to"));
  }
  RETURN_IF_ERROR(opened.status());
  LedgerReader& ledger = **opened;
  LedgerFindings found;
  found.path = ledger.path();
  ASSIGN_OR_RETURN(found.spec, ScenarioOfLedger(ledger));
  const std::vector<std::string> names = NamesMeant(request.pod);
  Record record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, ledger.Next(&record));
    if (!more) break;
    NoteRecord(record, ledger, request, names, &found);
  }
  found.complete = ledger.complete();
  if (!found.pod.valid()) return NoSuchPod(request.pod, ledger);
  // Times are printed to the next millisecond, and a printed time is a legal request.
  if (request.at.has_value() && *request.at - found.end >= SimDuration::Millis(1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--at: found ", TimeOfRun(*request.at), ", expected a time up to ", TimeOfRun(found.end),
        ", the end of ", found.complete ? "the run" : "what is recorded of the run"));
  }
  found.time = std::min(request.at.value_or(found.end), found.end);
  return found;
}

// A simulation of the run with its followers.
struct StoryRun {
  std::unique_ptr<AttemptExplainer> explainer;
  std::unique_ptr<StorySink> story;
  std::unique_ptr<Progress> progress;
  SecondRun run;  // ends first
};

absl::StatusOr<StoryRun> StartStoryRun(const LedgerFindings& found, const ExplainRequest& request,
                                       std::vector<std::string>* warnings) {
  StoryRun second;
  const auto attach = [&](Simulation* sim) {
    second.explainer = std::make_unique<AttemptExplainer>(
        &sim->cluster(), &sim->jobs(), &sim->summaries(), sim->profiles(), ClaimHooksOf(*sim));
    second.story =
        std::make_unique<StorySink>(sim, second.explainer.get(), found.pod, found.records);
    sim->AddSink(second.story.get());
    sim->set_stop(second.story->stop());
    second.progress = std::make_unique<Progress>("explain", sim->pods_expected(), request.quiet);
    sim->set_on_progress(
        [progress = second.progress.get()](uint64_t pods) { progress->Update(pods); });
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> ledger, LedgerReader::Open(found.path));
  const uint64_t limit = request.brief ? found.records : found.arrival_records;
  ASSIGN_OR_RETURN(second.run, StartSecondRun(found.spec, ledger.get(), limit, attach, warnings));
  if (second.run.records > 0) second.story->Resume(second.run.records);
  return second;
}

absl::Status FinishStoryRun(const LedgerFindings& found, StoryRun* second) {
  if (!second->story->stop()->load()) {
    const absl::Status ran = second->run.sim->Run();
    // It is stopped behind the last record that is asked for.
    if (!ran.ok() && !absl::IsCancelled(ran)) return ran;
  }
  second->progress->Clear();
  if (second->story->arrived() &&
      (!second->story->from_arrival() || second->story->pod_hash() == found.pod_hash)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(found.path,
                   ": simulated again, the run takes another course; was it made by another build "
                   "of drasim?"));
}

void DescribeRun(const LedgerFindings& found, const ExplainRequest& request, Story* story) {
  const RunSpec& spec = found.spec;
  story->ledger = found.path;
  story->partial = !found.complete;
  story->policy = spec.scheduler.profile.policy;
  story->mode = std::string(RunModeName(spec.mode));
  story->queue = spec.is_replay() ? spec.scheduler.queue_name : "";
  story->front_end = std::string(FrontEndName(spec.front_end.kind));
  story->pod = request.pod;
  story->arrival = found.arrival;
  story->brief = request.brief;
  story->standing.time = found.time;
  if (found.same_name > 1) {
    story->warnings.push_back(absl::StrCat(found.same_name, " pods of the run are called '",
                                           request.pod, "'; this is the first"));
  }
}

// The pod's request in words: "2 CPUs, 8Gi of memory, 1 GPU of V100M32".
std::string RequestText(const PodShape& shape) {
  const ResourceRequest& request = shape.request;
  const PodConstraints& constraints = shape.constraints;
  std::vector<std::string> parts;
  if (request.cpu_milli > 0) parts.push_back(LackAmountText(LackKind::kCpu, "", request.cpu_milli));
  if (request.memory_bytes > 0) {
    parts.push_back(LackAmountText(LackKind::kMemory, "", request.memory_bytes));
  }
  if (request.gpu_count > 0) {
    parts.push_back(request.is_share()
                        ? absl::StrCat(request.gpu_milli, " milli of ",
                                       LackAmountText(LackKind::kGpus, "", request.gpu_count),
                                       request.gpu_count > 1 ? " each" : "")
                        : LackAmountText(LackKind::kGpus, "", request.gpu_count));
  }
  for (const auto& [name, count] : request.mig) parts.push_back(absl::StrCat(count, " ", name));
  for (const auto& [name, amount] : request.extended) {
    parts.push_back(absl::StrCat(amount, " ", name));
  }
  if (!request.gpu_spec.empty()) parts.push_back(absl::StrCat("GPU model ", request.gpu_spec));
  for (const auto& [key, value] : constraints.node_selector) {
    parts.push_back(absl::StrCat("label ", key, "=", value));
  }
  if (constraints.max_per_node > 0) {
    parts.push_back(absl::StrCat("at most ", constraints.max_per_node, " of group ",
                                 constraints.group, " on a node"));
  }
  for (const ClaimEntry& claim : shape.claims) {
    parts.push_back(absl::StrCat("claim ", claim.name));
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

absl::Status DescribePod(const LedgerFindings& found, const Simulation& sim, JobId job,
                         Story* story) {
  const JobRow& row = sim.jobs().row(job);
  const ClusterState& cluster = sim.cluster();
  if (found.rank >= kFirstOfJob && row.pods == 1) {
    return absl::NotFoundError(absl::StrCat("--pod: no pod or gang of ", found.path, " is called '",
                                            story->pod, "' (did you mean '",
                                            cluster.pod_name(found.pod), "'?)"));
  }
  story->pod = std::string(cluster.pod_name(found.pod));
  story->job = JobName(cluster, row);
  story->pods = row.pods;
  story->tenant = sim.jobs().tenant_name(row.tenant);
  story->priority = row.priority;
  story->wants = RequestText(cluster.pod_shape(found.pod));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Story> ExplainRun(const ExplainRequest& request) {
  ASSIGN_OR_RETURN(const LedgerFindings found, SearchLedger(request));
  Story story;
  DescribeRun(found, request, &story);
  if (found.time < found.arrival) {
    story.arrived = false;
    return story;
  }
  ASSIGN_OR_RETURN(StoryRun second, StartStoryRun(found, request, &story.warnings));
  RETURN_IF_ERROR(FinishStoryRun(found, &second));
  RETURN_IF_ERROR(DescribePod(found, *second.run.sim, second.story->job(), &story));
  if (!request.brief) story.events = second.story->events();
  story.standing = second.story->MakeStanding(found.time);
  return story;
}

}  // namespace drasim
