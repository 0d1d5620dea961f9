// The ResourceSlices of a cluster, with the taints of DeviceTaintRules, published in the cluster's
// inventory, and the searches over them: what joins the scheduler plugin to the allocator.
#ifndef DRASIM_POLICIES_DRA_SLICE_INVENTORY_H_
#define DRASIM_POLICIES_DRA_SLICE_INVENTORY_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_columns.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/served_resources.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/choice.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/held_devices.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/plan_cache.h"
#include "policies/allocator/selector_verdicts.h"
#include "policies/dra/counter_ledger.h"
#include "policies/dra/device_search.h"

namespace drasim {

// Evaluates selectors on the rows of a table, which outlives it.
using SelectorVerdictsMaker = std::function<std::shared_ptr<SelectorVerdicts>(
    DeviceColumns* columns, const DraFeatures& features)>;

class SliceInventory {
 public:
  // The cluster must outlive it.
  SliceInventory(const AllocatorOptions& options, const SelectorVerdictsMaker& make_verdicts,
                 ClusterState* cluster);

  void AddClass(proto::kube::DeviceClass device_class);
  // Adds the rule behind the others, or puts it in the place of the one with its name. Rules count
  // for the slices that are put later. O(rules).
  void PutRule(proto::kube::DeviceTaintRule rule);
  // False if there is none.
  bool RemoveRule(absl::string_view name);
  // Adds the slice behind the others, or puts it in the place of the one with its name, which is
  // the result: whether there was one. The message is kept, not copied, if no rule taints it.
  // O(devices of the slice).
  bool Put(std::shared_ptr<const proto::kube::ResourceSlice> slice);
  bool Put(const proto::kube::ResourceSlice& slice);
  // False if there is none. O(slices).
  bool Remove(absl::string_view name);

  // Counts of the allocator policy's choices so far.
  const ChoiceCounts& choice_counts() const { return choice_counts_; }

  // The slices with the taints of rules, and the classes.
  absl::Span<const std::shared_ptr<const proto::kube::ResourceSlice>> slices() const {
    return slices_;
  }
  absl::Span<const std::shared_ptr<const proto::kube::DeviceClass>> classes() const {
    return classes_;
  }

  // The devices of the class on the node, in pools that are complete and valid, and how many of
  // them claims hold. None while NewSearch fails, or if a selector does. O(devices of the node).
  ServedDevices CountDevices(const proto::kube::DeviceClass& device_class,
                             const proto::kube::Node& node);

  // The nodes of the cluster, by number, for DeviceSearch::DecideNodes. They belong to the caller,
  // outlive the inventory, and stay as they are.
  void SetNodes(absl::Span<const proto::kube::Node> nodes) { nodes_ = nodes; }

  // A search over the slices as they are now, in which what the cluster's inventory says is held.
  // The catalog is kept until a slice changes, verdicts as long as the inventory, which must
  // outlive the search. InvalidArgument as long as a slice has amounts that are no quantities.
  // O(devices) after a change, else O(what claims have taken or given back since the last search).
  absl::StatusOr<std::unique_ptr<DeviceSearch>> NewSearch();

  // For checkpoints (sim/dra/api/plane_archive.h). The cluster, which has what claims hold, is
  // loaded before; loading publishes the slices.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    std::vector<size_t> places;
    if constexpr (!Archive::kLoads) places = s.PublishedPlaces();
    a(s.rules_, s.classes_, s.slices_, places, s.ledger_, s.choice_counts_);
    if constexpr (Archive::kLoads) {
      if (a.ok() && !s.Restore(places)) a.Fail("slices are published that are not there");
    }
  }

 private:
  struct Publication {
    SliceId id;           // invalid: it could not be published
    absl::Status status;  // why
  };
  // Views that follow from the slices alone.
  struct Views {
    std::vector<std::shared_ptr<const proto::kube::ResourceSlice>> slices;
    std::shared_ptr<DeviceCatalog> catalog;
    std::shared_ptr<NodePools> pools;
    std::shared_ptr<HeldDevices> held;  // in the cluster's inventory
    std::shared_ptr<PlanCache> plans;
  };
  void Publish(const proto::kube::ResourceSlice& slice, Publication* publication);
  absl::StatusOr<std::shared_ptr<const Views>> CurrentViews();
  void BeforeChange();
  // Places in slices_ of those that are published, in the order of their publication.
  std::vector<size_t> PublishedPlaces() const;
  // Publishes the slices at the places. False if there are no such slices.
  bool Restore(const std::vector<size_t>& places);

  AllocatorOptions options_;
  ClusterState& cluster_;
  std::shared_ptr<SelectorVerdicts> verdicts_;
  std::vector<proto::kube::DeviceTaintRule> rules_;
  std::vector<std::shared_ptr<const proto::kube::DeviceClass>> classes_;
  absl::Span<const proto::kube::Node> nodes_;
  std::vector<std::shared_ptr<const proto::kube::ResourceSlice>> slices_;
  std::vector<Publication> publications_;            // beside slices_
  absl::flat_hash_map<std::string, size_t> places_;  // by name, in slices_
  std::shared_ptr<const Views> views_;               // null after a change; searches keep theirs
  ChoiceCounts choice_counts_;
  CounterLedger ledger_;             // without strict_upstream
  std::vector<CounterDrift> drift_;  // of views_
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_SLICE_INVENTORY_H_
