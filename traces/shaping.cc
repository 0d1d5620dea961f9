#include "traces/shaping.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/numeric/int128.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/number_text.h"
#include "model/random.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/time.h"
#include "traces/generator.h"

namespace drasim {
namespace {

constexpr double kMaxSeconds = 4e9;  // kMaxShapedNs
constexpr double kMaxFactor = 1e6;   // of load and of speed
constexpr double kMinSpeedUp = 0.001;
// Block draws that a bootstrap may be expected to take: about a second's worth.
constexpr int64_t kMaxBlockDraws = 20'000'000;
constexpr absl::string_view kCopyInfix = "-copy-";

absl::Status Refused(absl::string_view key, absl::string_view found, absl::string_view expected) {
  return KeyError(absl::StrCat("workload.", key),
                  absl::StrCat("found ", found, ", expected ", expected));
}

std::string WholeText(int64_t ns) {
  return absl::StrCat(FixedText(static_cast<double>(ns) * 1e-9, 3), " s");
}

// Towards the past for times, which are not negative.
int64_t WholeSeconds(int64_t ns) { return ns - ns % kSecondNs; }

// REQUIRES: value >= 0.
absl::uint128 Unsigned(int64_t value) { return absl::uint128(static_cast<uint64_t>(value)); }

// To the nearest nanosecond, halves away from zero. REQUIRES: |seconds| <= kMaxSeconds.
int64_t RoundedNs(double seconds) {
  const double ns = seconds * 1e9;
  const auto whole = static_cast<int64_t>(ns);
  const double rest = ns - static_cast<double>(whole);
  if (rest >= 0.5) return whole + 1;
  return rest <= -0.5 ? whole - 1 : whole;
}

// Names for copies of named things: "<name><infix><number>". A made-up name ends in the infix and
// digits, which tell name and number apart; so it can only meet a name that was there before.
class CopyNames {
 public:
  explicit CopyNames(absl::string_view infix) : infix_(infix) {}

  // A name of the list that copies are added to.
  void Take(const std::string& name) {
    if (absl::StrContains(name, infix_)) taken_.insert(name);
  }

  // Tries numbers from *number on, and leaves the one after the name's there.
  std::string Next(const std::string& name, int64_t* number) const {
    std::string copy;
    do {
      copy = absl::StrCat(name, infix_, (*number)++);
    } while (taken_.contains(copy));
    return copy;
  }

 private:
  std::string infix_;
  absl::flat_hash_set<std::string> taken_;
};

absl::Status CheckOptions(const ShapingOptions& options) {
  for (const auto& [key, bound] : {std::make_pair("window.start", options.window_start_ns),
                                   std::make_pair("window.end", options.window_end_ns)}) {
    if (bound.has_value() && (*bound < -kMaxShapedNs || *bound > kMaxShapedNs)) {
      return Refused(key, absl::StrCat(*bound, " ns"),
                     absl::StrCat("at most ", kMaxShapedNs, " ns from the trace's time zero"));
    }
  }
  if (options.window_start_ns.has_value() && options.window_end_ns.has_value() &&
      *options.window_start_ns > *options.window_end_ns) {
    return Refused("window", "an end before the start", "start <= end");
  }
  if (options.bootstrap_jobs < 0 || options.bootstrap_jobs > kMaxShapedJobs) {
    return Refused("bootstrap.jobs", absl::StrCat(options.bootstrap_jobs),
                   absl::StrCat("0 to ", kMaxShapedJobs));
  }
  if (options.bootstrap_block_ns < 0) {
    return Refused("bootstrap.block", absl::StrCat(options.bootstrap_block_ns, " ns"),
                   "0 or longer");
  }
  // Written so that NaN is refused.
  const double load = options.load_factor.value_or(1);
  if (!(load > 0 && load <= kMaxFactor)) {
    return Refused("load_factor", DoubleText(load), "a number above 0, at most 1000000");
  }
  const double speed = options.speed_up.value_or(1);
  if (!(speed >= kMinSpeedUp && speed <= kMaxFactor)) {
    return Refused("speed_up", DoubleText(speed), "a number from 0.001 to 1000000");
  }
  if (options.limit < 0) {
    return Refused("limit", absl::StrCat(options.limit), "0 (all jobs) or more");
  }
  return absl::OkStatus();
}

// One call of ShapeJobs: its methods are the steps, to be called in the order of declaration.
class Shaper {
 public:
  explicit Shaper(const ShapingOptions& options) : options_(options), names_(kCopyInfix) {}

