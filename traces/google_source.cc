#include "traces/google_source.h"

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
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/mapping.pb.h"
#include "model/shape_table.h"
#include "model/status_macros.h"
#include "traces/byte_source.h"
#include "traces/column_reader.h"
#include "traces/decimal.h"
#include "traces/table_reader.h"

namespace drasim {
namespace {

constexpr absl::string_view kGoogleName = "google-2011";
// 2^63-1 microseconds.
constexpr absl::string_view kAfterTheTrace = "9223372036854775807";

enum EventType : int64_t {
  kSubmit = 0,
  kSchedule = 1,
  kEvict = 2,
  kFail = 3,
  kFinish = 4,
  kKill = 5,
  kLost = 6,
  kUpdatePending = 7,
  kUpdateRunning = 8,
};

absl::StatusOr<std::unique_ptr<TableReader>> OpenEvents(
    const FormatInput& input, const std::vector<absl::string_view>& columns,
    absl::string_view advice = kLenientAdvice) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, OpenByteSource(input.path));
  TableReader::Options options;
  options.lenient = input.lenient;
  options.advice = advice;
  return OpenHeaderlessTable(std::move(bytes), kGoogleName, "#", columns, options);
}

// The times of a table of events, which must not decrease.
class EventClock {
 public:
  EventClock(TableReader* table, int64_t offset_ns) : table_(table), offset_ns_(offset_ns) {
    proto::Column column = NamedColumn("time", "us", /*optional=*/true);
    column.add_missing(std::string(kAfterTheTrace));
    table->Bind(true, column, ColumnKind::kTime, &number_);
    table->Bind(true, NamedColumn("time", "", /*optional=*/false), &text_);
  }

  // The time of the current row. False when the row is of no use: it is bad, and has been rejected,
  // or comes after the trace.
  bool Read(int64_t* time_ns) {
    absl::string_view text;
    bool has = false;
    if (!table_->Read(text_, &text, &has) || !table_->Read(number_, time_ns, &has)) return false;
    if (!has) {
      table_->Warn("event after the trace ended", number_, "is not looked at");
      return false;
    }
    is_before_trace_ = *time_ns == 0;
    const int64_t offset_ns = is_before_trace_ ? std::max<int64_t>(offset_ns_, 0) : offset_ns_;
    if (!ShiftTime(*time_ns, offset_ns, time_ns)) {
      table_->Reject("time out of range", number_,
                     "a time that the offset leaves between 0 and 126 years");
      return false;
    }
    if (*time_ns < last_ns_) {
      table_->Reject("event out of order", number_,
                     "a time not before that of the event ahead of it");
      return false;
    }
    last_ns_ = *time_ns;
    return true;
  }
  // Whether the last time that was read stands for the time before the trace began.
  bool is_before_trace() const { return is_before_trace_; }

 private:
  TableReader* const table_;
  const int64_t offset_ns_;
  NumberField number_;
  TextField text_;
  int64_t last_ns_ = 0;
  bool is_before_trace_ = false;
};

// A whole number up to `max`. False when the row has been rejected.
bool ReadType(TableReader& table, const NumberField& field, int64_t max, int64_t* type) {
  bool has = false;
  if (!table.Read(field, type, &has)) return false;
  if (*type <= max) return true;
  table.Reject("unknown event type", field, absl::StrCat("a whole number from 0 to ", max));
  return false;
}

// A fraction of the largest machine, of which `scale` base units are 1.0; 0 when it is missing.
// False when the row has been rejected.
bool ReadFraction(TableReader& table, const TextField& field, int64_t scale, int64_t* value,
                  bool* has) {
  absl::string_view text;
  *value = 0;
  if (!table.Read(field, &text, has)) return false;
  if (!*has || ParseAmount(text, scale, value) == DecimalError::kNone) return true;
  table.Reject("not a number", field,
               "a plain number, a fraction of the largest machine, that is not negative");
  return false;
}

