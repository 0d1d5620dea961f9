// The engine beside its naive twin, over random scenarios in every mode; and invariants that hold
// in any run, even if both are wrong.
#include "tests/sim/core/naive_replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/random.h"
#include "model/record.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/interruption.h"
#include "sim/core/quotas.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/core/job_scenarios.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace naive_replay_test {

using Action = NodeTransition::Action;

// Coarse, so that many things coincide, and fine enough for the whole seconds of a backoff.
constexpr int64_t kTickNs = 250'000'000;

// ---- Texts ----

std::string OutcomeText(const NaiveOutcome& outcome) {
  std::string text(JobStateName(outcome.state));
  for (const NaiveRun& run : outcome.runs) {
    absl::StrAppend(&text, " [", run.start_ns, "..", run.end_ns, " on ",
                    absl::StrJoin(run.nodes, ","), "]");
  }
  absl::StrAppend(&text, " waited ", outcome.waited_ns, " held ", outcome.held_ns, " lost ",
                  outcome.work_lost_ns, " overhead ", outcome.overhead_ns, " failed ",
                  outcome.failed_work_ns, " preempted ", outcome.preemptions, " evicted ",
                  outcome.evictions);
  return text;
}

std::string JobText(const JobArrival& job) {
  std::string text =
      absl::StrCat(job.name, " at ", job.time.ns(), ": ", job.pods, "x shape ", job.shape.value());
  for (const PodGroup& group : job.more_pods) {
    absl::StrAppend(&text, " + ", group.pods, "x shape ", group.shape.value());
  }
  if (job.has_run_time) absl::StrAppend(&text, " run ", job.run_time.ns());
  for (const SimDuration d : job.failed_attempts) absl::StrAppend(&text, " fails after ", d.ns());
  if (job.has_estimate) absl::StrAppend(&text, " estimate ", job.estimate.ns());
  if (job.has_deadline) absl::StrAppend(&text, " deadline ", job.deadline.ns());
  if (job.has_deletion) absl::StrAppend(&text, " deletion ", job.deletion.ns());
  absl::StrAppend(&text, " tenant '", job.tenant, "' priority ", job.priority);
  absl::StrAppend(&text, job.preemptible ? "" : " not-preemptible",
                  job.recreated ? "" : " not-recreated", job.fails ? " fails" : "");
  return text;
}

std::string ScenarioText(const EngineScenario& s, const std::vector<QuotaStep>& quotas) {
  std::string text = absl::StrCat(
      "queue ", s.queue, " head_of_line ", s.batch.head_of_line, " backfill ",
      static_cast<int>(s.batch.backfill), " preempt ", s.batch.preempt, " by priority ",
      s.batch.preempt_by_priority, "\nbackoff ", s.kubernetes.initial_backoff.ns(), " to ",
      s.kubernetes.max_backoff.ns(), " pop ", s.kubernetes.pop_from_backoff, " flush ",
      s.kubernetes.unschedulable_flush.ns(), "\nattempt ", s.options.attempt_latency.ns(), " bind ",
      s.bind_latency.ns(), " recreation ", s.options.recreation_delay.ns());
  const InterruptionCosts& costs = s.options.interruption;
  absl::StrAppend(&text, " grace ", costs.grace_period.ns(), " keeps work ", costs.keeps_work,
                  " interval ", costs.checkpoint_interval.ns(), " add up ", costs.restarts_add_up);
  for (const InterruptionCosts::Restart& r : costs.restart) {
    absl::StrAppend(&text, " restart ", r.delay.ns(), " up to ", r.max_gpu_milli);
  }
  for (const NodeSpec& n : s.nodes) {
    absl::StrAppend(&text, "\nnode ", n.name, " cpu ", n.cpu_milli, " memory ", n.memory_bytes,
                    " gpus ", n.gpu_count, n.absent ? " absent" : "",
                    n.unschedulable ? " cordoned" : "");
  }
  for (size_t i = 0; i < s.shapes.size(); ++i) {
    absl::StrAppend(&text, "\nshape ", i, " cpu ", s.shapes[i].request.cpu_milli, " memory ",
                    s.shapes[i].request.memory_bytes, " gpus ", s.shapes[i].request.gpu_count);
  }
  for (const QuotaStep& q : quotas) {
    absl::StrAppend(&text, "\nquota ", q.tenant, " since ", q.since_ns, " cpu ", q.limit.cpu_milli,
                    " gpu ", q.limit.gpu_milli);
  }
  for (const NodeTransition& c : s.node_changes) {
    absl::StrAppend(&text, "\nat ", c.at.ns(), " node ", c.node.value(), " action ",
                    static_cast<int>(c.action));
  }
  for (const JobArrival& job : s.jobs) absl::StrAppend(&text, "\n", JobText(job));
  return text;
}

