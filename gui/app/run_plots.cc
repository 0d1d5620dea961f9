#include "gui/app/run_plots.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gui/session/fragmentation_pass.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_kind.h"

namespace drasim::gui {
namespace {

using view::Ink;
using view::PlotSeries;
using view::PlotSpec;
using view::Pyramid;
using view::Theme;
using view::Unit;

constexpr absl::string_view kCallsPrefix = "calls:";
constexpr size_t kMostClients = 8;
constexpr char kFragmentationText[] = "% of idle GPUs that typical jobs cannot use";

double LargestOf(const Pyramid& data) {
  return data.empty() ? 0 : data.QuerySamples(0, data.size()).max;
}

Ink InkOf(Rgb colour, view::Hatch hatch = view::Hatch::kNone) {
  Ink ink;
  ink.colour = colour;
  ink.hatch = hatch;
  return ink;
}

// Collects one plot.
class PlotBuilder {
 public:
  PlotBuilder(absl::string_view id, absl::string_view title, Unit unit) {
    plot_.id = std::string(id);
    spec_.title = std::string(title);
    spec_.unit = unit;
  }

  PlotSpec& spec() { return spec_; }
  bool empty() const { return spec_.series.empty(); }

  void Add(absl::string_view name, const Pyramid* data, const Ink& ink) {
    PlotSeries series;
    series.name = std::string(name);
    series.data = data;
    series.ink = ink;
    spec_.series.push_back(std::move(series));
  }
  void Add(absl::string_view name, Pyramid data, const Ink& ink) {
    plot_.derived.push_back(std::make_unique<Pyramid>(std::move(data)));
    Add(name, plot_.derived.back().get(), ink);
  }
  // The rate of a counter. The legend of the plot says per what.
  void AddRate(absl::string_view name, const Pyramid* counter, const Ink& ink) {
    Add(name, Pyramid(), ink);
    plot_.rates.push_back({counter, plot_.derived.back().get()});
  }

  void AddRate(absl::string_view name, Pyramid counter, const Ink& ink) {
    plot_.derived.push_back(std::make_unique<Pyramid>(std::move(counter)));
    AddRate(name, plot_.derived.back().get(), ink);
  }

  RunPlot Take(const RunOverview& run) {
    if (run.by_record) spec_.load = &run.load;
    plot_.end = run.end;
    plot_.model = std::make_unique<view::PlotModel>(std::move(spec_));
    return std::move(plot_);
  }
  RunPlot& plot() { return plot_; }