  absl::Status Take(std::vector<JobArrival>* jobs);
  absl::Status KeepTenants();
  absl::Status ApplyWindow(int64_t* origin_ns);
  absl::Status Bootstrap();
  absl::Status ScaleLoad();
  absl::Status AddJitter();
  absl::Status SpeedUp();
  void Limit();
  void Release(std::vector<JobArrival>* jobs);

 private:
  struct Item {
    JobArrival job;
    uint32_t original = 0;  // which job of the trace this is, or is a copy of
  };

  template <typename Predicate>
  void Erase(const Predicate& goes) {
    items_.erase(std::remove_if(items_.begin(), items_.end(), goes), items_.end());
  }
  void Sort();
  // Gives a job another arrival, and shifts what its owner fixed in time by as much.
  static absl::Status MoveTo(absl::uint128 arrival_ns, absl::string_view key, JobArrival* job);

  absl::Status BootstrapJobs();
  absl::Status BootstrapBlocks();
  // Appends an instance of items_[row] to `drawn`.
  absl::Status Draw(size_t row, absl::uint128 arrival_ns, std::vector<Item>* drawn);
  // The first item that arrives at `ns` or later.
  size_t FirstFrom(int64_t ns) const;
  absl::Status AddClones(double factor);

  // To be called before the first copy is named, with every job that has a copy still there.
  void PrepareNames();
  std::string NameCopy(uint32_t original) {
    return names_.Next(original_names_[original], &next_copy_[original]);
  }

