#include "sim/run/input_files.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/device_set.h"
#include "model/distributions.h"
#include "model/number_text.h"
#include "model/quantity.h"
#include "model/text/mig_catalogue.h"
#include "sim/run/inline_jobs.h"
#include "sim/run/manifests.h"
#include "sim/run/node_objects.h"
#include "sim/scenario/duration_text.h"
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

// Records the file's hash in the scenario, or refuses a file that is not the one the scenario was
// run with.
absl::Status PinHash(const std::string& path, absl::string_view key, std::string* sha256) {
  if (path == "-") return absl::OkStatus();
  absl::StatusOr<std::string> actual = FileSha256(path);
  if (!actual.ok()) return actual.status();
  if (!sha256->empty() && *sha256 != *actual) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", key, " expects a file with SHA-256 ",
                                                   *sha256, ", found ", *actual));
  }
  *sha256 = *std::move(actual);
  return absl::OkStatus();
}

absl::StatusOr<WorkloadTable> ReadRequestTable(const std::string& name) {
  if (name.empty() || name == kEmbeddedTable)
    return ParseWorkloadTable(EmbeddedOpenbLikeTable(), "openb-like");
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(name);
  if (!source.ok()) return source.status();
  absl::StatusOr<std::string> text = ReadAll(**source, kMaxTableBytes);
  if (!text.ok()) return text.status();
  return ParseWorkloadTable(*text, (*source)->name());
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

// `cluster.nodes` nodes, all like `cluster.node`.
absl::StatusOr<std::vector<NodeSpec>> NodesFromTemplate(const proto::Cluster& cluster) {
  const proto::NodeTemplate& t = cluster.node();
  if (cluster.nodes() < 1)
    return absl::InvalidArgumentError("cluster.nodes: expected at least 1 beside cluster.node");
  NodeSpec spec;
  absl::StatusOr<int64_t> cpu = ParseMilli(t.cpu());
  if (!cpu.ok())
    return absl::InvalidArgumentError(absl::StrCat("cluster.node.cpu: ", cpu.status().message()));
  absl::StatusOr<int64_t> memory = ParseUnits(t.memory());
  if (!memory.ok())
    return absl::InvalidArgumentError(
        absl::StrCat("cluster.node.memory: ", memory.status().message()));
  if (t.gpus() < 0 || t.gpus() > kMaxDevicesPerNode) {
    return absl::InvalidArgumentError(absl::StrCat("cluster.node.gpus: found ", t.gpus(),
                                                   ", expected 0 to ", kMaxDevicesPerNode));
  }
  if (t.pods() < 0) return absl::InvalidArgumentError("cluster.node.pods: expected 0 or more");
  spec.cpu_milli = *cpu;
  spec.memory_bytes = *memory;
  spec.gpu_count = t.gpus();
  spec.gpu_model = t.gpu_model();
  if (t.pods() > 0) spec.pods = t.pods();
  for (int i = 0; i < t.extended_size(); ++i) {
    const std::string key = absl::StrCat("cluster.node.extended[", i, "]");
    absl::StatusOr<int64_t> amount = ParseUnits(t.extended(i).amount());
    if (!amount.ok())
      return absl::InvalidArgumentError(absl::StrCat(key, ".amount: ", amount.status().message()));
    if (*amount < 0 || t.extended(i).resource().empty())
      return absl::InvalidArgumentError(
          absl::StrCat(key, ": expected the name of a resource and an amount of 0 or more"));
    spec.extended.emplace_back(t.extended(i).resource(), *amount);
  }
  std::sort(spec.extended.begin(), spec.extended.end());
  std::vector<NodeSpec> nodes(static_cast<size_t>(cluster.nodes()), spec);
  const size_t digits = std::max<size_t>(6, absl::StrCat(cluster.nodes() - 1).size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string number = absl::StrCat(i);
    nodes[i].name = absl::StrCat("node-", std::string(digits - number.size(), '0'), number);
  }
  return nodes;
}

absl::Status Excludes(absl::string_view key, absl::string_view other) {
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": found ", other, ", too, expected one of them"));
}

