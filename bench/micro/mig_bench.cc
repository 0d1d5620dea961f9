// Placement of MIG instances: on one GPU, on one node, and the precomputation of the tables.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "policies/devices/mig_rules.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace {

constexpr size_t kSamples = 1024;  // a power of two

// Inputs of the measured loops, drawn in advance.
struct Samples {
  std::vector<MigState> states;
  std::vector<uint8_t> profiles;
};

Samples Draw(const MigTable& table, size_t states) {
  Random random(1, "mig bench");
  Samples samples;
  for (size_t i = 0; i < states; ++i) {
    samples.states.push_back(static_cast<MigState>(random.Below(table.states())));
  }
  for (size_t i = 0; i < kSamples; ++i) {
    samples.profiles.push_back(static_cast<uint8_t>(random.Below(table.profiles().size())));
  }
  return samples;
}

// A proposal for one GPU, without changing it.
void BM_OnGpu(benchmark::State& state) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, MigRule::kMfiAny);
  const Samples samples = Draw(table, kSamples);
  size_t i = 0;
  for (auto _ : state) {
    MigRuleTable::Choice choice = rule.OnGpu(samples.states[i], samples.profiles[i]);
    benchmark::DoNotOptimize(choice);
    i = (i + 1) % kSamples;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_OnGpu);

// A proposal for a node of `gpus` GPUs; items are proposals.
void BM_OnNode(benchmark::State& state, MigRule which) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, which);
  const auto gpus = static_cast<size_t>(state.range(0));
  const Samples samples = Draw(table, gpus * kSamples);
  const absl::Span<const MigState> all = samples.states;
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        rule.OnNode(all.subspan(i * gpus, gpus), DeviceSet::All(), samples.profiles[i]));
    i = (i + 1) % kSamples;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(BM_OnNode, mfi_any, MigRule::kMfiAny)->Arg(1)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(BM_OnNode, first_fit, MigRule::kFirstFit)->Arg(1)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(BM_OnNode, best_fit, MigRule::kBestFit)->Arg(1)->Arg(8)->Arg(16);

// Three instances for one pod on random nodes, most of them too full: greedy or with look-ahead.
void BM_OnNodeAll(benchmark::State& state) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, MigRule::kFirstFit);
  const auto gpus = static_cast<size_t>(state.range(0));
  const Samples samples = Draw(table, gpus * kSamples);
  const absl::Span<const MigState> all = samples.states;
  const absl::Span<const uint8_t> profiles = samples.profiles;
  size_t i = 0;
  for (auto _ : state) {
    DeviceGrants grants;
    benchmark::DoNotOptimize(rule.OnNodeAll(all.subspan(i * gpus, gpus), DeviceSet::All(),
                                            profiles.subspan(i - i % 3, 3), -1, &grants));
    i = (i + 1) % (kSamples - 3);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_OnNodeAll)->Arg(1)->Arg(8)->Arg(16);

void BM_MakeTable(benchmark::State& state) {
  const MigProduct product = TestA100();
  for (auto _ : state) benchmark::DoNotOptimize(MigTable::Make(product));
}
BENCHMARK(BM_MakeTable)->Unit(benchmark::kMillisecond);

void BM_MakeRule(benchmark::State& state) {
  const MigTable table = TestTable(TestA100());
  for (auto _ : state) benchmark::DoNotOptimize(MigRuleTable(&table, MigRule::kMfiAny));
}
BENCHMARK(BM_MakeRule)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
