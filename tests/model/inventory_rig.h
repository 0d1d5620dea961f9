// Slices and claims in a few words, and a cluster's inventory as a text, for tests.
#ifndef DRASIM_TESTS_MODEL_INVENTORY_RIG_H_
#define DRASIM_TESTS_MODEL_INVENTORY_RIG_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_inventory.h"
#include "model/gpu_model_table.h"
#include "model/mig_table.h"
#include "model/shape_table.h"
#include "model/slice_facts.h"
#include "tests/testing/mig_products.h"

namespace drasim::inventory_rig {

constexpr ExactAmount kOne = 1'000'000'000;

struct TestDevice {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> counters = {};  // of the set "set"
  int gpu = -1;
  std::string profile = "";  // of a MIG instance
  int start = 0;
  int64_t shared_memory = 0;  // above 0: may be shared, with this capacity
};

struct TestSlice {
  std::string pool;
  int64_t generation = 1;
  std::string node;
  std::vector<TestDevice> devices = {};
  std::vector<std::pair<std::string, int64_t>> counters = {};
};

// The facts refer to the slice.
inline SliceFacts FactsOf(const TestSlice& slice) {
  const auto counters = [](const std::vector<std::pair<std::string, int64_t>>& from) {
    std::vector<CounterFacts> facts;
    for (const auto& [name, amount] : from) facts.push_back({0, "set", name, amount * kOne});
    return facts;
  };
  SliceFacts facts = {"driver", slice.pool, slice.generation, slice.node, counters(slice.counters),
                      {}};
  for (const TestDevice& each : slice.devices) {
    SliceDeviceFacts device;
    device.name = each.name;
    device.content.driver = "driver";
    device.content.allow_multiple_allocations = each.shared_memory > 0;
    if (each.shared_memory > 0) {
      device.content.capacities.push_back(
          {"memory", Quantity::FromUnits(each.shared_memory, Quantity::Format::kDecimalSi)});
    }
    device.counters = counters(each.counters);
    device.gpu = {each.gpu, each.profile, each.start};
    facts.devices.push_back(std::move(device));
  }
  return facts;
}

inline HoldFacts Alone(absl::string_view pool, absl::string_view device) {
  return {"driver", pool, device, false, {}};
}
inline HoldFacts Share(absl::string_view pool, absl::string_view device, int64_t memory) {
  HoldFacts share = {"driver", pool, device, true, {}};
  if (memory > 0) {
    share.amounts.emplace_back("memory", Quantity::FromUnits(memory, Quantity::Format::kDecimalSi));
  }
  return share;
}

// Made once, for its states take a while to enumerate.
inline MigTable& SharedA100() {
  static auto* const table = new MigTable(TestTable(TestA100()));
  return *table;
}

// Nodes "node-0", "node-1", ... with two A100 each.
class InventoryWorld {
 public:
  explicit InventoryWorld(int nodes) {
    models.SetMig(models.Intern("A100").value(), &SharedA100());
    for (int i = 0; i < nodes; ++i) {
      NodeSpec spec;
      spec.name = absl::StrCat("node-", i);
      spec.cpu_milli = 64'000;
      spec.pods = 100;
      spec.gpu_count = 2;
      spec.gpu_model = "A100";
      EXPECT_TRUE(cluster.AddNode(spec).ok());
    }
  }

  SliceId Publish(const TestSlice& slice) { return cluster.PublishSlice(FactsOf(slice)); }
  bool Hold(const std::string& claim, const std::vector<HoldFacts>& devices, bool pending = false) {
    return cluster.HoldDevices(claim, pending, devices);
  }
  const RowUse& UseOf(const std::string& pool, const std::string& device) const {
    return cluster.inventory().use(cluster.inventory().Find("driver", pool, device));
  }
  // Idle thousandths of the GPUs of the node.
  std::string Idle(size_t node) const {
    return absl::StrJoin(cluster.device_milli_idle(NodeId(node)), " ");
  }

  const MigTable& a100 = SharedA100();
  GpuModelTable models;
  ShapeTable shapes{&models};
  ClusterState cluster{&models, &shapes};
};

// "set.a 3/8" and the like, by name: everything that is published or held.
inline std::string InventoryText(const ClusterState& cluster) {
  const DeviceInventory& inventory = cluster.inventory();
  const DeviceTexts& texts = inventory.columns().texts();
  std::vector<std::string> lines;
  for (const DevicePool& pool : inventory.pools()) {
    std::map<std::string, std::string> parts;
    for (const PoolCounter& counter : pool.counters) {
      parts[absl::StrCat(" counter ", texts.Text(counter.name))] =
          absl::StrCat(" ", static_cast<int64_t>(counter.used / kOne), "/",
                       static_cast<int64_t>(counter.total / kOne));
    }
    for (const InventoryRow row : pool.rows) {
      const RowUse& use = inventory.use(row);
      if (inventory.published(row) == nullptr && !use.is_named()) continue;
      std::string& text = parts[absl::StrCat(" device ", texts.Text(inventory.name_of(row)))];
      absl::StrAppend(&text, inventory.published(row) == nullptr ? " gone" : " there", " node ",
                      inventory.node_of(row).value(), " alone ", use.alone, use.freed ? "f" : "",
                      " pending ", use.pending, " shares ", use.shares,
                      use.charged ? " charged" : "");
      const DeviceInventory::Amounts* const consumed = inventory.consumed(row);
      if (consumed == nullptr) continue;
      for (const auto& [name, amount] : *consumed) {
        absl::StrAppend(&text, " ", texts.Text(name), "=", amount.ToString());
      }
    }
    if (parts.empty()) continue;
    lines.push_back(absl::StrCat(texts.Text(pool.name), " generation ", pool.generation, ":",
                                 absl::StrJoin(parts, ",", absl::PairFormatter(""))));
  }
  for (const auto& [holder, holding] : inventory.holders()) {
    lines.push_back(absl::StrCat("claim ", texts.Text(holder.claim),
                                 holder.pending ? " pending" : "", holding.fits ? "" : " unfit"));
  }
  std::sort(lines.begin(), lines.end());
  for (const DriverTotals& totals : inventory.totals()) {
    lines.push_back(absl::StrCat("published ", totals.published, " taken ", totals.taken));
  }
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId node(n);
    lines.push_back(absl::StrCat("gpus ", absl::StrJoin(cluster.device_milli_idle(node), " "),
                                 " mig ", absl::StrJoin(cluster.device_mig(node), " ")));
  }
  const ClusterTotals& totals = cluster.totals();
  lines.push_back(absl::StrCat("allocated ", totals.gpu_milli_allocated, " in use ",
                               totals.gpus_in_use, " nodes ", totals.nodes_in_use));
  return absl::StrJoin(lines, "\n");
}

}  // namespace drasim::inventory_rig

#endif  // DRASIM_TESTS_MODEL_INVENTORY_RIG_H_