class GoogleTaskEventsSource final : public ListedSource {
 public:
  GoogleTaskEventsSource(std::unique_ptr<TableReader> table, const FormatInput& input)
      : ListedSource(input.lenient),
        table_(std::move(table)),
        clock_(table_.get(), input.time_offset_ns),
        shapes_(input.shapes) {
    TableReader& t = *table_;
    t.Bind(true, NamedColumn("job", "", false), &job_);
    t.Bind(true, NamedColumn("index", "", false), ColumnKind::kCount, &index_);
    t.Bind(true, NamedColumn("event_type", "", false), ColumnKind::kCount, &type_);
    t.Bind(true, NamedColumn("user", "", true), &user_);
    t.Bind(true, NamedColumn("priority", "", true), ColumnKind::kPriority, &priority_);
    t.Bind(true, NamedColumn("cpu", "", true), &cpu_);
    t.Bind(true, NamedColumn("memory", "", true), &memory_);
    t.Bind(true, NamedColumn("different_machine", "", true), ColumnKind::kCount, &spread_);
  }

 private:
  static constexpr uint32_t kNoRow = ~uint32_t{0};
  enum class Phase : uint8_t { kPending, kRunning, kEnded };

  struct Task {
    int64_t job = 0;
    int64_t submitted_ns = 0;
    int64_t started_ns = 0;    // of the attempt that runs
    int64_t run_ns = -1;       // of the last attempt; below 0: it has none that ended
    int64_t deletion_ns = -1;  // below 0: none
    int32_t index = 0;
    int32_t incarnation = 1;
    ShapeId shape;
    uint32_t user = 0;  // of users_
    int32_t priority = 0;
    int8_t last_end = 0;  // an EventType, when kEnded
    Phase phase = Phase::kPending;
  };

  // One row of the table.
  struct Event {
    int64_t time_ns = 0;
    int64_t job = 0;
    int64_t index = 0;
    int64_t type = 0;
    int64_t priority = 0;
    PodShape shape;
    absl::string_view user;  // good until the next row
  };

  absl::Status ReadInput() override;
  size_t JobCount() const override { return tasks_.size(); }
  void GetJob(size_t place, JobArrival* out) const override;

  bool ReadEvent(Event* event);
  bool ReadRequest(Event* event);
  void Apply(const Event& event);
  uint32_t Submit(const Event& event, uint32_t row);
  uint32_t AddTask(const Event& event, int32_t incarnation);
  void Schedule(const Event& event, uint32_t row);
  void End(const Event& event, uint32_t row);
  void Warn(absl::string_view kind, absl::string_view what) { table_->Warn(kind, type_, what); }
  uint32_t InternUser(absl::string_view name);
  static std::string NameOf(const Task& task);

  std::unique_ptr<TableReader> table_;
  EventClock clock_;
  TextField job_;
  NumberField index_;
  NumberField type_;
  TextField user_;
  NumberField priority_;
  TextField cpu_;
  TextField memory_;
  NumberField spread_;
  ShapeTable* const shapes_;

  std::vector<Task> tasks_;  // in order of submission
  // By job and index: the last incarnation.
  absl::flat_hash_map<std::pair<int64_t, int64_t>, uint32_t> rows_;
  absl::flat_hash_map<uint32_t, std::vector<int64_t>> failed_ns_;  // of tasks that have some
  std::vector<std::string> users_;
  absl::flat_hash_map<std::string, uint32_t> user_rows_;
};

absl::Status GoogleTaskEventsSource::ReadInput() {
  Event event;
  RETURN_IF_ERROR(table_->ForEachRow([&] {
    if (ReadEvent(&event)) Apply(event);
  }));
  complaints().Merge(table_->complaints());
  for (const Task& task : tasks_) {
    if (task.phase != Phase::kEnded || task.run_ns < 0) continue;
    if (task.last_end != kEvict && task.last_end != kLost) continue;
    complaints().Warn("evicted or lost and not submitted again, so that it runs as long as it did",
                      absl::StrCat("task ", NameOf(task)));
  }
  return absl::OkStatus();
}

