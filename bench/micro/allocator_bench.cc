// Decisions of the structured allocator: the cases of docs/dra_structured.md.
//
// Catalog, pools of the nodes and verdicts live as long as the slices, so they are made once; an
// allocator is made for each pod. Results are not built, as in a filter. The counter `decisions`
// is the number of nodes that a second sees.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/held_devices.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"
#include "policies/choice/choice_policies.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::DeviceClass;
using proto::kube::Node;
using proto::kube::ResourceClaimV1;
using proto::kube::ResourceSlice;

constexpr char kDriver[] = "gpu.example.com";

class BenchCluster {
 public:
  BenchCluster() {
    device_class_.mutable_metadata()->set_name("gpu");
    device_class_.mutable_spec()->add_selectors()->mutable_cel()->set_expression(
        absl::StrCat("device.driver == \"", kDriver, "\""));
    claim_.mutable_metadata()->set_name("claim");
  }

  // Slices of at most 128 devices, or one slice of counters and one of devices.
  void AddNode(const std::string& name, std::vector<Device> devices,
               std::vector<proto::kube::CounterSet> counters = {}) {
    nodes_.emplace_back();
    nodes_.back().mutable_metadata()->set_name(name);
    const size_t device_slices = (devices.size() + 127) / 128;
    const int64_t count = static_cast<int64_t>(device_slices) + (counters.empty() ? 0 : 1);
    const auto add_slice = [&](size_t index) {
      slices_.emplace_back(std::make_unique<ResourceSlice>());
      ResourceSlice& slice = *slices_.back();
      slice.mutable_metadata()->set_name(absl::StrCat(name, "-", 1000 + index));
      slice.mutable_spec()->set_driver(kDriver);
      slice.mutable_spec()->set_node_name(name);
      slice.mutable_spec()->mutable_pool()->set_name(name);
      slice.mutable_spec()->mutable_pool()->set_generation(1);
      slice.mutable_spec()->mutable_pool()->set_resource_slice_count(count);
      return &slice;
    };
    if (!counters.empty()) {
      ResourceSlice* slice = add_slice(0);
      for (auto& set : counters) *slice->mutable_spec()->add_shared_counters() = std::move(set);
    }
    for (size_t i = 0; i < devices.size(); i += 128) {
      ResourceSlice* slice = add_slice(i + 1);
      for (size_t d = i; d < std::min(devices.size(), i + 128); ++d) {
        *slice->mutable_spec()->add_devices() = std::move(devices[d]);
      }
    }
  }

  void Request(int64_t count, const std::string& selector = "") {
    auto* devices = claim_.mutable_spec()->mutable_devices();
    auto* request = devices->add_requests();
    request->set_name(absl::StrCat("r", devices->requests_size()));
    request->mutable_exactly()->set_device_class_name("gpu");
    request->mutable_exactly()->set_allocation_mode("ExactCount");
    request->mutable_exactly()->set_count(count);
    if (selector.empty()) return;
    request->mutable_exactly()->add_selectors()->mutable_cel()->set_expression(selector);
  }
  void Match(const std::string& attribute) {
    claim_.mutable_spec()->mutable_devices()->add_constraints()->set_match_attribute(attribute);
  }
  void Hold(const std::string& node, const std::string& device) {
    use_.dedicated.push_back({kDriver, node, device});
  }

  // `shares`: nodes in the same state, and repeated decisions, cost one search.
  void Publish(bool shares = false, const std::string& policy = "") {
    std::vector<const ResourceSlice*> slices;
    for (const auto& slice : slices_) slices.push_back(slice.get());
    auto catalog = DeviceCatalog::Make(slices);
    DRASIM_CHECK(catalog.ok());
    AllocatorOptions options;
    options.share_answers = shares;
    options.policy = *MakeChoicePolicy(policy, {});
    pools_ = std::make_shared<NodePools>(options, *catalog);
    held_ = std::make_shared<HeldDevices>(pools_);
    DRASIM_CHECK(held_->Add(use_).ok());
    views_.clear();
    for (const Node& node : nodes_) views_.push_back(&pools_->ViewOf(node));
    outcomes_.resize(views_.size());
    verdicts_ = MakeCelVerdicts(&pools_->catalog().columns(), options.features);
  }

  std::unique_ptr<StructuredAllocator> Allocator() const {
    auto made = StructuredAllocator::Make(pools_, verdicts_, {&device_class_}, use_);
    DRASIM_CHECK(made.ok());
    return *std::move(made);
  }

