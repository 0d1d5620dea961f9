#include "sim/perf/perf_run.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "model/label_selector.h"
#include "model/status_macros.h"
#include "sim/compare/start_figures.h"
#include "sim/perf/perf_agenda.h"
#include "sim/perf/perf_cluster.h"
#include "sim/perf/perf_objects.h"
#include "sim/perf/perf_refusals.h"

namespace drasim::perf {
namespace {

// Longest time without an event for the pods that a step waits for: three times the longest wait of
// an unschedulable pod before an attempt without cause (sim/core/standstill.h).
constexpr SimDuration kStandstill = SimDuration::Seconds(900);
constexpr size_t kMaxReasons = 5;
constexpr size_t kMaxShapesAsked = 1000;

double CpuSeconds() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

bool HasLabels(const Labels& wanted, const Labels& labels) {
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& one) {
    const std::string* const value = LabelOf(labels, one.first);
    return value != nullptr && *value == one.second;
  });
}

// The pods that metrics are collected of.
struct Collection {
  SimTime begin;
  double cpu_begin = 0;
  std::vector<std::string> namespaces;
  Labels labels;
};

class Runner {
 public:
  Runner(const FeatureGates& gates, absl::string_view folder, const RunSpec& spec,
         PerfTemplates* templates)
      : gates_(gates), folder_(folder), spec_(spec), templates_(*templates) {}

  absl::StatusOr<PerfOutcome> Run(const std::vector<PerfAction>& actions) {
    ASSIGN_OR_RETURN(cluster_, PerfCluster::Make(spec_, SchedulerGatesOf(gates_)));
    objects_ = std::make_unique<PerfObjects>(cluster_.get(), &templates_, folder_);
    for (const PerfAction& action : actions) {
      const absl::Status done = Do(action);
      if (absl::IsDeadlineExceeded(done)) {
        outcome_.stopped = absl::StrCat(OpcodeName(action.opcode), " ", done.message());
        break;
      }
      if (!done.ok()) {
        return absl::Status(done.code(), absl::StrCat(action.where, ": ", done.message()));
      }
      objects_->Flush();
    }
    cluster_->Finish();
    FillCell();
    return std::move(outcome_);
  }

 private:
  absl::Status Do(const PerfAction& action) {
    switch (action.opcode) {
      case Opcode::kCreateNodes:
        return objects_->AddNodes(action);
      case Opcode::kCreatePods:
        return action.steady ? CreateSteadily(action) : CreatePods(action);
      case Opcode::kCreateNamespaces:
        return CreateNamespaces(action);
      case Opcode::kCreateAny:
        return CreateAny(action);
      case Opcode::kBarrier:
        return WaitFor(Select(action.namespaces, action.labels), action.attempted);
      case Opcode::kChurn:
        return BeginChurn(action);
      case Opcode::kDeletePods:
        return DeletePods(action);
      case Opcode::kUpdateAny:
        return Update(action);
      case Opcode::kSleep:
        return RunUntil(cluster_->now() + action.duration);
      case Opcode::kCheckPodScheduled:
        return CheckScheduled(action);
      case Opcode::kCreateResourceDriver:
        cluster_->AddDriver(action.driver, action.nodes, action.devices);
        return absl::OkStatus();
      case Opcode::kAllocResourceClaims:
        return cluster_->AllocateClaims(action.ns);
      case Opcode::kUpdateDeviceConditions:
        return UpdateConditions(action);
      case Opcode::kStartCollectingMetrics:
        collection_ = {cluster_->now(), CpuSeconds(), action.namespaces, action.labels};
        return absl::OkStatus();
      case Opcode::kStopCollectingMetrics:
        return StopCollecting();
      default:
        return absl::UnimplementedError(OpcodeName(action.opcode));
    }
  }

  // --- Time ---