// ---- Random scenarios ----

struct Case {
  EngineScenario engine;
  std::vector<QuotaStep> quotas;
  bool kubernetes = false;
  bool backfills = false;
  bool preempts = false;
  bool node_events = false;
  bool has_quotas = false;
};

bool OneIn(uint64_t n, Random& random) { return random.Below(n) == 0; }
int64_t Ticks(uint64_t least, uint64_t most, Random& random) {
  return static_cast<int64_t>(least + random.Below(most - least + 1)) * kTickNs;
}

// 27 ways of queueing times 12 variants: each of them comes up among 324 seeds in a row.
void ChooseMode(uint64_t seed, Case* c) {
  static constexpr const char* kQueues[] = {"fifo", "priority", "sjf", "srtf", "drf", "edf"};
  EngineScenario& e = c->engine;
  const uint64_t mode = seed % 27;
  const uint64_t variant = seed / 27 % 12;
  c->has_quotas = variant % 2 == 1;
  c->node_events = variant / 2 % 2 == 1;
  const uint64_t preemption = variant / 4;
  c->kubernetes = mode >= 24;
  if (c->kubernetes) {
    e.queue = "kubernetes";
    e.kubernetes.pop_from_backoff = mode != 26;
    if (mode == 24) return;
    e.kubernetes.initial_backoff = SimDuration::Seconds(1);
    e.kubernetes.max_backoff = SimDuration::Seconds(10);
    return;
  }
  e.queue = kQueues[mode / 4];
  e.batch.head_of_line = mode % 4 != 1;
  if (mode % 4 == 2) e.batch.backfill = Backfill::kEasy;
  if (mode % 4 == 3) e.batch.backfill = Backfill::kConservative;
  c->backfills = e.batch.backfill != Backfill::kNone;
  const bool srtf = e.queue == "srtf";
  // Conservative backfilling displaces no jobs.
  if (e.batch.backfill == Backfill::kConservative) return;
  e.batch.preempt = srtf && preemption == 1;
  e.batch.preempt_by_priority = preemption == (srtf ? uint64_t{2} : uint64_t{1});
  c->preempts = e.batch.preempt || e.batch.preempt_by_priority;
}

// Combinations without a documented rule are left out: the effect on backfilling that jobs have
// been bound, and the owner of the room of victims that took their time to leave.
void ChooseTiming(Random& random, Case* c) {
  EngineScenario& e = c->engine;
  InterruptionCosts& costs = e.options.interruption;
  if (OneIn(4, random)) e.options.attempt_latency = SimDuration(kTickNs);
  if (OneIn(3, random) && !c->backfills) {
    e.bind_latency = SimDuration(Ticks(1, 3, random));
  }
  if (OneIn(3, random)) e.options.recreation_delay = SimDuration(Ticks(1, 4, random));
  const bool victims_go_behind = (e.queue == "priority" && e.batch.preempt_by_priority) ||
                                 (e.queue == "srtf" && e.batch.preempt);
  const bool line_holds = e.batch.head_of_line && !c->backfills;
  if (OneIn(3, random) && (!c->preempts || (victims_go_behind && line_holds))) {
    costs.grace_period = SimDuration(Ticks(2, 6, random));
  }
  costs.keeps_work = !OneIn(8, random);
  if (OneIn(2, random)) costs.checkpoint_interval = SimDuration(Ticks(3, 12, random));
  if (OneIn(2, random)) {
    InterruptionCosts::Restart small;
    small.max_gpu_milli = 1000;
    small.delay = SimDuration(kTickNs);
    InterruptionCosts::Restart any;
    any.delay = SimDuration(Ticks(1, 4, random));
    costs.restart = {small, any};
  }
  costs.restarts_add_up = OneIn(4, random);
  if (OneIn(3, random)) e.kubernetes.unschedulable_flush = SimDuration::Seconds(5);
}

