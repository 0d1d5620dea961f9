// The Python package drasim_results beside the C++ reader: the same records for every golden
// scenario, the same end for every damaged ledger. Its other parts are tested by
// results_checks.py. Skipped without python3; the numpy side also without numpy.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "model/hash.h"
#include "model/random.h"
#include "model/record.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/soak.h"
#include "tests/testing/subprocess.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace drasim_results_test {

ProcessResult Python(const std::vector<std::string>& args) {
  std::vector<std::string> words = {"python3"};
  words.insert(words.end(), args.begin(), args.end());
  return Process("/usr/bin/env", words, DRASIM_SOURCE_DIR).Wait(600);
}

// "plain", and "numpy" where it is installed; empty without python3.
std::vector<std::string> Libraries() {
  if (Python({"-c", ""}).exit_code != 0) return {};
  if (Python({"-c", "import numpy"}).exit_code != 0) return {"plain"};
  return {"plain", "numpy"};
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// Features that no golden scenario has: several tenants, and names that are not plain ASCII.
constexpr char kTenants[] = R"(
name: tenants
mode: replay
cluster: {nodes: 2, node: {cpu: 8, memory: 32Gi, gpus: 1}}
workload:
  jobs:
  - {name: zürich, tenant: vision, cpu: 1, run_time: 60s}
  - {name: b, tenant: speech, cpu: 100, arrival: 1s, run_time: 60s}
  - {name: c, tenant: vision, pods: 2, gpus: 1, cpu: 1, arrival: 2s, run_time: 60s}
  - {name: d, tenant: näme, priority: -7, cpu: 1, arrival: 3s, run_time: 60s}
)";

// Runs the program, which finds paths in the repository.
void RunDrasim(std::vector<std::string> args, const std::string& dir) {
  args.insert(args.end(), {"--ledger", "on", "--quiet", "--out", dir});
  const ProcessResult result = Process(DRASIM_BINARY, args, DRASIM_SOURCE_DIR).Wait(600);
  ASSERT_EQ(result.exit_code, 0) << result.err;
}