 private:
  RunPlot plot_;
  PlotSpec spec_;
};

// --- One run ---

std::optional<RunPlot> SlicesPlot(const RunOverview& run, const Theme& theme) {
  const Pyramid* const total = run.Find("slices_total");
  const Pyramid* const held = run.Find("slices_held");
  const Pyramid* const stranded = run.Find("slices_stranded");
  if (total == nullptr || held == nullptr || stranded == nullptr) return std::nullopt;
  const double most = LargestOf(*total);
  if (most <= 0) return std::nullopt;
  const double share = 100 / most;
  PlotBuilder plot("slices", "Memory slices", Unit::kPercent);
  plot.spec().subtitle = absl::StrCat("% of ", view::CommaText(static_cast<int64_t>(most)));
  plot.spec().high = 100;
  plot.spec().stacked = true;
  plot.Add("handed out", view::WeightedSum(0, {{held, share}}), InkOf(theme.categories[0]));
  plot.Add("stranded", view::WeightedSum(0, {{stranded, share}}),
           InkOf(theme.stranded, view::Hatch::kRising));
  plot.Add("usable, free",
           view::WeightedSum(0, {{total, share}, {held, -share}, {stranded, -share}}),
           InkOf(theme.free_cell));
  plot.Add("not there", view::WeightedSum(100, {{total, -share}}),
           InkOf(theme.muted_cell, view::Hatch::kCrossed));
  return plot.Take(run);
}

// Allocated GPUs in per cent of the most that were there; empty without GPUs.
Pyramid AllocatedShare(const RunOverview& run) {
  const Pyramid* const allocated = run.Find("gpu_allocated_milli");
  const Pyramid* const capacity = run.Find("gpu_capacity_milli");
  if (allocated == nullptr || capacity == nullptr) return {};
  const double most = LargestOf(*capacity);
  return most > 0 ? view::WeightedSum(0, {{allocated, 100 / most}}) : Pyramid();
}

// Slices of one kind in per cent of the most that were there; empty without MIG.
Pyramid SliceShare(const RunOverview& run, absl::string_view metric) {
  const Pyramid* const total = run.Find("slices_total");
  const Pyramid* const part = run.Find(metric);
  if (total == nullptr || part == nullptr) return {};
  const double most = LargestOf(*total);
  return most > 0 ? view::WeightedSum(0, {{part, 100 / most}}) : Pyramid();
}

std::optional<RunPlot> AllocationPlot(const RunOverview& run, const Theme& theme) {
  Pyramid share = AllocatedShare(run);
  if (share.empty()) return std::nullopt;
  PlotBuilder plot("gpus", "GPUs allocated", Unit::kPercent);
  plot.spec().subtitle = absl::StrCat("% of ", view::CommaText(run.gpus));
  plot.spec().high = 100;
  plot.Add("allocated", std::move(share), InkOf(theme.categories[0]));
  // Over the arrived load its own curve is the diagonal: all that arrived is allocated.
  if (run.by_record && !run.load.empty()) plot.Add("arrived", &run.load, InkOf(theme.dim_text));
  plot.spec().series.front().filled = true;
  return plot.Take(run);
}

std::optional<RunPlot> FragmentationPlot(const RunOverview& run, const Theme& theme) {
  const Pyramid* const fragmentation = run.Find(FragmentationPass::kName);
  if (fragmentation == nullptr || fragmentation->empty()) return std::nullopt;
  PlotBuilder plot("fragmentation", "Fragmentation", Unit::kPercent);
  plot.spec().subtitle = kFragmentationText;
  plot.Add("fragmented", fragmentation, InkOf(theme.categories[1]));
  plot.spec().series.front().filled = true;
  return plot.Take(run);
}

std::optional<RunPlot> WaitingPlot(const RunOverview& run, const Theme& theme) {
  PlotBuilder plot("waiting", "Pods waiting", Unit::kCount);
  const Pyramid* const untried = run.Find("waiting_untried");
  const Pyramid* const no_room = run.Find("waiting_no_room");
  const Pyramid* const driver = run.Find("waiting_driver");
  if (untried != nullptr && no_room != nullptr) {
    plot.spec().subtitle = "by last verdict";
    plot.spec().stacked = true;
    plot.Add(view::WaitKindName(WaitKind::kUntried), untried, InkOf(theme.muted_cell));
    plot.Add(view::WaitKindName(WaitKind::kNoRoom), no_room, InkOf(theme.categories[0]));
    if (driver != nullptr && LargestOf(*driver) > 0) {
      plot.Add(view::WaitKindName(WaitKind::kDriver), driver, InkOf(theme.categories[1]));
    }
  } else if (const Pyramid* const waiting = run.Find("pods_waiting"); waiting != nullptr) {
    plot.Add("waiting", waiting, InkOf(theme.categories[1]));
    plot.spec().series.back().filled = true;
  }
  if (plot.empty()) return std::nullopt;
  return plot.Take(run);
}

std::optional<RunPlot> AttemptsPlot(const RunOverview& run, const Theme& theme) {
  if (run.by_record) return std::nullopt;  // no minutes
  PlotBuilder plot("attempts", "Attempts", Unit::kPerMinute);
  plot.spec().subtitle = "per minute, by outcome";
  plot.spec().stacked = true;
  const auto add = [&](absl::string_view name, absl::string_view metric, size_t category) {
    const Pyramid* const counter = run.Find(metric);
    if (counter == nullptr || LargestOf(*counter) <= 0) return;
    plot.AddRate(name, counter, InkOf(theme.categories[category]));
  };
  add("bound", "pods_bound", 3);
  add("place taken back", "places_taken_back", 2);
  const Pyramid* const failed = run.Find("attempts_failed");
  const Pyramid* const taken_back = run.Find("places_taken_back");
  if (failed != nullptr && taken_back != nullptr && LargestOf(*taken_back) > 0) {
    // An attempt whose place is taken back fails, too; it must not stand in the stack twice.
    plot.AddRate("found no node", view::CountBeyond(*failed, *taken_back), InkOf(theme.muted_cell));
  } else if (failed != nullptr) {
    plot.AddRate("found no node", failed, InkOf(theme.muted_cell));
  }
  if (plot.empty()) return std::nullopt;
  return plot.Take(run);
}

std::optional<RunPlot> WaitsPlot(const RunOverview& run, const Theme& theme) {
  const Pyramid* const p50 = run.Find("wait_p50");
  const Pyramid* const p95 = run.Find("wait_p95");
  if (p50 == nullptr || p95 == nullptr || p50->empty()) return std::nullopt;
  PlotBuilder plot("waits", "From arrival to first start", Unit::kSeconds);
  plot.plot().can_be_log = true;
  plot.Add("95th percentile", p95, InkOf(theme.categories[1]));
  plot.Add("median", p50, InkOf(theme.categories[0]));
  return plot.Take(run);
}

std::optional<RunPlot> CallsPlot(const RunOverview& run, const Theme& theme) {
  if (run.by_record) return std::nullopt;
  std::vector<const MetricSeries*> clients;
  for (const MetricSeries& series : run.series) {
    if (absl::StartsWith(series.name, kCallsPrefix) && LargestOf(series.data) > 0) {
      clients.push_back(&series);
    }
  }
  if (clients.empty()) return std::nullopt;
  // The busiest ones.
  std::stable_sort(clients.begin(), clients.end(),
                   [](const MetricSeries* a, const MetricSeries* b) {
                     return LargestOf(a->data) > LargestOf(b->data);
                   });
  clients.resize(std::min(clients.size(), kMostClients));
  PlotBuilder plot("calls", "Calls", Unit::kPerSecond);
  plot.spec().subtitle = "per second, by client";
  plot.spec().stacked = true;
  plot.plot().per = SimDuration::Seconds(1);
  for (size_t i = 0; i < clients.size(); ++i) {
    plot.AddRate(absl::StripPrefix(clients[i]->name, kCallsPrefix), &clients[i]->data,
                 view::CategoryInk(theme, i));
  }
  return plot.Take(run);
}

std::optional<RunPlot> RejectionsPlot(const RunOverview& run, const Theme& theme) {
  const Pyramid* const rejected = run.Find("pods_rejected");
  if (rejected == nullptr || LargestOf(*rejected) <= 0) return std::nullopt;
  PlotBuilder plot("admission", "Admission failures", Unit::kCount);
  plot.spec().subtitle = "so far";
  plot.Add("turned away by the node", rejected, InkOf(theme.categories[1]));
  return plot.Take(run);
}

// --- Two runs ---

// One figure of both, its difference shaded; none if a run lacks it.
class PairBuilder {
 public:
  PairBuilder(const RunOverview& a, const RunOverview& b, const Theme& theme,
              std::vector<RunPlot>* plots)
      : a_(a), b_(b), theme_(theme), plots_(*plots) {}

