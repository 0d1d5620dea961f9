#include "traces/pai_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/pod_shape.h"
#include "model/proto/mapping.pb.h"
#include "model/shape_table.h"
#include "model/status_macros.h"
#include "traces/byte_source.h"
#include "traces/column_reader.h"
#include "traces/job_split.h"
#include "traces/table_reader.h"

namespace drasim {
namespace {

constexpr absl::string_view kPaiName = "pai-2020";

// The columns of each table that are read, bound.
struct JobColumns {
  TextField name, inst_id, user, status;
  NumberField start, end;

  explicit JobColumns(TableReader* table) {
    table->Bind(true, NamedColumn("job_name", "", false), &name);
    table->Bind(true, NamedColumn("inst_id", "", true), &inst_id);
    table->Bind(true, NamedColumn("user", "", true), &user);
    table->Bind(true, NamedColumn("status", "", false), &status);
    table->Bind(true, NamedColumn("start_time", "s", true), ColumnKind::kTime, &start);
    table->Bind(true, NamedColumn("end_time", "s", true), ColumnKind::kTime, &end);
  }
};

struct TaskColumns {
  TextField name, gpu_type;
  NumberField pods, start, cpu, memory, gpu;

  explicit TaskColumns(TableReader* table) {
    table->Bind(true, NamedColumn("job_name", "", false), &name);
    table->Bind(true, NamedColumn("inst_num", "", true), ColumnKind::kCount, &pods);
    table->Bind(true, NamedColumn("start_time", "s", true), ColumnKind::kTime, &start);
    table->Bind(true, NamedColumn("plan_cpu", "percent", true), ColumnKind::kCpu, &cpu);
    table->Bind(true, NamedColumn("plan_mem", "GiB", true), ColumnKind::kMemory, &memory);
    table->Bind(true, NamedColumn("plan_gpu", "percent", true), ColumnKind::kGpuAmount, &gpu);
    table->Bind(true, NamedColumn("gpu_type", "", true), &gpu_type);
  }
};

struct InstanceColumns {
  TextField name;
  NumberField start, end;

  explicit InstanceColumns(TableReader* table) {
    table->Bind(true, NamedColumn("job_name", "", false), &name);
    table->Bind(true, NamedColumn("start_time", "s", true), ColumnKind::kTime, &start);
    table->Bind(true, NamedColumn("end_time", "s", true), ColumnKind::kTime, &end);
  }
};

struct GroupColumns {
  TextField inst_id, user, gpu_type;

  explicit GroupColumns(TableReader* table) {
    table->Bind(true, NamedColumn("inst_id", "", false), &inst_id);
    table->Bind(true, NamedColumn("user", "", true), &user);
    table->Bind(true, NamedColumn("gpu_type_spec", "", true), &gpu_type);
  }
};

// The tables of a trace, opened.
struct Tables {
  std::unique_ptr<TableReader> job;
  std::unique_ptr<TableReader> task;
  std::unique_ptr<TableReader> instance;  // null: not given
  std::unique_ptr<TableReader> group;     // null: not given
};

class PaiSource final : public ListedSource {
 public:
  PaiSource(Tables tables, const FormatInput& input)
      : ListedSource(input.lenient),
        tables_(std::move(tables)),
        job_file_(input.path),
        shapes_(input.shapes),
        time_offset_ns_(input.time_offset_ns) {
    // One report on all tables.
    for (TableReader* table :
         {tables_.job.get(), tables_.task.get(), tables_.instance.get(), tables_.group.get()}) {
      if (table != nullptr) table->ReportTo(&complaints());
    }
  }

