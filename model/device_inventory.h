// DeviceInventory: the devices that drivers publish in ResourceSlices, and what claims hold of
// them, as rows.
//
// A row is a device by driver, pool and name. It stays when its slice leaves, because claims may
// hold a device that nobody publishes any more; no row is used again for another device. All texts,
// attributes and capacities are interned in one DeviceColumns, whose rows never change: verdicts of
// selectors about them outlive the slices. Devices are of any kind, and as many as drivers publish.
//
// A pool is known by its slices of the latest generation. Of two slices that publish one device, or
// one counter, the first in order of SliceId counts; the allocator judges whether such a pool is
// valid.
//
// Upstream's rules decide the holder of a device:
//   * claims that hold a device alone are a set, and the first of several to leave frees it;
//   * claims in flight (`pending`) count one by one besides;
//   * shares, and the capacity that they consume, add up;
//   * a device charges the counters of its pool while anybody holds it, with the amounts of the
//     present slices.
//
// ClusterState owns the inventory of a cluster and calls the functions that change it; what is said
// there about what-ifs holds here. Lookups are O(1), changes O(what they name), but a change of
// slices is O(pool) while claims hold devices of the pool, or its generation rises.
//
// Source of the rules: k8s.io/api/resource/v1 and kube-scheduler's plugin dynamicresources
// (allocateddevices.go), release 1.37.2.
#ifndef DRASIM_MODEL_DEVICE_INVENTORY_H_
#define DRASIM_MODEL_DEVICE_INVENTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_columns.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/slice_facts.h"
#include "model/state_io.h"

namespace drasim {

using PoolId = StrongId<struct DevicePoolTag>;  // row of DeviceInventory::pools()

struct SliceCounter {
  uint32_t set = 0;  // number of the entry of sharedCounters or consumesCounters
  TextId set_name;
  TextId name;
  ExactAmount amount = 0;
};

struct SliceDevice {
  InventoryRow row;
  TextId name;
  DeviceRow content;                   // attributes and capacities
  std::vector<SliceCounter> counters;  // those that it consumes
  std::optional<DeviceGrant> part;     // of the GPUs of its node
};

// A slice as it was published. It never changes.
struct InventorySlice {
  PoolId pool;
  int64_t generation = 0;
  NodeId node;  // invalid: the devices are not those of one node of the cluster
  std::vector<SliceCounter> counters;
  std::vector<SliceDevice> devices;
};
using SliceRef = std::shared_ptr<const InventorySlice>;

struct PoolCounter {
  TextId set;
  TextId name;
  ExactAmount total = 0;
  ExactAmount used = 0;
};

struct DevicePool {
  TextId driver;
  TextId name;
  uint32_t totals = 0;             // for DeviceInventory::totals()
  int64_t generation = 0;          // the latest
  std::vector<SliceId> slices;     // ascending, of any generation
  std::vector<InventoryRow> rows;  // published or held at any time
  std::vector<PoolCounter> counters;
  size_t held = 0;  // rows that are held
  bool shrunk =
      false;  // the latest change of its slices left a counter with more used than there is
  absl::flat_hash_map<uint64_t, uint32_t> counter_index;  // by set and name
};

// Holders of a row.
struct RowUse {
  uint32_t alone = 0;    // written claims that hold it alone
  uint32_t pending = 0;  // claims in flight that hold it alone
  uint32_t shares = 0;
  bool freed = false;    // a written claim has left the others
  bool charged = false;  // its part is charged to the GPU of its node