  // The same, with devices and views of nodes that are kept from pod to pod, as a batched filter
  // does: how many nodes fit.
  int64_t FilterAll() {
    const auto allocator = StructuredAllocator::Make(held_, verdicts_, {&device_class_});
    allocator->DecideAll(views_, {&claim_}, absl::MakeSpan(outcomes_));
    return std::count(outcomes_.begin(), outcomes_.end(), AllocationOutcome::kAllocated);
  }

  // Nodes that fit.
  int64_t Filter(StructuredAllocator* allocator) const {
    int64_t fits = 0;
    for (const Node& node : nodes_) {
      const AllocationAnswer answer = allocator->Decide(node, {&claim_});
      fits += answer.outcome == AllocationOutcome::kAllocated ? 1 : 0;
    }
    return fits;
  }
  // Devices of every node, with results.
  Choice ChooseAll(StructuredAllocator* allocator) const {
    Choice all;
    for (const Node& node : nodes_) {
      const AllocationAnswer answer = allocator->Allocate(node, {&claim_});
      DRASIM_CHECK(answer.outcome == AllocationOutcome::kAllocated);
      if (!answer.choice.has_value()) continue;
      all.solutions += answer.choice->solutions;
      all.steps += answer.choice->steps;
      all.exhausted = all.exhausted || answer.choice->exhausted;
    }
    return all;
  }
  int64_t nodes() const { return static_cast<int64_t>(nodes_.size()); }

 private:
  std::vector<std::unique_ptr<ResourceSlice>> slices_;
  std::vector<Node> nodes_;
  DeviceClass device_class_;
  ResourceClaimV1 claim_;
  DeviceUse use_;
  std::shared_ptr<NodePools> pools_;
  std::shared_ptr<SelectorVerdicts> verdicts_;
  std::shared_ptr<HeldDevices> held_;
  std::vector<const NodeView*> views_;
  std::vector<AllocationOutcome> outcomes_;
};

std::vector<Device> PlainDevices(int64_t count) {
  std::vector<Device> devices(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    Device& device = devices[static_cast<size_t>(i)];
    device.set_name(absl::StrCat("gpu-", i));
    (*device.mutable_attributes())["index"].set_int_value(i);
    (*device.mutable_attributes())["model"].set_string_value("example");
    (*device.mutable_attributes())["numa"].set_int_value(i / 4);
    (*device.mutable_capacity())["memory"].set_value("80Gi");
  }
  return devices;
}

struct MigProfile {
  const char* name;
  int slices;  // of compute
  int memory;  // slices of memory
  int placements;
  int stride;
};
constexpr MigProfile kMigProfiles[] = {{"1g5gb", 1, 1, 7, 1},  {"1g5gb-me", 1, 1, 7, 1},
                                       {"1g10gb", 1, 2, 4, 2}, {"2g10gb", 2, 2, 3, 2},
                                       {"3g20gb", 3, 4, 2, 4}, {"4g20gb", 4, 4, 1, 4},
                                       {"7g40gb", 7, 8, 1, 8}, {"gpu", 7, 8, 1, 8}};

// A node of eight A100 with all their partitions.
void AddMigNode(const std::string& name, BenchCluster* cluster) {
  std::vector<Device> devices;
  std::vector<proto::kube::CounterSet> sets;
  for (int gpu = 0; gpu < 8; ++gpu) {
    proto::kube::CounterSet set;
    set.set_name(absl::StrCat("gpu-", gpu));
    (*set.mutable_counters())["multiprocessors"].set_value("98");
    for (int i = 0; i < 8; ++i) {
      (*set.mutable_counters())[absl::StrCat("memory-slice-", i)].set_value("1");
    }
    sets.push_back(set);
    for (const MigProfile& profile : kMigProfiles) {
      for (int place = 0; place < profile.placements; ++place) {
        Device device;
        device.set_name(absl::StrCat("gpu-", gpu, "-", profile.name, "-", place));
        (*device.mutable_attributes())["profile"].set_string_value(profile.name);
        (*device.mutable_attributes())["parent"].set_int_value(gpu);
        auto* use = device.add_consumes_counters();
        use->set_counter_set(set.name());
        (*use->mutable_counters())["multiprocessors"].set_value(absl::StrCat(14 * profile.slices));
        for (int i = 0; i < profile.memory; ++i) {
          const int slice = place * profile.stride + i;
          (*use->mutable_counters())[absl::StrCat("memory-slice-", slice)].set_value("1");
        }
        devices.push_back(device);
      }
    }
  }
  cluster->AddNode(name, std::move(devices), std::move(sets));
}