// Jobs come from one place. (A trace wins over a generated workload.)
absl::Status CheckWorkloadSources(const proto::Workload& workload) {
  if (workload.manifests_size() > 0) {
    if (!workload.trace().path().empty()) {
      return Excludes("workload.manifests", "workload.trace.path");
    }
    if (workload.has_generated()) return Excludes("workload.manifests", "workload.generated");
    if (workload.jobs_size() > 0) return Excludes("workload.manifests", "workload.jobs");
  }
  if (workload.jobs_size() == 0) return absl::OkStatus();
  if (!workload.trace().path().empty()) return Excludes("workload.jobs", "workload.trace.path");
  if (workload.has_generated()) return Excludes("workload.jobs", "workload.generated");
  return absl::OkStatus();
}

// Without what the cluster says.
MigMixOptions MigOptionsOf(const proto::Scenario& scenario) {
  const proto::Generated& g = scenario.workload().generated();
  MigMixOptions options;
  for (const proto::MigShare& share : g.mig()) {
    options.shares.emplace_back(share.profile(), share.weight());
  }
  options.pods = g.pods();
  options.interarrival = g.interarrival();
  options.run_time = g.run_time();
  options.seed = scenario.seed();
  return options;
}

absl::Status CheckGeneratedMig(const proto::Scenario& scenario) {
  const proto::Generated& g = scenario.workload().generated();
  if (g.mig_size() == 0) {
    if (!g.has_offered_percent()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "workload.generated.offered_percent: found no workload.generated.mig, expected it beside");
  }
  const char* const other = !g.table().empty()      ? "table"
                            : g.gangs_size() > 0    ? "gangs"
                            : g.has_load_percent()  ? "load_percent"
                            : g.has_daily_swing()   ? "daily_swing"
                            : !g.sampling().empty() ? "sampling"
                                                    : nullptr;
  if (other != nullptr) {
    return Excludes(absl::StrCat("workload.generated.", other), "workload.generated.mig");
  }
  MigMixOptions options = MigOptionsOf(scenario);
  if (g.has_offered_percent()) {
    // Written so that NaN is refused.
    if (!(g.offered_percent() > 0 && g.offered_percent() <= 1e6)) {
      return absl::InvalidArgumentError(absl::StrCat("workload.generated.offered_percent: found ",
                                                     DoubleText(g.offered_percent()),
                                                     ", expected above 0, at most 1000000"));
    }
    options.offered_units = 1;  // how many they are, only the cluster says
  }
  return CheckMigMix(options);
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

absl::Status CheckGenerated(const proto::Scenario& scenario) {
  const proto::Cluster& cluster = scenario.cluster();
  if (cluster.path().empty()) {
    if (cluster.nodes() < 0 || cluster.nodes() > kMaxGeneratedNodes) {
      return absl::InvalidArgumentError(absl::StrCat("cluster.nodes: found ", cluster.nodes(),
                                                     ", expected 0 to ", kMaxGeneratedNodes));
    }
    if (cluster.has_node()) {
      proto::Cluster one = cluster;
      one.set_nodes(std::min<int64_t>(1, cluster.nodes()));
      if (auto node = NodesFromTemplate(one); !node.ok()) return node.status();
    }
  }
  const proto::Workload& workload = scenario.workload();
  if (absl::Status s = CheckWorkloadSources(workload); !s.ok()) return s;
  if (!workload.trace().path().empty() || workload.manifests_size() > 0) return absl::OkStatus();
  if (workload.jobs_size() > 0) {
    GpuModelTable models;
    ShapeTable shapes(&models);
    return MakeInlineJobs(workload.jobs(), {}, &shapes).status();
  }
  const proto::Generated& g = workload.generated();
  if (g.pods() < 0 || g.pods() > kMaxShapedJobs) {
    return absl::InvalidArgumentError(absl::StrCat("workload.generated.pods: found ", g.pods(),
                                                   ", expected 0 to ", kMaxShapedJobs));
  }
  if (!g.sampling().empty() && g.sampling() != "quota" && g.sampling() != "independent") {
    return absl::InvalidArgumentError(absl::StrCat("workload.generated.sampling: found '",
                                                   g.sampling(),
                                                   "', expected one of quota, independent"));
  }
  for (const auto& [key, text] :
       {std::pair("interarrival", g.interarrival()), std::pair("run_time", g.run_time())}) {
    if (text.empty()) continue;
    if (auto parsed = Distribution::Parse(text); !parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("workload.generated.", key, ": ", parsed.status().message()));
    }
  }
  return CheckGeneratedMig(scenario);
}