  bool is_dedicated() const { return (alone > 0 && !freed) || pending > 0; }
  bool is_held() const { return is_dedicated() || shares > 0; }
  bool is_named() const { return alone > 0 || pending > 0 || shares > 0; }
  friend bool operator==(const RowUse&, const RowUse&) = default;
};

struct DeviceHold {
  InventoryRow row;
  bool share = false;
  std::vector<std::pair<TextId, Quantity>> amounts;
};

// A claim, as the API server has it or as it is chosen but not written yet.
struct DeviceHolder {
  TextId claim;
  bool pending = false;
  auto operator<=>(const DeviceHolder&) const = default;
};

struct DeviceHolding {
  std::vector<DeviceHold> holds;
  bool fits = true;  // nobody else was in the way when the claim came
};

// Devices of one driver.
struct DriverTotals {
  TextId driver;
  int64_t published = 0;
  int64_t taken = 0;  // held alone or in shares, published or not
  friend bool operator==(const DriverTotals&, const DriverTotals&) = default;
};

// State before a change. Changes are undone in reverse order.
struct DeviceUndo {
  SliceId slice;  // valid: of a change of slices
  SliceRef slice_before;
  DeviceHolder holder;  // otherwise
  std::optional<DeviceHolding> holding_before;
  std::vector<std::pair<InventoryRow, RowUse>> uses;
  std::vector<std::pair<InventoryRow, std::vector<std::pair<TextId, Quantity>>>> consumed;
};

class DeviceInventory {
 public:
  using Amounts = std::vector<std::pair<TextId, Quantity>>;  // by capacity; none is zero

  // --- reading ---
  const DeviceColumns& columns() const { return columns_; }
  // For selectors and searches, which intern what they ask for.
  DeviceColumns& columns() { return columns_; }
  absl::Span<const DevicePool> pools() const { return pools_; }
  size_t slice_count() const { return slices_.size(); }  // with those that were withdrawn
  // Null: withdrawn. The slice stays as long as somebody keeps it.
  const SliceRef& slice(SliceId id) const { return slices_[id.value()]; }
  size_t row_count() const { return rows_.size(); }
  const RowUse& use(InventoryRow row) const { return rows_[row.value()].use; }
  PoolId pool_of(InventoryRow row) const { return rows_[row.value()].pool; }
  TextId name_of(InventoryRow row) const { return rows_[row.value()].name; }
  // As the pool's latest slices publish it; null if they do not.
  const SliceDevice* published(InventoryRow row) const;
  // The node whose device it is; invalid for devices of no single node, or that are not published.
  NodeId node_of(InventoryRow row) const;
  // The rows that are held, in any order.
  absl::Span<const InventoryRow> held() const { return held_; }
  // The capacity that shares of the row consume; null if none.
  const Amounts* consumed(InventoryRow row) const;
  // By driver, in the order in which they came.
  absl::Span<const DriverTotals> totals() const { return totals_; }
  // Changes of what claims hold, counted from the beginning: one for each row that changes.
  uint64_t use_changes() const { return first_change_ + changes_.size(); }
  // The rows of the changes after the first `since`, some perhaps several times; none if that is
  // too long ago, and every row may have changed. Valid until the next change.
  std::optional<absl::Span<const InventoryRow>> ChangedSince(uint64_t since) const;
  const absl::btree_map<DeviceHolder, DeviceHolding>& holders() const { return holders_; }
  // Invalid for a device that was neither published nor held.
  InventoryRow Find(absl::string_view driver, absl::string_view pool,
                    absl::string_view device) const;

  // --- changes ---
  // The slice with its texts interned, not yet published; without node and parts.
  InventorySlice InternSlice(const SliceFacts& facts);
  std::vector<DeviceHold> InternHolds(absl::Span<const HoldFacts> facts);
  // An id for a slice that is to be published.
  SliceId AddSlice();
  // Publishes a slice, replaces it, or withdraws it (null).
  DeviceUndo SetSlice(SliceId id, SliceRef slice);
  // The claim holds these devices from now on, whoever else does. Without holds it leaves. Fills
  // `undo`, unless it is null, for Undo.
  void SetHolder(DeviceHolder holder, DeviceHolding holding, DeviceUndo* undo = nullptr);
  void SetCharged(InventoryRow row, bool charged) { rows_[row.value()].use.charged = charged; }
  void Undo(const DeviceUndo& undo);
  // Whether all of it is published and free for the claim, one after the other: nobody holds a
  // device that is wanted alone, nobody holds alone one that is to be shared, and counters and
  // capacities suffice. What the claim holds in flight it may hold when it is written.
  bool CanHold(DeviceHolder holder, absl::Span<const DeviceHold> holds);