void RunGolden(const std::string& name, const std::string& dir) {
  if (name == "extender") {
    RunDrasim({"run", "scenarios/kube/extender.yaml", "--extender-replay",
               "scenarios/kube/extender.calls.jsonl"},
              dir);
    return;
  }
  const std::string yaml =
      name == "tenants"
          ? kTenants
          : FileText(absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/", name));
  proto::Scenario scenario = *RunSpecOf(ScenarioOf(yaml)).written;
  scenario.mutable_output()->set_ledger(true);
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(RunSpecOf(scenario));
  ASSERT_TRUE(sim.ok()) << sim.status();
  absl::StatusOr<std::unique_ptr<RunOutputs>> outputs = RunOutputs::Attach(sim->get(), dir);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ((*sim)->Start(), absl::OkStatus());
  ASSERT_EQ((*sim)->Run(), absl::OkStatus());
  ASSERT_EQ((*outputs)->Complete(0), absl::OkStatus());
}

template <typename Id>
int64_t Number(Id id) {
  return id.valid() ? static_cast<int64_t>(id.value()) : -1;
}

template <typename Amounts>
std::string AmountsText(const Amounts& amounts) {
  std::map<std::string, int64_t> sorted(amounts.begin(), amounts.end());
  return absl::StrJoin(sorted, " ", absl::PairFormatter("="));
}

// The lines that ledger_lines.py prints.
std::string LinesOf(const std::string& dir) {
  absl::StatusOr<std::unique_ptr<LedgerReader>> opened = LedgerReader::Open(dir);
  EXPECT_TRUE(opened.ok()) << opened.status();
  LedgerReader& reader = **opened;
  const ClusterState& cluster = reader.cluster();
  std::string text;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeSpec& node = cluster.node_spec(NodeId(n));
    absl::StrAppend(&text, "node\t", node.name, "\t", node.cpu_milli, "\t", node.memory_bytes, "\t",
                    node.pods, "\t", node.gpu_count, "\t", node.gpu_model, "\t",
                    AmountsText(node.extended), "\n");
  }
  std::set<size_t> reserved;
  Record r;
  while (true) {
    const absl::StatusOr<bool> more = reader.Next(&r);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) break;
    absl::StrAppend(&text, r.time.ns(), "\t", RecordKindName(r.kind), "\t", Number(r.pod), "\t",
                    Number(r.node), "\t", r.devices.bits(), "\t", r.detail, "\t",
                    Number(r.preemptor), "\n");
    // A binding after a reservation gives nothing new.
    const bool again = r.kind == RecordKind::kPodBound && reserved.erase(r.pod.value()) > 0;
    if (r.kind == RecordKind::kPodReserved) reserved.insert(r.pod.value());
    if (r.kind == RecordKind::kPodUnreserved) reserved.erase(r.pod.value());
    if (MayGiveDevices(r.kind) && !again && !cluster.pod_grants(r.pod).empty()) {
      text += "grants";
      for (const DeviceGrant& grant : cluster.pod_grants(r.pod)) {
        absl::StrAppend(&text, "\t", grant.device, "/", grant.placement, "/", grant.milli);
      }
      text += "\n";
    }
    if (r.kind == RecordKind::kPodArrived) {
      const PodShape& shape = cluster.pod_shape(r.pod);
      absl::StrAppend(&text, "pod\t", cluster.pod_name(r.pod), "\t",
                      cluster.pod_shape_id(r.pod).value(), "\t", cluster.pod_priority(r.pod), "\t",
                      cluster.pod_arrival(r.pod).ns(), "\t", Number(reader.JobOf(r.pod)), "\t",
                      reader.TenantOf(r.pod), "\t");
      absl::StrAppend(&text, shape.request.cpu_milli, "\t", shape.request.memory_bytes, "\t",
                      shape.request.gpu_count, "\t", shape.request.gpu_milli, "\t",
                      shape.request.gpu_spec, "\t", AmountsText(shape.request.extended), "\t",
                      AmountsText(shape.request.mig), "\t", shape.constraints.group, "\n");
    }
    if (r.kind == RecordKind::kAttemptFailed) {
      absl::StrAppend(&text, "summary\t", reader.summaries().Text(SummaryId(r.detail)), "\n");
    }
  }
  absl::StrAppend(&text, "end\t", reader.complete() ? 1 : 0, "\t",
                  reader.complete() ? HexHash(reader.fingerprint()) : "", "\t", reader.records(),
                  "\n");
  return text;
}

void ExpectEqualLines(const std::string& actual, const std::string& expected) {
  if (actual == expected) return;
  const std::vector<std::string> ours = absl::StrSplit(actual, '\n');
  const std::vector<std::string> theirs = absl::StrSplit(expected, '\n');
  size_t i = 0;
  while (i < ours.size() && i < theirs.size() && ours[i] == theirs[i]) ++i;
  ADD_FAILURE() << "line " << i + 1 << " of " << theirs.size()
                << ":\nPython: " << (i < ours.size() ? ours[i] : "")
                << "\nC++:    " << (i < theirs.size() ? theirs[i] : "");
}

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names = {"tenants", "extender"};
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios"))) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(DrasimResultsTest, GivesTheRecordsOfTheCppReader) {
  const std::vector<std::string> libraries = Libraries();
  if (libraries.empty()) GTEST_SKIP() << "there is no python3";
  for (const std::string& name : GoldenNames()) {
    SCOPED_TRACE(name);
    const TempDir dir;
    ASSERT_NO_FATAL_FAILURE(RunGolden(name, dir.path()));
    const std::string expected = LinesOf(dir.path());
    for (const std::string& library : libraries) {
      SCOPED_TRACE(library);
      const ProcessResult result =
          Python({"tests/python/ledger_lines.py", "lines", library, dir.path()});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      ExpectEqualLines(result.out, expected);
    }
  }
}