void AddNodes(Random& random, Case* c) {
  const bool one = c->backfills && OneIn(2, random);
  const uint64_t nodes = one ? 1 : 1 + random.Below(6);
  for (uint64_t n = 0; n < nodes; ++n) {
    const int64_t cores = OneOf<int64_t>({4, 8, 8, 16}, random);
    const int32_t gpus = OneOf<int32_t>({0, 1, 2, 4, 4, 8}, random);
    NodeSpec node = TestNode(absl::StrCat("n", n), cores * 1000, gpus);
    node.memory_bytes = OneOf<int64_t>({8, 16, 32}, random);
    node.absent = c->node_events && OneIn(5, random);
    node.unschedulable = c->node_events && !c->backfills && OneIn(8, random);
    c->engine.nodes.push_back(node);
  }
  for (const int64_t cpu_milli : {500, 1000, 1500, 2000, 3000}) {
    PodShape shape = TestShape(cpu_milli, OneOf<int32_t>({0, 0, 1, 1, 2, 4}, random));
    shape.request.memory_bytes = OneOf<int64_t>({0, 1, 2, 4}, random);
    c->engine.shapes.push_back(shape);
  }
}

// Chooses the job's pods. `gangs`: the gangs of two groups so far; each of them is the only one of
// its kind, since the best place of one pod may be another's only place, so that equals need not
// fare alike.
void ChoosePods(const Case& c, Random& random, std::set<std::vector<int64_t>>* gangs,
                JobArrival* job) {
  const uint64_t shapes = c.engine.shapes.size();
  const uint64_t first = random.Below(shapes);
  job->shape = ShapeId(static_cast<size_t>(first));
  if (OneIn(3, random)) job->pods = static_cast<int32_t>(2 + random.Below(3));
  const uint64_t other = (first + 1 + random.Below(shapes - 1)) % shapes;
  const auto more = static_cast<int32_t>(1 + random.Below(2));
  if (!OneIn(6, random)) return;
  const std::vector<int64_t> kind = {static_cast<int64_t>(first), job->pods,
                                     static_cast<int64_t>(other), more};
  if (!gangs->insert(kind).second) return;
  job->more_pods.push_back({ShapeId(static_cast<size_t>(other)), more});
}

void AddJobs(Random& random, Case* c) {
  const uint64_t jobs = 5 + random.Below(16);
  std::set<std::vector<int64_t>> gangs;
  int64_t at_ns = 0;
  for (uint64_t i = 0; i < jobs; ++i) {
    at_ns += Ticks(0, 3, random);
    JobArrival job;
    job.name = absl::StrCat("j", i);
    job.time = SimTime(at_ns);
    ChoosePods(*c, random, &gangs, &job);
    job.tenant = OneOf<std::string>({"", "a", "a", "b"}, random);
    job.priority = static_cast<int32_t>(random.Below(4));
    job.has_run_time = !OneIn(10, random);
    const int64_t run_ns = OneIn(12, random) ? 0 : Ticks(1, 24, random);
    if (job.has_run_time) job.run_time = SimDuration(run_ns);
    job.has_deletion = OneIn(job.has_run_time ? uint64_t{8} : uint64_t{2}, random);
    if (job.has_deletion) job.deletion = SimTime(at_ns + Ticks(0, 40, random));
    job.has_estimate = OneIn(3, random);
    if (job.has_estimate) job.estimate = SimDuration(Ticks(0, 30, random));
    job.has_deadline = OneIn(2, random);
    if (job.has_deadline) job.deadline = SimTime(at_ns + Ticks(0, 60, random));
    job.preemptible = !OneIn(5, random);
    job.recreated = !OneIn(4, random);
    job.fails = OneIn(8, random);
    const uint64_t attempts = OneIn(6, random) ? 1 + random.Below(2) : 0;
    for (uint64_t a = 0; a < attempts; ++a) {
      job.failed_attempts.push_back(SimDuration(Ticks(1, 6, random)));
    }
    c->engine.jobs.push_back(job);
  }
}