bool GoogleTaskEventsSource::ReadEvent(Event* event) {
  TableReader& t = *table_;
  absl::string_view job;
  bool has = false;
  if (!ReadType(t, type_, kUpdateRunning, &event->type) || !t.Read(job_, &job, &has) ||
      !t.Read(index_, &event->index, &has) || !t.Read(user_, &event->user, &has) ||
      !t.Read(priority_, &event->priority, &has)) {
    return false;
  }
  if (ParseWhole(job, &event->job) != DecimalError::kNone || event->job < 0) {
    t.Reject("not a number", job_, "a whole number that is not negative");
    return false;
  }
  return ReadRequest(event) && clock_.Read(&event->time_ns);
}

bool GoogleTaskEventsSource::ReadRequest(Event* event) {
  TableReader& t = *table_;
  PodShape& shape = event->shape;
  bool has_cpu = false;
  bool has_memory = false;
  bool has_spread = false;
  int64_t spread = 0;
  if (!ReadFraction(t, cpu_, kGoogleCpuMilli, &shape.request.cpu_milli, &has_cpu) ||
      !ReadFraction(t, memory_, kGoogleMemoryBytes, &shape.request.memory_bytes, &has_memory) ||
      !t.Read(spread_, &spread, &has_spread)) {
    return false;
  }
  if (event->type == kSubmit && (!has_cpu || !has_memory)) {
    t.Warn("submitted without a request", has_cpu ? memory_ : cpu_,
           "found '', so the task asks for none");
  }
  shape.constraints.group = spread > 0 ? absl::StrCat("job-", event->job) : std::string();
  shape.constraints.max_per_node = spread > 0 ? 1 : 0;
  return true;
}

void GoogleTaskEventsSource::Apply(const Event& event) {
  const auto found = rows_.find(std::make_pair(event.job, event.index));
  const uint32_t row = found == rows_.end() ? kNoRow : found->second;
  switch (event.type) {
    case kSubmit:
      Submit(event, row);
      return;
    case kSchedule:
      Schedule(event, row);
      return;
    case kUpdatePending:
    case kUpdateRunning:
      Warn("change of a request", "is not followed");
      return;
    default:
      End(event, row);
  }
}

// The row of the task, which waits or runs then.
uint32_t GoogleTaskEventsSource::Submit(const Event& event, uint32_t row) {
  if (row == kNoRow) return AddTask(event, 1);
  Task& task = tasks_[row];
  if (task.phase != Phase::kEnded) {
    Warn("submitted again while it waited or ran", "is not looked at");
    return row;
  }
  if (task.last_end == kFinish || task.last_end == kKill) {
    return AddTask(event, task.incarnation + 1);
  }
  if (task.last_end == kFail && task.run_ns >= 0) failed_ns_[row].push_back(task.run_ns);
  task.phase = Phase::kPending;
  task.run_ns = -1;
  task.deletion_ns = -1;
  return row;
}

uint32_t GoogleTaskEventsSource::AddTask(const Event& event, int32_t incarnation) {
  Task task;
  task.job = event.job;
  task.index = static_cast<int32_t>(event.index);
  task.incarnation = incarnation;
  task.submitted_ns = event.time_ns;
  task.shape = shapes_->Intern(event.shape);
  task.user = InternUser(event.user);
  task.priority = static_cast<int32_t>(event.priority);
  const uint32_t row = static_cast<uint32_t>(tasks_.size());
  rows_[std::make_pair(event.job, event.index)] = row;
  tasks_.push_back(task);
  return row;
}

void GoogleTaskEventsSource::Schedule(const Event& event, uint32_t row) {
  if (row == kNoRow || tasks_[row].phase == Phase::kEnded) {
    Warn("scheduled without having been submitted", "is read as both");
    row = Submit(event, row);
  }
  Task& task = tasks_[row];
  if (task.phase == Phase::kRunning) {
    Warn("scheduled while it ran", "is not looked at");
    return;
  }
  task.phase = Phase::kRunning;
  task.started_ns = event.time_ns;
}