  const ShapingOptions& options_;
  std::vector<Item> items_;  // in order of arrival from Take on
  size_t originals_ = 0;     // jobs of the trace
  int64_t begin_ns_ = 0;     // the span of the trace, after the window
  int64_t end_ns_ = 0;
  CopyNames names_;
  std::vector<std::string> original_names_;  // by Item::original; empty until prepared
  std::vector<int64_t> next_copy_;           // by Item::original
};

absl::Status Shaper::Take(std::vector<JobArrival>* jobs) {
  if (jobs->size() > static_cast<size_t>(kMaxShapedJobs)) {
    return Refused("trace", absl::StrCat(jobs->size(), " jobs"),
                   absl::StrCat("at most ", kMaxShapedJobs, " where jobs are shaped"));
  }
  originals_ = jobs->size();
  items_.resize(originals_);
  for (size_t i = 0; i < originals_; ++i) {
    items_[i].original = static_cast<uint32_t>(i);
    items_[i].job = std::move((*jobs)[i]);
    JobArrival& job = items_[i].job;
    const int64_t deadline_ns = job.has_deadline ? job.deadline.ns() : 0;
    const int64_t deletion_ns = job.has_deletion ? job.deletion.ns() : 0;
    for (const int64_t ns : {job.time.ns(), deadline_ns, deletion_ns}) {
      if (ns >= 0 && ns <= kMaxShapedNs) continue;
      return Refused("trace", absl::StrCat("the time ", ns, " ns in job '", job.name, "'"),
                     absl::StrCat("0 to ", kMaxShapedNs, " ns"));
    }
    if (!options_.truncate_to_seconds) continue;
    RETURN_IF_ERROR(MoveTo(Unsigned(WholeSeconds(job.time.ns())), "trace", &job));
    job.run_time = SimDuration(WholeSeconds(job.run_time.ns()));
    for (SimDuration& run : job.failed_attempts) run = SimDuration(WholeSeconds(run.ns()));
  }
  jobs->clear();
  Sort();
  return absl::OkStatus();
}

absl::Status Shaper::KeepTenants() {
  if (options_.tenants.empty()) return absl::OkStatus();
  std::map<std::string, bool> wanted;  // whether the trace has it
  for (const std::string& tenant : options_.tenants) wanted.emplace(tenant, false);
  for (const Item& item : items_) {
    const auto found = wanted.find(item.job.tenant);
    if (found != wanted.end()) found->second = true;
  }
  for (const auto& [tenant, seen] : wanted) {
    if (seen) continue;
    std::set<std::string> others;
    for (const Item& item : items_) others.insert(item.job.tenant);
    return KeyError(
        "workload.tenants",
        absl::StrCat("no job of the trace has the tenant '", tenant, "'",
                     Suggest(tenant, std::vector<std::string>(others.begin(), others.end()))));
  }
  Erase([&wanted](const Item& item) { return wanted.count(item.job.tenant) == 0; });
  return absl::OkStatus();
}

absl::Status Shaper::ApplyWindow(int64_t* origin_ns) {
  const std::optional<int64_t>& start = options_.window_start_ns;
  const std::optional<int64_t>& end = options_.window_end_ns;
  if (!items_.empty()) {
    const int64_t first_ns = items_.front().job.time.ns();
    const int64_t last_ns = items_.back().job.time.ns();
    Erase([&start, &end](const Item& item) {
      const int64_t ns = item.job.time.ns();
      return (start.has_value() && ns < *start) || (end.has_value() && ns > *end);
    });
    if (items_.empty()) {
      return Refused("window",
                     absl::StrCat("no job from ", start.has_value() ? WholeText(*start) : "ever",
                                  " to ", end.has_value() ? WholeText(*end) : "ever"),
                     absl::StrCat("a part of ", WholeText(first_ns), " to ", WholeText(last_ns),
                                  ", when the trace's jobs arrive"));
    }
  }
  *origin_ns = start.value_or(0);
  if (items_.empty()) return absl::OkStatus();
  const int64_t first_ns = items_.front().job.time.ns();
  if (!start.has_value() && first_ns >= kAbsoluteClockNs) *origin_ns = first_ns;
  for (Item& item : items_) {
    // From -kMaxShapedNs to kMaxShapedNs, both: the difference fits.
    const int64_t arrival_ns = item.job.time.ns() - *origin_ns;
    RETURN_IF_ERROR(MoveTo(Unsigned(arrival_ns), "window.start", &item.job));
  }
  begin_ns_ = start.has_value() ? 0 : items_.front().job.time.ns();
  end_ns_ = end.has_value() ? *end - *origin_ns : items_.back().job.time.ns();
  return absl::OkStatus();
}

absl::Status Shaper::Bootstrap() {
  if (options_.bootstrap_jobs == 0 || items_.empty()) return absl::OkStatus();
  PrepareNames();
  return options_.bootstrap_block_ns == 0 ? BootstrapJobs() : BootstrapBlocks();
}

absl::Status Shaper::BootstrapJobs() {
  Random random(options_.seed, "workload/bootstrap");
  const auto wanted = static_cast<size_t>(options_.bootstrap_jobs);
  const size_t size = items_.size();
  const absl::uint128 span_ns = Unsigned(end_ns_ - begin_ns_);
  std::vector<Item> drawn;
  drawn.reserve(wanted);
  while (drawn.size() < wanted) {
    const size_t place = drawn.size();
    const absl::uint128 arrival_ns =
        Unsigned(items_[place % size].job.time.ns()) + span_ns * (place / size);
    RETURN_IF_ERROR(Draw(static_cast<size_t>(random.Below(size)), arrival_ns, &drawn));
  }
  items_ = std::move(drawn);
  return absl::OkStatus();
}

absl::Status Shaper::BootstrapBlocks() {
  const int64_t block_ns = options_.bootstrap_block_ns;
  const int64_t span_ns = end_ns_ - begin_ns_;
  const int64_t blocks =
      std::max<int64_t>(1, span_ns / block_ns + (span_ns % block_ns != 0 ? 1 : 0));
  const auto wanted = static_cast<size_t>(options_.bootstrap_jobs);
  if (Unsigned(blocks) * wanted / items_.size() > Unsigned(kMaxBlockDraws)) {
    return Refused("bootstrap.block", absl::StrCat(block_ns, " ns"),
                   absl::StrCat("a longer one: the trace would fall into ", blocks,
                                " blocks, nearly all of them empty"));
  }
  Random random(options_.seed, "workload/bootstrap");
  std::vector<Item> drawn;
  drawn.reserve(wanted);
  absl::uint128 laid_ns = Unsigned(begin_ns_);
  while (drawn.size() < wanted) {
    const auto block = static_cast<int64_t>(random.Below(static_cast<uint64_t>(blocks)));
    const bool is_last = block + 1 == blocks;
    const int64_t from_ns = begin_ns_ + block * block_ns;
    const int64_t length_ns = is_last ? end_ns_ - from_ns : block_ns;
    const size_t row_end = is_last ? items_.size() : FirstFrom(from_ns + block_ns);
    for (size_t row = FirstFrom(from_ns); row < row_end && drawn.size() < wanted; ++row) {
      const absl::uint128 into_ns = Unsigned(items_[row].job.time.ns() - from_ns);
      RETURN_IF_ERROR(Draw(row, laid_ns + into_ns, &drawn));
    }
    laid_ns += Unsigned(length_ns);
  }
  items_ = std::move(drawn);
  return absl::OkStatus();
}

absl::Status Shaper::Draw(size_t row, absl::uint128 arrival_ns, std::vector<Item>* drawn) {
  drawn->push_back(items_[row]);
  Item& item = drawn->back();
  // Number 0 says that the job itself has not been drawn yet.
  int64_t& next_copy = next_copy_[item.original];
  if (next_copy == 0) {
    next_copy = 1;
  } else {
    item.job.name = NameCopy(item.original);
  }
  return MoveTo(arrival_ns, "bootstrap", &item.job);
}

size_t Shaper::FirstFrom(int64_t ns) const {
  const auto found = std::lower_bound(
      items_.begin(), items_.end(), ns,
      [](const Item& item, int64_t bound_ns) { return item.job.time.ns() < bound_ns; });
  return static_cast<size_t>(found - items_.begin());
}

absl::Status Shaper::ScaleLoad() {
  if (!options_.load_factor.has_value()) return absl::OkStatus();
  const double factor = *options_.load_factor;
  if (factor >= 1) return AddClones(factor);
  Random random(options_.seed, "workload/load_factor");
  std::vector<Item> kept;
  for (Item& item : items_) {
    if (random.Unit() < factor) kept.push_back(std::move(item));
  }
  items_ = std::move(kept);
  return absl::OkStatus();
}

absl::Status Shaper::AddClones(double factor) {
  if (items_.empty()) return absl::OkStatus();
  if (factor * static_cast<double>(items_.size()) > static_cast<double>(kMaxShapedJobs)) {
    return Refused("load_factor", absl::StrCat(DoubleText(factor), " for ", items_.size(), " jobs"),
                   absl::StrCat("at most ", kMaxShapedJobs, " jobs in the end"));
  }
  PrepareNames();
  Random random(options_.seed, "workload/load_factor");
  const auto times = static_cast<int64_t>(factor);
  const double fraction = factor - static_cast<double>(times);
  const int64_t span_ns = items_.back().job.time.ns() - items_.front().job.time.ns();
  const int64_t gap_ns = span_ns / std::max<int64_t>(1, static_cast<int64_t>(items_.size()) - 1);
  std::vector<Item> result;
  for (Item& item : items_) {
    const int64_t clones = times - 1 + (random.Unit() < fraction ? 1 : 0);
    const absl::uint128 arrival_ns = Unsigned(item.job.time.ns());
    const size_t place = result.size();
    result.push_back(std::move(item));
    for (int64_t i = 0; i < clones; ++i) {
      Item clone = result[place];
      clone.job.name = NameCopy(clone.original);
      const uint64_t offset_ns = random.Below(static_cast<uint64_t>(gap_ns) + 1);
      RETURN_IF_ERROR(MoveTo(arrival_ns + offset_ns, "load_factor", &clone.job));
      result.push_back(std::move(clone));
    }
  }
  items_ = std::move(result);
  Sort();
  return absl::OkStatus();
}

absl::Status Shaper::AddJitter() {
  if (!options_.jitter.has_value()) return absl::OkStatus();
  Random random(options_.seed, "workload/jitter");
  for (Item& item : items_) {
    const double seconds = options_.jitter->Sample(random);
    if (!(std::abs(seconds) <= kMaxSeconds)) {
      return Refused(
          "jitter",
          absl::StrCat("a sample of ", DoubleText(seconds), " s for job '", item.job.name, "'"),
          absl::StrCat("at most ", DoubleText(kMaxSeconds), " s"));
    }
    const int64_t arrival_ns = std::max<int64_t>(0, item.job.time.ns() + RoundedNs(seconds));
    RETURN_IF_ERROR(MoveTo(Unsigned(arrival_ns), "jitter", &item.job));
  }
  Sort();
  return absl::OkStatus();
}

absl::Status Shaper::SpeedUp() {
  if (!options_.speed_up.has_value()) return absl::OkStatus();
  // The factor is exactly numerator / 2^shift. It is at least 0.001, so the shift is at most 62,
  // and an arrival has 62 bits.
  constexpr int kFractionBits = 52;
  constexpr uint64_t kHiddenBit = uint64_t{1} << kFractionBits;
  const auto bits = std::bit_cast<uint64_t>(*options_.speed_up);
  const uint64_t numerator = (bits & (kHiddenBit - 1)) | kHiddenBit;
  const int shift = kFractionBits - (static_cast<int>(bits >> kFractionBits) - 1023);
  for (Item& item : items_) {
    const absl::uint128 scaled = Unsigned(item.job.time.ns()) << shift;
    RETURN_IF_ERROR(MoveTo((scaled + numerator / 2) / numerator, "speed_up", &item.job));
  }
  return absl::OkStatus();
}

void Shaper::Limit() {
  const auto limit = static_cast<size_t>(options_.limit);
  if (limit > 0 && limit < items_.size()) items_.resize(limit);
}

void Shaper::Release(std::vector<JobArrival>* jobs) {
  jobs->clear();
  jobs->reserve(items_.size());
  for (Item& item : items_) jobs->push_back(std::move(item.job));
}

void Shaper::Sort() {
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.job.time < b.job.time; });
}