  // --- whole ---
  bool empty() const { return rows_.empty() && slices_.empty(); }
  // Counts everything anew; the Internal error names the first difference. O(rows + slices).
  absl::Status Check() const;
  // Devices of claims. Slices are left out: their publisher publishes them again.
  void Save(StateWriter& out) const;
  // Expects an inventory without holders. The rows that are charged are only listed.
  void Load(StateReader& in, std::vector<InventoryRow>* charged);

 private:
  struct Row {
    PoolId pool;
    TextId name;
    SliceId slice;         // invalid: not published
    uint32_t place = 0;    // in its devices
    uint32_t held_at = 0;  // place in held_
    RowUse use;
  };

  static uint64_t PairKey(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }
  static uint64_t CounterKey(const SliceCounter& counter) {
    return PairKey(counter.set_name.value(), counter.name.value());
  }
  // Adds `amount` of a capacity, or takes it away; nothing stays of what becomes zero.
  static void AddAmount(TextId name, const Quantity& amount, int sign, Amounts* amounts);
  PoolId AddPool(absl::string_view driver, absl::string_view pool);
  InventoryRow AddRow(PoolId pool, absl::string_view name);
  std::vector<SliceCounter> InternCounters(const std::vector<CounterFacts>& facts);
  void Recount(PoolId pool);
  void AddToPool(SliceId id, DevicePool* pool);
  // Adds what the row consumes to the counters of its pool.
  void ChargeCounters(InventoryRow row, int sign);
  void NoteChange(InventoryRow row);
  void SetUse(InventoryRow row, const RowUse& use);
  void SetConsumed(InventoryRow row, Amounts amounts);
  void Apply(DeviceHolder holder, const DeviceHold& hold, int sign);
  // Appends what the rows of the holds are to `*undo`.
  void Remember(absl::Span<const DeviceHold> holds, DeviceUndo* undo) const;
  void RestoreRows(const DeviceUndo& undo);
  bool IsFree(const DeviceHold& hold) const;
  bool CapacitySuffices(const DeviceHold& hold) const;
  // "driver/pool/device"
  std::string RowText(InventoryRow row) const;
  // State of the rows that follows from the holders, but for rows freed or charged.
  void CountHolders(std::vector<RowUse>* uses, std::vector<Amounts>* consumed) const;
  absl::Status CheckRows() const;
  absl::Status CheckAlone() const;
  absl::Status CheckPool(const DevicePool& pool) const;
  // Driver, pool and device.
  std::array<absl::string_view, 3> RowTexts(InventoryRow row) const;
  void SaveRow(InventoryRow row, StateWriter& out) const;
  InventoryRow LoadRow(StateReader& in);
  void SaveRows(bool RowUse::*mark, StateWriter& out) const;
  void LoadHolder(StateReader& in);

  DeviceColumns columns_;
  std::vector<DevicePool> pools_;
  absl::flat_hash_map<uint64_t, PoolId> pool_index_;  // by driver and name
  std::vector<SliceRef> slices_;
  std::vector<Row> rows_;
  absl::flat_hash_map<uint64_t, InventoryRow> row_index_;  // by pool and name
  std::vector<InventoryRow> held_;
  absl::flat_hash_map<uint32_t, Amounts> consumed_;  // by row
  absl::btree_map<DeviceHolder, DeviceHolding> holders_;
  std::vector<DriverTotals> totals_;
  std::vector<InventoryRow> changes_;  // the latest
  uint64_t first_change_ = 0;          // its number
};

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_INVENTORY_H_
