#include "sim/run/input_files.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/device_set.h"
#include "model/key_error.h"
#include "model/kube/rules.h"
#include "model/status_macros.h"
#include "model/text/mig_catalogue.h"
#include "sim/run/cluster_manifests.h"
#include "sim/run/manifests.h"
#include "sim/run/node_objects.h"
#include "sim/scenario/field_errors.h"
#include "sim/scenario/inline_jobs.h"
#include "traces/byte_source.h"
#include "traces/embedded.h"
#include "traces/formats.h"
#include "traces/generator.h"
#include "traces/job_generator.h"
#include "traces/mapping.h"
#include "traces/mig_generator.h"
#include "traces/shaping.h"
#include "traces/table_source.h"

namespace drasim {
namespace {

constexpr size_t kMaxTableBytes = 64u << 20;
constexpr absl::string_view kEmbeddedTable = "openb-like";

// The file's hash; InvalidArgument if it differs from `pinned`, which may be empty. Standard input
// has no hash.
absl::StatusOr<std::string> HashOf(const std::string& path, absl::string_view key,
                                   const std::string& pinned) {
  if (path == "-") return pinned;
  ASSIGN_OR_RETURN(std::string actual, FileSha256(path));
  if (pinned.empty() || pinned == actual) return actual;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", key, " expects a file with SHA-256 ", pinned, ", found ", actual));
}

absl::StatusOr<WorkloadTable> ReadRequestTable(const std::string& name) {
  if (name.empty() || name == kEmbeddedTable)
    return ParseWorkloadTable(EmbeddedOpenbLikeTable(), "openb-like");
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(name));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxTableBytes));
  return ParseWorkloadTable(text, source->name());
}

std::vector<std::string> TallyLines(const RowTallies& tallies, absl::string_view what) {
  std::vector<std::string> lines;
  for (const auto& [kind, tally] : tallies) {
    const bool says_all = absl::StartsWith(kind, "left out: ");
    lines.push_back(absl::StrCat(tally.count, " row(s) ", says_all ? "" : what,
                                 says_all ? "" : ": ", kind, "; the first: ", tally.first));
  }
  return lines;
}

// Copies of the template with different names.
std::vector<NodeSpec> CopiesOf(const NodeListSpec& spec) {
  std::vector<NodeSpec> nodes(static_cast<size_t>(spec.count), *spec.like);
  const size_t digits = std::max<size_t>(6, absl::StrCat(spec.count - 1).size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const NodeListSpec::DealtLabel& label : spec.dealt_labels) {
      nodes[i].labels.emplace_back(label.key, label.values[i % label.values.size()]);
    }
    const std::string number = absl::StrCat(i);
    nodes[i].name = absl::StrCat("node-", std::string(digits - number.size(), '0'), number);
  }
  return nodes;
}

}  // namespace

absl::StatusOr<std::string> FileSha256(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot open the file: ", std::strerror(errno)));
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
  std::string buffer(1 << 16, '\0');
  size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0)
    EVP_DigestUpdate(context, buffer.data(), got);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  std::string digest(32, '\0');
  EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  EVP_MD_CTX_free(context);
  if (failed) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot read the file"));
  return absl::BytesToHexString(digest);
}

namespace {

// Drops jobs that lack a value named in workload.trace.needs, for formats without a mapping.
class NeedsSource final : public EventSource {
 public:
  // `shapes` must outlive the source.
  NeedsSource(std::unique_ptr<EventSource> source, const TraceSpec& trace, const ShapeTable* shapes)
      : source_(std::move(source)), shapes_(shapes) {
    for (const std::string& need : trace.needs) {
      cpu_ |= need == "cpu";
      gpu_count_ |= need == "gpu_count";
      run_time_ |= need == "run_time";
    }
  }

  absl::StatusOr<bool> Next(JobArrival* out) override {
    for (;;) {
      absl::StatusOr<bool> more = source_->Next(out);
      if (!more.ok() || !*more || HasAll(*out)) return more;
      ++left_out_;
    }
  }
  void Save(StateWriter& out) const override { source_->Save(out); }
  absl::Status Load(StateReader& in) override { return source_->Load(in); }
  int64_t left_out() const { return left_out_; }

 private:
  bool HasAll(const JobArrival& job) const {
    const PodShape& shape = shapes_->row(job.shape);
    return (!cpu_ || shape.request.cpu_milli > 0) && (!gpu_count_ || shape.request.gpu_count > 0) &&
           (!run_time_ || job.has_run_time);
  }

  std::unique_ptr<EventSource> source_;
  const ShapeTable* const shapes_;
  bool cpu_ = false;
  bool gpu_count_ = false;
  bool run_time_ = false;
  int64_t left_out_ = 0;
};

}  // namespace