  void AddShares(absl::string_view id, absl::string_view title, std::string subtitle,
                 bool whole_axis, Pyramid a, Pyramid b) {
    if (a.empty() || b.empty()) return;
    PlotBuilder plot(id, title, Unit::kPercent);
    plot.spec().subtitle = std::move(subtitle);
    if (whole_axis) plot.spec().high = 100;
    plot.Add("A", std::move(a), InkOf(theme_.categories[0]));
    plot.Add("B", std::move(b), InkOf(theme_.categories[1]));
    Take(&plot);
  }
  void AddMetric(absl::string_view id, absl::string_view title, absl::string_view subtitle,
                 absl::string_view metric, Unit unit) {
    const Pyramid* const a = a_.Find(metric);
    const Pyramid* const b = b_.Find(metric);
    if (a == nullptr || b == nullptr || LargestOf(*a) + LargestOf(*b) <= 0) return;
    PlotBuilder plot(id, title, unit);
    plot.spec().subtitle = std::string(subtitle);
    plot.plot().can_be_log = unit == Unit::kSeconds;
    plot.Add("A", a, InkOf(theme_.categories[0]));
    plot.Add("B", b, InkOf(theme_.categories[1]));
    Take(&plot);
  }
  void AddRate(absl::string_view id, absl::string_view title, absl::string_view subtitle,
               absl::string_view metric) {
    const Pyramid* const a = a_.Find(metric);
    const Pyramid* const b = b_.Find(metric);
    if (a == nullptr || b == nullptr || a_.by_record) return;
    PlotBuilder plot(id, title, Unit::kPerMinute);
    plot.spec().subtitle = std::string(subtitle);
    plot.AddRate("A", a, InkOf(theme_.categories[0]));
    plot.AddRate("B", b, InkOf(theme_.categories[1]));
    Take(&plot);
  }

