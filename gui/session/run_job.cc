#include "gui/session/run_job.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "gui/session/cache_folder.h"
#include "gui/session/live_overview.h"
#include "gui/session/snapshot_builder.h"
#include "gui/view/pod_archive.h"
#include "gui/view/scenario_text.h"
#include "gui/view/unit_text.h"
#include "model/claim_change.h"
#include "model/proto/scenario.pb.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/record/folder_lock.h"
#include "sim/record/gpu_layouts.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/live_claims.h"
#include "sim/record/live_state.h"
#include "sim/run/branch.h"
#include "sim/run/resume.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/embedded_scenarios.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/run_spec.h"
#include "sim/scenario/scenario_paths.h"

namespace drasim::gui {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kRecordsPerLookAtClock = 256;
constexpr std::chrono::milliseconds kSnapshotEvery(250);
// Snapshots of large runs are expensive: the worker spends at most a tenth of its time on them.
constexpr int kRestPerSnapshot = 9;

// The prefix of errors about changed keys.
constexpr char kOrigin[] = "change";

absl::StatusOr<GivenScenario> ReadText(std::string text, const std::string& file) {
  GivenScenario given;
  given.text = std::move(text);
  given.file = file;
  RETURN_IF_ERROR(ParseGiven(&given));
  AnchorPaths(file, &*given.scenario);
  return given;
}

absl::StatusOr<GivenScenario> ReadScenario(const RunJobSpec& spec) {
  absl::string_view name = spec.scenario_path;
  if (absl::ConsumePrefix(&name, "embedded:")) {
    const absl::string_view text = EmbeddedScenario(name);
    if (!text.empty()) return ReadText(std::string(text), spec.scenario_path);
    const std::vector<std::string> names = EmbeddedScenarioNames();
    return absl::NotFoundError(absl::StrCat("found no embedded scenario '", name,
                                            "', expected one of ", absl::StrJoin(names, ", "),
                                            Suggest(name, names)));
  }
  if (spec.scenario_path == "-") {
    return absl::InvalidArgumentError("a window cannot read a scenario from standard input");
  }
  if (!spec.scenario_path.empty()) return ReadGiven(spec.scenario_path);
  const fs::path file = fs::path(spec.base_folder) / "scenario.yaml";
  return ReadText(spec.scenario_yaml, file.string());
}

absl::string_view ActionOf(NodeEventChange::Kind kind) {
  switch (kind) {
    case NodeEventChange::Kind::kFail:
      return "fail";
    case NodeEventChange::Kind::kDrain:
      return "drain";
    case NodeEventChange::Kind::kAdd:
      return "add";
  }
  return "";
}

absl::Status AddNodeEvent(const NodeEventChange& event, GivenScenario* given) {
  const std::string item =
      absl::StrCat("cluster.events.", given->scenario->cluster().events_size());
  RETURN_IF_ERROR(
      OverrideKey(absl::StrCat(item, ".at"), absl::StrCat(event.at.ns(), "ns"), kOrigin, given));
  RETURN_IF_ERROR(OverrideKey(absl::StrCat(item, ".nodes"), event.node, kOrigin, given));
  return OverrideKey(absl::StrCat(item, ".action"), ActionOf(event.kind), kOrigin, given);
}

// The scenario with its changes, not resolved.
absl::StatusOr<GivenScenario> ChangedScenario(const RunJobSpec& spec) {
  ASSIGN_OR_RETURN(GivenScenario given, ReadScenario(spec));
  for (const auto& [key, value] : spec.changes) {
    RETURN_IF_ERROR(OverrideKey(key, value, kOrigin, &given));
  }
  for (const NodeEventChange& event : spec.node_events) {
    RETURN_IF_ERROR(AddNodeEvent(event, &given));
  }
  return given;
}

absl::Status CheckInputs(const RunSpec& spec) {
  for (const auto& [key, file] : {std::pair("cluster.path", spec.cluster.nodes.path),
                                  std::pair("workload.trace.path", spec.workload.trace.path)}) {
    if (file != "-") continue;
    return absl::FailedPreconditionError(
        absl::StrCat(key, ": found '-', standard input, which a window cannot read"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ChangesText(const RunJobSpec& spec) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : spec.changes) {
    const size_t last = key.rfind('.');
    const size_t before = last == std::string::npos || last == 0 ? last : key.rfind('.', last - 1);
    parts.push_back(
        absl::StrCat(before == std::string::npos ? key : key.substr(before + 1), "=", value));
  }
  for (const NodeEventChange& event : spec.node_events) {
    absl::string_view what;
    switch (event.kind) {
      case NodeEventChange::Kind::kFail:
        what = " fails at ";
        break;
      case NodeEventChange::Kind::kDrain:
        what = " is drained at ";
        break;
      case NodeEventChange::Kind::kAdd:
        what = " once more at ";
        break;
    }
    parts.push_back(absl::StrCat(event.node, what, view::TimeText(event.at)));
  }
  return absl::StrJoin(parts, ", ");
}

absl::Status CheckRun(const RunJobSpec& spec) {
  ASSIGN_OR_RETURN(const GivenScenario given, ChangedScenario(spec));
  ASSIGN_OR_RETURN(const RunSpec run, ResolveGiven(given));
  return CheckInputs(run);
}

class RunJob::Impl {
 public:
  Impl(RunJobSpec given, std::function<void()> on_change)
      : spec_(std::move(given)), on_change_(std::move(on_change)), paused_(spec_.paused) {
    attention_ = paused_;
    worker_ = std::thread([this] { Work(); });
  }
  ~Impl() {
    Cancel();
    worker_.join();
  }

  const RunJobSpec& spec() const { return spec_; }

  JobProgress progress() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    JobProgress progress = progress_;
    progress.records = records_.load(std::memory_order_relaxed);
    progress.time = SimTime(time_ns_.load(std::memory_order_relaxed));
    progress.pods_arrived = jobs_.load(std::memory_order_relaxed);
    return progress;
  }
  std::shared_ptr<const RunSnapshot> snapshot() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return snapshot_;
  }
  std::shared_ptr<const RunOverview> overview() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return overview_;
  }