absl::StatusOr<NodeInput> ReadNodeInput(const NodeListSpec& spec) {
  NodeInput input;
  if (!spec.manifests.empty()) {
    ASSIGN_OR_RETURN(ClusterSnapshot snapshot,
                     ReadClusterManifests(spec.manifests, spec.full_shapes, spec.keep_objects));
    input.nodes = std::move(snapshot.nodes);
    input.snapshot = std::make_shared<const ClusterSnapshot>(std::move(snapshot));
    input.sha256 = spec.sha256;
    return input;
  }
  if (spec.path.empty()) {
    input.sha256 = spec.sha256;
    if (spec.like.has_value()) {
      input.nodes = CopiesOf(spec);
      return input;
    }
    ASSIGN_OR_RETURN(const WorkloadTable table, ReadRequestTable(spec.table));
    input.nodes = GenerateNodes(table, spec.count);
    return input;
  }
  if (const SpecialFormat* format = FindSpecialFormat(spec.format); format != nullptr) {
    if (format->read_nodes == nullptr) {
      return KeyError("cluster.format",
                      absl::StrCat("the format ", format->name, " has no node list"));
    }
    FormatInput files;
    files.path = spec.path;
    files.time_offset_ns = spec.time_offset_ns;
    files.lenient = spec.lenient;
    ASSIGN_OR_RETURN(NodeList list, format->read_nodes(files));
    input.nodes = std::move(list.nodes);
    input.changes = std::move(list.changes);
  } else if (HoldsNodeObjects(spec.path)) {
    ASSIGN_OR_RETURN(input.nodes, ReadNodeObjects(spec.path));
  } else {
    ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, OpenByteSource(spec.path));
    ASSIGN_OR_RETURN(const proto::TableMapping mapping, LoadMapping(spec.format));
    ASSIGN_OR_RETURN(input.nodes, ReadNodes(std::move(bytes), mapping));
  }
  ASSIGN_OR_RETURN(input.sha256, HashOf(spec.path, "cluster.sha256", spec.sha256));
  return input;
}

absl::StatusOr<WorkloadInput> OpenTrace(const TraceSpec& trace, ArrivalOrder order,
                                        ShapeTable* shapes, bool unique_names) {
  WorkloadInput input;
  if (FindSpecialFormat(trace.format) != nullptr) {
    FormatInput files;
    files.path = trace.path;
    files.tables.insert(trace.tables.begin(), trace.tables.end());
    files.shapes = shapes;
    files.lenient = trace.lenient;
    files.time_offset_ns = trace.time_offset_ns;
    if (trace.gpus_per_pod.has_value()) files.gpus_per_pod = *trace.gpus_per_pod;
    ASSIGN_OR_RETURN(std::unique_ptr<TraceFormatSource> source,
                     OpenSpecialFormat(trace.format, files));
    const TraceFormatSource* const format = source.get();
    if (trace.needs.empty()) {
      input.warnings = [format] { return format->Warnings(); };
      input.source = std::move(source);
      return input;
    }
    auto filtered = std::make_unique<NeedsSource>(std::move(source), trace, shapes);
    const NeedsSource* const needs = filtered.get();
    input.warnings = [format, needs] {
      std::vector<std::string> lines = format->Warnings();
      if (needs->left_out() == 0) return lines;
      lines.push_back(absl::StrCat(needs->left_out(),
                                   " job(s) left out, which lack what workload.trace.needs names"));
      return lines;
    };
    input.source = std::move(filtered);
    return input;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, OpenByteSource(trace.path));
  absl::StatusOr<proto::TableMapping> mapping = LoadMapping(trace.format);
  if (absl::IsNotFound(mapping.status())) {
    std::vector<std::string> special;
    for (const SpecialFormat& format : SpecialFormats()) special.push_back(format.name);
    return absl::NotFoundError(absl::StrCat(mapping.status().message(),
                                            "; formats with code of "
                                            "their own are ",
                                            absl::StrJoin(special, ", ")));
  }
  if (!mapping.ok()) return mapping.status();
  TableSourceOptions options;
  options.lenient = trace.lenient;
  options.order = order;
  if (trace.sort_window.has_value() && order != ArrivalOrder::kKeep) {
    options.order = ArrivalOrder::kWindow;
    options.sort_window_ns = trace.sort_window->ns();
  }
  options.time_offset_ns = trace.time_offset_ns;
  options.unique_names = unique_names;
  options.needs = trace.needs;
  options.arrive_at_start = trace.arrive_at_start;
  if (trace.gpus_per_pod.has_value()) options.gpus_per_pod = *trace.gpus_per_pod;
  if (trace.cores_per_pod.has_value()) options.cores_per_pod = *trace.cores_per_pod;
  ASSIGN_OR_RETURN(std::unique_ptr<TableSource> source,
                   TableSource::Open(std::move(bytes), *mapping, shapes, options));
  const TableSource* table = source.get();
  input.warnings = [table] {
    std::vector<std::string> lines = TallyLines(table->skipped(), "skipped");
    for (std::string& line : TallyLines(table->warnings(), "read with a change"))
      lines.push_back(std::move(line));
    return lines;
  };
  input.source = std::move(source);
  return input;
}