 private:
  void Take(PlotBuilder* plot) {
    plot->spec().differences.emplace_back();
    plots_.push_back(plot->Take(a_));
  }

  const RunOverview& a_;
  const RunOverview& b_;
  const Theme& theme_;
  std::vector<RunPlot>& plots_;
};

}  // namespace

void RunPlot::SetWindow(SimTime begin, SimTime until, size_t most) {
  if (rates.empty()) return;
  view::RateBuckets wanted = view::BucketsFor(begin, until, std::max<size_t>(most, 1));
  while (wanted.count > 1 &&
         (end - wanted.begin).ns() / wanted.length.ns() < static_cast<int64_t>(wanted.count)) {
    --wanted.count;
  }
  if (wanted == buckets) return;
  buckets = wanted;
  for (const Rate& rate : rates) *rate.rate = view::RateSeries(*rate.counter, buckets, per);
  model->Refresh();
}

std::vector<RunPlot> PlotsOf(const RunOverview& a, const RunOverview* b, view::ThemeKind kind) {
  const Theme& theme = view::ThemeOf(kind);
  std::vector<RunPlot> plots;
  if (b != nullptr) {
    PairBuilder pairs(a, *b, theme, &plots);
    if (a.slices && b->slices && a.Find("slices_held") != nullptr) {
      pairs.AddShares("slices", "Memory slices handed out", "% of all", true,
                      SliceShare(a, "slices_held"), SliceShare(*b, "slices_held"));
    } else {
      pairs.AddShares("gpus", "GPUs allocated", absl::StrCat("% of ", view::CommaText(a.gpus)),
                      true, AllocatedShare(a), AllocatedShare(*b));
    }
    pairs.AddMetric("fragmentation", "Fragmentation", kFragmentationText, FragmentationPass::kName,
                    Unit::kPercent);
    pairs.AddMetric("waiting", "Pods waiting", "", "pods_waiting", Unit::kCount);
    if (a.slices && b->slices) {
      pairs.AddShares("stranded", "Free slices that no further instance can cover", "% of all",
                      false, SliceShare(a, "slices_stranded"), SliceShare(*b, "slices_stranded"));
    }
    pairs.AddRate("attempts", "Attempts that failed", "per minute", "attempts_failed");
    pairs.AddMetric("waits", "From arrival to first start", "95th percentile", "wait_p95",
                    Unit::kSeconds);
    pairs.AddMetric("admission", "Admission failures", "so far", "pods_rejected", Unit::kCount);
    return plots;
  }
  const auto add = [&](std::optional<RunPlot> plot) {
    if (plot.has_value()) plots.push_back(*std::move(plot));
  };
  std::optional<RunPlot> slices = a.slices ? SlicesPlot(a, theme) : std::nullopt;
  add(slices.has_value() ? std::move(slices) : AllocationPlot(a, theme));
  add(FragmentationPlot(a, theme));
  add(WaitingPlot(a, theme));
  add(AttemptsPlot(a, theme));
  add(WaitsPlot(a, theme));
  add(CallsPlot(a, theme));
  add(RejectionsPlot(a, theme));
  return plots;
}

}  // namespace drasim::gui
