#include "sim/app/cell.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/number_text.h"
#include "model/text/did_you_mean.h"
#include "sim/app/simulation.h"

namespace drasim {
namespace {

double AllocationAt(const CellResult& c, int64_t load) {
  const LoadRow* row = c.AtLoad(load);
  return row != nullptr ? row->gpu_allocation_percent : std::nan("");
}

double Percent(double part, int64_t whole) {
  return whole > 0 ? 100 * part / static_cast<double>(whole) : 0;
}

double OrNan(const std::optional<double>& value) { return value.value_or(std::nan("")); }

constexpr CellMetric kFillMetrics[] = {
    {"gpu_allocation_percent_at_100", "GPU % @100", 2, true,
     [](const CellResult& c) { return AllocationAt(c, 100); }},
    {"gpu_allocation_percent_at_130", "GPU % @130", 2, true,
     [](const CellResult& c) { return AllocationAt(c, 130); }},
    {"gpu_allocation_percent_end", "GPU % end", 2, true,
     [](const CellResult& c) {
       return Percent(static_cast<double>(c.gpu_allocated_milli), c.gpu_capacity_milli);
     }},
    {"fragmentation_percent_of_total_end", "frag % end", 2, false,
     [](const CellResult& c) { return Percent(c.fragmentation_milli, c.gpu_capacity_milli); }},
    {"pods_unschedulable", "failed pods", 0, false,
     [](const CellResult& c) { return static_cast<double>(c.pods_unschedulable); }},
};

constexpr CellMetric kReplayMetrics[] = {
    {"jobs_finished", "jobs", 0, true,
     [](const CellResult& c) { return static_cast<double>(c.replay.jobs_finished); }},
    {"mean_jct_seconds", "JCT s", 1, false,
     [](const CellResult& c) { return OrNan(c.replay.mean_jct_seconds); }},
    {"p95_jct_seconds", "JCT p95 s", 1, false,
     [](const CellResult& c) { return OrNan(c.replay.p95_jct_seconds); }},
    {"mean_queueing_seconds", "queueing s", 1, false,
     [](const CellResult& c) { return OrNan(c.replay.mean_queueing_seconds); }},
    {"mean_slowdown", "slowdown", 2, false,
     [](const CellResult& c) { return OrNan(c.replay.mean_slowdown); }},
    {"makespan_seconds", "makespan s", 0, false,
     [](const CellResult& c) { return OrNan(c.replay.makespan_seconds); }},
    {"gpu_utilisation_percent", "GPU %", 2, true,
     [](const CellResult& c) { return OrNan(c.replay.gpu_utilisation_percent); }},
    {"preemptions", "preemptions", 0, false,
     [](const CellResult& c) { return static_cast<double>(c.replay.preemptions); }},
    {"goodput", "goodput", 4, true, [](const CellResult& c) { return OrNan(c.replay.goodput); }},
};

ReplayFigures FiguresOf(const Simulation& sim) {
  const JobReport report = sim.MakeJobReport();
  const JobFigures& f = report.figures();
  ReplayFigures r;
  r.jobs_finished = f.all.count;
  r.preemptions = f.preemption.preemptions;
  if (f.all.count > 0) {
    r.mean_jct_seconds = f.all.jct_seconds.mean;
    r.p95_jct_seconds = f.all.jct_seconds.p95;
    r.mean_queueing_seconds = f.all.queueing_seconds.mean;
    r.mean_slowdown = f.all.slowdown.mean;
  }
  r.makespan_seconds = f.makespan_seconds;
  const std::optional<double> percent =
      sim.utilisation().Percent(Level::kGpuAllocatedMilli, Level::kGpuCapacityMilli);
  if (percent.has_value()) r.gpu_utilisation_percent = RoundDecimals(*percent, 6);
  r.goodput = f.preemption.goodput;
  return r;
}

// Whether placing a pod may draw.
bool PlacesAtRandom(const proto::Scheduler& scheduler) {
  const absl::StatusOr<const PolicyEntry*> policy =
      BuiltinRegistry().FindPolicy(scheduler.policy());
  if (!policy.ok()) return false;
  const std::string& chooser =
      scheduler.device_chooser().empty() ? (*policy)->allocator : scheduler.device_chooser();
  if (chooser == "random") return true;
  const auto named_random = [](const std::string& plugin) { return plugin == "Random"; };
  if (scheduler.score_size() > 0) {
    return std::any_of(scheduler.score().begin(), scheduler.score().end(),
                       [&](const proto::WeightedPlugin& s) { return named_random(s.name()); });
  }
  return std::any_of((*policy)->score.begin(), (*policy)->score.end(),
                     [&](const ScoreChoice& s) { return named_random(s.plugin); });
}

}  // namespace

const LoadRow* CellResult::AtLoad(int64_t arrived_percent) const {
  const auto it =
      std::lower_bound(by_load.begin(), by_load.end(), arrived_percent,
                       [](const LoadRow& row, int64_t a) { return row.arrived_percent < a; });
  return it != by_load.end() && it->arrived_percent == arrived_percent ? &*it : nullptr;
}

absl::Span<const CellMetric> FillMetrics() { return kFillMetrics; }
absl::Span<const CellMetric> ReplayMetrics() { return kReplayMetrics; }

absl::StatusOr<CellResult> RunCell(const proto::Scenario& scenario) {
  absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(scenario);
  if (!built.ok()) return built.status();
  Simulation& sim = **built;
  if (absl::Status s = sim.Start(); !s.ok()) return s;
  if (absl::Status s = sim.Run(); !s.ok()) return s;
  const Sample& m = sim.metrics().sample();
  CellResult cell;
  cell.pods_arrived = m.pods_arrived;
  cell.pods_scheduled = m.pods_scheduled;
  cell.pods_unschedulable = m.pods_dropped + static_cast<int64_t>(sim.engine().pods_waiting());
  cell.gpu_capacity_milli = m.totals.gpu_milli_capacity;
  cell.gpu_arrived_milli = m.gpu_arrived_milli;
  cell.gpu_allocated_milli = m.totals.gpu_milli_allocated;
  cell.cpu_allocated_milli = m.totals.cpu_milli_allocated;
  cell.fragmentation_milli = RoundDecimals(m.fragmentation.amount_milli(), 2);
  cell.fragmentation_ratio_percent = RoundDecimals(m.fragmentation.ratio_percent(), 2);
  cell.by_load = sim.load_table().Rows();
  if (scenario.mode() == "replay") cell.replay = FiguresOf(sim);
  if (scenario.order() == "artifact") cell.hashes = ComputeOrderHashes(sim.cluster(), sim.ranks());
  cell.fingerprint = sim.fingerprint();
  cell.warnings = sim.warnings();
  return cell;
}

absl::Status ForEachInParallel(size_t n, size_t jobs,
                               const std::function<absl::Status(size_t)>& work,
                               const std::function<void(size_t)>& done) {
  std::mutex mutex;
  size_t next = 0;
  absl::Status first_error;
  const auto worker = [&] {
    while (true) {
      size_t i = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex);
        if (next >= n || !first_error.ok()) return;
        i = next++;
      }
      const absl::Status status = work(i);
      const std::lock_guard<std::mutex> lock(mutex);
      if (status.ok()) {
        done(i);
      } else if (first_error.ok()) {
        first_error = status;
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(jobs, n); ++t) threads.emplace_back(worker);
  worker();
  for (std::thread& thread : threads) thread.join();
  return first_error;
}

absl::StatusOr<size_t> ParseJobs(const std::string& text) {
  if (text.empty()) return std::max<size_t>(1, std::thread::hardware_concurrency());
  uint64_t jobs = 0;
  if (!absl::SimpleAtoi(text, &jobs) || jobs < 1 || jobs > 256) {
    return absl::InvalidArgumentError(
        absl::StrCat("--jobs: found '", text, "', expected a number from 1 to 256"));
  }
  return static_cast<size_t>(jobs);
}

absl::StatusOr<std::vector<std::string>> ParsePolicies(const std::string& text) {
  std::vector<std::string> policies;
  if (text.empty() || text == "all") {
    for (const PolicyEntry& entry : BuiltinRegistry().policies()) policies.push_back(entry.name);
    return policies;
  }
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    absl::StatusOr<const PolicyEntry*> entry = BuiltinRegistry().FindPolicy(name);
    if (!entry.ok())
      return absl::InvalidArgumentError(absl::StrCat("--policies: ", entry.status().message()));
    if (std::find(policies.begin(), policies.end(), name) != policies.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--policies: '", name, "' is there twice"));
    }
    policies.emplace_back(name);
  }
  return policies;
}