 private:
  struct Task {
    int32_t pods = 0;
    int32_t gpu_count = 0;
    int32_t gpu_milli = 0;
    int32_t gpu_type = 0;  // of gpu_types_
    int64_t cpu_milli = 0;
    int64_t memory_bytes = 0;
  };
  struct Job {
    std::string name;
    std::string inst_id;  // only with the table "group"
    std::string user;
    int64_t line = 0;
    int64_t submitted_ns = 0;
    int64_t end_ns = 0;
    int64_t first_start_ns = -1;  // of its tasks; below 0: none
    int64_t longest_ns = -1;      // of its instances; below 0: none
    bool failed = false;
    bool unfinished = false;  // runs or waits when the trace ends
    std::vector<Task> tasks;
  };
  struct GroupTag {
    std::string user;
    int32_t gpu_type = 0;  // of gpu_types_; 0: any
  };

  absl::Status ReadInput() override;
  size_t JobCount() const override { return listed_.size(); }
  void GetJob(size_t place, JobArrival* out) const override { *out = listed_[place]; }

  void ReadJob(TableReader& table, const JobColumns& columns);
  bool ReadStatus(TableReader& table, const TextField& field, Job* job);
  bool ReadJobTimes(TableReader& table, const JobColumns& columns, Job* job);
  void ReadTask(TableReader& table, const TaskColumns& columns);
  bool ReadGpus(TableReader& table, const NumberField& field, Task* task);
  void ReadInstance(TableReader& table, const InstanceColumns& columns);
  void ReadGroupTag(TableReader& table, const GroupColumns& columns);
  Job* FindJob(TableReader& table, const TextField& field);
  bool ReadTime(TableReader& table, const NumberField& field, int64_t* time_ns, bool* has);
  int32_t InternGpuType(absl::string_view name);

  void ListJobs();
  void ListJob(const Job& job);
  ShapeId InternShape(const Task& task, int32_t gpu_type);
  void Reject(const Job& job, absl::string_view kind, absl::string_view column,
              absl::string_view what);
  std::string Where(const Job& job) const;

  Tables tables_;
  const std::string job_file_;
  ShapeTable* const shapes_;
  const int64_t time_offset_ns_;

  // Until the jobs are listed:
  std::vector<Job> jobs_;  // in the order of the file
  absl::flat_hash_map<std::string, size_t> job_rows_;
  absl::flat_hash_map<std::string, GroupTag> tags_;  // by inst_id
  std::vector<std::string> gpu_types_ = {""};

