#include "gui/session/snapshot_pool.h"

#include <array>
#include <mutex>
#include <vector>

#include "model/ids.h"

namespace drasim::gui {

// Outlives the pool as long as one of its snapshots is held.
class SnapshotPool::Kept {
 public:
  struct Place {
    RunSnapshot snapshot;        // the maker's while nobody holds it
    TouchedNodes stale;          // since it was made; always the maker's, as the next
    std::vector<bool> is_stale;  // by node; of stale.nodes
    bool held = false;           // under mutex_
  };

  // A place that nobody holds; null if there is none.
  Place* Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Place& place : places_) {
      if (place.held) continue;
      place.held = true;
      return &place;
    }
    return nullptr;
  }
  void Return(Place* place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    place->held = false;
  }

  void AddStale(const TouchedNodes& touched) {
    for (Place& place : places_) {
      TouchedNodes& stale = place.stale;
      if (stale.all) continue;
      if (touched.all) {
        stale = TouchedNodes();
        place.is_stale.clear();
        continue;
      }
      for (const NodeId node : touched.nodes) {
        if (place.is_stale.size() <= node.value()) place.is_stale.resize(node.value() + size_t{1});
        if (place.is_stale[node.value()]) continue;
        place.is_stale[node.value()] = true;
        stale.nodes.push_back(node);
      }
    }
  }

 private:
  std::mutex mutex_;
  std::array<Place, kMostKept> places_;
};

SnapshotPool::SnapshotPool() : kept_(std::make_shared<Kept>()) {}
SnapshotPool::~SnapshotPool() = default;

std::shared_ptr<const RunSnapshot> SnapshotPool::Make(const TouchedNodes& touched, Update update) {
  kept_->AddStale(touched);
  Kept::Place* const place = kept_->Take();
  if (place == nullptr) {
    auto snapshot = std::make_shared<RunSnapshot>();
    update(TouchedNodes(), snapshot.get());
    return snapshot;
  }
  update(place->stale, &place->snapshot);
  for (const NodeId node : place->stale.nodes) place->is_stale[node.value()] = false;
  place->stale = {.all = false, .nodes = {}};
  return {&place->snapshot, [kept = kept_, place](const RunSnapshot*) { kept->Return(place); }};
}

}  // namespace drasim::gui
