#include "sim/record/job_report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/text/shown_text.h"
#include "model/time.h"
#include "sim/record/pod_log.h"

namespace drasim {
namespace {

constexpr double kGpuHour = 3.6e15;  // milli x nanoseconds
constexpr int kDecimals = 6;

// --- Exact integers to figures ---

double Rounded(double value) { return RoundDecimals(value, kDecimals); }

double SecondsOf(int64_t ns) {
  return Rounded(static_cast<double>(ns) / static_cast<double>(kSecondNs));
}

double GpuHours(absl::uint128 milli_ns) {
  return Rounded(static_cast<double>(milli_ns) / kGpuHour);
}

// 128 bits hold the sum over any number of jobs. Unsigned, because the conversion of absl::int128
// to double is the compiler's own.
absl::uint128 Product(int64_t amount, int64_t ns) {
  DRASIM_CHECK(amount >= 0 && ns >= 0);
  return absl::uint128(static_cast<uint64_t>(amount)) * static_cast<uint64_t>(ns);
}

// --- One job ---

// At the end of the run, in nanoseconds.
struct JobTimes {
  int64_t in_system = 0;  // from submission to its end or the run's
  int64_t waited = 0;
  int64_t held = 0;      // running, for whatever purpose
  int64_t overhead = 0;  // of `held`, spent on restarts
};

JobTimes TimesOf(const JobRow& row, SimTime end) {
  JobTimes t;
  t.in_system = ((IsEnded(row.state) ? row.ended : end) - row.submitted).ns();
  t.waited = row.waited.ns();
  t.held = row.held.ns();
  t.overhead = row.overhead.ns();
  if (row.state == JobState::kRunning) {
    const SimDuration ran = end - row.started;
    t.held += ran.ns();
    t.overhead += std::min(ran, row.overhead_left).ns();
  } else if (!IsEnded(row.state)) {
    t.waited += (end - row.waiting_since).ns();
  }
  DRASIM_CHECK(t.waited >= 0 && t.waited <= t.in_system);
  return t;
}

// True when the job has a completion time: it was neither deleted by its owner nor given up.
bool IsFinished(const JobRow& row) {
  return row.state == JobState::kSucceeded || row.state == JobState::kFailed;
}

// --- Groups of jobs ---

template <typename T, typename Value>
void SetRanks(const std::vector<T>& sorted, Value value, Spread* spread) {
  const auto at = [&](size_t percent) {
    return value(sorted[(percent * sorted.size() + 99) / 100 - 1]);
  };
  spread->p50 = at(50);
  spread->p90 = at(90);
  spread->p95 = at(95);
  spread->p99 = at(99);
  spread->max = at(100);
}

Spread SpreadOfTimes(std::vector<int64_t>* ns, bool truncate_mean) {
  Spread spread;
  if (ns->empty()) return spread;
  std::sort(ns->begin(), ns->end());
  SetRanks(*ns, SecondsOf, &spread);
  absl::uint128 sum = 0;
  for (const int64_t v : *ns) sum += static_cast<uint64_t>(v);
  if (truncate_mean) {
    const absl::uint128 whole = sum / Product(static_cast<int64_t>(ns->size()), kSecondNs);
    spread.mean = static_cast<double>(whole);
  } else {
    spread.mean = Rounded(static_cast<double>(sum) / static_cast<double>(kSecondNs) /
                          static_cast<double>(ns->size()));
  }
  return spread;
}

Spread SpreadOfRatios(std::vector<double>* ratios) {
  Spread spread;
  if (ratios->empty()) return spread;
  // Sorted first, so that the sum is independent of the order of the jobs.
  std::sort(ratios->begin(), ratios->end());
  SetRanks(*ratios, Rounded, &spread);
  double sum = 0;
  for (const double v : *ratios) sum += v;
  spread.mean = Rounded(sum / static_cast<double>(ratios->size()));
  return spread;
}

class GroupBuilder {
 public:
  void Add(const JobTimes& times, SimDuration threshold) {
    jct_ns_.push_back(times.in_system);
    waited_ns_.push_back(times.waited);
    const int64_t run = std::max(times.in_system - times.waited, threshold.ns());
    slowdown_.push_back(
        std::max(1.0, static_cast<double>(times.in_system) / static_cast<double>(run)));
  }
  void Merge(const GroupBuilder& other) {
    jct_ns_.insert(jct_ns_.end(), other.jct_ns_.begin(), other.jct_ns_.end());
    waited_ns_.insert(waited_ns_.end(), other.waited_ns_.begin(), other.waited_ns_.end());
    slowdown_.insert(slowdown_.end(), other.slowdown_.begin(), other.slowdown_.end());
  }
  JobGroup Build(bool truncate_means) {
    JobGroup group;
    group.count = static_cast<int64_t>(jct_ns_.size());
    group.jct_seconds = SpreadOfTimes(&jct_ns_, truncate_means);
    group.queueing_seconds = SpreadOfTimes(&waited_ns_, truncate_means);
    group.slowdown = SpreadOfRatios(&slowdown_);
    return group;
  }