absl::Status Shaper::MoveTo(absl::uint128 arrival_ns, absl::string_view key, JobArrival* job) {
  if (arrival_ns > Unsigned(kMaxShapedNs)) {
    return Refused(key, absl::StrCat("a job, '", job->name, "', that would arrive later"),
                   absl::StrCat("arrivals up to ", kMaxShapedNs, " ns"));
  }
  // Deadline and deletion were at most kMaxShapedNs away from the arrival, and stay so.
  const SimDuration shift(static_cast<int64_t>(arrival_ns) - job->time.ns());
  job->time = job->time + shift;
  if (job->has_deadline) job->deadline = job->deadline + shift;
  if (job->has_deletion) job->deletion = job->deletion + shift;
  return absl::OkStatus();
}

void Shaper::PrepareNames() {
  if (!original_names_.empty()) return;
  original_names_.resize(originals_);
  // With a bootstrap, Draw gives the first number away for the job itself.
  next_copy_.assign(originals_, options_.bootstrap_jobs > 0 ? 0 : 1);
  for (const Item& item : items_) {
    original_names_[item.original] = item.job.name;
    names_.Take(item.job.name);
  }
}

absl::uint128 SaturatedSum(absl::uint128 a, absl::uint128 b) {
  return b > absl::Uint128Max() - a ? absl::Uint128Max() : a + b;
}