std::vector<std::string> QueueNames() {
  std::vector<std::string> names;
  for (const QueueEntry& entry : BuiltinRegistry().queues()) names.push_back(entry.name);
  names.emplace_back("kubernetes");
  return names;
}

absl::StatusOr<std::vector<std::string>> ParseQueues(const std::string& text) {
  const std::vector<std::string> known = QueueNames();
  if (text == "all") return known;
  std::vector<std::string> queues;
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--queues: unknown queue '", name, "'", Suggest(name, known)));
    }
    if (std::find(queues.begin(), queues.end(), name) != queues.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--queues: '", name, "' is there twice"));
    }
    queues.emplace_back(name);
  }
  return queues;
}

absl::StatusOr<Contenders> MakeContenders(const ParsedFlags& flags, const GivenScenario& given) {
  const std::string text = flags.GetOr("queues", "");
  std::vector<GivenScenario> by_queue;
  if (text.empty()) {
    by_queue.push_back(given);
  } else {
    if (given.scenario.mode() != "replay") {
      // What is wrong with the mode itself is told first.
      GivenScenario fill = given;
      if (absl::Status s = ResolveGiven(&fill); !s.ok()) return s;
      return absl::InvalidArgumentError(
          "--queues: expected mode: replay; a fill tries each job once, so that none queues");
    }
    absl::StatusOr<std::vector<std::string>> queues = ParseQueues(text);
    if (!queues.ok()) return queues.status();
    for (const std::string& queue : *queues) {
      by_queue.push_back(given);
      by_queue.back().scenario.mutable_scheduler()->set_queue(queue);
      by_queue.back().overridden.emplace_back("scheduler.queue");
    }
  }
  // Each on its own, since defaults depend on the queue.
  Contenders contenders;
  for (GivenScenario& one : by_queue) {
    if (absl::Status s = ResolveGiven(&one); !s.ok()) return s;
    contenders.queues.push_back(one.scenario.scheduler().queue());
  }
  const std::string names = flags.GetOr("policies", "");
  if (names.empty() && !text.empty()) {
    contenders.policies.push_back(by_queue[0].scenario.scheduler().policy());
  } else {
    absl::StatusOr<std::vector<std::string>> policies = ParsePolicies(names);
    if (!policies.ok()) return policies.status();
    contenders.policies = *std::move(policies);
  }
  for (const GivenScenario& one : by_queue) {
    for (const std::string& policy : contenders.policies) {
      contenders.scenarios.push_back(one.scenario);
      contenders.scenarios.back().mutable_scheduler()->set_policy(policy);
    }
  }
  return contenders;
}

bool DependsOnSeed(const proto::Scenario& s) {
  const proto::Workload& w = s.workload();
  if (w.trace().path().empty() || s.order() != "trace" || w.tuning().has_ratio()) return true;
  if (w.bootstrap().jobs() > 0 || !w.jitter().empty() || w.has_load_factor()) return true;
  if (PlacesAtRandom(s.scheduler())) return true;
  if (s.mode() != "replay") return false;
  // kube-scheduler looks for victims from a random node on.
  if (UsesKubernetesQueue(s)) return s.preemption().mode() == "priority";
  return s.scheduler().estimates().noise() > 0;
}

void NoteIdleSeeds(const Contenders& contenders, size_t seeds) {
  if (seeds < 2 || std::any_of(contenders.scenarios.begin(), contenders.scenarios.end(),
                               [](const proto::Scenario& s) { return DependsOnSeed(s); })) {
    return;
  }
  std::fprintf(stderr, "drasim: note: nothing here is random, so all %zu seeds give the same\n",
               seeds);
}

}  // namespace drasim