 private:
  std::vector<int64_t> jct_ns_;
  std::vector<int64_t> waited_ns_;
  std::vector<double> slowdown_;
};

// --- Tenants ---

// Sums over the jobs of a tenant, or of several; amount x nanoseconds.
struct TenantSums {
  int64_t tenants = 1;
  int64_t submitted = 0;
  absl::uint128 gpu_held = 0;
  absl::uint128 cpu_held = 0;
  absl::uint128 memory_held = 0;
  absl::uint128 gpu_asked = 0;
  GroupBuilder jobs;

  void Merge(const TenantSums& other) {
    tenants += other.tenants;
    submitted += other.submitted;
    gpu_held += other.gpu_held;
    cpu_held += other.cpu_held;
    memory_held += other.memory_held;
    gpu_asked += other.gpu_asked;
    jobs.Merge(other.jobs);
  }
};

// (sum x)^2 / (n * sum x^2), as in the report by Jain, Chiu and Hawe.
std::optional<double> JainIndex(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double v : values) {
    sum += v;
    squares += v * v;
  }
  if (!(squares > 0)) return std::nullopt;
  return Rounded(sum * sum / (static_cast<double>(values.size()) * squares));
}

// --- All jobs ---

class Fold {
 public:
  Fold(const JobTable& jobs, const JobReportOptions& options)
      : jobs_(jobs), options_(options), tenants_(jobs.tenant_count()) {
    DRASIM_CHECK(options.slowdown_threshold > SimDuration());
  }

  void Add(const JobRow& row);
  JobFigures Finish();

 private:
  void AddGpuTime(const JobRow& row, const JobTimes& times);
  void AddDeadline(const JobRow& row);
  void FinishTenants();
  TenantFigures Figures(std::string name, TenantSums* sums) const;

