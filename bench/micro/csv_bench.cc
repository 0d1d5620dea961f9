// Speed of reading traces, in bytes per second of CSV text: splitting only, and the full path to
// pods.
//
// Floors on one core of an x86-64 machine of 2020 or later: 1000 MB/s split, 200 MB/s to pods.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "traces/byte_source.h"
#include "traces/csv_splitter.h"
#include "traces/mapping.h"
#include "traces/table_source.h"

namespace drasim {
namespace {

constexpr size_t kTextBytes = size_t{8} << 20;
constexpr size_t kShapes = 300;

// Rows like openb's: numbered names, a few hundred shapes, ascending times; one pod in nine never
// runs.
std::string OpenbLikeText(bool quoted_names) {
  std::string text =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n";
  Random random(1, "csv_bench");
  std::string shapes[kShapes];
  for (std::string& shape : shapes) {
    const bool gpu = random.Below(8) > 0;
    const uint64_t milli = random.Below(2) == 0 ? 1000 : 10 * (1 + random.Below(99));
    shape = absl::StrCat(1000 + random.Below(31000), ",", 1024 + random.Below(60000), ",",
                         gpu ? 1 : 0, ",", gpu ? milli : 0, ",",
                         gpu && random.Below(5) == 0 ? "V100M16|V100M32" : "");
  }
  const absl::string_view kQos[] = {"LS", "BE", "LS", "Burstable"};
  const absl::string_view quote = quoted_names ? "\"" : "";
  uint64_t created = 0;
  for (int row = 0; text.size() < kTextBytes; ++row) {
    created += random.Below(60);
    const bool ran = random.Below(9) > 0;
    absl::StrAppend(&text, quote, "openb-pod-", absl::Dec(row, absl::kZeroPad4), quote, ",",
                    shapes[random.Below(kShapes)], ",", kQos[random.Below(4)]);
    absl::StrAppend(&text, ran ? ",Running," : ",Pending,", created, ",",
                    created + 30 + random.Below(100000), ",");
    if (ran) absl::StrAppend(&text, created + random.Below(30));
    text.push_back('\n');
  }
  return text;
}

void SplitText(const std::string& text, benchmark::State& state) {
  size_t fields = 0;
  for (auto _ : state) {
    absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("bench", text);
    CsvSplitter splitter(bytes->get(), CsvOptions());
    fields = 0;
    size_t field_bytes = 0;
    while (splitter.Next() == CsvSplitter::Result::kRow) {
      fields += splitter.size();
      field_bytes += splitter.field(splitter.size() - 1).size();
    }
    benchmark::DoNotOptimize(field_bytes);
  }
  if (fields < 11 || fields % 11 != 0) state.SkipWithError("the rows do not have 11 fields");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void BM_CsvSplit(benchmark::State& state) { SplitText(OpenbLikeText(false), state); }
BENCHMARK(BM_CsvSplit)->Unit(benchmark::kMillisecond);

void BM_CsvSplitQuotedNames(benchmark::State& state) { SplitText(OpenbLikeText(true), state); }
BENCHMARK(BM_CsvSplitQuotedNames)->Unit(benchmark::kMillisecond);

// Reads the table with the built-in mapping, into new shapes in each iteration, which `good`
// judges.
void ReadPods(const std::string& text, benchmark::State& state,
              absl::FunctionRef<bool(const ShapeTable&)> good) {
  absl::StatusOr<proto::TableMapping> mapping = LoadMapping("openb");
  if (!mapping.ok()) {
    state.SkipWithError("the built-in mapping is not valid");
    return;
  }
  int64_t pods = 0;
  bool all_good = true;
  for (auto _ : state) {
    GpuModelTable models;
    ShapeTable shapes(&models);
    absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("bench", text);
    absl::StatusOr<std::unique_ptr<TableSource>> source =
        TableSource::Open(*std::move(bytes), *mapping, &shapes);
    if (!source.ok()) {
      state.SkipWithError("the header is not good");
      break;
    }
    JobArrival pod;
    absl::StatusOr<bool> got = (*source)->Next(&pod);
    for (; got.ok() && *got; got = (*source)->Next(&pod)) {
      benchmark::DoNotOptimize(pod.shape);
      ++pods;
    }
    all_good = all_good && got.ok() && good(shapes);
  }
  if (!all_good) state.SkipWithError("rows are bad, shapes not interned, or models missing");
  state.SetItemsProcessed(pods);
}

void BM_TableSourcePods(benchmark::State& state) {
  const std::string text = OpenbLikeText(false);
  ReadPods(text, state, [](const ShapeTable& shapes) { return shapes.size() <= kShapes; });
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(BM_TableSourcePods)->Unit(benchmark::kMillisecond);

// Every row names its own GPU model, which no node has. Linear in the rows.
void BM_TableSourceDistinctModels(benchmark::State& state) {
  std::string text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  for (int64_t i = 0; i < state.range(0); ++i) {
    absl::StrAppend(&text, "p", i, ",1,1,1,500,model-", i, "\n");
  }
  ReadPods(text, state, [&state](const ShapeTable& shapes) {
    return static_cast<int64_t>(shapes.unknown_models().size()) == state.range(0);
  });
}
BENCHMARK(BM_TableSourceDistinctModels)->Arg(10'000)->Arg(40'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