  std::vector<JobArrival> listed_;  // in order of arrival
};

absl::Status PaiSource::ReadInput() {
  TableReader& jobs = *tables_.job;
  const JobColumns job_columns(&jobs);
  RETURN_IF_ERROR(jobs.ForEachRow([&] { ReadJob(jobs, job_columns); }));

  TableReader& tasks = *tables_.task;
  const TaskColumns task_columns(&tasks);
  RETURN_IF_ERROR(tasks.ForEachRow([&] { ReadTask(tasks, task_columns); }));

  if (tables_.instance != nullptr) {
    TableReader& instances = *tables_.instance;
    const InstanceColumns columns(&instances);
    RETURN_IF_ERROR(instances.ForEachRow([&] { ReadInstance(instances, columns); }));
  }
  if (tables_.group != nullptr) {
    TableReader& groups = *tables_.group;
    const GroupColumns columns(&groups);
    RETURN_IF_ERROR(groups.ForEachRow([&] { ReadGroupTag(groups, columns); }));
  }
  // A job that lacks tasks or instances because their rows are bad may look bad itself.
  if (!complaints().has_bad_rows()) ListJobs();
  return complaints().Error();
}

void PaiSource::ReadJob(TableReader& table, const JobColumns& columns) {
  absl::string_view name;
  absl::string_view inst_id;
  absl::string_view user;
  bool has = false;
  Job job;
  job.line = table.line();
  if (!table.Read(columns.name, &name, &has) || !table.Read(columns.inst_id, &inst_id, &has) ||
      !table.Read(columns.user, &user, &has) || !ReadStatus(table, columns.status, &job) ||
      !ReadJobTimes(table, columns, &job)) {
    return;
  }
  job.name = std::string(name);
  job.user = std::string(user);
  if (tables_.group != nullptr) job.inst_id = std::string(inst_id);
  if (!job_rows_.try_emplace(job.name, jobs_.size()).second) {
    table.Reject("duplicate name", columns.name, "a name that no earlier row has");
    return;
  }
  jobs_.push_back(std::move(job));
}

// Jobs that run or wait are unfinished until an end is found.
bool PaiSource::ReadStatus(TableReader& table, const TextField& field, Job* job) {
  absl::string_view text;
  bool has = false;
  if (!table.Read(field, &text, &has)) return false;
  job->failed = text == "Failed";
  job->unfinished = text == "Running" || text == "Waiting";
  if (job->failed || job->unfinished || text == "Terminated") return true;
  table.Reject("unknown status", field, "one of Terminated, Failed, Running, Waiting");
  return false;
}

bool PaiSource::ReadJobTimes(TableReader& table, const JobColumns& columns, Job* job) {
  bool has_start = false;
  bool has_end = false;
  if (!ReadTime(table, columns.start, &job->submitted_ns, &has_start) ||
      !ReadTime(table, columns.end, &job->end_ns, &has_end)) {
    return false;
  }
  if (!job->unfinished && (!has_start || !has_end)) {
    table.Reject("missing value", has_start ? columns.end : columns.start,
                 "a time, because the job has ended");
    return false;
  }
  if (has_start && has_end && job->end_ns < job->submitted_ns) {
    table.Reject("end before start", columns.end, "a time not before start_time");
    return false;
  }
  job->unfinished = !has_start || !has_end;
  return true;
}

void PaiSource::ReadTask(TableReader& table, const TaskColumns& columns) {
  Task task;
  int64_t pods = 0;
  int64_t start_ns = 0;
  absl::string_view gpu_type;
  bool has = false;
  bool has_start = false;
  if (!table.Read(columns.pods, &pods, &has) || !table.Read(columns.cpu, &task.cpu_milli, &has) ||
      !table.Read(columns.memory, &task.memory_bytes, &has) ||
      !ReadGpus(table, columns.gpu, &task) || !table.Read(columns.gpu_type, &gpu_type, &has) ||
      !ReadTime(table, columns.start, &start_ns, &has_start)) {
    return;
  }
  Job* const job = FindJob(table, columns.name);
  if (job == nullptr) return;
  if (pods == 0) {
    table.Warn("task without instances", columns.pods, "left out");
    return;
  }
  if (has_start && (job->first_start_ns < 0 || start_ns < job->first_start_ns)) {
    job->first_start_ns = start_ns;
  }
  task.pods = static_cast<int32_t>(pods);
  task.gpu_type = InternGpuType(gpu_type);
  job->tasks.push_back(task);
}

bool PaiSource::ReadGpus(TableReader& table, const NumberField& field, Task* task) {
  int64_t milli = 0;
  bool has = false;
  if (!table.Read(field, &milli, &has)) return false;
  if (milli > kDeviceMilli && milli % kDeviceMilli != 0) {
    table.Warn("more than one GPU, but not whole ones", field, "rounded up");
  }
  task->gpu_count = static_cast<int32_t>((milli + kDeviceMilli - 1) / kDeviceMilli);
  task->gpu_milli = static_cast<int32_t>(std::min<int64_t>(milli, kDeviceMilli));
  return true;
}

void PaiSource::ReadInstance(TableReader& table, const InstanceColumns& columns) {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool has_start = false;
  bool has_end = false;
  if (!ReadTime(table, columns.start, &start_ns, &has_start) ||
      !ReadTime(table, columns.end, &end_ns, &has_end)) {
    return;
  }
  if (has_start && has_end && end_ns < start_ns) {
    table.Reject("end before start", columns.end, "a time not before start_time");
    return;
  }
  Job* const job = FindJob(table, columns.name);
  if (job == nullptr || !has_start || !has_end) return;
  job->longest_ns = std::max(job->longest_ns, end_ns - start_ns);
}

void PaiSource::ReadGroupTag(TableReader& table, const GroupColumns& columns) {
  absl::string_view inst_id;
  absl::string_view user;
  absl::string_view gpu_type;
  bool has = false;
  if (!table.Read(columns.inst_id, &inst_id, &has) || !table.Read(columns.user, &user, &has) ||
      !table.Read(columns.gpu_type, &gpu_type, &has)) {
    return;
  }
  GroupTag tag;
  tag.user = std::string(user);
  tag.gpu_type = InternGpuType(gpu_type);
  if (!tags_.try_emplace(std::string(inst_id), std::move(tag)).second) {
    table.Warn("second tag of a job", columns.inst_id, "left out");
  }
}

// The job of the current row; null when the row is bad or the job unknown.
PaiSource::Job* PaiSource::FindJob(TableReader& table, const TextField& field) {
  absl::string_view name;
  bool has = false;
  if (!table.Read(field, &name, &has)) return nullptr;
  const auto found = job_rows_.find(name);
  if (found != job_rows_.end()) return &jobs_[found->second];
  table.Warn("row of a job that the job table does not have", field, "left out");
  return nullptr;
}

// False when the row has been rejected.
bool PaiSource::ReadTime(TableReader& table, const NumberField& field, int64_t* time_ns,
                         bool* has) {
  if (!table.Read(field, time_ns, has)) return false;
  if (!*has || ShiftTime(*time_ns, time_offset_ns_, time_ns)) return true;
  table.Reject("time out of range", field, "a time that the offset leaves between 0 and 126 years");
  return false;
}

// There are a handful.
int32_t PaiSource::InternGpuType(absl::string_view name) {
  const auto found = std::find(gpu_types_.begin(), gpu_types_.end(), name);
  const int32_t row = static_cast<int32_t>(found - gpu_types_.begin());
  if (found == gpu_types_.end()) gpu_types_.emplace_back(name);
  return row;
}

void PaiSource::ListJobs() {
  for (const Job& job : jobs_) ListJob(job);
  jobs_ = std::vector<Job>();
  job_rows_ = absl::flat_hash_map<std::string, size_t>();
  tags_ = absl::flat_hash_map<std::string, GroupTag>();
  std::stable_sort(listed_.begin(), listed_.end(),
                   [](const JobArrival& a, const JobArrival& b) { return a.time < b.time; });
}

void PaiSource::ListJob(const Job& job) {
  absl::string_view left_out;
  if (job.unfinished) {
    left_out = "left out: runs or waits when the trace ends";
  } else if (job.tasks.empty()) {
    left_out = "left out: has no tasks";
  } else if (job.first_start_ns < 0) {
    left_out = "left out: its tasks never started";
  }
  if (!left_out.empty()) {
    complaints().Warn(left_out, Where(job));
    return;
  }
  if (job.longest_ns < 0 && job.end_ns < job.first_start_ns) {
    Reject(job, "end before start", "end_time",
           "found one ahead of the start of its first task, expected one not before it");
    return;
  }
  int64_t pods = 0;
  for (const Task& task : job.tasks) pods += task.pods;
  if (pods > kMaxPodsPerJob) {
    Reject(
        job, "too many pods", "job_name",
        absl::StrCat("found ", pods, " instances of its tasks, expected at most ", kMaxPodsPerJob));
    return;
  }
  const auto tag = tags_.find(job.inst_id);
  JobArrival arrival;
  arrival.name = job.name;
  arrival.tenant = job.user;
  if (arrival.tenant.empty() && tag != tags_.end()) arrival.tenant = tag->second.user;
  arrival.time = SimTime(job.submitted_ns);
  arrival.has_run_time = true;
  arrival.run_time =
      SimDuration(job.longest_ns >= 0 ? job.longest_ns : job.end_ns - job.first_start_ns);
  arrival.fails = job.failed;
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    const Task& task = job.tasks[i];
    PodGroup group;
    group.shape = InternShape(task, tag == tags_.end() ? task.gpu_type : tag->second.gpu_type);
    group.pods = task.pods;
    if (i > 0) {
      arrival.more_pods.push_back(group);
    } else {
      arrival.shape = group.shape;
      arrival.pods = group.pods;
    }
  }
  listed_.push_back(std::move(arrival));
}

ShapeId PaiSource::InternShape(const Task& task, int32_t gpu_type) {
  PodShape shape;
  shape.request.cpu_milli = task.cpu_milli;
  shape.request.memory_bytes = task.memory_bytes;
  shape.request.gpu_count = task.gpu_count;
  shape.request.gpu_milli = task.gpu_milli;
  if (shape.request.gpu_count > 0)
    shape.request.gpu_spec = gpu_types_[static_cast<size_t>(gpu_type)];
  return shapes_->Intern(shape);
}

void PaiSource::Reject(const Job& job, absl::string_view kind, absl::string_view column,
                       absl::string_view what) {
  complaints().Reject(kind, column, absl::StrCat(Where(job), ": ", column, ": ", what));
}

std::string PaiSource::Where(const Job& job) const {
  return absl::StrCat(job_file_, ":", job.line, ":1: job '", ShownText(job.name), "'");
}

absl::StatusOr<std::unique_ptr<TableReader>> OpenPaiTable(
    absl::StatusOr<std::unique_ptr<ByteSource>> bytes, bool lenient,
    const std::vector<absl::string_view>& columns) {
  RETURN_IF_ERROR(bytes.status());
  TableReader::Options options;
  options.lenient = lenient;
  return OpenHeaderlessTable(*std::move(bytes), kPaiName, /*comment=*/"", columns, options);
}

absl::StatusOr<std::unique_ptr<TraceFormatSource>> OpenPai(const FormatInput& input) {
  RETURN_IF_ERROR(RefuseGpusPerPod(input, kPaiName));
  Tables tables;
  ASSIGN_OR_RETURN(tables.job, OpenPaiTable(OpenByteSource(input.path), input.lenient,
                                            {"job_name", "inst_id", "user", "status", "start_time",
                                             "end_time"}));
  ASSIGN_OR_RETURN(tables.task,
                   OpenPaiTable(OpenFormatTable(input, kPaiName, "task"), input.lenient,
                                {"job_name", "task_name", "inst_num", "status", "start_time",
                                 "end_time", "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"}));
  if (input.tables.contains("instance")) {
    ASSIGN_OR_RETURN(tables.instance,
                     OpenPaiTable(OpenFormatTable(input, kPaiName, "instance"), input.lenient,
                                  {"job_name", "task_name", "inst_name", "worker_name", "inst_id",
                                   "status", "start_time", "end_time", "machine"}));
  }
  if (input.tables.contains("group")) {
    ASSIGN_OR_RETURN(tables.group,
                     OpenPaiTable(OpenFormatTable(input, kPaiName, "group"), input.lenient,
                                  {"inst_id", "user", "gpu_type_spec", "group", "workload"}));
  }
  return std::make_unique<PaiSource>(std::move(tables), input);
}

}  // namespace

SpecialFormat PaiFormat() {
  SpecialFormat format;
  format.name = std::string(kPaiName);
  format.description =
      "Alibaba's GPU cluster trace of 2020 (PAI): the job table and its task table";
  format.tables.push_back({"task", true, "pai_task_table, the pods of each job"});
  format.tables.push_back({"instance", false, "pai_instance_table, for the run times of workers"});
  format.tables.push_back({"group", false, "pai_group_tag_table, for the GPU model asked for"});
  format.open = OpenPai;
  return format;
}

}  // namespace drasim
