#include "traces/format_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/proto/mapping.pb.h"
#include "model/status_macros.h"

namespace drasim {

absl::Status ListedSource::EnsureRead() {
  if (read_ || !status_.ok()) return status_;
  status_ = ReadInput();
  read_ = status_.ok();
  return status_;
}

absl::StatusOr<bool> ListedSource::Next(JobArrival* out) {
  RETURN_IF_ERROR(EnsureRead());
  if (next_ == JobCount()) return false;
  GetJob(next_++, out);
  return true;
}

void ListedSource::Save(StateWriter& out) const {
  JobArrival last;
  if (next_ > 0) GetJob(next_ - 1, &last);
  out.Section("listed_source");
  out.Bool(read_);
  out.U64(next_);
  out.U64(read_ ? JobCount() : 0);
  out.Str(last.name);
  out.I64(last.time.ns());
}

absl::Status ListedSource::Load(StateReader& in) {
  DRASIM_CHECK(!read_);
  in.Section("listed_source");
  const bool read = in.Bool();
  const uint64_t next = in.U64();
  const uint64_t count = in.U64();
  const std::string name = in.Str();
  const int64_t time_ns = in.I64();
  if (!in.status().ok() || !read) return in.status();
  RETURN_IF_ERROR(EnsureRead());
  JobArrival last;
  bool same = count == JobCount() && next <= count;
  if (same && next > 0) GetJob(static_cast<size_t>(next) - 1, &last);
  same = same && last.name == name && last.time.ns() == time_ns;
  if (!same) {
    return absl::DataLossError(
        "the checkpoint was made from another trace: its place is not to be found in this one");
  }
  next_ = static_cast<size_t>(next);
  return absl::OkStatus();
}

bool ShiftTime(int64_t time_ns, int64_t offset_ns, int64_t* shifted_ns) {
  if (time_ns > kMaxTraceNs || offset_ns > kMaxTraceNs) return false;
  const int64_t sum = time_ns + offset_ns;
  if (sum < 0 || sum > kMaxTraceNs) return false;
  *shifted_ns = sum;
  return true;
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFormatTable(const FormatInput& input,
                                                            absl::string_view format,
                                                            absl::string_view table) {
  const auto found = input.tables.find(std::string(table));
  if (found == input.tables.end()) {
    return absl::InvalidArgumentError(absl::StrCat("tables: found no '", table,
                                                   "', expected its path, because format '", format,
                                                   "' needs it"));
  }
  return OpenByteSource(found->second);
}

proto::Column NamedColumn(absl::string_view name, absl::string_view unit, bool optional) {
  proto::Column column;
  column.set_column(std::string(name));
  column.set_unit(std::string(unit));
  column.set_optional(optional);
  return column;
}

absl::StatusOr<std::unique_ptr<TableReader>> OpenHeaderlessTable(
    std::unique_ptr<ByteSource> bytes, absl::string_view format, absl::string_view comment,
    const std::vector<absl::string_view>& columns, const TableReader::Options& options) {
  proto::TableMapping mapping;
  mapping.set_name(std::string(format));
  mapping.set_no_header(true);
  mapping.set_comment(std::string(comment));
  for (const absl::string_view column : columns) mapping.add_columns(std::string(column));
  return TableReader::Open(std::move(bytes), mapping, options);
}

absl::Status RefuseGpusPerPod(const FormatInput& input, absl::string_view format) {
  if (!input.gpus_per_pod.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("gpus_per_pod: found ", *input.gpus_per_pod,
                                                 ", expected none, because format '", format,
                                                 "' says which pods a job has"));
}

}  // namespace drasim