namespace {

// Without warnings.
WorkloadInput InputOf(std::unique_ptr<EventSource> source) {
  WorkloadInput input;
  input.source = std::move(source);
  input.warnings = [] { return std::vector<std::string>(); };
  return input;
}

absl::StatusOr<WorkloadInput> OpenGeneratedJobs(const GeneratedSpec& spec, uint64_t seed,
                                                const std::vector<NodeSpec>& nodes,
                                                ShapeTable* shapes) {
  JobGeneratorOptions options = spec.jobs;
  options.seed = seed;
  // A pod requests its share of a node, so CPU and memory never decide the placement.
  options.gpus_per_pod = 1;
  for (const NodeSpec& node : nodes) {
    options.capacity_gpus += node.gpu_count;
    if (node.gpu_count <= options.gpus_per_pod && options.cpu_milli_per_gpu > 0) continue;
    if (node.gpu_count == 0) continue;
    options.gpus_per_pod = node.gpu_count;
    options.cpu_milli_per_gpu = node.cpu_milli / node.gpu_count;
    options.memory_bytes_per_gpu = node.memory_bytes / node.gpu_count;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<JobGenerator> source, JobGenerator::Create(options, shapes));
  return InputOf(std::move(source));
}

absl::StatusOr<WorkloadInput> OpenGeneratedPods(const GeneratedSpec& spec, uint64_t seed,
                                                ShapeTable* shapes) {
  ASSIGN_OR_RETURN(const WorkloadTable table, ReadRequestTable(spec.table));
  GeneratedOptions options = spec.pods;
  options.seed = seed;
  absl::StatusOr<std::unique_ptr<GeneratedSource>> source =
      GeneratedSource::Create(table, options, shapes);
  if (!source.ok()) return UnderKey("workload.generated", source.status());
  return InputOf(*std::move(source));
}

// The GPUs of the cluster that can be partitioned.
struct MigGpus {
  std::vector<MigProduct> products;  // each once, in the order of the nodes
  int64_t units = 0;                 // of all GPUs together
};

MigGpus MigGpusOf(const std::vector<NodeSpec>& nodes) {
  MigGpus gpus;
  const std::string* model = nullptr;
  const MigProduct* product = nullptr;
  for (const NodeSpec& node : nodes) {
    if (node.gpu_count == 0) continue;
    const bool mixed = !node.gpu_models.empty();
    for (size_t g = 0; g < (mixed ? node.gpu_models.size() : size_t{1}); ++g) {
      // Neighbours mostly have the same model.
      const std::string& name = GpuModelOf(node, g);
      if (model == nullptr || *model != name) product = FindMigProduct(name);
      model = &name;
      if (product == nullptr) continue;
      gpus.units += int64_t{mixed ? 1 : node.gpu_count} * product->units;
      const bool known =
          std::any_of(gpus.products.begin(), gpus.products.end(),
                      [product](const MigProduct& p) { return p.group == product->group; });
      if (!known) gpus.products.push_back(*product);
    }
  }
  return gpus;
}

// Jobs in memory, in their order.
class JobListSource : public EventSource {
 public:
  explicit JobListSource(std::vector<JobArrival> jobs) : jobs_(std::move(jobs)) {}

  absl::StatusOr<bool> Next(JobArrival* out) override {
    if (next_ == jobs_.size()) return false;
    *out = jobs_[next_++];
    return true;
  }
  void Save(StateWriter& out) const override {
    out.Section("job_list");
    out.U64(next_);
  }
  absl::Status Load(StateReader& in) override {
    in.Section("job_list");
    const uint64_t next = in.U64();
    if (next > jobs_.size()) in.Fail(absl::StrCat("there is no job ", next, " in the list"));
    if (in.status().ok()) next_ = static_cast<size_t>(next);
    return in.status();
  }

