// CEL of device selectors: compilation, evaluation of one device, and 10,000 devices from cold.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_columns.h"
#include "model/quantity.h"
#include "policies/cel/compile.h"
#include "policies/cel/program.h"
#include "policies/cel/selector.h"

namespace drasim::cel {
namespace {

constexpr size_t kDevices = 10'000;

constexpr const char* kExpressions[] = {
    "device.driver == 'gpu.example.com'",
    "device.attributes['gpu.example.com'].index == 9999",
    "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))",
    ("device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].model == 'A100' "
     "&& "
     "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0"),
    "device.attributes['gpu.example.com'].model.lowerAscii().matches('^.*a100.*$')",
    "device.attributes['gpu.example.com'].exists(x, x == 'uuid')",
};

// Devices that differ in index and uuid.
std::vector<DeviceRow> AddDevices(DeviceColumns* columns) {
  std::vector<DeviceRow> rows;
  for (size_t i = 0; i < kDevices; ++i) {
    using Kind = AttributeFacts::Kind;
    const std::string uuid = absl::StrCat("GPU-", i);
    DeviceFacts facts;
    facts.driver = "gpu.example.com";
    facts.attributes = {{"index", Kind::kInt, static_cast<int64_t>(i), "", {}, {}},
                        {"model", Kind::kString, 0, "A100", {}, {}},
                        {"driverVersion", Kind::kVersion, 0, "570.86.15", {}, {}},
                        {"uuid", Kind::kString, 0, uuid, {}, {}}};
    facts.capacities = {{"memory", *Quantity::Parse("80Gi")}};
    rows.push_back(columns->Add(facts));
  }
  return rows;
}

void BM_Compile(benchmark::State& state) {
  const char* expression = kExpressions[state.range(0)];
  for (auto _ : state) {
    absl::StatusOr<Program> program = Compile(expression, {});
    benchmark::DoNotOptimize(program);
  }
  state.SetLabel(expression);
}
BENCHMARK(BM_Compile)->DenseRange(0, 5);

// Items are devices.
void BM_Evaluate(benchmark::State& state) {
  const char* expression = kExpressions[state.range(0)];
  const absl::StatusOr<Program> program = Compile(expression, {});
  DRASIM_CHECK(program.ok());
  DeviceColumns columns;
  const std::vector<DeviceRow> rows = AddDevices(&columns);
  DeviceSelector selector(&*program, &columns);
  std::vector<Verdict> verdicts(rows.size());
  for (auto _ : state) {
    selector.Evaluate(rows, absl::MakeSpan(verdicts));
    benchmark::DoNotOptimize(verdicts.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kDevices));
  state.SetLabel(expression);
}
BENCHMARK(BM_Evaluate)->DenseRange(0, 5);

// Compile, bind and evaluate 10,000 devices.
void BM_Cold(benchmark::State& state) {
  const char* expression = kExpressions[state.range(0)];
  DeviceColumns columns;
  const std::vector<DeviceRow> rows = AddDevices(&columns);
  std::vector<Verdict> verdicts(rows.size());
  for (auto _ : state) {
    const absl::StatusOr<Program> program = Compile(expression, {});
    DeviceSelector selector(&*program, &columns);
    selector.Evaluate(rows, absl::MakeSpan(verdicts));
    benchmark::DoNotOptimize(verdicts.data());
  }
  state.SetLabel(expression);
}
BENCHMARK(BM_Cold)->DenseRange(0, 3);

}  // namespace
}  // namespace drasim::cel