std::string ProfileIs(const char* name) {
  return absl::StrCat("device.attributes[\"", kDriver, "\"].profile == \"", name, "\"");
}

void RunFilter(benchmark::State& state, const BenchCluster& cluster, int64_t fits,
               bool new_allocator) {
  std::unique_ptr<StructuredAllocator> allocator = cluster.Allocator();
  DRASIM_CHECK_EQ(cluster.Filter(allocator.get()), fits);
  for (auto _ : state) {
    if (new_allocator) allocator = cluster.Allocator();
    benchmark::DoNotOptimize(cluster.Filter(allocator.get()));
  }
  state.counters["decisions"] = benchmark::Counter(
      static_cast<double>(cluster.nodes() * state.iterations()), benchmark::Counter::kIsRate);
}

void BM_OnePoolFirstFits(benchmark::State& state) {
  BenchCluster cluster;
  cluster.AddNode("node", PlainDevices(state.range(0)));
  cluster.Request(1);
  cluster.Publish();
  RunFilter(state, cluster, 1, /*new_allocator=*/false);
}
BENCHMARK(BM_OnePoolFirstFits)->Arg(8)->Arg(100)->Arg(1000)->Arg(10000);

void BM_LastMatchesWarm(benchmark::State& state) {
  BenchCluster cluster;
  cluster.AddNode("node", PlainDevices(state.range(0)));
  cluster.Request(
      1, absl::StrCat("device.attributes[\"", kDriver, "\"].index == ", state.range(0) - 1));
  cluster.Publish();
  RunFilter(state, cluster, 1, /*new_allocator=*/false);
}
BENCHMARK(BM_LastMatchesWarm)->Arg(10000);

void BM_LastMatchesCold(benchmark::State& state) {
  BenchCluster cluster;
  cluster.AddNode("node", PlainDevices(state.range(0)));
  cluster.Request(
      1, absl::StrCat("device.attributes[\"", kDriver, "\"].index == ", state.range(0) - 1));
  for (auto _ : state) {
    state.PauseTiming();
    cluster.Publish();
    const std::unique_ptr<StructuredAllocator> allocator = cluster.Allocator();
    state.ResumeTiming();
    benchmark::DoNotOptimize(cluster.Filter(allocator.get()));
  }
}
BENCHMARK(BM_LastMatchesCold)->Arg(10000);

void BM_FilterAllNodes(benchmark::State& state) {
  BenchCluster cluster;
  for (int64_t i = 0; i < state.range(0); ++i) {
    cluster.AddNode(absl::StrCat("node-", i), PlainDevices(8));
  }
  cluster.Request(state.range(1));
  if (state.range(1) > 1) cluster.Match(absl::StrCat(kDriver, "/numa"));
  cluster.Publish();
  RunFilter(state, cluster, state.range(0), /*new_allocator=*/true);
}
BENCHMARK(BM_FilterAllNodes)->Args({500, 1})->Args({5000, 1})->Args({500, 4})->Args({5000, 4});

void BM_FilterEqualNodes(benchmark::State& state) {
  BenchCluster cluster;
  for (int64_t i = 0; i < state.range(0); ++i) {
    cluster.AddNode(absl::StrCat("node-", i), PlainDevices(8));
  }
  cluster.Request(state.range(1));
  if (state.range(1) > 1) cluster.Match(absl::StrCat(kDriver, "/numa"));
  cluster.Publish(/*shares=*/true);
  for (auto _ : state) DRASIM_CHECK_EQ(cluster.FilterAll(), state.range(0));
}
BENCHMARK(BM_FilterEqualNodes)->Args({500, 1})->Args({5000, 1})->Args({5000, 4});

void BM_MigNode(benchmark::State& state) {
  BenchCluster cluster;
  AddMigNode("node", &cluster);
  const bool none_fits = state.range(0) == 1;
  for (int gpu = 0; gpu < 8; ++gpu) {
    const int held = none_fits || gpu < 7 ? 7 : 6;
    for (int i = 0; i < held; ++i) {
      cluster.Hold("node", absl::StrCat("gpu-", gpu, "-1g5gb-", i));
    }
  }
  cluster.Request(1, ProfileIs(none_fits ? "3g20gb" : "1g5gb"));
  cluster.Publish();
  RunFilter(state, cluster, none_fits ? 0 : 1, /*new_allocator=*/false);
}
BENCHMARK(BM_MigNode)->Arg(0)->Arg(1);