  const JobTable& jobs_;
  const JobReportOptions& options_;
  JobFigures figures_;
  GroupBuilder all_;
  std::array<GroupBuilder, kSizeClasses> by_size_;
  std::vector<TenantSums> tenants_;
  absl::uint128 held_ = 0;
  absl::uint128 lost_ = 0;
  absl::uint128 overhead_ = 0;
  absl::uint128 failed_ = 0;
  SimTime first_submitted_;        // of all jobs
  SimTime first_submitted_ended_;  // of those that have ended
  SimTime last_end_;
  int64_t ended_ = 0;
};

void Fold::Add(const JobRow& row) {
  const JobTimes times = TimesOf(row, options_.end);
  const bool first = figures_.submitted == 0;
  first_submitted_ = first ? row.submitted : std::min(first_submitted_, row.submitted);
  ++figures_.submitted;
  ++figures_.by_state[static_cast<size_t>(row.state)];
  ++figures_.submitted_by_size[SizeClassOf(row.request.gpu_milli)];
  if (IsEnded(row.state)) {
    const bool none = ended_ == 0;
    first_submitted_ended_ = none ? row.submitted : std::min(first_submitted_ended_, row.submitted);
    last_end_ = none ? row.ended : std::max(last_end_, row.ended);
    ++ended_;
  }
  figures_.preemption.preemptions += row.preemptions;
  figures_.preemption.evictions += row.evictions;
  figures_.preemption.retries += row.retry;
  AddGpuTime(row, times);
  AddDeadline(row);

  TenantSums& tenant = tenants_[row.tenant.value()];
  ++tenant.submitted;
  if (!IsFinished(row)) return;
  all_.Add(times, options_.slowdown_threshold);
  by_size_[SizeClassOf(row.request.gpu_milli)].Add(times, options_.slowdown_threshold);
  tenant.jobs.Add(times, options_.slowdown_threshold);
}

void Fold::AddGpuTime(const JobRow& row, const JobTimes& times) {
  const int64_t gpus = row.request.gpu_milli;
  TenantSums& tenant = tenants_[row.tenant.value()];
  const absl::uint128 held = Product(gpus, times.held);
  tenant.gpu_held += held;
  tenant.cpu_held += Product(row.request.cpu_milli, times.held);
  tenant.memory_held += Product(row.request.memory_bytes, times.held);
  tenant.gpu_asked += Product(gpus, times.in_system);
  held_ += held;
  lost_ += Product(gpus, row.work_lost.ns());
  overhead_ += Product(gpus, times.overhead);
  // A failed or dropped job has no remaining work.
  const bool in_vain = row.state == JobState::kFailed || row.state == JobState::kDropped;
  failed_ += in_vain ? Product(gpus, times.held - row.work_lost.ns() - times.overhead)
                     : Product(gpus, row.failed_work.ns());
}

void Fold::AddDeadline(const JobRow& row) {
  if (!row.has_deadline) return;
  DeadlineFigures& deadlines = figures_.deadlines;
  ++deadlines.jobs;
  const bool in_time = (IsEnded(row.state) ? row.ended : options_.end) <= row.deadline;
  if (IsFinished(row) && in_time) {
    ++deadlines.met;
  } else if (!in_time || row.state == JobState::kDropped) {
    ++deadlines.missed;
  }
}

TenantFigures Fold::Figures(std::string name, TenantSums* sums) const {
  TenantFigures figures;
  figures.name = std::move(name);
  figures.tenants = sums->tenants;
  figures.submitted = sums->submitted;
  figures.jobs = sums->jobs.Build(options_.truncate_means);
  figures.gpu_hours = GpuHours(sums->gpu_held);
  figures.gpu_hours_asked = GpuHours(sums->gpu_asked);
  struct Resource {
    absl::string_view name;
    absl::uint128 held;
    int64_t capacity;
  };
  const Resource resources[] = {{"gpu", sums->gpu_held, options_.capacity.gpu_milli},
                                {"cpu", sums->cpu_held, options_.capacity.cpu_milli},
                                {"memory", sums->memory_held, options_.capacity.memory_bytes}};
  const int64_t span = (options_.end - first_submitted_).ns();
  double largest = 0;
  for (const Resource& resource : resources) {
    const absl::uint128 whole = Product(resource.capacity, span);
    if (whole == 0) continue;
    const double share = static_cast<double>(resource.held) / static_cast<double>(whole);
    if (share <= largest) continue;
    largest = share;
    figures.dominant_resource = resource.name;
  }
  figures.dominant_share = Rounded(largest);
  return figures;
}

void Fold::FinishTenants() {
  std::vector<size_t> order;  // tenants with jobs
  std::vector<double> granted;
  std::vector<double> slowdown;
  for (size_t t = 0; t < tenants_.size(); ++t) {
    TenantSums& sums = tenants_[t];
    if (sums.submitted == 0) continue;
    order.push_back(t);
    if (sums.gpu_asked > 0) {
      granted.push_back(static_cast<double>(sums.gpu_held) / static_cast<double>(sums.gpu_asked));
    }
    const JobGroup group = sums.jobs.Build(options_.truncate_means);
    if (group.count > 0) slowdown.push_back(group.slowdown.mean);
  }
  figures_.jain_gpu_time = JainIndex(granted);
  figures_.jain_slowdown = JainIndex(slowdown);

  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return tenants_[a].gpu_held > tenants_[b].gpu_held;
  });
  TenantSums others;
  others.tenants = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    TenantSums& sums = tenants_[order[i]];
    if (i < options_.top_tenants) {
      figures_.tenants.push_back(Figures(jobs_.tenant_name(TenantId(order[i])), &sums));
    } else {
      others.Merge(sums);
    }
  }
  if (others.tenants > 0) figures_.tenants.push_back(Figures("others", &others));
}

JobFigures Fold::Finish() {
  figures_.all = all_.Build(options_.truncate_means);
  for (size_t c = 0; c < kSizeClasses; ++c) {
    figures_.by_size[c] = by_size_[c].Build(options_.truncate_means);
  }
  FinishTenants();
  if (ended_ > 0) figures_.makespan_seconds = SecondsOf((last_end_ - first_submitted_ended_).ns());
  PreemptionFigures& p = figures_.preemption;
  const absl::uint128 useful = held_ - lost_ - overhead_ - failed_;
  p.held_gpu_hours = GpuHours(held_);
  p.useful_gpu_hours = GpuHours(useful);
  p.work_lost_gpu_hours = GpuHours(lost_);
  p.overhead_gpu_hours = GpuHours(overhead_);
  p.failed_gpu_hours = GpuHours(failed_);
  if (held_ > 0) p.goodput = Rounded(static_cast<double>(useful) / static_cast<double>(held_));
  return std::move(figures_);
}

