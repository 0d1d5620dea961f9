#include "traces/job_generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "traces/generator_options.h"

namespace drasim {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr size_t kMaxGangs = 1000;
// Sums over the GPUs of a pod fit 64 bits.
constexpr int64_t kMaxMilliPerGpu = 1'000'000'000'000;
constexpr int64_t kMaxBytesPerGpu = int64_t{1} << 50;

// 1, -1/3!, 1/5!, ... -1/19!, 1/21!. For arguments up to pi/2 the first omitted term is below
// 2e-18.
constexpr std::array<double, 11> MakeSineSeries() {
  std::array<double, 11> series{};
  double term = 1.0;
  for (size_t i = 0; i < series.size(); ++i) {
    series[i] = term;
    term /= -static_cast<double>((2 * i + 2) * (2 * i + 3));
  }
  return series;
}
constexpr std::array<double, 11> kSineSeries = MakeSineSeries();

// The time on a clock without a swing, in nanoseconds into the day, when that with a swing shows
// `ns` into the day: the integral of 1 + swing * sin(2 pi t / day). REQUIRES: 0 <= ns <= kDayNs.
// Only + - * /, so that it is the same on every machine.
double EvenNs(int64_t ns, double swing) {
  // sin(pi x) = sin(pi (1 - x)).
  const auto folded = static_cast<double>(std::min(ns, kDayNs - ns));
  const double angle = kPi * (folded / static_cast<double>(kDayNs));
  const double square = angle * angle;
  double sine = kSineSeries.back();
  for (size_t i = kSineSeries.size() - 1; i > 0; --i) sine = sine * square + kSineSeries[i - 1];
  sine *= angle;
  const double reach = swing * (static_cast<double>(kDayNs) / kPi);
  return static_cast<double>(ns) + reach * (sine * sine);
}

// The inverse: the first nanosecond at which the even clock shows `even_ns` or more. Whole days
// pass alike on both clocks.
int64_t SwungNs(int64_t even_ns, double swing) {
  const int64_t day = even_ns / kDayNs;
  const auto into_day = static_cast<double>(even_ns % kDayNs);
  int64_t low = 0;
  int64_t high = kDayNs;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (EvenNs(middle, swing) < into_day) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return day * kDayNs + low;
}

absl::Status CheckOptions(const JobGeneratorOptions& options) {
  if (options.jobs < 1 || options.jobs > JobGenerator::kMaxJobs) {
    return RefusedOption("pods", absl::StrCat(options.jobs),
                         absl::StrCat("1 to ", JobGenerator::kMaxJobs, " jobs"));
  }
  if (options.gangs.empty() || options.gangs.size() > kMaxGangs) {
    return RefusedOption("gangs", absl::StrCat(options.gangs.size(), " entries"),
                         absl::StrCat("1 to ", kMaxGangs));
  }
  double greatest = 0;
  for (const GangWeight& gang : options.gangs) {
    if (gang.gpus < 1 || gang.gpus > JobGenerator::kMaxGpus) {
      return RefusedOption("gangs", absl::StrCat(gang.gpus, " GPUs"),
                           absl::StrCat("1 to ", JobGenerator::kMaxGpus));
    }
    // Written so that NaN is refused.
    if (!(gang.weight >= 0 && gang.weight <= 1e300)) {
      return RefusedOption("gangs", absl::StrCat("the weight ", DoubleText(gang.weight)),
                           "a number of 0 or more");
    }
    greatest = std::max(greatest, gang.weight);
  }
  if (greatest <= 0) return RefusedOption("gangs", "no weight above 0", "one at least");
  if (options.gpus_per_pod < 1 || options.gpus_per_pod > kMaxDevicesPerNode) {
    return RefusedOption("gangs", absl::StrCat(options.gpus_per_pod, " GPUs per pod"),
                         absl::StrCat("1 to ", kMaxDevicesPerNode));
  }
  if (options.cpu_milli_per_gpu < 0 || options.cpu_milli_per_gpu > kMaxMilliPerGpu) {
    return RefusedOption("gangs", absl::StrCat(options.cpu_milli_per_gpu, " milli-CPUs per GPU"),
                         absl::StrCat("0 to ", kMaxMilliPerGpu));
  }
  if (options.memory_bytes_per_gpu < 0 || options.memory_bytes_per_gpu > kMaxBytesPerGpu) {
    return RefusedOption("gangs", absl::StrCat(options.memory_bytes_per_gpu, " bytes per GPU"),
                         absl::StrCat("0 to ", kMaxBytesPerGpu));
  }
  if (!(options.daily_swing >= 0 && options.daily_swing <= 1)) {
    return RefusedOption("daily_swing", DoubleText(options.daily_swing), "a number from 0 to 1");
  }
  if (options.load_percent.has_value() && !options.interarrival.empty()) {
    return RefusedOption("load_percent", "interarrival, too", "one of them");
  }
  if (options.daily_swing > 0 && !options.load_percent.has_value() &&
      options.interarrival.empty()) {
    return RefusedOption("daily_swing", "no rate of arrivals that could swing",
                         "interarrival or load_percent");
  }
  return absl::OkStatus();
}

// The gaps of the Poisson process that gives options.load_percent.
absl::StatusOr<Distribution> GapsForLoad(const JobGeneratorOptions& options, double mean_gpus,
                                         const std::optional<Distribution>& run_time_s) {
  const double percent = *options.load_percent;
  if (!(percent > 0 && percent <= 1e6)) {
    return RefusedOption("load_percent", DoubleText(percent), "a number above 0, at most 1000000");
  }
  if (options.capacity_gpus < 1) {
    return RefusedOption("load_percent", "a cluster without GPUs", "one with GPUs");
  }
  if (!run_time_s.has_value()) return RefusedOption("load_percent", "no run_time", "one");
  const double mean_s = run_time_s->Mean();
  if (!(mean_s > 0 && mean_s <= static_cast<double>(JobGenerator::kMaxSeconds))) {
    return RefusedOption(
        "load_percent",
        absl::StrCat("run_time ", run_time_s->ToString(), ", whose mean is ",
                     mean_s > 1e300 ? std::string("infinite") : DoubleText(mean_s)),
        absl::StrCat("a mean above 0, at most ", JobGenerator::kMaxSeconds, " s"));
  }
  const double load_gpus = static_cast<double>(options.capacity_gpus) * (percent / 100.0);
  return Distribution::Exponential(mean_gpus * mean_s / load_gpus);
}

}  // namespace