void AddNodeEvents(Random& random, Case* c) {
  // The effect of cordoned nodes on reservations is not documented.
  std::vector<Action> actions = {Action::kAdd,  Action::kAdd,     Action::kRemove,
                                 Action::kFail, Action::kRecover, Action::kRecover};
  if (!c->backfills) {
    actions.insert(actions.end(), {Action::kCordon, Action::kDrain, Action::kDrain,
                                   Action::kUncordon, Action::kUncordon});
  }
  const uint64_t events = 2 + random.Below(6);
  std::vector<int64_t> times_ns;
  for (uint64_t i = 0; i < events; ++i) times_ns.push_back(Ticks(0, 60, random));
  std::sort(times_ns.begin(), times_ns.end());
  for (const int64_t at_ns : times_ns) {
    const auto node = static_cast<size_t>(random.Below(c->engine.nodes.size()));
    c->engine.node_changes.push_back(MakeChange(at_ns, node, OneOf(actions, random)));
  }
}

void AddQuotas(Random& random, Case* c) {
  for (const char* const tenant : {"a", "b"}) {
    int64_t since_ns = OneIn(2, random) ? 0 : Ticks(1, 20, random);
    const uint64_t steps = 1 + random.Below(2);
    for (uint64_t i = 0; i < steps; ++i) {
      QuotaStep step;
      step.tenant = tenant;
      step.since_ns = since_ns;
      const auto cores = static_cast<int64_t>(2 + random.Below(8));
      const auto gpus = static_cast<int64_t>(1 + random.Below(5));
      step.limit.cpu_milli = OneIn(3, random) ? Quotas::kUnlimited : cores * 1000;
      step.limit.gpu_milli = OneIn(3, random) ? Quotas::kUnlimited : gpus * 1000;
      step.limit.memory_bytes = Quotas::kUnlimited;
      c->quotas.push_back(step);
      c->engine.quotas.Add(step.tenant, SimTime(step.since_ns), step.limit);
      since_ns += Ticks(5, 30, random);
    }
  }
}

Case RandomCase(uint64_t seed) {
  Random random(seed, "naive replay");
  Case c;
  c.engine.policy = "consolidate";
  c.engine.identity_ranks = true;
  c.engine.options.mode = RunMode::kReplay;
  c.engine.options.check_invariants = true;
  c.engine.options.stop_after_events = 100'000;
  ChooseMode(seed, &c);
  ChooseTiming(random, &c);
  AddNodes(random, &c);
  AddJobs(random, &c);
  if (c.node_events) AddNodeEvents(random, &c);
  if (c.has_quotas) AddQuotas(random, &c);
  return c;
}

// ---- Invariants of any run ----

// Follows the records and judges by them alone.
class Witness : public RecordSink {
 public:
  void Watch(const JobTable* jobs) { jobs_ = jobs; }

  void OnRecord(const Record& record, const ClusterState& cluster) override {
    if (!record.pod.valid()) return;
    const size_t j = jobs_->job_of(record.pod).value();
    if (runs_.size() <= j) {
      runs_.resize(j + 1);
      lost_at_ns_.resize(j + 1, kForever);
    }
    switch (record.kind) {
      case RecordKind::kPodReserved:
        Charge(record, cluster);
        break;
      case RecordKind::kPodBound:
        if (charged_.count(record.pod.value()) == 0) Charge(record, cluster);
        EXPECT_EQ(charged_[record.pod.value()], record.node.value());
        Begin(j, record);
        break;
      case RecordKind::kPodUnreserved:
        EXPECT_EQ(charged_.erase(record.pod.value()), 1u);
        break;
      case RecordKind::kPodFinished:
      case RecordKind::kPodEvicted:
      case RecordKind::kPodFailed:
      case RecordKind::kPodDeleted:
        if (!record.node.valid()) break;
        EXPECT_EQ(charged_.erase(record.pod.value()), 1u);
        runs_[j].back().end_ns = record.time.ns();
        if (record.kind == RecordKind::kPodEvicted &&
            record.detail == static_cast<uint32_t>(EvictionCause::kNodeLost)) {
          lost_at_ns_[j] = record.time.ns();
        }
        break;
      default:
        break;
    }
  }