 private:
  const std::vector<JobArrival> jobs_;
  size_t next_ = 0;
};

absl::StatusOr<WorkloadInput> OpenInlineJobs(const std::vector<InlineJob>& jobs,
                                             const std::vector<NodeSpec>& nodes,
                                             ShapeTable* shapes) {
  const MigGpus gpus = MigGpusOf(nodes);
  for (size_t i = 0; gpus.products.empty() && i < jobs.size(); ++i) {
    if (jobs[i].mig.empty()) continue;
    return KeyError(absl::StrCat("workload.jobs.", i, ".mig"),
                    "found no GPU in the cluster that can be partitioned, expected one");
  }
  ASSIGN_OR_RETURN(std::vector<JobArrival> made, MakeInlineJobs(jobs, gpus.products, shapes));
  return InputOf(std::make_unique<JobListSource>(std::move(made)));
}

// Leaves out requests for what nodes have without being asked: disk and huge pages, unless some
// node says how much it has.
void LeaveOutUnreported(const std::vector<NodeSpec>& nodes, Manifests* manifests) {
  std::set<std::string> reported;
  for (const NodeSpec& node : nodes) {
    for (const auto& [name, amount] : node.extended) reported.insert(name);
  }
  std::set<std::string> left_out;
  for (InlineJob& job : manifests->jobs) {
    std::erase_if(job.shape.request.extended, [&](const auto& amount) {
      if (IsExtendedResource(amount.first) || reported.count(amount.first) > 0) return false;
      left_out.insert(amount.first);
      return true;
    });
  }
  if (left_out.empty()) return;
  manifests->warnings.push_back(
      absl::StrCat("requests of ", absl::StrJoin(left_out, ", "),
                   " have no effect: no node of the cluster says how much it has"));
}

absl::StatusOr<WorkloadInput> OpenManifests(const WorkloadSpec& spec,
                                            const std::vector<NodeSpec>& nodes,
                                            ShapeTable* shapes) {
  ASSIGN_OR_RETURN(Manifests manifests, ReadManifests(spec.manifests, spec.full_shapes,
                                                      spec.keep_objects, spec.structured_dra));
  if (spec.full_shapes) LeaveOutUnreported(nodes, &manifests);
  ASSIGN_OR_RETURN(WorkloadInput input, OpenInlineJobs(manifests.jobs, nodes, shapes));
  const std::vector<std::string> warnings = std::move(manifests.warnings);
  input.warnings = [warnings] { return warnings; };
  input.manifests = std::make_shared<const Manifests>(std::move(manifests));
  return input;
}

// The share of `units`, rounded up to whole units; at least 1.
int64_t UnitsOfShare(int64_t units, double percent) {
  const double share = static_cast<double>(units) * percent / 100.0;
  auto whole = static_cast<int64_t>(share);
  // A smaller excess over a whole number is a rounding error of the product.
  if (share - static_cast<double>(whole) > share * 1e-12) ++whole;
  return std::max<int64_t>(1, whole);
}

absl::StatusOr<WorkloadInput> OpenGeneratedMig(const GeneratedSpec& spec, uint64_t seed,
                                               const std::vector<NodeSpec>& nodes,
                                               ShapeTable* shapes) {
  const MigGpus gpus = MigGpusOf(nodes);
  if (gpus.products.size() != 1) {
    const std::string found =
        absl::StrJoin(gpus.products, ", ",
                      [](std::string* out, const MigProduct& p) { absl::StrAppend(out, p.group); });
    return KeyError(
        "workload.generated.mig",
        absl::StrCat("found ", gpus.products.empty() ? "none" : found,
                     " among the GPUs of the cluster, expected exactly one product that can be "
                     "partitioned"));
  }
  MigMixOptions options = spec.mig;
  options.seed = seed;
  if (spec.offered_percent.has_value()) {
    options.offered_units = UnitsOfShare(gpus.units, *spec.offered_percent);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<MigMixSource> source,
                   MigMixSource::Create(options, gpus.products[0], shapes));
  return InputOf(std::move(source));
}

}  // namespace

absl::StatusOr<WorkloadInput> OpenWorkloadInput(const WorkloadSpec& spec, uint64_t seed,
                                                const std::vector<NodeSpec>& nodes,
                                                ShapeTable* shapes) {
  if (!spec.stray_format.empty()) {
    return KeyError("workload.trace.path",
                    absl::StrCat("expected the trace's file beside workload.trace.format: ",
                                 spec.stray_format));
  }
  switch (spec.kind) {
    case WorkloadKind::kTrace:
      break;
    case WorkloadKind::kManifests:
      return OpenManifests(spec, nodes, shapes);
    case WorkloadKind::kJobs:
      return OpenInlineJobs(spec.jobs, nodes, shapes);
    case WorkloadKind::kGeneratedMig:
      return OpenGeneratedMig(spec.generated, seed, nodes, shapes);
    case WorkloadKind::kGeneratedJobs:
      return OpenGeneratedJobs(spec.generated, seed, nodes, shapes);
    case WorkloadKind::kGeneratedPods:
      return OpenGeneratedPods(spec.generated, seed, shapes);
  }
  ASSIGN_OR_RETURN(
      WorkloadInput input,
      OpenTrace(spec.trace, spec.shaped ? ArrivalOrder::kSort : ArrivalOrder::kKeep, shapes));
  ASSIGN_OR_RETURN(input.sha256,
                   HashOf(spec.trace.path, "workload.trace.sha256", spec.trace.sha256));
  return input;
}

}  // namespace drasim