// A column's values, weighted by their places, modulo 2^64.
class ColumnSum {
 public:
  void Add(int64_t value) { sum_ += static_cast<uint64_t>(value) * (1 + row_++ % 1009); }
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0;
  uint64_t row_ = 0;
};

// The line that ledger_lines.py prints first.
std::string SumsOf(const std::string& dir) {
  absl::StatusOr<std::unique_ptr<LedgerReader>> opened = LedgerReader::Open(dir);
  EXPECT_TRUE(opened.ok()) << opened.status();
  LedgerReader& reader = **opened;
  std::array<ColumnSum, 7> columns;
  Record r;
  while (*reader.Next(&r)) {
    columns[0].Add(r.time.ns());
    columns[1].Add(static_cast<int64_t>(r.kind));
    columns[2].Add(Number(r.pod));
    columns[3].Add(Number(r.node));
    columns[4].Add(static_cast<int64_t>(r.devices.bits()));
    columns[5].Add(r.detail);
    columns[6].Add(Number(r.preemptor));
  }
  std::string text = absl::StrCat(reader.records());
  for (const ColumnSum& column : columns) absl::StrAppend(&text, " ", column.sum());
  return text;
}

// In make soak a million records, with keyframes. CPU time, since other tests run beside this one.
TEST(DrasimResultsTest, ReadsAMillionRecordsInTime) {
  const std::vector<std::string> libraries = Libraries();
  if (libraries.empty()) GTEST_SKIP() << "there is no python3";
  const uint64_t pods = 3400 * std::min<uint64_t>(100, SoakSeeds(1));
  const TempDir dir;
  dir.Write("long.yaml", absl::StrCat("mode: replay\n"
                                      "cluster: {nodes: 1000, node: {cpu: 64, memory: 256Gi, gpus: "
                                      "8}}\n"
                                      "workload:\n  generated: {pods: ",
                                      pods,
                                      ", interarrival: constant(1), run_time: "
                                      "exponential(mean=300)}\n"
                                      "scheduler: {policy: best-fit}\n"));
  ASSERT_NO_FATAL_FAILURE(RunDrasim({"run", dir.PathOf("long.yaml")}, dir.PathOf("run")));
  const std::string expected = SumsOf(dir.PathOf("run"));
  for (const std::string& library : libraries) {
    const ProcessResult result =
        Python({"tests/python/ledger_lines.py", "sums", library, dir.PathOf("run")});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::vector<std::string> lines = absl::StrSplit(result.out, '\n');
    ASSERT_EQ(lines.size(), 3u) << result.out;
    EXPECT_EQ(lines[0], expected) << library;
    double seconds = 0;
    ASSERT_TRUE(absl::SimpleAtod(lines[1], &seconds)) << lines[1];
    EXPECT_LE(seconds, library == "numpy" ? 3 : 30) << library;
  }
}

// A byte string somewhere in the ledger changed, cut off or repeated.
std::string DamagedBytes(const std::string& whole, Random* random) {
  std::string bytes = whole;
  const auto at = static_cast<size_t>(random->Below(bytes.size()));
  switch (random->Below(4)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 << random->Below(8)));
      break;
    case 2:
      bytes.erase(at, static_cast<size_t>(random->Below(20)));
      break;
    default:
      bytes.insert(at, bytes.substr(at, static_cast<size_t>(random->Below(20))));
  }
  return bytes;
}

// Bytes of one frame's payload changed, with a checksum that fits.
std::string WithAPlausibleFrame(const std::string& whole, Random* random) {
  std::vector<size_t> offsets;
  size_t offset = kLedgerMagic.size();
  while (offset + kFrameHeaderBytes <= whole.size()) {
    const size_t length = ReadLittleEndian(absl::string_view(whole).substr(offset, 4));
    if (length > whole.size() - offset - kFrameHeaderBytes) break;
    const auto type = static_cast<FrameType>(whole[offset + 8]);
    if (!IsBesideRecords(type) && length > 0) offsets.push_back(offset);
    offset += kFrameHeaderBytes + length;
  }
  const size_t frame = offsets[static_cast<size_t>(random->Below(offsets.size()))];
  const size_t length = ReadLittleEndian(absl::string_view(whole).substr(frame, 4));
  std::string payload = whole.substr(frame + kFrameHeaderBytes, length);
  for (uint64_t i = random->Below(3) + 1; i > 0; --i) {
    payload[static_cast<size_t>(random->Below(length))] = static_cast<char>(random->Below(256));
  }
  const auto type = static_cast<FrameType>(whole[frame + 8]);
  return absl::StrCat(whole.substr(0, frame), MakeFrame(type, payload),
                      whole.substr(frame + kFrameHeaderBytes + length));
}