  // The next thing to happen, here or in the cluster. False if there is none before `limit` has
  // passed.
  absl::StatusOr<bool> Step(SimTime limit) {
    const std::optional<SimTime> planned = agenda_.NextTime();
    const std::optional<SimTime> due = cluster_->NextEvent();
    // Changes of objects precede attempts of the same instant.
    const bool ours = planned.has_value() && (!due.has_value() || *planned <= *due);
    const std::optional<SimTime> next = ours ? planned : due;
    if (!next.has_value() || *next > limit) return false;
    if (!ours) {
      RETURN_IF_ERROR(cluster_->HandleEvent());
      return true;
    }
    cluster_->AdvanceTo(*next);
    RETURN_IF_ERROR(agenda_.DoNext());
    objects_->Flush();
    return true;
  }

  absl::Status RunUntil(SimTime time) {
    while (true) {
      ASSIGN_OR_RETURN(const bool more, Step(time));
      if (!more) break;
    }
    cluster_->AdvanceTo(time);
    return absl::OkStatus();
  }

  // DeadlineExceeded if the pods cannot get that far.
  absl::Status WaitFor(const std::vector<JobId>& pods, bool attempted) {
    cluster_->WaitFor(pods, attempted);
    size_t open = cluster_->open();
    SimTime last_progress = cluster_->now();
    while (cluster_->open() > 0) {
      ASSIGN_OR_RETURN(const bool more, Step(last_progress + kStandstill));
      if (!more) return Stuck(pods.size(), last_progress);
      if (cluster_->open() == open) continue;
      open = cluster_->open();
      last_progress = cluster_->now();
    }
    return absl::OkStatus();
  }

  // `since`: when one of the pods was last bound.
  absl::Status Stuck(size_t wanted, SimTime since) {
    const std::vector<JobId> open = cluster_->OpenPods();
    // Pods of one shape wait for the same reason.
    std::map<uint32_t, std::string> by_shape;
    std::map<std::string, size_t> reasons;
    for (const JobId pod : open) {
      const uint32_t shape = cluster_->ShapeIdOf(pod).value();
      const auto [known, is_new] = by_shape.try_emplace(shape);
      if (is_new) {
        known->second = by_shape.size() > kMaxShapesAsked ? "" : cluster_->MessageOf(pod);
        if (known->second.empty()) known->second = "others";
      }
      ++reasons[known->second];
    }
    std::vector<std::pair<size_t, std::string>> sorted;
    for (const auto& [text, count] : reasons) sorted.emplace_back(count, text);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> texts;
    for (size_t i = 0; i < sorted.size() && i < kMaxReasons; ++i) {
      texts.push_back(absl::StrCat(sorted[i].first, " x ", sorted[i].second));
    }
    return absl::DeadlineExceededError(
        absl::StrCat("cannot be met: since ", absl::FormatDuration(absl::Nanoseconds(since.ns())),
                     " ", open.size(), " of ", wanted, " pods wait, the first is ",
                     cluster_->NameOf(open.front()), ": ", absl::StrJoin(texts, "; ")));
  }

  // --- Pods ---

  // The pods that steps have made and nobody has deleted.
  std::vector<JobId> Select(const std::vector<std::string>& namespaces,
                            const Labels& labels) const {
    std::vector<JobId> pods;
    for (const JobId pod : made_) {
      if (!cluster_->IsGone(pod) && Matches(pod, namespaces, labels)) pods.push_back(pod);
    }
    return pods;
  }

  bool Matches(JobId pod, const std::vector<std::string>& namespaces, const Labels& labels) const {
    const PodIdentity& identity = cluster_->ShapeOf(pod).identity;
    const bool there = namespaces.empty() || std::find(namespaces.begin(), namespaces.end(),
                                                       identity.ns) != namespaces.end();
    return there && HasLabels(labels, identity.labels);
  }

  absl::StatusOr<std::vector<JobId>> Make(const PerfAction& action) {
    ASSIGN_OR_RETURN(std::vector<JobId> pods, objects_->AddPods(action));
    made_.insert(made_.end(), pods.begin(), pods.end());
    return pods;
  }