namespace {

// Leaves out what lacks something that workload.trace.needs names, for formats without a mapping.
class NeedsSource final : public EventSource {
 public:
  // `shapes` must outlive the source.
  NeedsSource(std::unique_ptr<EventSource> source, const proto::Trace& trace,
              const ShapeTable* shapes)
      : source_(std::move(source)), shapes_(shapes) {
    for (const std::string& need : trace.needs()) {
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
    return (!cpu_ || shape.cpu_milli > 0) && (!gpu_count_ || shape.gpu_count > 0) &&
           (!run_time_ || job.has_run_time);
  }

  std::unique_ptr<EventSource> source_;
  const ShapeTable* const shapes_;
  bool cpu_ = false;
  bool gpu_count_ = false;
  bool run_time_ = false;
  int64_t left_out_ = 0;
};

// What is added to the times of a trace. Whole seconds are exact; below, the nearest nanosecond.
int64_t OffsetNs(const proto::Trace& trace) {
  const double offset_s = trace.epoch_offset_seconds();
  const auto whole_s = static_cast<int64_t>(offset_s);
  return whole_s * 1'000'000'000 +
         static_cast<int64_t>((offset_s - static_cast<double>(whole_s)) * 1e9);
}

}  // namespace

absl::StatusOr<NodeInput> ReadNodeInput(proto::Scenario* scenario) {
  proto::Cluster* cluster = scenario->mutable_cluster();
  NodeInput input;
  if (cluster->path().empty()) {
    if (absl::Status s = CheckGenerated(*scenario); !s.ok()) return s;
    if (cluster->has_node()) {
      absl::StatusOr<std::vector<NodeSpec>> nodes = NodesFromTemplate(*cluster);
      if (!nodes.ok()) return nodes.status();
      input.nodes = *std::move(nodes);
      return input;
    }
    absl::StatusOr<WorkloadTable> table =
        ReadRequestTable(scenario->workload().generated().table());
    if (!table.ok()) return table.status();
    input.nodes = GenerateNodes(*table, cluster->nodes());
    return input;
  }
  if (const SpecialFormat* format = FindSpecialFormat(cluster->format()); format != nullptr) {
    if (format->read_nodes == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("cluster.format: the format ", format->name, " has no node list"));
    }
    FormatInput files;
    files.path = cluster->path();
    files.time_offset_ns = OffsetNs(scenario->workload().trace());
    files.lenient = scenario->workload().trace().lenient();
    absl::StatusOr<NodeList> list = format->read_nodes(files);
    if (!list.ok()) return list.status();
    input.nodes = std::move(list->nodes);
    input.changes = std::move(list->changes);
  } else if (HoldsNodeObjects(cluster->path())) {
    absl::StatusOr<std::vector<NodeSpec>> nodes = ReadNodeObjects(cluster->path());
    if (!nodes.ok()) return nodes.status();
    input.nodes = *std::move(nodes);
  } else {
    absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenByteSource(cluster->path());
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<proto::TableMapping> mapping = LoadMapping(cluster->format());
    if (!mapping.ok()) return mapping.status();
    absl::StatusOr<std::vector<NodeSpec>> nodes = ReadNodes(*std::move(bytes), *mapping);
    if (!nodes.ok()) return nodes.status();
    input.nodes = *std::move(nodes);
  }
  absl::Status pinned = PinHash(cluster->path(), "cluster.sha256", cluster->mutable_sha256());
  if (!pinned.ok()) return pinned;
  return input;
}