absl::uint128 SaturatedProduct(absl::uint128 a, absl::uint128 b) {
  if (a != absl::uint128(0) && b > absl::Uint128Max() / a) return absl::Uint128Max();
  return a * b;
}

// For how long a job holds its request if it never waits; 0 if nothing says so.
absl::uint128 HeldNs(const JobArrival& job) {
  const int64_t until_deletion_ns = std::max<int64_t>(0, (job.deletion - job.time).ns());
  if (!job.has_run_time) return Unsigned(job.has_deletion ? until_deletion_ns : 0);
  absl::uint128 work_ns = Unsigned(job.run_time.ns());
  for (const SimDuration attempt : job.failed_attempts) work_ns += Unsigned(attempt.ns());
  return job.has_deletion ? std::min(work_ns, Unsigned(until_deletion_ns)) : work_ns;
}

struct RequestSum {
  absl::uint128 gpu_milli = 0;
  absl::uint128 cpu_milli = 0;

  void Add(const PodShape& shape, int32_t pods) {
    gpu_milli += Unsigned(shape.request.total_gpu_milli()) * Unsigned(pods);
    cpu_milli += Unsigned(shape.request.cpu_milli) * Unsigned(pods);
  }
};

int64_t CapacityOf(const NodeSpec& node, bool gpus) {
  if (node.absent) return 0;
  return gpus ? int64_t{node.gpu_count} * kDeviceMilli : node.cpu_milli;
}