std::vector<GangWeight> StandardGangs() {
  return {{1, 0.70}, {2, 0.10}, {4, 0.08}, {8, 0.10}, {16, 0.015}, {32, 0.005}};
}

JobGenerator::JobGenerator(const JobGeneratorOptions& options)
    : jobs_(options.jobs),
      daily_swing_(options.daily_swing),
      name_digits_(NumberDigits(options.jobs, 7)),
      times_("job", options.seed),
      gang_stream_(options.seed, "workload/gang") {}

absl::StatusOr<std::unique_ptr<JobGenerator>> JobGenerator::Create(
    const JobGeneratorOptions& options, ShapeTable* shapes) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<JobGenerator> source(new JobGenerator(options));
  RETURN_IF_ERROR(
      source->times_.Parse("workload.generated.", options.interarrival, options.run_time));
  double greatest = 0;
  for (const GangWeight& gang : options.gangs) greatest = std::max(greatest, gang.weight);
  uint64_t sum = 0;
  double gpu_sum = 0;
  for (const GangWeight& gang : options.gangs) {
    // Whole weights make draws exact. A chance, however small, stays one.
    const double scaled = gang.weight / greatest * kGreatestWeight;
    const uint64_t weight =
        gang.weight > 0 && scaled < 1 ? 1 : static_cast<uint64_t>(std::llround(scaled));
    sum += weight;
    gpu_sum += static_cast<double>(weight) * gang.gpus;
    source->cumulative_.push_back(sum);
    source->AddKind(options, gang.gpus, shapes);
  }
  source->mean_gpus_ = gpu_sum / static_cast<double>(sum);
  if (options.load_percent.has_value()) {
    ASSIGN_OR_RETURN(Distribution gaps,
                     GapsForLoad(options, source->mean_gpus_, source->times_.run_time()));
    source->times_.set_interarrival(std::move(gaps));
  }
  return source;
}

