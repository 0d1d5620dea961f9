#include "gui/app/app.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gui/app/command_line.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_session.h"
#include "gui/view/pyramid.h"
#include "model/ids.h"
#include "model/text/did_you_mean.h"

namespace drasim::gui {
namespace {

// Suggestions cost the square of a name's length for each name.
constexpr size_t kMostSuggested = 20'000;
constexpr size_t kMostNotices = 20;

bool IsScenario(absl::string_view path) {
  return absl::EndsWith(path, ".yaml") || absl::EndsWith(path, ".yml") ||
         absl::StartsWith(path, "embedded:");
}

bool IsOver(JobState state) {
  return state == JobState::kDone || state == JobState::kFailed || state == JobState::kCancelled;
}

// The first moment of the largest value.
SimTime PeakOf(const view::Pyramid& data) {
  size_t best = 0;
  for (size_t i = 1; i < data.size(); ++i) {
    if (data.value(i) > data.value(best)) best = i;
  }
  return data.time(best);
}

// The moment in which a run is seen first: a replay holds nothing at its end.
SimTime FullestMoment(const RunOverview& run) {
  for (const char* metric : {"gpu_allocated_milli", "pods_resident"}) {
    const view::Pyramid* const data = run.Find(metric);
    if (data == nullptr || data->empty()) continue;
    const SimTime peak = PeakOf(*data);
    if (data->ValueAt(peak).value_or(0) > 0) return std::min(peak, run.end);
  }
  return run.end;
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

void Close(RunSlot* slot) {
  // The job goes last: its folder is removed with it.
  slot->session.reset();
  slot->overview.reset();
  slot->snapshot.reset();
  slot->inspections = {};
  slot->job.reset();
}

}  // namespace

App::App(AppOptions options) : options_(std::move(options)) {
  if (!options_.settings_folder.empty()) settings_ = ReadSettings(options_.settings_folder);
  state_.looks = options_.looks;
  const Looks defaults;
  if (state_.looks.theme == defaults.theme && state_.looks.scale == defaults.scale) {
    state_.looks = settings_.looks;
  }
  state_.views = options_.views.empty() ? DefaultViews() : options_.views;
  for (const PanelFactory make : PanelList()) panels_.push_back(make());
  layout_ = MakeAppView();
  if (!options_.path_a.empty()) Open(options_.path_a, /*as_b=*/false);
  if (!options_.path_b.empty()) {
    const ViewSet views = state_.views;
    Open(options_.path_b, /*as_b=*/true);
    if (!options_.views.empty()) state_.views = views;
  }
}

App::~App() {
  state_.comparison.reset();
  Close(&state_.b);
  Close(&state_.a);
}

// --- Opening ---

void App::Open(const std::string& path, bool as_b) {
  if (!IsScenario(path)) {
    OpenSession(path, as_b);
    if (as_b) state_.b.job.reset();
    if (!as_b) state_.a.job.reset();
    return;
  }
  RunJobSpec spec;
  spec.scenario_path = path;
  StartJob(std::move(spec), as_b);
}

// The slot keeps its job: a run of this window lives in the job's folder.
void App::OpenSession(const std::string& path, bool as_b) {
  RunSlot& slot = as_b ? state_.b : state_.a;
  state_.comparison.reset();
  slot.session = RunSession::Open(path, options_.wake);
  slot.overview.reset();
  slot.snapshot.reset();
  slot.inspections = {};
  inspections_.Forget(as_b);
  seeks_[as_b ? 1 : 0] = false;
  told_.clear();
  if (as_b) {
    state_.views.Add(ViewKind::kCompare);
    return;
  }
  state_.error.clear();
  open_status_ = absl::OkStatus();
  clock_began_ = false;
  stepper_.Forget();
  state_.ForgetSelections();
}

void App::StartJob(RunJobSpec spec, bool as_b) {
  RunSlot& slot = as_b ? state_.b : state_.a;
  state_.comparison.reset();
  Close(&slot);
  if (!as_b) {
    state_.error.clear();
    open_status_ = absl::OkStatus();
    clock_began_ = false;
    state_.timeline = view::Timeline(SimTime());
  }
  slot.job = RunJob::Start(std::move(spec), options_.wake);
}

void App::CloseB() {
  state_.comparison.reset();
  Close(&state_.b);
  state_.views.Remove(ViewKind::kCompare);
  seeks_[1] = false;
}

void App::CloseA() {
  CloseB();
  Close(&state_.a);
  state_.error.clear();
  open_status_ = absl::OkStatus();
  state_.timeline = view::Timeline(SimTime());
  clock_began_ = false;
  seeks_[0] = false;
}

void App::FailOpening(const absl::Status& status) {
  CloseA();
  open_status_ = status;
  state_.error = std::string(status.message());
}

// --- One round ---

bool App::Update() {
  bool asked = CarryOutWishes();
  asked = TakeJob(&state_.a, /*as_b=*/false) || asked;
  asked = TakeJob(&state_.b, /*as_b=*/true) || asked;
  TakeResults(&state_.a, /*as_b=*/false);
  TakeResults(&state_.b, /*as_b=*/true);
  asked = FitTimeline() || asked;
  ResolveSelection();
  inspections_.FollowToNode(&state_);
  if (const std::string told = stepper_.TakePlaces(&state_); !told.empty()) Notify(told);
  asked = SeekAll() || asked;
  if (clock_began_) asked = inspections_.AskAll(&state_, &stepper_) || asked;
  return CompareAll() || asked;
}

bool App::CarryOutWishes() {
  bool asked = false;
  for (const bool as_b : {false, true}) {
    std::vector<std::string> paths;
    paths.swap(as_b ? state_.open_as_b : state_.open_as_a);
    // The last of several paths counts, such as those of dropped files.
    if (!paths.empty()) Open(paths.back(), as_b);
    std::optional<RunJobSpec> spec;
    spec.swap(as_b ? state_.run_as_b : state_.run_as_a);
    asked = asked || !paths.empty() || spec.has_value();
    if (spec.has_value()) StartJob(*std::move(spec), as_b);
  }
  return asked;
}

bool App::TakeJob(RunSlot* slot, bool as_b) {
  if (slot->job == nullptr || slot->session != nullptr) return false;
  const JobProgress progress = slot->job->progress();
  if (!IsOver(progress.state)) {
    slot->snapshot = slot->job->snapshot();
    slot->overview = slot->job->overview();
    return false;
  }
  for (const std::string& warning : progress.warnings) Notify(warning);
  const bool failed = progress.state == JobState::kFailed;
  const absl::Status status = progress.status;
  if (!progress.ledger_path.empty()) {
    // A run that failed half-way is shown up to there.
    OpenSession(progress.ledger_path, as_b);
  } else {
    slot->snapshot.reset();
    slot->overview.reset();
    slot->job.reset();
    if (failed && !as_b) {
      FailOpening(status);
      return true;
    }
  }
  if (failed) {
    if (wish_status_.ok()) wish_status_ = status;
    Notify(absl::StrCat(as_b ? "B: " : "", status.message()), /*error=*/true);
  }
  return true;
}

void App::TakeResults(RunSlot* slot, bool as_b) {
  if (!slot->opened()) return;
  if (const absl::Status status = slot->session->status(); !status.ok()) {
    if (!as_b) {
      FailOpening(status);
      return;
    }
    if (wish_status_.ok()) wish_status_ = status;
    CloseB();
    Notify(absl::StrCat("B: ", status.message()), /*error=*/true);
    return;
  }
  // Events and fragmentation come after the rest, in another overview.
  const bool is_first = slot->overview == nullptr;
  slot->overview = slot->session->overview();
  if (is_first) {
    // The ledger of a job is gone with it; its scenario can be run again.
    const std::string& path =
        slot->job != nullptr ? slot->job->spec().scenario_path : slot->session->path();
    if (slot->overview != nullptr && !path.empty()) {
      AddRecent(absl::StartsWith(path, "embedded:") ? path : AbsolutePath(path), &settings_);
      SaveSettings();
    }
  }
  if (std::shared_ptr<const RunSnapshot> snapshot = slot->session->snapshot()) {
    slot->snapshot = std::move(snapshot);
  }
  for (size_t kind = 0; kind < kObjectKinds; ++kind) {
    std::shared_ptr<const Inspection> next =
        slot->session->inspection(static_cast<ObjectKind>(kind));
    if (next == nullptr) continue;
    const bool for_step = !as_b && stepper_.IsForStepAlone(next->request, state_);
    if (!for_step) slot->inspections[kind] = std::move(next);
  }
}

// --- The clock ---

bool App::FitTimeline() {
  if (state_.a.job != nullptr && !state_.a.opened()) {
    // A run in progress is seen at its latest moment.
    if (state_.a.overview == nullptr) return false;
    const SimTime now = state_.a.overview->end;
    if (now > state_.timeline.end()) state_.timeline.SetEnd(now);
    state_.timeline.MoveTo({now});
    return false;
  }
  if (state_.a.overview == nullptr) return false;
  SimTime end = state_.a.overview->end;
  if (state_.b.overview != nullptr) end = std::max(end, state_.b.overview->end);
  if (clock_began_ && end == state_.timeline.end()) return false;
  if (clock_began_ && end > state_.timeline.end()) {
    state_.timeline.SetEnd(end);
    return false;
  }
  // A timeline cannot shrink.
  const view::Timeline before = std::move(state_.timeline);
  state_.timeline = view::Timeline(end);
  state_.timeline.SetSpeed(before.speed());
  state_.timeline.SetMode(before.mode());
  if (clock_began_) {
    for (const view::Bookmark& bookmark : before.bookmarks()) {
      state_.timeline.MoveTo(bookmark.at);
      state_.timeline.AddBookmark(bookmark.name);
    }
    state_.timeline.MoveTo(before.cursor());
    if (!before.shows_everything()) {
      state_.timeline.SetWindow(before.window_begin(), before.window_end());
    }
    return false;
  }
  BeginClock();
  return true;
}

void App::BeginClock() {
  clock_began_ = true;
  looked_at_end_ = false;
  at_is_given_ = false;
  for (view::Bookmark& bookmark : BookmarksOf(state_.a.overview->fingerprint, settings_)) {
    state_.timeline.MoveTo(bookmark.at);
    state_.timeline.AddBookmark(std::move(bookmark.name));
  }
  state_.timeline.MoveTo({FullestMoment(*state_.a.overview)});
  if (!options_.at.empty()) {
    view::TypedPlace place;
    place.end = state_.timeline.end();
    place.clock = state_.a.session->clock();
    place.by_record = state_.a.overview->by_record;
    const absl::StatusOr<view::TimeTarget> at = view::ParseTarget(options_.at, place);
    at_is_given_ = at.ok();
    if (at.ok()) state_.timeline.MoveTo(*at);
    if (!at.ok()) {
      if (wish_status_.ok()) {
        wish_status_ =
            absl::Status(at.status().code(), absl::StrCat("--at: ", at.status().message()));
      }
      Notify(at.status().message(), /*error=*/true);
    }
    options_.at.clear();
  }
  to_select_ = options_.select;
  options_.select.clear();
}

bool App::SeekAll() {
  bool asked = false;
  for (const bool as_b : {false, true}) {
    RunSlot& slot = as_b ? state_.b : state_.a;
    // A's first cursor is known with its overview.
    if (slot.overview == nullptr || !slot.opened() || !clock_began_) continue;
    SnapshotRequest request;
    request.at = state_.CursorIn(slot);
    request.tenants = state_.wants_tenants;
    if (state_.map.grouping == view::MapGrouping::kLabel) request.label = state_.map.label;
    const size_t run = as_b ? 1 : 0;
    if (seeks_[run] && sought_[run] == request) continue;
    sought_[run] = request;
    seeks_[run] = true;
    slot.session->Seek(request);
    asked = true;
  }
  return asked;
}

void App::Play(SimDuration elapsed) {
  view::Timeline& timeline = state_.timeline;
  if (!timeline.playing()) return;
  if (state_.a.overview == nullptr || !state_.a.overview->by_record) {
    timeline.Advance(elapsed);
    return;
  }
  play_rest_ += std::min(elapsed, SimDuration::Seconds(1)).ns() * kPlayedRecordsPerSecond;
  const int64_t steps = play_rest_ / (kSecondNs / timeline.speed());
  if (steps == 0) return;
  play_rest_ = 0;
  const SimDuration left = timeline.end() - timeline.cursor().time;
  timeline.MoveTo({timeline.cursor().time + std::min(left, SimDuration(steps))});
  if (timeline.cursor().time >= timeline.end()) timeline.Pause();
}

// --- Selection ---

void App::ResolveSelection() {
  const RunSlot& a = state_.a;
  if (a.snapshot == nullptr || !a.opened() || !seeks_[0] || a.snapshot->request != sought_[0]) {
    return;
  }
  if (state_.node.empty() && !a.snapshot->map.nodes.empty()) {
    const auto& nodes = a.snapshot->map.nodes;
    const auto with_gpus = std::find_if(
        nodes.begin(), nodes.end(), [](const view::MapNode& node) { return node.gpu_count > 0; });
    state_.node = with_gpus != nodes.end() ? with_gpus->name : nodes.front().name;
  }
  if (to_select_.empty()) return;
  if (FindSelection(to_select_)) {
    // A pod that was found only at the end is shown when its wait was over.
    const std::optional<size_t> pod = state_.selected.kind == ObjectKind::kPod && looked_at_end_
                                          ? a.snapshot->pods.Find(to_select_)
                                          : std::nullopt;
    if (pod.has_value() && a.snapshot->pods.row(*pod).started) {
      state_.timeline.MoveTo({a.snapshot->pods.row(*pod).first_start});
    }
    to_select_.clear();
    return;
  }
  if (!at_is_given_ && !looked_at_end_) {
    looked_at_end_ = true;
    state_.timeline.MoveTo({state_.timeline.end()});
    if (state_.CursorIn(a) != sought_[0].at) return;  // after the next snapshot
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < a.snapshot->nodes.rows() && names.size() < kMostSuggested; ++i) {
    names.push_back(a.snapshot->nodes.row(i).name);
  }
  for (const std::string& tenant : a.snapshot->pods.tenants()) names.push_back(tenant);
  for (size_t i = 0; i < a.snapshot->claims.rows() && names.size() < kMostSuggested; ++i) {
    names.push_back(a.snapshot->claims.row(i).name);
  }
  for (size_t i = 0; i < a.snapshot->pods.rows() && names.size() < kMostSuggested; ++i) {
    names.emplace_back(a.snapshot->pods.name(i));
  }
  const std::string text =
      absl::StrCat("no node, pod, tenant or claim is named '", to_select_, "' at ",
                   a.overview->TimeText(state_.timeline.cursor().time), Suggest(to_select_, names));
  if (wish_status_.ok()) wish_status_ = absl::NotFoundError(absl::StrCat("--select: ", text));
  Notify(text, /*error=*/true);
  to_select_.clear();
  if (looked_at_end_) state_.timeline.MoveTo({FullestMoment(*a.overview)});
}

bool App::FindSelection(const std::string& name) {
  const RunSnapshot& run = *state_.a.snapshot;
  for (size_t i = 0; i < run.nodes.rows(); ++i) {
    if (run.nodes.row(i).name != name) continue;
    state_.Select({ObjectKind::kNode, name});
    return true;
  }
  if (run.pods.Find(name).has_value()) {
    state_.Select({ObjectKind::kPod, name});
    return true;
  }
  const std::vector<std::string>& tenants = run.pods.tenants();
  if (!name.empty() && std::find(tenants.begin(), tenants.end(), name) != tenants.end()) {
    state_.Select({ObjectKind::kTenant, name});
    return true;
  }
  for (size_t i = 0; i < run.claims.rows(); ++i) {
    if (run.claims.row(i).name != name) continue;
    state_.Select({ObjectKind::kClaim, name});
    return true;
  }
  return false;
}

bool App::CompareAll() {
  if (!state_.comparing() || state_.a.overview == nullptr || state_.b.overview == nullptr) {
    return false;
  }
  if (state_.comparison == nullptr || compared_tolerance_ != state_.tolerance) {
    view::CompareOptions options;
    options.tolerance = state_.tolerance;
    state_.comparison = ComparisonJob::Start(state_.a.session->path(), state_.b.session->path(),
                                             options, options_.wake);
    compared_tolerance_ = state_.tolerance;
    told_.clear();
    return true;
  }
  if (const absl::Status status = state_.comparison->status(); !status.ok() && wish_status_.ok()) {
    wish_status_ = status;
    Notify(status.message(), /*error=*/true);
  }
  if (state_.selected.kind != ObjectKind::kPod || state_.selected.name == told_) return false;
  if (state_.comparison->result() == nullptr) return false;
  told_ = state_.selected.name;
  state_.comparison->TellStories(told_);
  return true;
}

void App::Step(view::StepUnit unit, bool forward) {
  if (const std::string told = stepper_.Step(unit, forward, &state_); !told.empty()) Notify(told);
}

// --- Frames ---

void App::Frame(SimDuration elapsed) {
  if (picture_wish_.has_value()) picture_ = std::exchange(picture_wish_, std::nullopt);
  layout_->TakeKeys(this);
  Play(elapsed);
  Update();
  layout_->Draw(this, elapsed);
}

absl::Status App::Settle() {
  // A round may ask for something whose answer asks for more: a job, its ledger, the cursor, the
  // selection. Two quiet rounds tell that nothing is to come.
  int quiet = 0;
  for (int round = 0; round < 100 && quiet < 2; ++round) {
    quiet = Update() ? 0 : quiet + 1;
    for (RunSlot* slot : {&state_.a, &state_.b}) {
      if (slot->session != nullptr) slot->session->Settle();
      const bool runs = slot->job != nullptr && slot->session == nullptr;
      if (runs && slot->job->progress().state != JobState::kPaused) {
        slot->job->Settle();
        quiet = 0;
      }
    }
    if (state_.comparison != nullptr) state_.comparison->Settle();
  }
  if (!open_status_.ok()) return open_status_;
  if (!wish_status_.ok()) return wish_status_;
  const auto& shown = state_.a.inspections[static_cast<size_t>(state_.selected.kind)];
  const bool is_of_selected = shown != nullptr && shown->request.object == state_.selected;
  return is_of_selected ? shown->status : absl::OkStatus();
}

bool App::animating() const {
  for (const RunSlot* slot : {&state_.a, &state_.b}) {
    if (slot->session != nullptr && slot->session->busy()) return true;
    if (slot->job != nullptr && slot->session == nullptr) return true;
  }
  const bool compares = state_.comparison != nullptr && state_.comparison->result() == nullptr &&
                        state_.comparison->status().ok();
  return state_.timeline.playing() || compares || state_.wants_frame || picture_wish_.has_value() ||
         layout_->animating();
}

std::optional<PictureWish> App::TakePictureWish() { return std::exchange(picture_, std::nullopt); }

std::string App::CommandLine() const { return ViewCommandLine(state_); }

void App::SaveSettings() {
  settings_.looks = state_.looks;
  // Before the clock began, those of the file were not set yet.
  if (clock_began_ && state_.a.overview != nullptr && state_.a.opened()) {
    KeepBookmarks(state_.a.overview->fingerprint, state_.timeline.bookmarks(), &settings_);
  }
  if (options_.settings_folder.empty()) return;
  const absl::Status status = WriteSettings(options_.settings_folder, settings_);
  if (!status.ok()) Notify(absl::StrCat("settings: ", status.message()), /*error=*/true);
}

void App::Notify(absl::string_view text, bool error) {
  std::vector<Notice>& notices = state_.notices;
  // A repeated notice, such as at the end of a run, is not shown again.
  if (!notices.empty() && notices.back().text == text) return;
  notices.push_back({std::string(text), error});
  if (notices.size() > kMostNotices) notices.erase(notices.begin());
}

}  // namespace drasim::gui