constexpr absl::string_view kTargetKey = "target_load_percent";

}  // namespace

absl::Status ShapeJobs(const ShapingOptions& options, std::vector<JobArrival>* jobs,
                       int64_t* origin_ns) {
  *origin_ns = 0;
  RETURN_IF_ERROR(CheckOptions(options));
  Shaper shaper(options);
  RETURN_IF_ERROR(shaper.Take(jobs));
  RETURN_IF_ERROR(shaper.KeepTenants());
  RETURN_IF_ERROR(shaper.ApplyWindow(origin_ns));
  RETURN_IF_ERROR(shaper.Bootstrap());
  RETURN_IF_ERROR(shaper.ScaleLoad());
  RETURN_IF_ERROR(shaper.AddJitter());
  RETURN_IF_ERROR(shaper.SpeedUp());
  shaper.Limit();
  shaper.Release(jobs);
  return absl::OkStatus();
}

LoadEstimate MeanLoad(absl::Span<const JobArrival> jobs, const ShapeTable& shapes) {
  LoadEstimate load;
  if (jobs.empty()) return load;
  SimTime first = jobs.front().time;
  SimTime last = first;
  absl::uint128 gpu_milli_ns = 0;
  absl::uint128 cpu_milli_ns = 0;
  for (const JobArrival& job : jobs) {
    first = std::min(first, job.time);
    last = std::max(last, job.time);
    RequestSum request;
    request.Add(shapes.row(job.shape), job.pods);
    for (const PodGroup& group : job.more_pods) request.Add(shapes.row(group.shape), group.pods);
    if (request.gpu_milli > absl::uint128(0)) ++load.gpu_jobs;
    if (!job.has_run_time && !job.has_deletion) ++load.endless_jobs;
    const absl::uint128 held_ns = HeldNs(job);
    gpu_milli_ns = SaturatedSum(gpu_milli_ns, SaturatedProduct(request.gpu_milli, held_ns));
    cpu_milli_ns = SaturatedSum(cpu_milli_ns, SaturatedProduct(request.cpu_milli, held_ns));
  }
  load.span_ns = (last - first).ns();
  if (load.span_ns > 0) {
    load.mean_gpu_milli = static_cast<double>(gpu_milli_ns) / static_cast<double>(load.span_ns);
    load.mean_cpu_milli = static_cast<double>(cpu_milli_ns) / static_cast<double>(load.span_ns);
  }
  return load;
}