  absl::Status CreatePods(const PerfAction& action) {
    const SimTime begin = cluster_->now();
    const double cpu_begin = CpuSeconds();
    ASSIGN_OR_RETURN(const std::vector<JobId> pods, Make(action));
    if (action.skips_wait) return absl::OkStatus();
    const absl::Status waited = WaitFor(pods, /*attempted=*/false);
    if (action.collects) Measure(pods, begin, cpu_begin);
    return waited;
  }

  // Creates a batch, and as soon as all of it is bound deletes it and creates the next one, until
  // the time is over. What is there then stays.
  absl::Status CreateSteadily(const PerfAction& action) {
    const SimTime begin = cluster_->now();
    const double cpu_begin = CpuSeconds();
    const SimTime end = begin + action.duration;
    std::vector<JobId> all;
    bool bound = true;
    while (true) {
      const SimTime round = cluster_->now();
      ASSIGN_OR_RETURN(const std::vector<JobId> pods, Make(action));
      all.insert(all.end(), pods.begin(), pods.end());
      ASSIGN_OR_RETURN(bound, WaitUntil(pods, end));
      if (!bound || cluster_->now() >= end) break;
      if (cluster_->now() == round) {
        return absl::InvalidArgumentError(
            "steadyState: no time passes; give attempts some, with timing.schedule");
      }
      for (const JobId pod : pods) cluster_->DeletePodNow(pod);
    }
    if (action.collects) Measure(all, begin, cpu_begin);
    // Upstream would report no throughput.
    const bool never =
        std::none_of(all.begin(), all.end(), [this](JobId pod) { return cluster_->IsBound(pod); });
    if (never && action.duration > SimDuration()) return Stuck(all.size(), begin);
    return absl::OkStatus();
  }

  // Whether the pods are all bound before `end`; else it is `end` now.
  absl::StatusOr<bool> WaitUntil(const std::vector<JobId>& pods, SimTime end) {
    cluster_->WaitFor(pods, /*attempted=*/false);
    while (cluster_->open() > 0) {
      ASSIGN_OR_RETURN(const bool more, Step(end));
      if (more) continue;
      cluster_->AdvanceTo(end);
      return false;
    }
    return true;
  }

  // Adds the pods that were bound since.
  void Measure(const std::vector<JobId>& pods, SimTime begin, double cpu_begin) {
    SimTime last = begin;
    for (const JobId pod : pods) {
      if (!cluster_->IsBound(pod) || cluster_->BoundAt(pod) < begin) continue;
      ++outcome_.measured_pods;
      last = std::max(last, cluster_->BoundAt(pod));
    }
    outcome_.measured_time = outcome_.measured_time + (last - begin);
    outcome_.measured_cpu_seconds += CpuSeconds() - cpu_begin;
  }

  absl::Status StopCollecting() {
    if (!collection_.has_value()) {
      return absl::InvalidArgumentError("stopCollectingMetrics: nothing collects metrics");
    }
    const Collection of = *std::exchange(collection_, std::nullopt);
    std::vector<JobId> pods;
    for (const JobId pod : made_) {
      if (Matches(pod, of.namespaces, of.labels)) pods.push_back(pod);
    }
    Measure(pods, of.begin, of.cpu_begin);
    return absl::OkStatus();
  }

  absl::Status DeletePods(const PerfAction& action) {
    auto pods = std::make_shared<const std::vector<JobId>>(Select({action.ns}, action.labels));
    if (action.per_second == 0 || pods->empty()) {
      for (const JobId pod : *pods) cluster_->DeletePod(pod);
      return absl::OkStatus();
    }
    const SimDuration step(kSecondNs / action.per_second);
    SimTime at = cluster_->now();
    for (const JobId pod : *pods) {
      at = at + step;
      agenda_.Add(at, [this, pod] {
        cluster_->DeletePod(pod);
        return absl::OkStatus();
      });
    }
    return action.skips_wait ? absl::OkStatus() : RunUntil(at);
  }