  // Between instants each gang is placed as a whole or not at all.
  void CheckGangs() const {
    std::vector<uint32_t> held(jobs_->size(), 0);
    for (const auto& [pod, node] : charged_) ++held[jobs_->job_of(PodId(pod)).value()];
    for (size_t j = 0; j < held.size(); ++j) {
      const uint32_t pods = jobs_->row(JobId(j)).pods;
      EXPECT_TRUE(held[j] == 0 || held[j] == pods) << "job " << j;
    }
  }

  const std::vector<NaiveRun>& runs(size_t j) const { return runs_[j]; }
  // When it last lost a node; kForever: never.
  int64_t lost_at_ns(size_t j) const { return lost_at_ns_[j]; }

 private:
  // No node ever holds more than it has.
  void Charge(const Record& record, const ClusterState& cluster) {
    charged_[record.pod.value()] = record.node.value();
    EXPECT_TRUE(cluster.node(record.node).available);
    const NodeSpec& spec = cluster.node_spec(record.node);
    int64_t cpu_milli = 0;
    int64_t memory_bytes = 0;
    int64_t gpus = 0;
    for (const auto& [pod, node] : charged_) {
      if (node != record.node.value()) continue;
      const PodShape& shape = cluster.pod_shape(PodId(pod));
      cpu_milli += shape.request.cpu_milli;
      memory_bytes += shape.request.memory_bytes;
      gpus += shape.request.gpu_count;
    }
    EXPECT_LE(cpu_milli, spec.cpu_milli);
    EXPECT_LE(memory_bytes, spec.memory_bytes);
    EXPECT_LE(gpus, spec.gpu_count);
  }

  // The pods of a job begin together, and only when the run before is over.
  void Begin(size_t j, const Record& record) {
    std::vector<NaiveRun>& so_far = runs_[j];
    const uint32_t pods = jobs_->row(JobId(j)).pods;
    if (so_far.empty() || so_far.back().nodes.size() == pods) {
      EXPECT_TRUE(so_far.empty() || so_far.back().end_ns != kForever) << "job " << j;
      so_far.emplace_back();
      so_far.back().start_ns = record.time.ns();
    }
    EXPECT_EQ(so_far.back().start_ns, record.time.ns());
    EXPECT_EQ(so_far.back().end_ns, kForever);
    so_far.back().nodes.push_back(record.node.value());
  }

  const JobTable* jobs_ = nullptr;
  std::map<uint32_t, uint32_t> charged_;     // pod -> node
  std::vector<std::vector<NaiveRun>> runs_;  // by job
  std::vector<int64_t> lost_at_ns_;
};

// Without head of line and without delays, whatever fits is started at once.
void CheckNothingFits(const Case& c, const EngineParts& parts, const Witness& witness,
                      int64_t now_ns) {
  std::vector<NaiveNode> idle;
  for (const NodeRow& row : parts.cluster->nodes()) {
    NaiveNode node;
    node.cpu_milli = row.cpu_milli_idle;
    node.memory_bytes = row.memory_bytes_idle;
    node.gpus = row.gpu_full_idle;
    node.pods = row.pods_idle;
    node.open = row.available && row.schedulable;
    idle.push_back(node);
  }
  for (size_t j = 0; j < parts.jobs->size(); ++j) {
    const JobRow& row = parts.jobs->row(JobId(j));
    const JobArrival& job = c.engine.jobs[j];
    if (row.state != JobState::kWaiting || !job.more_pods.empty()) continue;
    const int64_t lost_at_ns = witness.lost_at_ns(j);
    const int64_t delay_ns = c.engine.options.recreation_delay.ns();
    if (lost_at_ns != kForever && now_ns < lost_at_ns + delay_ns) continue;
    const ResourceAmounts& held = parts.jobs->tenant_usage(row.tenant);
    if (!NaiveQuotaAllows(c.quotas, job.tenant, now_ns, held, row.request)) continue;
    EXPECT_TRUE(NaivePlace(idle, NaivePods(c.engine, job)).empty())
        << job.name << " would fit at " << now_ns;
  }
}