  void Pause() {
    const std::lock_guard<std::mutex> lock(mutex_);
    paused_ = true;
    steps_ = 0;
    attention_ = true;
  }
  void Resume() {
    const std::lock_guard<std::mutex> lock(mutex_);
    paused_ = false;
    attention_ = false;
    LeavePause();
  }
  void Step(uint64_t records) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!paused_) return;
    steps_ += records;
    if (steps_ > 0) LeavePause();
  }
  void Cancel() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    LeavePause();
  }
  void Settle() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return over_; });
  }

 private:
  // Follows the records for snapshots, and holds the run up where it is to pause.
  class Follower : public RecordSink {
    // Lives as the follower, so that references to it do.
    struct LayoutCall {
      const Follower* follower;
      std::optional<uint64_t> operator()(NodeId node, size_t gpu) const {
        return follower->LayoutNow(node, gpu);
      }
    };

   public:
    Follower(Impl* job, const Simulation* sim)
        : job_(job),
          sim_(sim),
          layouts_(sim->Layouts()),
          live_(sim->cluster(), &sim->summaries()),
          ended_(view::PodTexts::Of(sim->cluster())),
          next_(Clock::now()) {
      const proto::Scenario& scenario = *sim->spec().written;
      RunOverview known;
      known.name = scenario.name();
      known.policy = view::PolicyText(scenario.scheduler().policy(), scenario.front_end().kind());
      overview_.emplace(std::move(known), sim->cluster(), !sim->spec().is_replay(), LayoutsOfRun());
    }

    // The state at the point of another run at which this one begins. Call it after the start.
    absl::Status Begin(const std::string& ledger, const BranchPoint& point) {
      ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader, LedgerReader::Open(ledger));
      while (records_ < point.checkpoint.records) {
        // Snapshots of a state that was followed half-way would name pods it has not seen.
        if (job_->stop_) return absl::CancelledError("the run was cancelled");
        Record record;
        ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
        if (!more) {
          return absl::DataLossError(
              absl::StrCat(reader->path(), ": the ledger ends before its checkpoint"));
        }
        Follow(record, reader->cluster(),
               [&](NodeId node, size_t gpu) { return reader->LayoutOf(node, gpu); });
      }
      ASSIGN_OR_RETURN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger));
      RETURN_IF_ERROR(seek->ToRecord(point.checkpoint.records));
      claims_ = seek->claims();
      return absl::OkStatus();
    }

    void OnRecord(const Record& record, const ClusterState& cluster) override {
      Follow(record, cluster, LayoutsOfRun());
      if (job_->attention_.load(std::memory_order_relaxed)) {
        job_->TakeStep();
        return job_->WaitWhilePaused(this);
      }
      if (records_ % kRecordsPerLookAtClock != 0) return;
      const Clock::time_point now = Clock::now();
      if (now < next_) return;
      Publish();
      const Clock::time_point done = Clock::now();
      next_ = done + std::max<Clock::duration>(kSnapshotEvery, (done - now) * kRestPerSnapshot);
    }
    bool wants_claim_changes() const override { return true; }
    void OnClaimChange(const ClaimChange& change) override { claims_.Apply(change); }

    void Publish() {
      const bool has_clock = sim_->spec().is_replay();
      SnapshotExtras extras;
      extras.record = records_;
      extras.time = has_clock ? time_ : SimTime(static_cast<int64_t>(records_));
      SnapshotRequest request;
      request.at = {extras.time, records_};
      request.tenants = true;
      // Shared archives never change, and this one grows.
      const std::shared_ptr<const view::PodArchive> archive =
          std::make_shared<view::PodArchive>(ended_);
      const auto number_of = [](PodId pod) { return pod.value(); };
      const auto tenant_of = [this](PodId pod) { return tenants_[pod.value()]; };
      const SnapshotState state{sim_->cluster(), live_, sim_->summaries(), archive, number_of,
                                tenant_of,       time_};
      extras.claims = &claims_;
      extras.layout_of.emplace(LayoutsOfRun());
      auto snapshot = std::make_shared<const RunSnapshot>(MakeSnapshot(request, state, extras));
      std::shared_ptr<const RunOverview> overview =
          overview_->Now(sim_->cluster(), live_, LayoutsOfRun(), snapshot->pods);
      job_->Publish(std::move(snapshot), std::move(overview));
    }

   private:
    // `cluster` may be that of a ledger with the same pods.
    void Follow(const Record& record, const ClusterState& cluster, view::LayoutOfGpu layouts) {
      live_.OnRecord(record, cluster);
      overview_->OnRecord(record, cluster, live_, layouts);
      if (record.kind == RecordKind::kPodArrived) {
        const JobTable& jobs = sim_->jobs();
        const TenantId tenant = jobs.row(jobs.job_of(record.pod)).tenant;
        tenants_.push_back(ended_.InternTenant(jobs.tenant_name(tenant)));
      }
      if (live_.ended().has_value()) AddEnded(*live_.ended(), cluster);
      time_ = record.time;
      ++records_;
      job_->records_.store(records_, std::memory_order_relaxed);
      job_->time_ns_.store(time_.ns(), std::memory_order_relaxed);
      job_->jobs_.store(sim_->jobs().size(), std::memory_order_relaxed);
    }

    void AddEnded(const EndedPod& ended, const ClusterState& cluster) {
      view::PodRow row;
      static_cast<PodCourse&>(row) = ended.history;
      row.arrival = cluster.pod_arrival(ended.pod);
      row.ended = ended.end;
      row.number = ended.pod.value();
      row.shape = cluster.pod_shape_id(ended.pod).value();
      row.tenant = tenants_[ended.pod.value()];
      row.phase = cluster.pod_phase(ended.pod);
      ended_.Append(row, cluster.pod_name(ended.pod), sim_->summaries());
    }

    std::optional<uint64_t> LayoutNow(NodeId node, size_t gpu) const {
      if (layouts_ == nullptr) return std::nullopt;
      return InstancesOf(sim_->cluster(), layouts_, node, gpu);
    }
    // Valid as long as the follower.
    view::LayoutOfGpu LayoutsOfRun() const { return layout_now_; }

    Impl* job_;
    const Simulation* sim_;
    const LayoutCall layout_now_{this};
    LayoutLookup layouts_;  // of MIG, made ahead of pods; or none
    LiveState live_;
    LiveClaims claims_;
    view::PodArchive ended_;
    std::optional<LiveOverview> overview_;
    std::vector<uint32_t> tenants_;  // by pod: of the archive
    uint64_t records_ = 0;
    SimTime time_;
    Clock::time_point next_;
  };

  void Tell() {
    if (on_change_) on_change_();
  }
  void Publish(std::shared_ptr<const RunSnapshot> snapshot,
               std::shared_ptr<const RunOverview> overview) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      snapshot_ = std::move(snapshot);
      overview_ = std::move(overview);
    }
    Tell();
  }

  // Call with the lock. The worker may wake up too late to do this: a caller that resumed a run and
  // then looks at it would see it paused.
  void LeavePause() {
    if (progress_.state == JobState::kPaused) progress_.state = JobState::kRunning;
    changed_.notify_all();
  }

  // A paused run has made a record.
  void TakeStep() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (paused_ && steps_ > 0) --steps_;
  }
  void WaitWhilePaused(Follower* follower) {
    const auto holds = [this] { return paused_ && steps_ == 0 && !stop_; };
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!holds()) return;
    }
    follower->Publish();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!holds()) return;
      progress_.state = JobState::kPaused;
    }
    Tell();
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&holds] { return !holds(); });
      progress_.state = JobState::kRunning;
    }
    Tell();
  }

  void Work() {
    const absl::Status status = Run();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      progress_.state = status.ok()                          ? JobState::kDone
                        : absl::IsCancelled(status) && stop_ ? JobState::kCancelled
                                                             : JobState::kFailed;
      if (progress_.state == JobState::kFailed) progress_.status = status;
      over_ = true;
      changed_.notify_all();
    }
    Tell();
  }

  // The simulation ends last: the others point to it.
  struct StartedRun {
    std::unique_ptr<Simulation> sim;
    std::unique_ptr<Follower> follower;
    std::unique_ptr<RunOutputs> outputs;
  };

  absl::Status BuildRun(const RunSpec& spec, StartedRun* run) {
    // Drops the parts of a branch that failed. The simulation goes last, as in the destructor.
    run->outputs.reset();
    run->follower.reset();
    ASSIGN_OR_RETURN(run->sim, Simulation::Build(spec));
    run->follower = std::make_unique<Follower>(this, run->sim.get());
    run->sim->set_stop(&stop_);
    return absl::OkStatus();
  }

  absl::Status StartFromBeginning(const GivenScenario& given, const RunSpec& spec,
                                  const std::string& dir, StartedRun* run) {
    RETURN_IF_ERROR(InFile(given, BuildRun(spec, run)));
    ASSIGN_OR_RETURN(run->outputs, RunOutputs::Attach(run->sim.get(), dir));
    run->sim->AddSink(run->follower.get());
    return run->sim->Start();
  }

  // The place in the earlier run from which the one with node events differs.
  absl::StatusOr<BranchPoint> FindPoint() const {
    if (!spec_.changes.empty()) {
      return absl::FailedPreconditionError("keys have changed, which may matter from then on");
    }
    SimTime first = spec_.node_events[0].at;
    for (const NodeEventChange& event : spec_.node_events) {
      if (event.kind == NodeEventChange::Kind::kAdd) {
        return absl::FailedPreconditionError("a node that is added is absent until then");
      }
      first = std::min(first, event.at);
    }
    RunJobSpec earlier = spec_;
    earlier.node_events.clear();
    ASSIGN_OR_RETURN(GivenScenario given, ChangedScenario(earlier));
    given.scenario->mutable_output()->clear_ledger();
    ASSIGN_OR_RETURN(const RunSpec resolved, ResolveGiven(given));
    return FindBranchPoint(spec_.resume_from, first, *resolved.written);
  }

  absl::Status StartAt(const BranchPoint& point, const RunSpec& spec, const std::string& dir,
                       StartedRun* run) {
    RETURN_IF_ERROR(BuildRun(spec, run));
    run->sim->AddSink(run->follower.get());
    absl::StatusOr<std::unique_ptr<RunOutputs>> outputs =
        StartBranch(spec_.resume_from, point, dir, run->sim.get());
    RETURN_IF_ERROR(outputs.status());
    RETURN_IF_ERROR(run->follower->Begin(spec_.resume_from, point));
    run->outputs = *std::move(outputs);
    return absl::OkStatus();
  }

  absl::Status Run() {
    const Clock::time_point start = Clock::now();
    ASSIGN_OR_RETURN(GivenScenario given, ChangedScenario(spec_));
    std::string dir = spec_.out_dir;
    if (dir.empty()) {
      ASSIGN_OR_RETURN(cache_, CacheFolder::Make());
      dir = cache_->results();
    }
    SetOutputDir(dir, &given);
    given.scenario->mutable_output()->clear_ledger();
    ASSIGN_OR_RETURN(RunSpec spec, ResolveGiven(given));
    RETURN_IF_ERROR(CheckInputs(spec));
    ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> folder,
                     PrepareOutputDir(dir, /*force=*/false));
    ASSIGN_OR_RETURN(std::unique_ptr<BegunScenario> begun, BegunScenario::Leave(spec, dir));
    StartedRun run;
    std::string begins = "from the start";
    std::vector<std::string> warnings;
    if (!spec_.node_events.empty() && !spec_.resume_from.empty()) {
      absl::StatusOr<BranchPoint> point = FindPoint();
      absl::Status branched = point.status();
      if (branched.ok()) branched = StartAt(*point, spec, dir, &run);
      if (absl::IsCancelled(branched)) return branched;
      if (branched.ok()) {
        begins = absl::StrCat("from the checkpoint at ", view::TimeText(point->time));
      } else {
        warnings.push_back(absl::StrCat("the run begins at the start: ", branched.message()));
      }
    }
    if (run.outputs == nullptr) RETURN_IF_ERROR(StartFromBeginning(given, spec, dir, &run));
    begun.reset();
    Simulation& sim = *run.sim;
    Follower& follower = *run.follower;
    const std::unique_ptr<RunOutputs>& outputs = run.outputs;
    const auto all_warnings = [&sim, &warnings] {
      std::vector<std::string> all = warnings;
      all.insert(all.end(), sim.warnings().begin(), sim.warnings().end());
      return all;
    };
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      progress_.pods_expected = sim.pods_expected();
      progress_.begins = begins;
      progress_.warnings = all_warnings();
      progress_.state = JobState::kRunning;
    }
    Tell();
    WaitWhilePaused(&follower);
    absl::Status ran = sim.Run();
    if (ran.ok()) {
      const std::chrono::duration<double> wall = Clock::now() - start;
      ran = outputs->Complete(wall.count());
    } else {
      // An error here would hide the one that ended the run.
      (void)outputs->Abandon();
    }
    follower.Publish();
    const std::lock_guard<std::mutex> lock(mutex_);
    progress_.warnings = all_warnings();
    progress_.ledger_path = absl::StrCat(dir, ran.ok() ? "/ledger" : "/ledger.partial");
    if (ran.ok() || absl::IsCancelled(ran)) return ran;
    return absl::Status(ran.code(),
                        absl::StrCat(ran.message(), " (after record ",
                                     view::CommaText(static_cast<int64_t>(sim.engine().records())),
                                     ", ", view::TimeText(sim.engine().now()), " into the run)",
                                     absl::IsResourceExhausted(ran) ? "; raise that key" : ""));
  }

  const RunJobSpec spec_;
  const std::function<void()> on_change_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  JobProgress progress_;
  std::shared_ptr<const RunSnapshot> snapshot_;
  std::shared_ptr<const RunOverview> overview_;
  bool paused_;
  uint64_t steps_ = 0;  // that a paused run may still make
  bool over_ = false;

  std::atomic<bool> stop_{false};
  std::atomic<bool> attention_{false};  // the worker has to look at the above after each record
  std::atomic<uint64_t> records_{0};
  std::atomic<int64_t> time_ns_{0};
  std::atomic<uint64_t> jobs_{0};

  std::unique_ptr<CacheFolder> cache_;  // the worker's, if it made one
  std::thread worker_;
};

std::unique_ptr<RunJob> RunJob::Start(RunJobSpec spec, std::function<void()> on_change) {
  return std::unique_ptr<RunJob>(
      new RunJob(std::make_unique<Impl>(std::move(spec), std::move(on_change))));
}
RunJob::RunJob(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunJob::~RunJob() = default;

const RunJobSpec& RunJob::spec() const { return impl_->spec(); }
JobProgress RunJob::progress() const { return impl_->progress(); }
std::shared_ptr<const RunSnapshot> RunJob::snapshot() const { return impl_->snapshot(); }
std::shared_ptr<const RunOverview> RunJob::overview() const { return impl_->overview(); }
void RunJob::Pause() { impl_->Pause(); }
void RunJob::Resume() { impl_->Resume(); }
void RunJob::Step(uint64_t records) { impl_->Step(records); }
void RunJob::Cancel() { impl_->Cancel(); }
void RunJob::Settle() { impl_->Settle(); }

}  // namespace drasim::gui
