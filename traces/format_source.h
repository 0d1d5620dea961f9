// Special trace formats, which no one-table mapping can express: how their readers are opened, and
// a base class for readers that must see all input before the first job.
#ifndef DRASIM_TRACES_FORMAT_SOURCE_H_
#define DRASIM_TRACES_FORMAT_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "model/time.h"
#include "traces/byte_source.h"
#include "traces/complaints.h"
#include "traces/table_reader.h"

namespace drasim {

namespace proto {
class Column;
}

// Times and lengths of traces go up to this (126 years), so that the sum of two fits int64.
inline constexpr int64_t kMaxTraceNs = 4'000'000'000'000'000'000;

// The input of a special format. Files may be gzip, but not archives of several files (tar).
struct FormatInput {
  std::string path;                                  // of the main file; "-" is standard input
  absl::btree_map<std::string, std::string> tables;  // paths of further files, by the table's name
  ShapeTable* shapes = nullptr;  // must outlive the source; its models must be interned
  bool lenient = false;          // bad rows are counted and skipped
  int64_t time_offset_ns = 0;    // added to every time of the files
  // Replaces the format's own; an error where the format says how a job is split.
  std::optional<int32_t> gpus_per_pod;
};

// A source that can say what was peculiar about its input.
class TraceFormatSource : public EventSource {
 public:
  // One line for each kind of row that was skipped (lenient only) or that was read in a way worth
  // knowing. Complete when Next has returned false.
  virtual std::vector<std::string> Warnings() const = 0;
};

// A node that comes or goes during the trace.
struct NodeChange {
  SimTime time;
  std::string node;
  bool added = false;  // false: removed
  bool operator==(const NodeChange&) const = default;
};

// The cluster of a trace.
struct NodeList {
  std::vector<NodeSpec> nodes;      // absent ones are added by `changes`
  std::vector<NodeChange> changes;  // in order of time
  std::vector<std::string> warnings;
};

// A further file that a format reads.
struct FormatTable {
  std::string name;  // key of FormatInput::tables
  bool required = false;
  std::string description;
};

// An entry of the registry in formats.h.
struct SpecialFormat {
  std::string name;
  std::string description;  // one line
  std::vector<FormatTable> tables;
  absl::StatusOr<std::unique_ptr<TraceFormatSource>> (*open)(const FormatInput& input) = nullptr;
  // Reads input.path as a node list of this format; null where the format has none.
  absl::StatusOr<NodeList> (*read_nodes)(const FormatInput& input) = nullptr;
};

// A source that reads everything at the first Next, and then serves the jobs in order of arrival.
// Materialised: the memory grows with the input.
class ListedSource : public TraceFormatSource {
 public:
  absl::StatusOr<bool> Next(JobArrival* out) final;
  void Save(StateWriter& out) const final;
  // Reads the input again, which interns the same shapes and counts the same rows, unless nothing
  // had been read when the place was saved. DataLoss when the input is not the one that was saved.
  absl::Status Load(StateReader& in) final;
  std::vector<std::string> Warnings() const final { return complaints_.Lines(); }

 protected:
  explicit ListedSource(bool lenient) : complaints_(lenient, kLenientAdvice) {}
  // Reads all input. Called once, ahead of the next two.
  virtual absl::Status ReadInput() = 0;
  virtual size_t JobCount() const = 0;
  // The job at `place` in order of arrival. Sets all of `out`.
  virtual void GetJob(size_t place, JobArrival* out) const = 0;

  Complaints& complaints() { return complaints_; }

 private:
  absl::Status EnsureRead();

  Complaints complaints_;
  bool read_ = false;  // JobCount and GetJob may be called
  absl::Status status_;
  size_t next_ = 0;
};

// `time_ns` of a file, which must not be negative, plus the offset. False when the sum is negative
// or beyond kMaxTraceNs.
bool ShiftTime(int64_t time_ns, int64_t offset_ns, int64_t* shifted_ns);

// Opens one of FormatInput::tables. InvalidArgument when it is not given; errors of OpenByteSource.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFormatTable(const FormatInput& input,
                                                            absl::string_view format,
                                                            absl::string_view table);

// A column without translations, for readers of tables that have no mapping file. `unit` may be
// empty.
proto::Column NamedColumn(absl::string_view name, absl::string_view unit, bool optional);

// A table without a header line, whose columns the format knows. Lines that begin with `comment`
// are skipped unless it is empty.
absl::StatusOr<std::unique_ptr<TableReader>> OpenHeaderlessTable(
    std::unique_ptr<ByteSource> bytes, absl::string_view format, absl::string_view comment,
    const std::vector<absl::string_view>& columns, const TableReader::Options& options);

// InvalidArgument when gpus_per_pod is given, for formats in which each pod is a row.
absl::Status RefuseGpusPerPod(const FormatInput& input, absl::string_view format);

}  // namespace drasim

#endif  // DRASIM_TRACES_FORMAT_SOURCE_H_
