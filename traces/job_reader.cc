#include "traces/job_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/hash.h"
#include "model/proto/mapping.pb.h"
#include "model/time.h"
#include "traces/decimal.h"

namespace drasim {
namespace {

// Separates models in PodShape::gpu_spec.
constexpr char kModelSeparator = '|';

// The values of a row that leaves out all optional columns.
void Reset(JobArrival* job) {
  job->pods = 1;
  job->more_pods.clear();
  job->tenant.clear();
  job->has_estimate = false;
  job->estimate = SimDuration();
  job->has_deadline = false;
  job->deadline = SimTime();
  job->has_deletion = false;
  job->deletion = SimTime();
  job->preemptible = true;
  job->recreated = true;
  job->fails = false;
  job->failed_attempts.clear();
}

// A length as messages show it.
std::string ShownLength(int64_t ns) {
  return ns % kSecondNs == 0 ? absl::StrCat(ns / kSecondNs, " s") : absl::StrCat(ns, " ns");
}

// The expectation of a message about a time that is before `earliest`.
std::string ExpectedArrival(const EarliestArrival& earliest) {
  if (earliest.window_ns < 0) {
    return absl::StrCat("a time not before that of line ", earliest.line);
  }
  return absl::StrCat("a time at most ", ShownLength(earliest.window_ns), " before that of line ",
                      earliest.line, "; a longer sort_window (--sort-window) allows more");
}

}  // namespace

// The columns of PodColumns in the table at hand.
struct JobReader::Columns {
  bool has_names = false;
  std::string name_prefix;  // without names
  TextField name;
  NumberField cpu;
  NumberField memory;
  NumberField gpus;
  bool gpus_in_milli = false;  // gpu_amount instead of gpu_count
  NumberField gpu_share;
  TextField gpu_model;
  char model_separator = kModelSeparator;
  NumberField priority;
  NumberField arrival;
  NumberField start;
  NumberField end;
  NumberField run_time;
  bool end_without_start_deletes = false;

  bool needs_cpu = false;
  bool needs_gpu_count = false;
  bool needs_run_time = false;