  absl::Status CheckScheduled(const PerfAction& action) {
    const std::vector<JobId> pods = Select({action.ns}, {});
    const SimTime end = cluster_->now() + action.duration;
    cluster_->WaitFor(pods, /*attempted=*/false);
    while (!action.scheduled || cluster_->open() > 0) {
      ASSIGN_OR_RETURN(const bool more, Step(end));
      if (!more) break;
    }
    if (action.scheduled)
      return cluster_->open() == 0 ? absl::OkStatus() : Stuck(pods.size(), cluster_->now());
    const auto bound = std::count_if(pods.begin(), pods.end(),
                                     [this](JobId pod) { return cluster_->IsBound(pod); });
    if (bound == 0) return absl::OkStatus();
    return absl::DeadlineExceededError(
        absl::StrCat("expected no pod of ", action.ns, " to be scheduled, found ", bound));
  }

  // Looks at the claims once a second until all of them have devices that wait for conditions.
  absl::Status UpdateConditions(const PerfAction& action) {
    const SimTime end = cluster_->now() + action.duration;
    while (!cluster_->SetCondition(action.ns, action.condition, action.condition_status)) {
      const SimTime next = cluster_->now() + SimDuration::Seconds(1);
      if (next > end) {
        return absl::DeadlineExceededError(absl::StrCat("cannot be met: not all claims of ",
                                                        action.ns,
                                                        " have devices that wait for conditions"));
      }
      RETURN_IF_ERROR(RunUntil(next));
    }
    return absl::OkStatus();
  }

  // --- Other objects ---

  absl::Status CreateNamespaces(const PerfAction& action) {
    std::optional<ObjectSeries> series;
    if (!action.templates.front().empty()) {
      ASSIGN_OR_RETURN(series, objects_->SeriesOf(action, 0));
    }
    for (int64_t i = 0; i < action.count; ++i) {
      ObjectSeries::Object given;
      if (series.has_value()) {
        ASSIGN_OR_RETURN(given, series->At(i));
      }
      objects_->AddNamespace(absl::StrCat(action.prefix, "-", i),
                             given == nullptr ? nullptr : &given->namespace_());
    }
    return absl::OkStatus();
  }

  absl::Status CreateAny(const PerfAction& action) {
    ASSIGN_OR_RETURN(ObjectSeries series, objects_->SeriesOf(action, 0));
    for (int64_t i = 0; i < action.count; ++i) {
      ASSIGN_OR_RETURN(const ObjectSeries::Object object, series.At(i));
      RETURN_IF_ERROR(objects_->AddOther(*object, action.ns).status());
    }
    return absl::OkStatus();
  }

  // One after the other, at the given rate.
  absl::Status Update(const PerfAction& action) {
    ASSIGN_OR_RETURN(ObjectSeries series, objects_->SeriesOf(action, 0));
    const SimDuration step(action.per_second == 0 ? 0 : kSecondNs / action.per_second);
    for (int64_t i = 0; i < action.count; ++i) {
      if (step > SimDuration()) RETURN_IF_ERROR(RunUntil(cluster_->now() + step));
      RETURN_IF_ERROR(objects_->Update(action, &series, i));
    }
    return absl::OkStatus();
  }

  // --- Churn ---

  // Deletes an object that churn has made.
  using Undo = std::function<absl::Status()>;
  struct Churn {
    const PerfAction* action = nullptr;
    std::vector<ObjectSeries> series;
    std::vector<std::vector<Undo>> slots;  // by template, of mode recreate
    int64_t rounds = 0;
  };