// As of a later drasim: another version in the header.
std::string WithAnotherVersion(const std::string& whole, Random* random) {
  const size_t length = ReadLittleEndian(absl::string_view(whole).substr(kLedgerMagic.size(), 4));
  const size_t begin = kLedgerMagic.size() + kFrameHeaderBytes;
  std::string payload = whole.substr(begin, length);
  // The last value of a field counts: field 1, a number of one byte.
  payload += {'\x08', static_cast<char>(5 + random->Below(100))};
  return absl::StrCat(kLedgerMagic, MakeFrame(FrameType::kHeader, payload),
                      whole.substr(begin + length));
}

// "records complete", or "error".
std::string OutcomeOf(const std::string& bytes) {
  const absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(bytes);
  if (!reader.ok()) return "error";
  Record record;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = (*reader)->Next(&record);
  if (!more.ok()) return "error";
  return absl::StrCat((*reader)->records(), " ", (*reader)->complete() ? 1 : 0);
}

TEST(DrasimResultsTest, DamagedLedgersRaiseNothingButItsException) {
  const std::vector<std::string> libraries = Libraries();
  if (libraries.empty()) GTEST_SKIP() << "there is no python3";
  const TempDir run;
  ASSERT_NO_FATAL_FAILURE(RunGolden("replay_easy_node_events.yaml", run.path()));
  const std::string whole = FileText(run.PathOf("ledger"));
  ASSERT_NE(whole, "");
  Random random(1, "damaged ledgers");
  for (uint64_t batch = 0; batch < SoakSeeds(1); ++batch) {
    const TempDir dir;
    std::map<std::string, std::string> expected;
    for (int i = 0; i < 100; ++i) {
      // In a plausible frame, a record may contradict the state of the cluster, which the C++
      // reader alone rebuilds; whatever that one takes, both read alike.
      const bool plausible = i % 2 == 1;
      const std::string bytes = plausible     ? WithAPlausibleFrame(whole, &random)
                                : i % 20 == 0 ? WithAnotherVersion(whole, &random)
                                              : DamagedBytes(whole, &random);
      const std::string name = absl::StrCat(1000 + i);
      std::ofstream(dir.PathOf(name), std::ios::binary) << bytes;
      expected[name] = absl::StrCat(OutcomeOf(bytes), plausible ? "?" : "");
    }
    for (const std::string& library : libraries) {
      const ProcessResult result =
          Python({"tests/python/ledger_lines.py", "outcomes", library, dir.path()});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      for (const absl::string_view line : absl::StrSplit(result.out, '\n', absl::SkipEmpty())) {
        const std::pair<std::string, std::string> outcome =
            absl::StrSplit(line, absl::MaxSplits(' ', 1));
        const std::string& wanted = expected.at(outcome.first);
        if (wanted == "error?") continue;
        EXPECT_EQ(outcome.second, wanted.substr(0, wanted.find('?')))
            << library << ", batch " << batch << ", " << line;
      }
      EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 100);
    }
  }
}

TEST(DrasimResultsTest, RunsTablesAndBenchmarks) {
  if (Libraries().empty()) GTEST_SKIP() << "there is no python3";
  const TempDir run;
  ASSERT_NO_FATAL_FAILURE(RunGolden("replay_srtf_gangs.yaml", run.path()));
  const ProcessResult result = Python({"tests/python/results_checks.py", run.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace drasim_results_test
}  // namespace drasim