  // Whether there is any of what follows; plain tables do not look at it.
  bool jobs = false;
  TextField state;
  TextField tenant;
  NumberField estimate;
  NumberField deadline;
  NumberField deadline_after;
  NumberField preemptible;
  NumberField pods;
  int64_t gpus_per_pod = 0;
  int64_t cores_per_pod = 0;
  TextField group;
  NumberField max_per_node;
  std::vector<ExtendedField> extended;
};

JobReader::JobReader(TableReader* table, ShapeTable* shapes, const Options& options)
    : table_(table),
      shapes_(shapes),
      options_(options),
      columns_(std::make_unique<Columns>()),
      cache_(kCachedShapes) {}

JobReader::~JobReader() = default;

void JobReader::Bind(const proto::TableMapping& mapping) {
  const proto::PodColumns& pods = mapping.pods();
  Columns& c = *columns_;
  c.has_names = pods.has_name();
  c.name_prefix = absl::StrCat(mapping.name(), "-");
  if (!pods.gpu_model_separator().empty()) c.model_separator = pods.gpu_model_separator()[0];
  table_->Bind(pods.has_name(), pods.name(), &c.name);
  table_->Bind(pods.has_cpu(), pods.cpu(), ColumnKind::kCpu, &c.cpu);
  table_->Bind(pods.has_memory(), pods.memory(), ColumnKind::kMemory, &c.memory);
  table_->Bind(pods.has_gpu_count(), pods.gpu_count(), ColumnKind::kCount, &c.gpus);
  table_->Bind(pods.has_gpu_amount(), pods.gpu_amount(), ColumnKind::kGpuAmount, &c.gpus);
  c.gpus_in_milli = pods.has_gpu_amount();
  table_->Bind(pods.has_gpu_share(), pods.gpu_share(), ColumnKind::kGpuShare, &c.gpu_share);
  table_->Bind(pods.has_gpu_model(), pods.gpu_model(), &c.gpu_model);
  table_->Bind(pods.has_priority(), pods.priority(), ColumnKind::kPriority, &c.priority);
  table_->Bind(pods.has_arrival(), pods.arrival(), ColumnKind::kTime, &c.arrival);
  table_->Bind(pods.has_start(), pods.start(), ColumnKind::kTime, &c.start);
  table_->Bind(pods.has_end(), pods.end(), ColumnKind::kTime, &c.end);
  table_->Bind(pods.has_run_time(), pods.run_time(), ColumnKind::kLength, &c.run_time);
  c.end_without_start_deletes = pods.end_without_start_deletes();
  BindJobs(pods);
}

void JobReader::BindJobs(const proto::PodColumns& pods) {
  Columns& c = *columns_;
  table_->Bind(pods.has_state(), pods.state(), &c.state);
  table_->Bind(pods.has_tenant(), pods.tenant(), &c.tenant);
  table_->Bind(pods.has_estimate(), pods.estimate(), ColumnKind::kLength, &c.estimate);
  table_->Bind(pods.has_deadline(), pods.deadline(), ColumnKind::kTime, &c.deadline);
  table_->Bind(pods.has_deadline_after(), pods.deadline_after(), ColumnKind::kLength,
               &c.deadline_after);
  table_->Bind(pods.has_preemptible(), pods.preemptible(), ColumnKind::kFlag, &c.preemptible);
  table_->Bind(pods.has_pods(), pods.pods(), ColumnKind::kCount, &c.pods);
  c.gpus_per_pod = pods.gpus_per_pod();
  c.cores_per_pod = pods.cores_per_pod();
  table_->Bind(pods.has_group(), pods.group(), &c.group);
  table_->Bind(pods.has_max_per_node(), pods.max_per_node(), ColumnKind::kLimit, &c.max_per_node);
  table_->Bind({pods.extended().begin(), pods.extended().end()}, &c.extended);
  for (const std::string& need : pods.needs()) {
    c.needs_cpu |= need == "cpu";
    c.needs_gpu_count |= need == "gpu_count";
    c.needs_run_time |= need == "run_time";
  }
  c.jobs = pods.needs_size() > 0 || pods.has_state() || pods.has_tenant() || pods.has_estimate() ||
           pods.has_deadline() || pods.has_deadline_after() || pods.has_preemptible() ||
           pods.has_pods() || c.gpus_per_pod > 0 || c.cores_per_pod > 0 || pods.has_group() ||
           !c.extended.empty();
  singly_ = pods.has_gang() && !pods.gang();
}

bool JobReader::Read(const EarliestArrival& earliest, JobArrival* out) {
  const Columns& c = *columns_;
  Reset(out);
  PodAmounts amounts;
  absl::string_view gpu_model;
  int64_t priority = 0;
  bool has_priority = false;
  if (c.jobs && !ReadState(out)) return false;
  if (!ReadName(out) || !ReadAmounts(&amounts, &gpu_model) ||
      !table_->Read(c.priority, &priority, &has_priority) || !ReadTimes(earliest, out)) {
    return false;
  }
  const bool no_share = amounts.gpu_count > 0 && amounts.gpu_milli == 0;
  if (no_share) [[unlikely]] {
    amounts.gpu_count = 0;
    gpu_model = absl::string_view();
  }
  JobSplit split;
  if (c.jobs && !ReadJob(amounts, out, &split)) return false;
  if (c.has_names && options_.unique_names && !names_.Insert(out->name)) {
    table_->Reject("duplicate name", c.name, "a name that no earlier row has");
    return false;
  }
  if (no_share) [[unlikely]] {
    table_->Warn("GPUs with a share of 0", c.gpu_share,
                 "found 0 per GPU, so the pod is read as one without GPUs");
  }
  if (c.jobs && LeavesOut(amounts, *out)) return false;
  out->priority = static_cast<int32_t>(priority);
  if (!c.jobs) {
    out->shape = Intern(amounts, gpu_model, gpu_model, nullptr);
    return true;
  }
  out->pods = static_cast<int32_t>(split.full_pods);
  out->shape = InternPart(amounts, gpu_model, split.full, split.whole, /*remainder=*/false);
  if (split.rest > 0) {
    out->more_pods.push_back(
        PodGroup{InternPart(amounts, gpu_model, split.rest, split.whole, /*remainder=*/true), 1});
  }
  return true;
}

// Whether the row lacks something that its format needs.
bool JobReader::LeavesOut(const PodAmounts& amounts, const JobArrival& job) {
  const Columns& c = *columns_;
  if (c.needs_cpu && amounts.cpu_milli == 0) {
    table_->Warn("left out: asks for no CPU", c.cpu, "found none, so the row is left out");
    return true;
  }
  if (c.needs_gpu_count && amounts.gpu_count == 0) {
    table_->Warn("left out: asks for no GPU", c.gpus, "found none, so the row is left out");
    return true;
  }
  if (c.needs_run_time && !job.has_run_time) {
    table_->Warn("left out: no run time", c.run_time, "found none, so the row is left out");
    return true;
  }
  return false;
}

bool JobReader::ReadState(JobArrival* out) {
  const TextField& field = columns_->state;
  absl::string_view state;
  bool has_state = false;
  if (!table_->Read(field, &state, &has_state)) return false;
  if (!has_state || state == "succeeded" || state == "cancelled") return true;
  if (state == "failed") {
    out->fails = true;
    return true;
  }
  if (state == "skip") {
    table_->Warn("skipped by state", field, "found a state for which rows are left out");
  } else {
    table_->Reject("unknown state", field,
                   "succeeded, failed, cancelled or skip, or a text that 'values' translates to "
                   "one of these");
  }
  return false;
}

bool JobReader::ReadName(JobArrival* out) {
  if (!columns_->has_names) {
    out->name.assign(columns_->name_prefix);
    absl::StrAppend(&out->name, table_->line());
    return true;
  }
  absl::string_view name;
  bool has_name = false;
  if (!table_->Read(columns_->name, &name, &has_name)) return false;
  out->name.assign(name.data(), name.size());
  return true;
}

bool JobReader::ReadTimes(const EarliestArrival& earliest, JobArrival* out) {
  const NumberField* from = &columns_->start;
  int64_t arrival_ns = 0;
  bool has = false;
  if (options_.arrive_at_start && !table_->Read(*from, &arrival_ns, &has)) return false;
  if (!has) {
    from = &columns_->arrival;
    if (!table_->Read(*from, &arrival_ns, &has)) return false;
  }
  if (!AddOffset(*from, &arrival_ns)) return false;
  if (arrival_ns < earliest.ns) [[unlikely]] {
    table_->Reject("arrival out of order", *from, ExpectedArrival(earliest));
    return false;
  }
  out->time = SimTime(arrival_ns);
  return ReadRunTime(out);
}

// Makes a time of the file one of the run.
bool JobReader::AddOffset(const NumberField& from, int64_t* time_ns) {
  const int64_t offset_ns = options_.time_offset_ns;
  if (offset_ns == 0) [[likely]] {
    return true;
  }
  if (offset_ns > 0 ? *time_ns > kMaxInt64 - offset_ns : *time_ns + offset_ns < 0) {
    table_->Reject("time out of range", from,
                   absl::StrCat("a time that is from 0 to 2^63 - 1 ns when ",
                                ShownLength(offset_ns), " are added (epoch_offset_seconds)"));
    return false;
  }
  *time_ns += offset_ns;
  return true;
}

bool JobReader::ReadRunTime(JobArrival* out) {
  const Columns& c = *columns_;
  int64_t run_ns = 0;
  out->has_run_time = false;
  if (!table_->Read(c.run_time, &run_ns, &out->has_run_time)) return false;
  if (!out->has_run_time || c.end_without_start_deletes) {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    bool has_start = false;
    bool has_end = false;
    if (!table_->Read(c.start, &start_ns, &has_start) || !table_->Read(c.end, &end_ns, &has_end)) {
      return false;
    }
    if (c.end_without_start_deletes && has_end && !has_start) return SetDeletion(end_ns, out);
    if (!out->has_run_time && has_start && has_end) {
      out->has_run_time = true;
      run_ns = end_ns - start_ns;
    }
    if (run_ns < 0) {
      table_->Reject("end before start", c.end,
                     absl::StrCat("a time not before ", c.start.column.name()));
      return false;
    }
  }
  out->run_time = SimDuration(run_ns);
  return true;
}

bool JobReader::SetDeletion(int64_t end_ns, JobArrival* out) {
  const Columns& c = *columns_;
  if (!AddOffset(c.end, &end_ns)) return false;
  if (end_ns < out->time.ns()) {
    table_->Reject("end before arrival", c.end,
                   absl::StrCat("a time not before ", c.arrival.column.name()));
    return false;
  }
  out->has_deletion = true;
  out->deletion = SimTime(end_ns);
  out->has_run_time = false;
  out->run_time = SimDuration();
  return true;
}

bool JobReader::ReadAmounts(PodAmounts* amounts, absl::string_view* gpu_model) {
  const Columns& c = *columns_;
  bool has = false;
  if (!table_->Read(c.cpu, &amounts->cpu_milli, &has) ||
      !table_->Read(c.memory, &amounts->memory_bytes, &has) ||
      !table_->Read(c.gpus, &amounts->gpu_count, &has)) {
    return false;
  }
  if (amounts->gpu_count == 0) return true;
  if (c.gpus_in_milli) {
    if (!CutGpuAmount(amounts)) return false;
  } else {
    if (!table_->Read(c.gpu_share, &amounts->gpu_milli, &has)) return false;
    if (!has) amounts->gpu_milli = kDeviceMilli;
  }
  return table_->Read(c.gpu_model, gpu_model, &has);
}

// The milli of GPUs in gpu_count as GPUs.
bool JobReader::CutGpuAmount(PodAmounts* amounts) {
  const int64_t milli = amounts->gpu_count;
  if (milli < kDeviceMilli) {
    amounts->gpu_count = 1;
    amounts->gpu_milli = milli;
    return true;
  }
  if (milli % kDeviceMilli != 0) {
    table_->Reject("fraction of several GPUs", columns_->gpus,
                   "a whole number of GPUs, or a fraction of one");
    return false;
  }
  amounts->gpu_count = milli / kDeviceMilli;
  amounts->gpu_milli = kDeviceMilli;
  return true;
}

// Reads the columns that plain tables of pods do not have.
bool JobReader::ReadJob(const PodAmounts& amounts, JobArrival* out, JobSplit* split) {
  const Columns& c = *columns_;
  absl::string_view tenant;
  int64_t number = 0;
  bool has = false;
  if (!table_->Read(c.tenant, &tenant, &has)) return false;
  out->tenant.assign(tenant.data(), tenant.size());
  if (!table_->Read(c.estimate, &number, &out->has_estimate)) return false;
  out->estimate = SimDuration(number);
  if (!table_->Read(c.preemptible, &number, &has)) return false;
  out->preemptible = !has || number != 0;
  return ReadDeadline(out) && ReadPods(amounts, split) && ReadShapeExtras();
}

bool JobReader::ReadDeadline(JobArrival* out) {
  const Columns& c = *columns_;
  int64_t ns = 0;
  if (!table_->Read(c.deadline, &ns, &out->has_deadline)) return false;
  if (out->has_deadline) {
    if (!AddOffset(c.deadline, &ns)) return false;
    out->deadline = SimTime(ns);
    return true;
  }
  if (!table_->Read(c.deadline_after, &ns, &out->has_deadline)) return false;
  if (!out->has_deadline) return true;
  if (ns > kMaxInt64 - out->time.ns()) {
    table_->Reject("time out of range", c.deadline_after,
                   "a length that, counted from the arrival, ends before 2^63 ns");
    return false;
  }
  out->deadline = out->time + SimDuration(ns);
  return true;
}

bool JobReader::ReadPods(const PodAmounts& amounts, JobSplit* split) {
  const Columns& c = *columns_;
  int64_t pods = 0;
  bool has = false;
  if (!table_->Read(c.pods, &pods, &has)) return false;
  *split = SplitJob(amounts, c.gpus_per_pod, c.cores_per_pod);
  const NumberField* from = amounts.gpu_count > 0 ? &c.gpus : &c.cpu;
  if (pods > 1) {
    split->full_pods = pods;
    from = &c.pods;
  }
  if (split->pods() <= kMaxPodsPerJob) return true;
  table_->Reject("too many pods", *from,
                 absl::StrCat("no more than makes ", kMaxPodsPerJob, " pods in one job"));
  return false;
}

bool JobReader::ReadShapeExtras() {
  const Columns& c = *columns_;
  bool has = false;
  if (!table_->Read(c.extended, &extras_.extended) ||
      !table_->Read(c.group, &extras_.group, &has) ||
      !table_->Read(c.max_per_node, &extras_.max_per_node, &has)) {
    return false;
  }
  if (extras_.max_per_node < 1 || extras_.group.empty()) {
    extras_.max_per_node = 0;
    extras_.group = absl::string_view();
  }
  return true;
}

ShapeId JobReader::InternPart(const PodAmounts& job, absl::string_view gpu_model, int64_t part,
                              int64_t whole, bool remainder) {
  part_.extended.clear();
  for (const int64_t amount : extras_.extended) {
    part_.extended.push_back(PartOf(amount, part, whole));
  }
  part_.group = extras_.group;
  part_.max_per_node = extras_.max_per_node;
  part_.remainder = remainder;
  key_.assign(remainder ? "r" : "f");
  for (const int64_t amount : part_.extended) absl::StrAppend(&key_, amount, ";");
  absl::StrAppend(&key_, part_.max_per_node, ";", part_.group.size(), ";", part_.group, gpu_model);
  return Intern(PartOf(job, part, whole), gpu_model, key_, &part_);
}

// The cache only saves time: a miss asks the table, which knows all shapes. `key` is all that makes
// the shape besides `amounts`; without extras, that is the model.
ShapeId JobReader::Intern(const PodAmounts& amounts, absl::string_view gpu_model,
                          absl::string_view key, const ShapeExtras* extras) {
  uint64_t hash = MixWord(kFnvOffset, static_cast<uint64_t>(amounts.cpu_milli));
  hash = MixWord(hash, static_cast<uint64_t>(amounts.memory_bytes));
  hash = MixWord(hash, static_cast<uint64_t>(amounts.gpu_count) << 16 |
                           static_cast<uint64_t>(amounts.gpu_milli));
  if (!key.empty()) hash = MixWord(hash, Fnv1a(key));
  CachedShape& slot = cache_[hash % kCachedShapes];
  if (slot.id.valid() && slot.amounts == amounts && slot.key == key) [[likely]] {
    return slot.id;
  }
  PodShape shape;
  ResourceRequest& request = shape.request;
  request.cpu_milli = amounts.cpu_milli;
  request.memory_bytes = amounts.memory_bytes;
  request.gpu_count = static_cast<int32_t>(amounts.gpu_count);
  request.gpu_milli = static_cast<int32_t>(amounts.gpu_milli);
  request.gpu_spec = std::string(gpu_model);
  std::replace(request.gpu_spec.begin(), request.gpu_spec.end(), columns_->model_separator,
               kModelSeparator);
  if (extras != nullptr) {
    for (size_t i = 0; i < extras->extended.size(); ++i) {
      if (extras->extended[i] == 0) continue;
      request.extended.emplace_back(columns_->extended[i].resource, extras->extended[i]);
    }
    shape.constraints.group = std::string(extras->group);
    shape.constraints.max_per_node = static_cast<int32_t>(extras->max_per_node);
    shape.gang_remainder = extras->remainder;
  }
  slot.amounts = amounts;
  slot.key = std::string(key);
  slot.id = shapes_->Intern(shape);
  return slot.id;
}

}  // namespace drasim