  absl::Status BeginChurn(const PerfAction& action) {
    auto churn = std::make_shared<Churn>();
    churn->action = &action;
    for (size_t i = 0; i < action.templates.size(); ++i) {
      ASSIGN_OR_RETURN(ObjectSeries series, objects_->SeriesOf(action, i));
      churn->series.push_back(std::move(series));
    }
    const auto slots = static_cast<size_t>(action.recreates ? action.number : 0);
    churn->slots.assign(action.templates.size(), std::vector<Undo>(slots));
    PlanChurn(churn);
    return absl::OkStatus();
  }

  void PlanChurn(const std::shared_ptr<Churn>& churn) {
    const SimTime at = cluster_->now() + churn->action->interval;
    agenda_.Add(at, [this, churn] { return ChurnOnce(churn); });
  }

  absl::Status ChurnOnce(const std::shared_ptr<Churn>& churn) {
    const PerfAction& action = *churn->action;
    for (size_t i = 0; i < churn->series.size(); ++i) {
      Undo unused;
      Undo* slot = &unused;
      if (action.recreates) {
        std::vector<Undo>& slots = churn->slots[i];
        slot = &slots[static_cast<size_t>(churn->rounds) % slots.size()];
      }
      if (*slot) {
        RETURN_IF_ERROR((*slot)());
        *slot = nullptr;
      } else {
        ASSIGN_OR_RETURN(*slot, MakeForChurn(action, &churn->series[i], churn->rounds));
      }
    }
    ++churn->rounds;
    const bool over = !action.recreates && action.number > 0 && churn->rounds >= action.number;
    if (!over) PlanChurn(churn);
    return absl::OkStatus();
  }

  absl::StatusOr<Undo> MakeForChurn(const PerfAction& action, ObjectSeries* series, int64_t round) {
    ASSIGN_OR_RETURN(const ObjectSeries::Object object, series->At(round));
    if (object->has_node()) {
      ASSIGN_OR_RETURN(const std::string name, objects_->AddNode(object->node(), action, round));
      return Undo([this, name] { return cluster_->DeleteNode(name); });
    }
    if (object->has_pod()) {
      objects_->AddNamespace(action.ns, nullptr);
      objects_->Flush();
      ASSIGN_OR_RETURN(const JobId pod, objects_->AddPod(object->pod(), action.ns));
      return Undo([this, pod] {
        cluster_->DeletePod(pod);
        return absl::OkStatus();
      });
    }
    ASSIGN_OR_RETURN(const std::string key, objects_->AddOther(*object, action.ns));
    return Undo([this, key] {
      objects_->RemoveOther(key);
      return absl::OkStatus();
    });
  }

  // --- Results ---

  void FillCell() {
    CellResult& cell = outcome_.cell;
    cell.pods_arrived = static_cast<int64_t>(cluster_->pod_count());
    cell.pods_scheduled = static_cast<int64_t>(cluster_->pods_bound());
    for (size_t i = 0; i < cluster_->pod_count(); ++i) {
      const JobId pod(i);
      if (!cluster_->IsBound(pod) && !cluster_->IsGone(pod)) ++cell.pods_unschedulable;
    }
    cell.cpu_allocated_milli = cluster_->cluster().totals().cpu_milli_allocated;
    cell.starts = StartFiguresOf(cluster_->starts());
    cell.fingerprint = cluster_->fingerprint();
    cell.records = cluster_->records();
    cell.work = cluster_->work();
  }

  const FeatureGates& gates_;
  absl::string_view folder_;
  const RunSpec& spec_;
  PerfTemplates& templates_;
  std::unique_ptr<PerfCluster> cluster_;
  std::unique_ptr<PerfObjects> objects_;
  PerfAgenda agenda_;
  std::vector<JobId> made_;  // by steps, not by churn
  std::optional<Collection> collection_;
  PerfOutcome outcome_;
};

}  // namespace

absl::StatusOr<PerfOutcome> RunWorkload(const std::vector<PerfAction>& actions,
                                        const FeatureGates& gates, absl::string_view folder,
                                        const RunSpec& spec, PerfTemplates* templates) {
  return Runner(gates, folder, spec, templates).Run(actions);
}

}  // namespace drasim::perf