absl::StatusOr<int64_t> NodesForLoad(absl::Span<const NodeSpec> nodes, const LoadEstimate& load,
                                     double percent) {
  if (!(percent > 0 && percent <= kMaxFactor)) {
    return Refused(kTargetKey, DoubleText(percent), "a number above 0, at most 1000000");
  }
  const bool gpus = load.gpu_jobs > 0;
  const double mean_milli = gpus ? load.mean_gpu_milli : load.mean_cpu_milli;
  if (!(mean_milli > 0)) {
    return Refused(kTargetKey, "a workload without a mean load",
                   "jobs that arrive at different times, have run times and ask for something");
  }
  absl::uint128 round_milli = 0;
  for (const NodeSpec& node : nodes) round_milli += Unsigned(CapacityOf(node, gpus));
  if (round_milli == absl::uint128(0)) {
    return Refused(kTargetKey, absl::StrCat("no node with a ", gpus ? "GPU" : "CPU"),
                   "at least one, since the workload asks for them");
  }
  const double exact_milli = mean_milli * 100.0 / percent;
  const auto too_many = [&] {
    return Refused(kTargetKey,
                   absl::StrCat("a load that needs ", DoubleText(exact_milli),
                                gpus ? " milli-GPUs" : " milli-CPUs"),
                   absl::StrCat("at most ", kMaxGeneratedNodes, " nodes"));
  };
  if (!(exact_milli < 9e18)) return too_many();
  const auto needed_milli = absl::uint128(std::max<int64_t>(1, int64_t{std::llround(exact_milli)}));
  const absl::uint128 rounds = (needed_milli - 1) / round_milli;
  if (rounds * nodes.size() > absl::uint128(kMaxGeneratedNodes)) return too_many();
  int64_t count = static_cast<int64_t>(rounds) * static_cast<int64_t>(nodes.size());
  absl::uint128 capacity_milli = rounds * round_milli;
  for (const NodeSpec& node : nodes) {
    const absl::uint128 below_milli = capacity_milli;
    capacity_milli += Unsigned(CapacityOf(node, gpus));
    ++count;
    if (capacity_milli < needed_milli) continue;
    const bool below_is_nearer = needed_milli - below_milli < capacity_milli - needed_milli;
    if (below_is_nearer && below_milli > absl::uint128(0)) --count;
    break;
  }
  if (count > kMaxGeneratedNodes) return too_many();
  return count;
}

namespace {

// The list cut or repeated to `wanted` nodes. REQUIRES: it is not empty.
std::vector<NodeSpec> RepeatNodes(std::vector<NodeSpec> nodes, size_t wanted) {
  const size_t size = nodes.size();
  if (wanted <= size) {
    nodes.resize(wanted);
    return nodes;
  }
  CopyNames names("-");
  for (const NodeSpec& node : nodes) names.Take(node.name);
  std::vector<int64_t> next_copy(size, 2);
  nodes.reserve(wanted);
  while (nodes.size() < wanted) {
    const size_t row = nodes.size() % size;
    NodeSpec copy = nodes[row];
    copy.name = names.Next(copy.name, &next_copy[row]);
    nodes.push_back(std::move(copy));
  }
  return nodes;
}

}  // namespace

absl::StatusOr<std::vector<NodeSpec>> ScaleCluster(std::vector<NodeSpec> nodes,
                                                   const LoadEstimate& load, double percent) {
  ASSIGN_OR_RETURN(const int64_t count, NodesForLoad(nodes, load, percent));
  return RepeatNodes(std::move(nodes), static_cast<size_t>(count));
}

absl::StatusOr<std::vector<NodeSpec>> MultiplyCluster(std::vector<NodeSpec> nodes, double scale) {
  const auto refused = [scale](absl::string_view of, absl::string_view expected) {
    return KeyError("cluster.scale",
                    absl::StrCat("found ", DoubleText(scale), of, ", expected ", expected));
  };
  if (!(scale > 0 && scale <= kMaxFactor)) return refused("", "a number above 0, at most 1000000");
  if (nodes.empty()) return nodes;
  const int64_t count =
      std::max<int64_t>(1, int64_t{std::llround(static_cast<double>(nodes.size()) * scale)});
  if (count > kMaxGeneratedNodes) {
    return refused(absl::StrCat(" for ", nodes.size(), " nodes"),
                   absl::StrCat("at most ", kMaxGeneratedNodes, " nodes"));
  }
  return RepeatNodes(std::move(nodes), static_cast<size_t>(count));
}

}  // namespace drasim
