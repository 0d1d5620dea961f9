#include "traces/csv_writer.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "traces/file_ptr.h"

namespace drasim {
namespace {

constexpr uint64_t kUnsignedSecondNs = kSecondNs;
constexpr int kMibShift = 20;
constexpr unsigned kBufferBytes = 1U << 17;

constexpr absl::string_view kPodHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";
constexpr absl::string_view kNodeHeader = "sn,cpu_milli,memory_mib,gpu,model";

absl::Status FileError(int error_number, absl::string_view doing, absl::string_view path) {
  return absl::ErrnoToStatus(error_number, absl::StrCat(doing, " ", path));
}

// One field, quoted when it has to be.
std::string Field(absl::string_view text) {
  if (text.find_first_of(",\"\r\n") == absl::string_view::npos) return std::string(text);
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// Bytes as exact decimal MiB. Each binary digit after the point takes one decimal, so it ends.
std::string MibText(int64_t bytes) {
  constexpr int64_t kFraction = (int64_t{1} << kMibShift) - 1;
  std::string text = absl::StrCat(bytes >> kMibShift);
  int64_t rest = bytes & kFraction;
  if (rest != 0) text.push_back('.');
  while (rest != 0) {
    rest *= 10;
    text.push_back(static_cast<char>('0' + (rest >> kMibShift)));
    rest &= kFraction;
  }
  return text;
}

std::string QosText(int32_t priority) {
  for (const OpenbQos& qos : kOpenbQos) {
    if (qos.priority == priority) return std::string(qos.name);
  }
  return absl::StrCat(priority);
}

}  // namespace

namespace internal {

// A file that is complete under its name or not there at all; or standard output.
class TextFile {
 public:
  static absl::StatusOr<std::unique_ptr<TextFile>> Open(const std::string& path);