// --- JSON ---

void WriteOptional(absl::string_view key, std::optional<double> value, JsonWriter& j) {
  j.Key(key);
  if (value.has_value()) {
    j.Double(Rounded(*value));
  } else {
    j.Null();
  }
}

void WriteSpread(absl::string_view key, const JobGroup& group, const Spread& spread,
                 JsonWriter& j) {
  const std::pair<absl::string_view, double> values[] = {
      {"mean", spread.mean}, {"p50", spread.p50}, {"p90", spread.p90},
      {"p95", spread.p95},   {"p99", spread.p99}, {"max", spread.max}};
  j.Key(key).BeginObject();
  j.Key("count").Int(group.count);
  for (const auto& [name, value] : values) {
    WriteOptional(name, group.count > 0 ? std::optional<double>(value) : std::nullopt, j);
  }
  j.EndObject();
}

void WriteGroup(const JobGroup& group, JsonWriter& j) {
  j.Key("count").Int(group.count);
  WriteSpread("jct_seconds", group, group.jct_seconds, j);
  WriteSpread("queueing_seconds", group, group.queueing_seconds, j);
  WriteSpread("slowdown", group, group.slowdown, j);
}

void WriteJobs(const JobFigures& f, JsonWriter& j) {
  j.Key("jobs").BeginObject();
  j.Key("submitted").Int(f.submitted);
  WriteGroup(f.all, j);
  j.Key("by_state").BeginObject();
  for (size_t s = 0; s < kJobStates; ++s) {
    j.Key(absl::AsciiStrToLower(JobStateName(static_cast<JobState>(s)))).Int(f.by_state[s]);
  }
  j.EndObject();
  j.Key("by_size").BeginArray();
  for (size_t c = 0; c < kSizeClasses; ++c) {
    j.BeginObject();
    j.Key("gpus").String(SizeClassName(c));
    j.Key("submitted").Int(f.submitted_by_size[c]);
    WriteGroup(f.by_size[c], j);
    j.EndObject();
  }
  j.EndArray();
  j.Key("deadlines").BeginObject();
  j.Key("jobs").Int(f.deadlines.jobs);
  j.Key("met").Int(f.deadlines.met);
  j.Key("missed").Int(f.deadlines.missed);
  j.EndObject();
  j.Key("fairness").BeginObject();
  WriteOptional("jain_gpu_time", f.jain_gpu_time, j);
  WriteOptional("jain_slowdown", f.jain_slowdown, j);
  j.EndObject();
  j.EndObject();
}

void WriteTenants(const JobFigures& f, JsonWriter& j) {
  j.Key("tenants").BeginArray();
  for (const TenantFigures& tenant : f.tenants) {
    j.BeginObject();
    j.Key("tenant").String(tenant.name);
    j.Key("tenants").Int(tenant.tenants);
    j.Key("submitted").Int(tenant.submitted);
    WriteGroup(tenant.jobs, j);
    j.Key("gpu_hours").Double(tenant.gpu_hours);
    j.Key("gpu_hours_asked").Double(tenant.gpu_hours_asked);
    j.Key("dominant_share").Double(tenant.dominant_share);
    j.Key("dominant_resource").String(tenant.dominant_resource);
    j.EndObject();
  }
  j.EndArray();
}

void WritePreemption(const PreemptionFigures& p, JsonWriter& j) {
  j.Key("preemption").BeginObject();
  j.Key("preemptions").Int(p.preemptions);
  j.Key("evictions").Int(p.evictions);
  j.Key("retries").Int(p.retries);
  j.Key("held_gpu_hours").Double(p.held_gpu_hours);
  j.Key("useful_gpu_hours").Double(p.useful_gpu_hours);
  j.Key("work_lost_gpu_hours").Double(p.work_lost_gpu_hours);
  j.Key("overhead_gpu_hours").Double(p.overhead_gpu_hours);
  j.Key("failed_gpu_hours").Double(p.failed_gpu_hours);
  WriteOptional("goodput", p.goodput, j);
  j.EndObject();
}

// --- Text ---

constexpr size_t kLabelWidth = 12;
// Limits on listed tenants, and on the shown part of their names.
constexpr size_t kShownTenants = 10;
constexpr size_t kShownTenantBytes = 24;