void BM_MigNodes(benchmark::State& state) {
  BenchCluster cluster;
  for (int i = 0; i < 100; ++i) AddMigNode(absl::StrCat("node-", i), &cluster);
  cluster.Request(1, ProfileIs("2g10gb"));
  cluster.Publish();
  RunFilter(state, cluster, 100, /*new_allocator=*/true);
}
BENCHMARK(BM_MigNodes);

void BM_NextRequestImpossible(benchmark::State& state) {
  BenchCluster cluster;
  cluster.AddNode("node", PlainDevices(2 * state.range(0)));
  cluster.Request(state.range(0));
  cluster.Request(1, "false");
  cluster.Publish();
  RunFilter(state, cluster, 0, /*new_allocator=*/false);
}
BENCHMARK(BM_NextRequestImpossible)->Arg(4)->Arg(10);

void BM_OneTooMany(benchmark::State& state) {
  BenchCluster cluster;
  cluster.AddNode("node", PlainDevices(state.range(0)));
  cluster.Request(state.range(0) + 1);
  cluster.Publish();
  RunFilter(state, cluster, 0, /*new_allocator=*/false);
}
BENCHMARK(BM_OneTooMany)->Arg(8)->Arg(22);

// The choice of devices on every node, for each policy (first argument): 100 nodes of eight A100
// with all their partitions, of which some are held, and a claim for so many 1g.5gb (second
// argument).
void BM_ChooseMig(benchmark::State& state) {
  const ChoicePolicyInfo& policy = ChoicePolicyInfos()[static_cast<size_t>(state.range(0))];
  BenchCluster cluster;
  for (int i = 0; i < 100; ++i) {
    const std::string name = absl::StrCat("node-", i);
    AddMigNode(name, &cluster);
    for (int gpu = 0; gpu < 8; ++gpu) {
      if ((i + gpu) % 3 == 0) cluster.Hold(name, absl::StrCat("gpu-", gpu, "-2g10gb-", gpu % 3));
    }
  }
  cluster.Request(state.range(1), ProfileIs("1g5gb"));
  cluster.Publish(/*shares=*/false, policy.name);
  const std::unique_ptr<StructuredAllocator> allocator = cluster.Allocator();
  Choice choice;
  for (auto _ : state) choice = cluster.ChooseAll(allocator.get());
  state.SetLabel(absl::StrCat(policy.name, choice.exhausted ? ", exhausted" : ""));
  state.counters["decisions"] = benchmark::Counter(
      static_cast<double>(cluster.nodes() * state.iterations()), benchmark::Counter::kIsRate);
  state.counters["steps"] =
      static_cast<double>(choice.steps) / static_cast<double>(cluster.nodes());
}
BENCHMARK(BM_ChooseMig)->ArgsProduct({{0, 1, 2, 3, 4, 5}, {1, 7}});

// 500 nodes of eight GPUs on two NUMA nodes, of which some are held; a claim for so many GPUs.
void BM_ChooseGpus(benchmark::State& state) {
  const ChoicePolicyInfo& policy = ChoicePolicyInfos()[static_cast<size_t>(state.range(0))];
  BenchCluster cluster;
  for (int i = 0; i < 500; ++i) {
    std::vector<Device> devices = PlainDevices(8);
    for (size_t d = 0; d < devices.size(); ++d) {
      auto& attributes = *devices[d].mutable_attributes();
      attributes["resource.kubernetes.io/numaNode"].set_int_value(d < 4 ? 0 : 1);
      attributes["resource.kubernetes.io/pcieRoot"].set_string_value(absl::StrCat("root-", d / 2));
    }
    const std::string name = absl::StrCat("node-", i);
    cluster.AddNode(name, std::move(devices));
    for (int gpu = 0; gpu < i % 4; ++gpu) cluster.Hold(name, absl::StrCat("gpu-", 2 * gpu));
  }
  cluster.Request(state.range(1));
  cluster.Publish(/*shares=*/false, policy.name);
  const std::unique_ptr<StructuredAllocator> allocator = cluster.Allocator();
  Choice choice;
  for (auto _ : state) choice = cluster.ChooseAll(allocator.get());
  state.SetLabel(absl::StrCat(policy.name, choice.exhausted ? ", exhausted" : ""));
  state.counters["decisions"] = benchmark::Counter(
      static_cast<double>(cluster.nodes() * state.iterations()), benchmark::Counter::kIsRate);
  state.counters["steps"] =
      static_cast<double>(choice.steps) / static_cast<double>(cluster.nodes());
}
BENCHMARK(BM_ChooseGpus)->ArgsProduct({{0, 1, 2, 3, 4, 5}, {1, 4}});

}  // namespace
}  // namespace drasim
