#include "gui/session/run_session.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gui/session/block_columns.h"
#include "gui/session/fit_tally.h"
#include "gui/session/fragmentation_pass.h"
#include "gui/session/inspector.h"
#include "gui/session/overview_builder.h"
#include "gui/session/record_times.h"
#include "gui/session/snapshot_pool.h"
#include "gui/view/inspect_node.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "sim/record/ledger_seek.h"

namespace drasim::gui {

namespace {

// Other errors say themselves what to do.
absl::Status WithRemedy(const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::DataLossError(
      absl::StrCat(status.message(), "; copy the file again or repeat its run"));
}

}  // namespace

class RunSession::Impl {
 public:
  Impl(std::string path, std::function<void()> on_change)
      : path_(std::move(path)), on_change_(std::move(on_change)) {
    follower_ = std::thread([this] { Follow(); });
    inspector_ = std::thread([this] { Inspect(); });
  }

  ~Impl() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    follower_.join();
    inspector_.join();
  }

  const std::string& path() const { return path_; }

  absl::Status status() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return status_;
  }

  std::shared_ptr<const RunOverview> overview() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return overview_;
  }

  const view::RecordClock* clock() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return overview_ == nullptr ? nullptr : clock_.get();
  }

  void Seek(const SnapshotRequest& request) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (sought_ == request) return;
      sought_ = request;
      seek_due_ = true;
    }
    wake_.notify_all();
  }

  std::shared_ptr<const RunSnapshot> snapshot() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return snapshot_;
  }

  void Inspect(const InspectRequest& request) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Kind& kind = kinds_[static_cast<size_t>(request.object.kind)];
      if (request.object.kind == ObjectKind::kNone || kind.asked == request) return;
      ++kind.generation;
      kind.asked.reset();
      kind.due = false;
      if (request.object.name.empty()) {
        kind.inspection = nullptr;
      } else {
        kind.asked = request;
        kind.due = true;
      }
    }
    wake_.notify_all();
  }

  std::shared_ptr<const Inspection> inspection(ObjectKind kind) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return kinds_[static_cast<size_t>(kind)].inspection;
  }

  bool busy() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return IsBusy();
  }

  double progress() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!IsBusy()) return 1;
    return inspecting_ ? inspected_share_ : followed_share_;
  }

  void Settle() {
    std::unique_lock<std::mutex> lock(mutex_);
    settled_.wait(lock, [this] { return !IsBusy(); });
  }

 private:
  struct Kind {
    std::optional<InspectRequest> asked;  // last
    bool due = false;
    uint64_t generation = 0;  // of the request; another one cancels what is being read
    std::shared_ptr<const Inspection> inspection;
  };

  bool IsBusy() const {
    if (!status_.ok() || stopping_) return false;
    if (following_ || inspecting_ || seek_due_) return true;
    for (const Kind& kind : kinds_) {
      if (kind.due) return true;
    }
    return false;
  }

  // Runs `change` under the lock, and tells everybody.
  template <typename Change>
  void Publish(Change change) {
    bool heard = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      change();
      heard = !stopping_;
    }
    wake_.notify_all();
    settled_.notify_all();
    if (heard && on_change_) on_change_();
  }

  // Also after the other worker's error: that of reading first is the one to show.
  void Fail(const absl::Status& status) {
    Publish([&] {
      if (status_.ok() && !stopping_) status_ = WithRemedy(status);
      following_ = false;
      inspecting_ = false;
    });
  }

  // --- the worker that follows the cursor ---

  void Follow() {
    const absl::Status status = FollowUntilStopped();
    if (!status.ok()) Fail(status);
  }

  absl::Status FollowUntilStopped() {
    ASSIGN_OR_RETURN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(path_));
    const std::string& file = seek->reader().path();
    ASSIGN_OR_RETURN(const std::unique_ptr<BlockFile> blocks, BlockFile::Open(file));
    ASSIGN_OR_RETURN(std::unique_ptr<BlockFile> clock_blocks, BlockFile::Open(file));
    const auto go_on = [this](double share) {
      const std::lock_guard<std::mutex> lock(mutex_);
      followed_share_ = share;
      return !stopping_;
    };
    auto overview = std::make_shared<RunOverview>();
    ASSIGN_OR_RETURN(const std::shared_ptr<const RunBasis> basis,
                     ReadBasis(seek.get(), go_on, overview.get()));
    overview->path = path_;
    overview->file_bytes = blocks->bytes();
    if (overview->name.empty()) overview->name = path_;
    auto clock = std::make_unique<RecordTimes>(
        seek->index(), basis->by_record ? nullptr : std::move(clock_blocks));

    // Blocks with events are read while there is nothing else to do.
    std::vector<NodeChange> changes;
    size_t next_block = 0;
    const std::vector<size_t>& places = basis->event_blocks;
    const auto search_block = [&] {
      return blocks->ReadNodeChanges(seek->index().blocks[places[next_block++]],
                                     seek->cluster().node_count(), &changes);
    };
    const auto add_events = [&](RunOverview* to) {
      for (NodeChange& change : changes) {
        if (basis->by_record) change.record.time = SimTime(static_cast<int64_t>(change.number));
        RunEvent event;
        event.at = {change.record.time, change.number};
        event.node = seek->cluster().node_spec(change.record.node).name;
        event.text = view::NodeEventText(change.record);
        event.lasts = view::TakesNoPods(change.record);
        to->events.push_back(std::move(event));
      }
    };
    bool searched = places.empty();
    Publish([&] {
      overview_ = std::move(overview);
      basis_ = basis;
      clock_ = std::move(clock);
    });
    // Read behind the events, if at all.
    std::unique_ptr<FragmentationPass> fragmentation =
        FragmentationPass::Start(file, basis, *this->overview());

    SnapshotPool snapshots;
    FitTally fits;
    while (true) {
      SnapshotRequest request;
      bool seeks = false;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        const bool has_more = !searched || fragmentation != nullptr;
        following_ = has_more;
        if (!has_more && !seek_due_) settled_.notify_all();
        wake_.wait(lock, [&] { return stopping_ || !status_.ok() || seek_due_ || has_more; });
        if (stopping_ || !status_.ok()) return absl::OkStatus();
        following_ = true;
        seeks = std::exchange(seek_due_, false);
        if (seeks) {
          request = *sought_;
        } else if (searched) {
          followed_share_ = fragmentation->share();
        } else {
          followed_share_ = static_cast<double>(next_block) / static_cast<double>(places.size());
        }
      }
      if (!seeks && searched) {
        const absl::StatusOr<bool> all = fragmentation->Continue();
        if (all.ok() && !*all) continue;
        // Damage is told by the first move that meets it; only this plot cannot do without.
        if (all.ok()) {
          auto complete = std::make_shared<RunOverview>(*this->overview());
          complete->series.push_back({FragmentationPass::kName, fragmentation->Take()});
          Publish([&] { overview_ = std::move(complete); });
        }
        fragmentation = nullptr;
        continue;
      }
      if (!seeks) {
        RETURN_IF_ERROR(search_block());
        if (next_block < places.size()) continue;
        searched = true;
        auto complete = std::make_shared<RunOverview>(*this->overview());
        add_events(complete.get());
        Publish([&] {
          overview_ = std::move(complete);
          // Snapshots so far did not know since when nodes are there.
          if (snapshot_ != nullptr && !changes.empty()) seek_due_ = true;
        });
        continue;
      }
      RETURN_IF_ERROR(MoveTo(seek.get(), request.at, basis->by_record));
      SnapshotExtras extras;
      extras.fragmentation = basis->fragmentation.get();
      extras.fits = &fits;
      if (searched) extras.node_changes = changes;
      std::shared_ptr<const RunSnapshot> snapshot =
          snapshots.Make(seek->TakeTouched(), [&](const TouchedNodes& touched, RunSnapshot* made) {
            UpdateSnapshotAt(request, *seek, *basis, std::move(extras), touched, made);
          });
      Publish([&] { snapshot_.swap(snapshot); });
    }
  }

  // --- the worker that inspects ---

  void Inspect() {
    const absl::Status status = InspectUntilStopped();
    if (!status.ok()) Fail(status);
  }

  absl::Status InspectUntilStopped() {
    std::unique_ptr<Inspector> inspector;
    while (true) {
      InspectRequest request;
      size_t number = 0;
      uint64_t generation = 0;
      std::shared_ptr<const RunBasis> basis;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        inspecting_ = false;
        settled_.notify_all();
        const auto next_kind = [this] {
          size_t kind = 0;
          while (kind < kObjectKinds && !kinds_[kind].due) ++kind;
          return kind;
        };
        wake_.wait(lock, [&] {
          return stopping_ || !status_.ok() || (basis_ != nullptr && next_kind() < kObjectKinds);
        });
        if (stopping_ || !status_.ok()) return absl::OkStatus();
        number = next_kind();
        Kind& kind = kinds_[number];
        kind.due = false;
        request = *kind.asked;
        generation = kind.generation;
        basis = basis_;
        inspecting_ = true;
        inspected_share_ = 0;
      }
      if (inspector == nullptr) {
        ASSIGN_OR_RETURN(std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(path_));
        inspector = std::make_unique<Inspector>(std::move(seek), basis);
      }
      const auto is_wanted = [&] { return kinds_[number].generation == generation; };
      const auto go_on = [&](double share) {
        const std::lock_guard<std::mutex> lock(mutex_);
        inspected_share_ = share;
        return !stopping_ && is_wanted();
      };
      const auto publish = [&](Inspection inspection) {
        auto result = std::make_shared<const Inspection>(std::move(inspection));
        Publish([&] {
          if (is_wanted()) kinds_[number].inspection = std::move(result);
        });
      };
      absl::StatusOr<Inspection> inspection = inspector->Inspect(request, go_on, publish);
      if (inspection.ok()) {
        publish(*std::move(inspection));
      } else if (absl::IsNotFound(inspection.status())) {
        Inspection missing;
        missing.request = request;
        missing.status = inspection.status();
        publish(std::move(missing));
      } else if (!absl::IsCancelled(inspection.status())) {
        return inspection.status();
      }
    }
  }

  const std::string path_;
  const std::function<void()> on_change_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;     // of workers
  std::condition_variable settled_;  // of Settle
  // All of these under mutex_.
  bool stopping_ = false;
  absl::Status status_;
  std::shared_ptr<const RunOverview> overview_;
  std::shared_ptr<const RunBasis> basis_;
  std::unique_ptr<const view::RecordClock> clock_;
  std::optional<SnapshotRequest> sought_;  // last
  bool seek_due_ = false;
  bool following_ = true;
  double followed_share_ = 0;
  std::shared_ptr<const RunSnapshot> snapshot_;
  std::array<Kind, kObjectKinds> kinds_;
  bool inspecting_ = false;
  double inspected_share_ = 0;

  std::thread follower_;
  std::thread inspector_;
};

RunSession::RunSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunSession::~RunSession() = default;

std::unique_ptr<RunSession> RunSession::Open(std::string path, std::function<void()> on_change) {
  return std::unique_ptr<RunSession>(
      new RunSession(std::make_unique<Impl>(std::move(path), std::move(on_change))));
}

const std::string& RunSession::path() const { return impl_->path(); }
absl::Status RunSession::status() const { return impl_->status(); }
std::shared_ptr<const RunOverview> RunSession::overview() const { return impl_->overview(); }
const view::RecordClock* RunSession::clock() const { return impl_->clock(); }
void RunSession::Seek(const SnapshotRequest& request) { impl_->Seek(request); }
std::shared_ptr<const RunSnapshot> RunSession::snapshot() const { return impl_->snapshot(); }
void RunSession::Inspect(const InspectRequest& request) { impl_->Inspect(request); }
std::shared_ptr<const Inspection> RunSession::inspection(ObjectKind kind) const {
  return impl_->inspection(kind);
}
bool RunSession::busy() const { return impl_->busy(); }
double RunSession::progress() const { return impl_->progress(); }
void RunSession::Settle() { impl_->Settle(); }

}  // namespace drasim::gui