void AppendLine(absl::string_view label, const std::vector<std::string>& cells, std::string* out,
                size_t label_width = kLabelWidth) {
  constexpr size_t kCellWidth = 13;
  std::string line(label);
  line.resize(std::max(line.size(), label_width), ' ');
  for (const std::string& cell : cells) {
    line.append(cell.size() < kCellWidth ? kCellWidth - cell.size() : 1, ' ');
    line += cell;
  }
  absl::StrAppend(out, line, "\n");
}

void AppendSpread(absl::string_view label, const Spread& s, int decimals, std::string* out) {
  std::vector<std::string> cells;
  for (const double v : {s.mean, s.p50, s.p90, s.p95, s.p99, s.max}) {
    cells.push_back(FixedText(v, decimals));
  }
  AppendLine(label, cells, out);
}

// "4026 of 20000", or "20000" when complete.
std::string FinishedText(int64_t finished, int64_t submitted) {
  return finished == submitted ? absl::StrCat(finished) : absl::StrCat(finished, " of ", submitted);
}

std::string ShownTenant(const TenantFigures& tenant) {
  return tenant.name.empty() ? "(none)" : ShownText(tenant.name, kShownTenantBytes);
}

// Waits by tenant, when there are several.
void AppendTenants(const std::vector<TenantFigures>& tenants, std::string* out) {
  if (tenants.size() < 2) return;
  const size_t shown = std::min(tenants.size(), kShownTenants);
  size_t width = kLabelWidth;
  for (size_t i = 0; i < shown; ++i) width = std::max(width, ShownTenant(tenants[i]).size());
  AppendLine("tenant", {"jobs", "JCT s", "queueing s", "queue p95", "queue max", "GPU-hours"}, out,
             width);
  int64_t more = 0;
  for (size_t i = 0; i < tenants.size(); ++i) {
    const TenantFigures& tenant = tenants[i];
    if (i >= shown) {
      more += tenant.tenants;
      continue;
    }
    std::vector<std::string> cells = {FinishedText(tenant.jobs.count, tenant.submitted)};
    const Spread& wait = tenant.jobs.queueing_seconds;
    for (const double seconds : {tenant.jobs.jct_seconds.mean, wait.mean, wait.p95, wait.max}) {
      cells.push_back(tenant.jobs.count > 0 ? FixedText(seconds, 1) : "-");
    }
    cells.push_back(FixedText(tenant.gpu_hours, 1));
    AppendLine(ShownTenant(tenant), cells, out, width);
  }
  if (more > 0) absl::StrAppend(out, "and ", more, " more tenants\n");
}

// Thousandths as a decimal number, exact: "0", "0.25", "100000".
void AppendMilli(int64_t milli, std::string* out) {
  absl::StrAppend(out, milli / 1000);
  const int64_t rest = milli % 1000;
  if (rest == 0) return;
  std::string digits = absl::StrCat(1000 + rest);
  digits[0] = '.';
  while (digits.back() == '0') digits.pop_back();
  *out += digits;
}

// A gang's pods are numbered behind its name.
absl::string_view JobName(const JobRow& row, const ClusterState& cluster) {
  const absl::string_view name = cluster.pod_name(row.first_pod);
  return row.pods == 1 ? name : absl::StripSuffix(name, "-0");
}

}  // namespace

absl::string_view SizeClassName(size_t size_class) {
  static constexpr absl::string_view kNames[kSizeClasses] = {"0",   "<1",   "1",     "2-4",
                                                             "5-8", "9-16", "17-32", ">32"};
  return kNames[size_class];
}

size_t SizeClassOf(int64_t gpu_milli) {
  constexpr int64_t kLargestMilli[kSizeClasses - 1] = {0, 999, 1000, 4000, 8000, 16'000, 32'000};
  const int64_t* found =
      std::lower_bound(std::begin(kLargestMilli), std::end(kLargestMilli), gpu_milli);
  return static_cast<size_t>(found - std::begin(kLargestMilli));
}

JobReport::JobReport(const JobTable& jobs, const JobReportOptions& options)
    : jobs_(&jobs), options_(options) {
  Fold fold(jobs, options_);
  for (size_t i = 0; i < jobs.size(); ++i) fold.Add(jobs.row(JobId(i)));
  figures_ = fold.Finish();
}