  ~TextFile() {
    if (file_ == nullptr) return;
    gzclose(file_);
    RemovePart();
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  absl::Status Append(absl::string_view text);
  absl::Status Close();

 private:
  // Standard output has neither path nor part.
  TextFile(std::string path, std::string part, gzFile file)
      : path_(std::move(path)), part_(std::move(part)), file_(file) {
    gzbuffer(file_, kBufferBytes);
  }

  absl::string_view shown_path() const {
    return part_.empty() ? absl::string_view("standard output") : absl::string_view(part_);
  }
  void RemovePart() const {
    if (!part_.empty()) std::remove(part_.c_str());
  }

  std::string path_;
  std::string part_;
  gzFile file_;  // null once closed
  absl::Status status_;
};

absl::StatusOr<std::unique_ptr<TextFile>> TextFile::Open(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("the path of the file to write is empty");
  // zlib's mode T writes the bytes as they are, so that one set of calls serves plain files too.
  constexpr const char* kPlain = "wbT";
  if (path == "-") {
    std::fflush(stdout);
    const int descriptor = dup(STDOUT_FILENO);
    if (descriptor < 0) return FileError(errno, "cannot open", "standard output");
    const gzFile file = gzdopen(descriptor, kPlain);
    if (file == nullptr) {
      close(descriptor);
      return absl::ResourceExhaustedError("cannot open standard output: out of memory");
    }
    return std::unique_ptr<TextFile>(new TextFile("", "", file));
  }
  std::string part = path + ".part";
  errno = 0;
  const gzFile file = gzopen(part.c_str(), absl::EndsWith(path, ".gz") ? "wb6" : kPlain);
  if (file == nullptr) return FileError(errno == 0 ? ENOMEM : errno, "cannot create", part);
  return std::unique_ptr<TextFile>(new TextFile(path, std::move(part), file));
}

absl::Status TextFile::Append(absl::string_view text) {
  DRASIM_CHECK(file_ != nullptr);
  DRASIM_CHECK(text.size() <= static_cast<size_t>(std::numeric_limits<int>::max()));
  if (!status_.ok() || text.empty()) return status_;
  errno = 0;
  if (gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) == 0) {
    status_ = LostBytesError(errno == 0 ? EIO : errno, shown_path());
  }
  return status_;
}

absl::Status TextFile::Close() {
  DRASIM_CHECK(file_ != nullptr);
  errno = 0;
  const int code = gzclose(file_);
  file_ = nullptr;
  if (status_.ok() && code != Z_OK) {
    status_ = LostBytesError(errno == 0 ? EIO : errno, shown_path());
  }
  if (status_.ok() && !part_.empty() && std::rename(part_.c_str(), path_.c_str()) != 0) {
    status_ = FileError(errno, absl::StrCat("cannot rename ", part_, " to"), path_);
  }
  if (!status_.ok()) RemovePart();
  return status_;
}

}  // namespace internal

std::string SecondsText(int64_t ns) {
  // Unsigned, because the least int64 has no positive counterpart.
  const uint64_t magnitude =
      ns < 0 ? uint64_t{0} - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  std::string text = absl::StrCat(ns < 0 ? "-" : "", magnitude / kUnsignedSecondNs);
  const uint64_t fraction = magnitude % kUnsignedSecondNs;
  if (fraction == 0) return text;
  absl::StrAppend(&text, ".", absl::Dec(fraction, absl::kZeroPad9));
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

PodCsvWriter::PodCsvWriter(std::unique_ptr<internal::TextFile> file, const ShapeTable* shapes)
    : file_(std::move(file)), shapes_(shapes) {}

PodCsvWriter::~PodCsvWriter() = default;

absl::StatusOr<std::unique_ptr<PodCsvWriter>> PodCsvWriter::Open(const std::string& path,
                                                                 const ShapeTable* shapes) {
  ASSIGN_OR_RETURN(std::unique_ptr<internal::TextFile> file, internal::TextFile::Open(path));
  RETURN_IF_ERROR(file->Append(kPodHeader));
  return std::unique_ptr<PodCsvWriter>(new PodCsvWriter(std::move(file), shapes));
}

absl::Status PodCsvWriter::Write(const JobArrival& pod) {
  const PodShape& shape = shapes_->row(pod.shape);
  const auto refuse = [&pod](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("pod '", pod.name, "' cannot be written with openb columns: ", why));
  };
  if (pod.name.empty()) return refuse("it has no name");
  if (!shape.constraints.node_selector.empty()) return refuse("it has a node selector");
  if (!shape.constraints.tolerations.empty()) return refuse("it has tolerations");
  if (!shape.constraints.node_terms.empty() || shape.constraints.requires_node_terms ||
      shape.constraints.prefers_nodes || !shape.constraints.node_name.empty()) {
    return refuse("it has node affinity");
  }
  if (!shape.constraints.gates.empty()) return refuse("it has scheduling gates");
  if (!shape.constraints.host_ports.empty()) return refuse("it has host ports");
  if (!shape.topology.spread.empty()) return refuse("it has topology spread constraints");
  if (shape.topology.has_affinity()) return refuse("it has pod affinity");
  if (!shape.volumes.volumes.empty()) return refuse("it has volumes");
  if (shape.identity != PodIdentity()) return refuse("it has labels, a namespace or a scheduler");
  const int64_t arrival_ns = pod.time.ns();
  if (arrival_ns < 0) return refuse("its time of arrival is negative");
  absl::string_view phase = "Pending";
  std::string scheduled;
  std::string deleted;
  if (pod.has_run_time) {
    const int64_t run_time_ns = pod.run_time.ns();
    if (run_time_ns < 0) return refuse("its run time is negative");
    if (run_time_ns > std::numeric_limits<int64_t>::max() - arrival_ns) {
      return refuse("its end is beyond 64 bits of nanoseconds");
    }
    phase = "Succeeded";
    scheduled = SecondsText(arrival_ns);
    deleted = SecondsText(arrival_ns + run_time_ns);
  }
  std::string line =
      absl::StrCat(Field(pod.name), ",", shape.request.cpu_milli, ",",
                   MibText(shape.request.memory_bytes), ",", shape.request.gpu_count, ",");
  absl::StrAppend(&line, shape.request.gpu_milli, ",", Field(shape.request.gpu_spec), ",",
                  QosText(pod.priority), ",");
  absl::StrAppend(&line, phase, ",", SecondsText(arrival_ns), ",", deleted, ",", scheduled, "\n");
  return file_->Append(line);
}

absl::Status PodCsvWriter::Close() { return file_->Close(); }

absl::Status WriteNodesCsv(const std::string& path, absl::Span<const NodeSpec> nodes) {
  for (const NodeSpec& node : nodes) {
    const absl::string_view why = node.name.empty()          ? "it has no name"
                                  : !node.labels.empty()     ? "it has labels"
                                  : !node.taints.empty()     ? "it has taints"
                                  : node.unschedulable       ? "it is unschedulable"
                                  : !node.gpu_models.empty() ? "it has GPUs of several models"
                                                             : "";
    if (!why.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("node '", node.name, "' cannot be written with openb columns: ", why));
    }
  }
  const bool with_pods = std::any_of(
      nodes.begin(), nodes.end(), [](const NodeSpec& node) { return node.pods != kOpenbPodSlots; });
  ASSIGN_OR_RETURN(const std::unique_ptr<internal::TextFile> file, internal::TextFile::Open(path));
  RETURN_IF_ERROR(file->Append(absl::StrCat(kNodeHeader, with_pods ? ",pods\n" : "\n")));
  for (const NodeSpec& node : nodes) {
    std::string line = absl::StrCat(Field(node.name), ",", node.cpu_milli, ",",
                                    MibText(node.memory_bytes), ",", node.gpu_count, ",");
    absl::StrAppend(&line, Field(node.gpu_model));
    if (with_pods) absl::StrAppend(&line, ",", node.pods);
    line.push_back('\n');
    RETURN_IF_ERROR(file->Append(line));
  }
  return file->Close();
}

}  // namespace drasim