bool ConservesWork(const Case& c) {
  if (c.engine.options.attempt_latency > SimDuration()) return false;
  if (!c.kubernetes) return !c.engine.batch.head_of_line;
  // Quotas bind there when pods are created, not when they start.
  return c.engine.kubernetes.max_backoff <= SimDuration() && !c.has_quotas;
}

NaiveOutcome OutcomeOf(const JobRow& row, const std::vector<NaiveRun>& runs) {
  NaiveOutcome outcome;
  outcome.state = row.state;
  outcome.runs = runs;
  outcome.waited_ns = row.waited.ns();
  outcome.held_ns = row.held.ns();
  outcome.work_lost_ns = row.work_lost.ns();
  outcome.overhead_ns = row.overhead.ns();
  outcome.failed_work_ns = row.failed_work.ns();
  outcome.preemptions = row.preemptions;
  outcome.evictions = row.evictions;
  return outcome;
}

// Time is held for work, for work that is lost, or for overhead, and for nothing else.
void CheckConservation(const JobArrival& job, const JobRow& row,
                       const std::vector<NaiveRun>& runs) {
  int64_t held_ns = 0;
  for (const NaiveRun& run : runs) {
    if (run.end_ns != kForever) held_ns += run.end_ns - run.start_ns;
  }
  EXPECT_EQ(held_ns, row.held.ns()) << job.name;
  if (row.state != JobState::kSucceeded) return;
  SimDuration spent = row.run_time + row.work_lost + row.overhead;
  for (const SimDuration attempt : job.failed_attempts) spent = spent + attempt;
  EXPECT_EQ(held_ns * row.request.gpu_milli, spent.ns() * row.request.gpu_milli) << job.name;
  EXPECT_EQ(held_ns, spent.ns()) << job.name;
}

struct Totals {
  std::map<JobState, int64_t> states;
  std::map<std::string, int64_t> preemptions;  // by queue
  int64_t evictions = 0;
  int64_t retries = 0;
};

void CheckSeed(uint64_t seed, Totals* totals) {
  const Case c = RandomCase(seed);
  SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", ScenarioText(c.engine, c.quotas)));
  const std::vector<NaiveOutcome> wanted = NaiveReplay(c.engine, c.quotas);
  ASSERT_EQ(wanted.size(), c.engine.jobs.size()) << "the naive run does not end";
  Witness witness;
  int64_t gpu_milli_ns = 0;
  EngineParts seen;
  EngineRig rig(c.engine, [&](EngineParts& parts) {
    seen.jobs = parts.jobs;
    seen.cluster = parts.cluster;
    witness.Watch(parts.jobs);
    parts.sinks.push_back(&witness);
    parts.on_interval = [&](SimTime from, SimTime to) {
      witness.CheckGangs();
      gpu_milli_ns += seen.cluster->totals().gpu_milli_allocated * (to - from).ns();
      if (ConservesWork(c)) CheckNothingFits(c, seen, witness, from.ns());
    };
  });
  const absl::Status status = rig.engine().Run();
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(rig.engine().finished()) << "the run does not end";
  witness.CheckGangs();
  if (ConservesWork(c)) CheckNothingFits(c, seen, witness, rig.engine().now().ns());
  ASSERT_EQ(rig.jobs().size(), wanted.size());
  int64_t held_milli_ns = 0;
  for (size_t j = 0; j < wanted.size(); ++j) {
    const JobRow& row = rig.jobs().row(JobId(j));
    const std::vector<NaiveRun>& runs = witness.runs(j);
    EXPECT_EQ(OutcomeText(OutcomeOf(row, runs)), OutcomeText(wanted[j])) << c.engine.jobs[j].name;
    CheckConservation(c.engine.jobs[j], row, runs);
    int64_t held_ns = row.held.ns();
    if (row.state == JobState::kRunning) held_ns += (rig.engine().now() - row.started).ns();
    held_milli_ns += held_ns * row.request.gpu_milli;
    ++totals->states[row.state];
    totals->preemptions[c.engine.queue] += row.preemptions;
    totals->evictions += row.evictions;
    totals->retries += row.retry;
  }
  // Attempts without an event for each are the same attempts.
  EngineScenario fast = c.engine;
  fast.options.check_invariants = false;
  fast.options.stop_after_events = 0;
  EngineRig fast_rig(fast);
  ASSERT_TRUE(fast_rig.engine().Run().ok());
  EXPECT_EQ(fast_rig.RecordLines(), rig.RecordLines());
  // Nodes gave exactly what jobs got, but for the time that it takes to bind.
  if (c.engine.bind_latency <= SimDuration()) {
    EXPECT_EQ(gpu_milli_ns, held_milli_ns);
  }
}