void JobReport::WriteJson(JsonWriter& j) const {
  WriteJobs(figures_, j);
  WriteOptional("makespan_seconds", figures_.makespan_seconds, j);
  WriteTenants(figures_, j);
  WritePreemption(figures_.preemption, j);
  j.Key("utilisation");
  if (options_.utilisation.has_value()) {
    options_.utilisation->WriteJson(j);
  } else {
    j.Null();
  }
}

std::string JobReport::JobsTable() const {
  const JobFigures& f = figures_;
  std::string out = absl::StrCat("jobs: ", f.submitted, " submitted");
  for (size_t s = 0; s < kJobStates; ++s) {
    if (f.by_state[s] == 0) continue;
    absl::StrAppend(&out, ", ", f.by_state[s], " ",
                    absl::AsciiStrToLower(JobStateName(static_cast<JobState>(s))));
  }
  out += "\n";
  if (f.all.count > 0) {
    AppendLine("", {"mean", "p50", "p90", "p95", "p99", "max"}, &out);
    AppendSpread("JCT s", f.all.jct_seconds, 1, &out);
    AppendSpread("queueing s", f.all.queueing_seconds, 1, &out);
    AppendSpread("slowdown", f.all.slowdown, 2, &out);
    if (f.all.count < f.submitted) {
      absl::StrAppend(&out, "over ", f.all.count, " of ", f.submitted,
                      " jobs: those that succeeded or failed\n");
    }
    AppendLine("GPUs", {"jobs", "JCT s", "queueing s", "slowdown"}, &out);
    for (size_t c = 0; c < kSizeClasses; ++c) {
      const JobGroup& group = f.by_size[c];
      if (group.count == 0) continue;
      AppendLine(
          SizeClassName(c),
          {FinishedText(group.count, f.submitted_by_size[c]), FixedText(group.jct_seconds.mean, 1),
           FixedText(group.queueing_seconds.mean, 1), FixedText(group.slowdown.mean, 2)},
          &out);
    }
    AppendTenants(f.tenants, &out);
  }
  const PreemptionFigures& p = f.preemption;
  absl::StrAppend(&out, "GPU-hours: ", FixedText(p.held_gpu_hours, 1), " held, ",
                  FixedText(p.useful_gpu_hours, 1), " useful; ", p.preemptions, " preemptions, ",
                  p.evictions, " evictions, ", p.retries, " retries\n");
  if (f.deadlines.jobs > 0) {
    absl::StrAppend(&out, "deadlines: ", f.deadlines.met, " met, ", f.deadlines.missed,
                    " missed of ", f.deadlines.jobs, "\n");
  }
  if (f.makespan_seconds.has_value()) {
    absl::StrAppend(&out, "makespan: ", FixedText(*f.makespan_seconds, 1), " s\n");
  }
  return out;
}

std::string JobReport::CsvHeader() {
  return "job,tenant,priority,pods,gpus,state,submitted_seconds,first_start_seconds,ended_seconds,"
         "waited_seconds,run_seconds,jct_seconds,preemptions,evictions,retries,attempts_failed,"
         "deadline_seconds\n";
}

void JobReport::AppendCsv(const ClusterState& cluster, size_t first, size_t last,
                          std::string* out) const {
  for (size_t i = first; i < last; ++i) {
    const JobRow& row = jobs_->row(JobId(i));
    const JobTimes times = TimesOf(row, options_.end);
    const bool ended = IsEnded(row.state);
    AppendCsvField(JobName(row, cluster), out);
    out->push_back(',');
    AppendCsvField(jobs_->tenant_name(row.tenant), out);
    absl::StrAppend(out, ",", row.priority, ",", row.pods, ",");
    AppendMilli(row.request.gpu_milli, out);
    absl::StrAppend(out, ",", JobStateName(row.state), ",");
    AppendSeconds(row.submitted, out);
    out->push_back(',');
    if (row.started_once) AppendSeconds(row.first_start, out);
    out->push_back(',');
    if (ended) AppendSeconds(row.ended, out);
    out->push_back(',');
    AppendSeconds(SimTime(times.waited), out);
    out->push_back(',');
    AppendSeconds(SimTime(times.in_system - times.waited), out);
    out->push_back(',');
    if (ended) AppendSeconds(SimTime(times.in_system), out);
    absl::StrAppend(out, ",", row.preemptions, ",", row.evictions, ",", row.retry, ",",
                    row.attempts_failed, ",");
    if (row.has_deadline) AppendSeconds(row.deadline, out);
    out->push_back('\n');
  }
}

}  // namespace drasim