void GoogleTaskEventsSource::End(const Event& event, uint32_t row) {
  if (row == kNoRow || tasks_[row].phase == Phase::kEnded) {
    Warn("ended without having been submitted", "is not looked at");
    return;
  }
  Task& task = tasks_[row];
  if (task.phase == Phase::kRunning) {
    task.run_ns = event.time_ns - task.started_ns;
  } else {
    task.deletion_ns = event.time_ns;
    if (event.type != kKill) {
      Warn("ended without having been scheduled", "is read as deleted by its owner");
    }
  }
  task.phase = Phase::kEnded;
  task.last_end = static_cast<int8_t>(event.type);
}

uint32_t GoogleTaskEventsSource::InternUser(absl::string_view name) {
  const auto [entry, is_new] =
      user_rows_.try_emplace(std::string(name), static_cast<uint32_t>(users_.size()));
  if (is_new) users_.emplace_back(name);
  return entry->second;
}

std::string GoogleTaskEventsSource::NameOf(const Task& task) {
  const std::string name = absl::StrCat(task.job, "-", task.index);
  return task.incarnation == 1 ? name : absl::StrCat(name, ".", task.incarnation);
}

void GoogleTaskEventsSource::GetJob(size_t place, JobArrival* out) const {
  const Task& task = tasks_[place];
  *out = JobArrival();
  out->name = NameOf(task);
  out->shape = task.shape;
  out->tenant = users_[task.user];
  out->priority = task.priority;
  out->time = SimTime(task.submitted_ns);
  if (task.phase == Phase::kEnded && task.run_ns >= 0) {
    out->has_run_time = true;
    out->run_time = SimDuration(task.run_ns);
    out->fails = task.last_end == kFail;
  }
  if (task.deletion_ns >= 0) {
    out->has_deletion = true;
    out->deletion = SimTime(task.deletion_ns);
  }
  const auto failed = failed_ns_.find(static_cast<uint32_t>(place));
  if (failed == failed_ns_.end()) return;
  for (const int64_t run_ns : failed->second) out->failed_attempts.emplace_back(run_ns);
}

absl::StatusOr<std::unique_ptr<TraceFormatSource>> OpenTaskEvents(const FormatInput& input) {
  RETURN_IF_ERROR(RefuseGpusPerPod(input, kGoogleName));
  ASSIGN_OR_RETURN(std::unique_ptr<TableReader> table,
                   OpenEvents(input, {"time", "missing_info", "job", "index", "machine",
                                      "event_type", "user", "scheduling_class", "priority", "cpu",
                                      "memory", "disk", "different_machine"}));
  return std::make_unique<GoogleTaskEventsSource>(std::move(table), input);
}

// --- Machines ---

enum MachineEventType : int64_t { kAdd = 0, kRemove = 1, kUpdate = 2 };

class MachineReader {
 public:
  MachineReader(TableReader* table, int64_t offset_ns) : table_(table), clock_(table, offset_ns) {
    table->Bind(true, NamedColumn("machine", "", false), &name_);
    table->Bind(true, NamedColumn("event_type", "", false), ColumnKind::kCount, &type_);
    table->Bind(true, NamedColumn("cpu", "", true), &cpu_);
    table->Bind(true, NamedColumn("memory", "", true), &memory_);
  }

  // The current row. A bad one has been rejected, and has left no trace.
  void ReadRow();
  // To be called once, after the last row.
  NodeList Finish(Complaints* complaints);

 private:
  struct Machine {
    NodeSpec node;
    bool has_capacity = false;
    bool present = false;
  };
  struct Numbered {
    size_t machine = 0;  // of machines_
    NodeChange change;
  };

  void SetCapacity(const NodeSpec& given, Machine* machine);
  void Change(size_t row, int64_t time_ns, bool added);
  void Warn(absl::string_view kind, absl::string_view what) { table_->Warn(kind, type_, what); }