bool IsStream(const proto::Scenario& s) { return !s.workload().stream_interval().empty(); }

bool ShapesWorkload(const proto::Scenario& s) {
  const proto::Workload& w = s.workload();
  return (s.mode() == "replay" && !IsStream(s)) || w.tenants_size() > 0 || w.has_window() ||
         w.has_speed_up() || !w.jitter().empty() || w.has_bootstrap() || w.has_load_factor() ||
         !s.compat().empty();
}

absl::StatusOr<WorkloadInput> OpenTrace(const proto::Trace& trace, ArrivalOrder order,
                                        ShapeTable* shapes, bool unique_names) {
  WorkloadInput input;
  const int64_t offset_ns = OffsetNs(trace);
  if (FindSpecialFormat(trace.format()) != nullptr) {
    FormatInput files;
    files.path = trace.path();
    files.tables.insert(trace.tables().begin(), trace.tables().end());
    files.shapes = shapes;
    files.lenient = trace.lenient();
    files.time_offset_ns = offset_ns;
    if (trace.has_gpus_per_pod()) files.gpus_per_pod = trace.gpus_per_pod();
    absl::StatusOr<std::unique_ptr<TraceFormatSource>> source =
        OpenSpecialFormat(trace.format(), files);
    if (!source.ok()) return source.status();
    const TraceFormatSource* const format = source->get();
    if (trace.needs().empty()) {
      input.warnings = [format] { return format->Warnings(); };
      input.source = *std::move(source);
      return input;
    }
    auto filtered = std::make_unique<NeedsSource>(*std::move(source), trace, shapes);
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
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenByteSource(trace.path());
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<proto::TableMapping> mapping = LoadMapping(trace.format());
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
  options.lenient = trace.lenient();
  options.order = order;
  if (absl::StatusOr<SimDuration> window = ParseDuration(trace.sort_window());
      window.ok() && !trace.sort_window().empty() && order != ArrivalOrder::kKeep) {
    options.order = ArrivalOrder::kWindow;
    options.sort_window_ns = window->ns();
  }
  options.time_offset_ns = offset_ns;
  options.unique_names = unique_names;
  options.needs.assign(trace.needs().begin(), trace.needs().end());
  options.arrive_at_start = trace.arrival() == "start";
  if (trace.has_gpus_per_pod()) options.gpus_per_pod = trace.gpus_per_pod();
  if (trace.has_cores_per_pod()) options.cores_per_pod = trace.cores_per_pod();
  absl::StatusOr<std::unique_ptr<TableSource>> source =
      TableSource::Open(*std::move(bytes), *mapping, shapes, options);
  if (!source.ok()) return source.status();
  const TableSource* table = source->get();
  input.warnings = [table] {
    std::vector<std::string> lines = TallyLines(table->skipped(), "skipped");
    for (std::string& line : TallyLines(table->warnings(), "read with a change"))
      lines.push_back(std::move(line));
    return lines;
  };
  input.source = *std::move(source);
  return input;
}

namespace {

absl::StatusOr<WorkloadInput> OpenGeneratedJobs(const proto::Scenario& scenario,
                                                const std::vector<NodeSpec>& nodes,
                                                ShapeTable* shapes) {
  const proto::Generated& g = scenario.workload().generated();
  JobGeneratorOptions options;
  options.jobs = g.pods();
  options.interarrival = g.interarrival();
  options.run_time = g.run_time();
  options.seed = scenario.seed();
  options.daily_swing = g.daily_swing();
  if (g.has_load_percent()) options.load_percent = g.load_percent();
  for (const proto::GangShare& gang : g.gangs()) {
    options.gangs.push_back({gang.gpus(), gang.weight()});
  }
  // A pod asks for its share of a node, so that CPU and memory never decide.
  options.gpus_per_pod = 1;
  for (const NodeSpec& node : nodes) {
    options.capacity_gpus += node.gpu_count;
    if (node.gpu_count <= options.gpus_per_pod && options.cpu_milli_per_gpu > 0) continue;
    if (node.gpu_count == 0) continue;
    options.gpus_per_pod = node.gpu_count;
    options.cpu_milli_per_gpu = node.cpu_milli / node.gpu_count;
    options.memory_bytes_per_gpu = node.memory_bytes / node.gpu_count;
  }
  absl::StatusOr<std::unique_ptr<JobGenerator>> source = JobGenerator::Create(options, shapes);
  if (!source.ok()) return source.status();
  WorkloadInput input;
  input.source = *std::move(source);
  input.warnings = [] { return std::vector<std::string>(); };
  return input;
}

absl::StatusOr<WorkloadInput> OpenGeneratedPods(const proto::Scenario& scenario,
                                                ShapeTable* shapes) {
  const proto::Generated& g = scenario.workload().generated();
  absl::StatusOr<WorkloadTable> table = ReadRequestTable(g.table());
  if (!table.ok()) return table.status();
  GeneratedOptions options;
  options.pods = g.pods();
  options.sampling = g.sampling();
  options.interarrival = g.interarrival();
  options.run_time = g.run_time();
  options.seed = scenario.seed();
  absl::StatusOr<std::unique_ptr<GeneratedSource>> source =
      GeneratedSource::Create(*table, options, shapes);
  if (!source.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("workload.generated: ", source.status().message()));
  }
  WorkloadInput input;
  input.source = *std::move(source);
  input.warnings = [] { return std::vector<std::string>(); };
  return input;
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
    // Neighbours are mostly alike.
    if (model == nullptr || *model != node.gpu_model) product = FindMigProduct(node.gpu_model);
    model = &node.gpu_model;
    if (product == nullptr) continue;
    gpus.units += int64_t{node.gpu_count} * product->units;
    const bool known =
        std::any_of(gpus.products.begin(), gpus.products.end(),
                    [product](const MigProduct& p) { return p.group == product->group; });
    if (!known) gpus.products.push_back(*product);
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

absl::StatusOr<WorkloadInput> OpenInlineJobs(const proto::Workload& workload,
                                             const std::vector<NodeSpec>& nodes,
                                             ShapeTable* shapes) {
  const MigGpus gpus = MigGpusOf(nodes);
  for (int i = 0; gpus.products.empty() && i < workload.jobs_size(); ++i) {
    if (workload.jobs(i).mig_size() == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("workload.jobs.", i,
                     ".mig: found no GPU in the cluster that can be partitioned, expected one"));
  }
  absl::StatusOr<std::vector<JobArrival>> jobs =
      MakeInlineJobs(workload.jobs(), gpus.products, shapes);
  if (!jobs.ok()) return jobs.status();
  WorkloadInput input;
  input.source = std::make_unique<JobListSource>(*std::move(jobs));
  input.warnings = [] { return std::vector<std::string>(); };
  return input;
}

absl::StatusOr<WorkloadInput> OpenManifests(const proto::Workload& workload,
                                            const std::vector<NodeSpec>& nodes,
                                            ShapeTable* shapes) {
  absl::StatusOr<Manifests> manifests = ReadManifests(
      std::vector<std::string>(workload.manifests().begin(), workload.manifests().end()));
  if (!manifests.ok()) return manifests.status();
  proto::Workload jobs;
  for (const proto::InlineJob& job : manifests->jobs) *jobs.add_jobs() = job;
  absl::StatusOr<WorkloadInput> input = OpenInlineJobs(jobs, nodes, shapes);
  if (!input.ok()) return input;
  const std::vector<std::string> warnings = std::move(manifests->warnings);
  input->warnings = [warnings] { return warnings; };
  input->manifests = std::make_shared<const Manifests>(*std::move(manifests));
  return input;
}

// The fewest whole units that are at least so much of `units`; 1 at least.
int64_t UnitsOfShare(int64_t units, double percent) {
  const double share = static_cast<double>(units) * percent / 100.0;
  auto whole = static_cast<int64_t>(share);
  // Less than that above a whole number is the rounding of the product.
  if (share - static_cast<double>(whole) > share * 1e-12) ++whole;
  return std::max<int64_t>(1, whole);
}

absl::StatusOr<WorkloadInput> OpenGeneratedMig(const proto::Scenario& scenario,
                                               const std::vector<NodeSpec>& nodes,
                                               ShapeTable* shapes) {
  if (absl::Status s = CheckGeneratedMig(scenario); !s.ok()) return s;
  const MigGpus gpus = MigGpusOf(nodes);
  if (gpus.products.size() != 1) {
    const std::string found =
        absl::StrJoin(gpus.products, ", ",
                      [](std::string* out, const MigProduct& p) { absl::StrAppend(out, p.group); });
    return absl::InvalidArgumentError(
        absl::StrCat("workload.generated.mig: found ", gpus.products.empty() ? "none" : found,
                     " among the GPUs of the cluster, expected exactly one product that can be "
                     "partitioned"));
  }
  const proto::Generated& g = scenario.workload().generated();
  MigMixOptions options = MigOptionsOf(scenario);
  if (g.has_offered_percent()) {
    options.offered_units = UnitsOfShare(gpus.units, g.offered_percent());
  }
  absl::StatusOr<std::unique_ptr<MigMixSource>> source =
      MigMixSource::Create(options, gpus.products[0], shapes);
  if (!source.ok()) return source.status();
  WorkloadInput input;
  input.source = *std::move(source);
  input.warnings = [] { return std::vector<std::string>(); };
  return input;
}

}  // namespace

absl::StatusOr<WorkloadInput> OpenWorkloadInput(proto::Scenario* scenario,
                                                const std::vector<NodeSpec>& nodes,
                                                ShapeTable* shapes) {
  proto::Workload* workload = scenario->mutable_workload();
  if (absl::Status s = CheckWorkloadSources(*workload); !s.ok()) return s;
  if (workload->trace().path().empty()) {
    // The default format may stand there for pods that are given by a flag; another means a file.
    const std::string& format = workload->trace().format();
    if (!format.empty() && format != "openb") {
      return absl::InvalidArgumentError(absl::StrCat(
          "workload.trace.path: expected the trace's file beside workload.trace.format: ", format));
    }
    if (workload->manifests_size() > 0) return OpenManifests(*workload, nodes, shapes);
    if (workload->jobs_size() > 0) return OpenInlineJobs(*workload, nodes, shapes);
    if (workload->generated().mig_size() > 0) return OpenGeneratedMig(*scenario, nodes, shapes);
    return workload->generated().gangs_size() > 0 ? OpenGeneratedJobs(*scenario, nodes, shapes)
                                                  : OpenGeneratedPods(*scenario, shapes);
  }
  proto::Trace* trace = workload->mutable_trace();
  absl::StatusOr<WorkloadInput> input = OpenTrace(
      *trace, ShapesWorkload(*scenario) ? ArrivalOrder::kSort : ArrivalOrder::kKeep, shapes);
  if (!input.ok()) return input;
  absl::Status pinned = PinHash(trace->path(), "workload.trace.sha256", trace->mutable_sha256());
  if (!pinned.ok()) return pinned;
  return input;
}

}  // namespace drasim