void JobGenerator::AddKind(const JobGeneratorOptions& options, int32_t gpus, ShapeTable* shapes) {
  const auto intern = [&options, shapes](int32_t pod_gpus, bool gang_remainder) {
    PodShape shape;
    shape.request.cpu_milli = options.cpu_milli_per_gpu * pod_gpus;
    shape.request.memory_bytes = options.memory_bytes_per_gpu * pod_gpus;
    shape.request.gpu_count = pod_gpus;
    shape.request.gpu_milli = kDeviceMilli;
    shape.gang_remainder = gang_remainder;
    return shapes->Intern(shape);
  };
  Kind kind;
  if (gpus <= options.gpus_per_pod) {
    kind.shape = intern(gpus, false);
  } else {
    kind.shape = intern(options.gpus_per_pod, false);
    kind.pods = gpus / options.gpus_per_pod;
    const int32_t rest = gpus % options.gpus_per_pod;
    if (rest > 0) kind.more_pods.push_back({intern(rest, true), 1});
  }
  kinds_.push_back(std::move(kind));
}

absl::StatusOr<bool> JobGenerator::Next(JobArrival* out) {
  RETURN_IF_ERROR(status_);
  if (next_ == jobs_) return false;
  *out = JobArrival();
  status_ = times_.Draw(next_, &even_ns_, out);
  RETURN_IF_ERROR(status_);
  const int64_t swung_ns =
      daily_swing_ > 0 && even_ns_ > 0 ? SwungNs(even_ns_, daily_swing_) : even_ns_;
  // When a full swing brings the rate down to 0, the integral is so flat that its rounding could
  // turn two close arrivals round.
  time_ns_ = std::max(time_ns_, swung_ns);
  const Kind& kind = kinds_[DrawIndex(cumulative_, &gang_stream_)];
  out->name = NumberedName("job-", next_, name_digits_);
  out->shape = kind.shape;
  out->pods = kind.pods;
  out->more_pods = kind.more_pods;
  out->time = SimTime(time_ns_);
  ++next_;
  return true;
}

void JobGenerator::Save(StateWriter& out) const {
  out.Section("job_generator");
  out.I64(jobs_);
  out.I64(next_);
  out.I64(even_ns_);
  out.I64(time_ns_);
  gang_stream_.Save(out);
  times_.Save(out);
  out.Str(status_.message());
}

absl::Status JobGenerator::Load(StateReader& in) {
  in.Section("job_generator");
  const int64_t jobs = in.I64();
  if (in.status().ok() && jobs != jobs_) {
    in.Fail(absl::StrCat("the generated workload has ", jobs_, " jobs, the saved one ", jobs));
  }
  const int64_t next = in.I64();
  if (next < 0 || next > jobs_) in.Fail(absl::StrCat("there is no generated job ", next));
  const int64_t even_ns = in.I64();
  const int64_t time_ns = in.I64();
  for (const int64_t ns : {even_ns, time_ns}) {
    if (ns < 0 || ns > kMaxSeconds * kSecondNs) in.Fail(absl::StrCat("the time ", ns, " ns"));
  }
  RETURN_IF_ERROR(gang_stream_.Load(in));
  RETURN_IF_ERROR(times_.Load(in));
  const std::string error = in.Str();
  RETURN_IF_ERROR(in.status());
  next_ = next;
  even_ns_ = even_ns;
  time_ns_ = time_ns;
  status_ = error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(error);
  return absl::OkStatus();
}

}  // namespace drasim