  TableReader* const table_;
  EventClock clock_;
  TextField name_;
  NumberField type_;
  TextField cpu_;
  TextField memory_;
  std::vector<Machine> machines_;  // in order of appearance
  absl::flat_hash_map<std::string, size_t> rows_;
  std::vector<Numbered> changes_;
};

void MachineReader::ReadRow() {
  absl::string_view name;
  bool has = false;
  bool has_cpu = false;
  bool has_memory = false;
  int64_t type = 0;
  int64_t time_ns = 0;
  NodeSpec node;
  if (!table_->Read(name_, &name, &has) || !ReadType(*table_, type_, kUpdate, &type) ||
      !ReadFraction(*table_, cpu_, kGoogleCpuMilli, &node.cpu_milli, &has_cpu) ||
      !ReadFraction(*table_, memory_, kGoogleMemoryBytes, &node.memory_bytes, &has_memory) ||
      !clock_.Read(&time_ns)) {
    return;
  }
  const auto [entry, is_new] = rows_.try_emplace(std::string(name), machines_.size());
  const size_t row = entry->second;
  // A machine that is removed or changed without having been added was there from the start, too.
  const bool from_start = is_new && (type != kAdd || clock_.is_before_trace());
  if (is_new) {
    machines_.emplace_back();
    machines_.back().node.name = std::string(name);
    machines_.back().node.absent = !from_start;
    machines_.back().present = from_start;
  }
  if (has_cpu && has_memory) SetCapacity(node, &machines_[row]);
  if (type != kUpdate && !(from_start && type == kAdd)) Change(row, time_ns, type == kAdd);
}

void MachineReader::SetCapacity(const NodeSpec& given, Machine* machine) {
  NodeSpec& node = machine->node;
  if (!machine->has_capacity) {
    machine->has_capacity = true;
    node.cpu_milli = given.cpu_milli;
    node.memory_bytes = given.memory_bytes;
  } else if (node.cpu_milli != given.cpu_milli || node.memory_bytes != given.memory_bytes) {
    Warn("change of a machine's capacity", "is not followed");
  }
}

void MachineReader::Change(size_t row, int64_t time_ns, bool added) {
  if (machines_[row].present == added) {
    Warn(added ? "added while it was there" : "removed while it was not there", "is not looked at");
    return;
  }
  machines_[row].present = added;
  NodeChange change;
  change.time = SimTime(time_ns);
  change.node = machines_[row].node.name;
  change.added = added;
  changes_.push_back(Numbered{row, std::move(change)});
}

NodeList MachineReader::Finish(Complaints* complaints) {
  NodeList list;
  for (Numbered& each : changes_) {
    if (machines_[each.machine].has_capacity) list.changes.push_back(std::move(each.change));
  }
  for (Machine& machine : machines_) {
    if (machine.has_capacity) {
      list.nodes.push_back(std::move(machine.node));
    } else {
      complaints->Warn("left out, because it never has a capacity",
                       absl::StrCat("machine ", machine.node.name));
    }
  }
  return list;
}

}  // namespace

absl::StatusOr<NodeList> ReadGoogleMachines(const FormatInput& input) {
  ASSIGN_OR_RETURN(const std::unique_ptr<TableReader> opened,
                   OpenEvents(input, {"time", "machine", "event_type", "platform", "cpu", "memory"},
                              /*advice=*/""));
  TableReader& table = *opened;
  MachineReader machines(&table, input.time_offset_ns);
  RETURN_IF_ERROR(table.ForEachRow([&] { machines.ReadRow(); }));
  Complaints complaints(input.lenient, /*advice=*/"");
  complaints.Merge(table.complaints());
  NodeList list = machines.Finish(&complaints);
  list.warnings = complaints.Lines();
  return list;
}

SpecialFormat GoogleTaskEventsFormat() {
  SpecialFormat format;
  format.name = std::string(kGoogleName);
  format.description = "Google's cluster trace of 2011: task_events, and machine_events as nodes";
  format.open = OpenTaskEvents;
  format.read_nodes = ReadGoogleMachines;
  return format;
}

}  // namespace drasim