TEST(NaiveReplayTest, TheEngineDoesTheSameInEveryMode) {
  Totals totals;
  for (uint64_t seed = 0; seed < SoakSeeds(500); ++seed) {
    CheckSeed(seed, &totals);
    if (HasFailure()) return;
  }
  // All of it happens.
  for (const JobState state : {JobState::kWaiting, JobState::kRunning, JobState::kSucceeded,
                               JobState::kFailed, JobState::kDeleted, JobState::kDropped}) {
    EXPECT_GT(totals.states[state], 20) << JobStateName(state);
  }
  for (const char* const queue : {"fifo", "priority", "sjf", "srtf", "drf", "edf"}) {
    EXPECT_GT(totals.preemptions[queue], 5) << queue;
  }
  EXPECT_EQ(totals.preemptions["kubernetes"], 0);
  EXPECT_GT(totals.evictions, 50);
  EXPECT_GT(totals.retries, 50);
}

// ---- The twin knows the textbook ----

std::vector<int64_t> StartsOf(const EngineScenario& scenario) {
  std::vector<int64_t> starts_ns;
  for (const NaiveOutcome& outcome : NaiveReplay(scenario, {})) {
    starts_ns.push_back(outcome.runs.empty() ? kForever : outcome.runs[0].start_ns);
  }
  return starts_ns;
}

TEST(NaiveReplayTest, TheTwinKnowsBackfilling) {
  EXPECT_EQ(StartsOf(EasyExample()), (std::vector<int64_t>{0, 10, 15, 3, 4}));
  EXPECT_EQ(StartsOf(ConservativeExample(Backfill::kEasy)),
            (std::vector<int64_t>{0, 10, 21, 3, 26}));
  EXPECT_EQ(StartsOf(ConservativeExample(Backfill::kConservative)),
            (std::vector<int64_t>{0, 10, 20, 25, 4}));
}

TEST(NaiveReplayTest, TheTwinKnowsDominantResourceFairness) {
  const int64_t never = kForever;
  EXPECT_EQ(StartsOf(DrfExample()),
            (std::vector<int64_t>{0, 0, 0, never, never, 0, 0, never, never, never}));
}

TEST(NaiveReplayTest, TheTwinCountsWhatInterruptionsCost) {
  EngineScenario s = Cores({4}, "srtf");
  s.batch.preempt = true;
  s.options.interruption.checkpoint_interval = SimDuration(10);
  InterruptionCosts::Restart restart;
  restart.delay = SimDuration(3);
  s.options.interruption.restart = {restart};
  s.jobs = {MakeJob("a", 4, 0, 50), MakeJob("b", 4, 17, 5)};
  const std::vector<NaiveOutcome> outcomes = NaiveReplay(s, {});
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(OutcomeText(outcomes[0]),
            "Succeeded [0..17 on 0] [22..65 on 0] waited 5 held 60 lost 7 overhead 3 failed 0 "
            "preempted 1 evicted 0");
  EXPECT_EQ(OutcomeText(outcomes[1]),
            "Succeeded [17..22 on 0] waited 0 held 5 lost 0 overhead 0 failed 0 preempted 0 "
            "evicted 0");
}

}  // namespace naive_replay_test
}  // namespace drasim
