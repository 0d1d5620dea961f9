#include "sim/bench/history_page.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "model/number_text.h"
#include "sim/outputs/xml_text.h"

namespace drasim::bench {
namespace {

constexpr double kWidth = 520;
constexpr double kHeight = 90;
constexpr double kEdge = 6;  // around the line
constexpr size_t kShownHash = 12;

constexpr char kPageStyle[] = R"css(
:root{color-scheme:light dark;--page:#fff;--text:#1c2126;--dim:#5a636d;--line:#d5dae0;
--card:#f4f6f8;--trend:#0b5cad;--step:#9a3d00}
@media screen and (prefers-color-scheme:dark){:root{--page:#15181c;--text:#e4e7ea;--dim:#9aa3ad;
--line:#343a41;--card:#1e2328;--trend:#7db8f2;--step:#f0a060}}
*{box-sizing:border-box}
body{margin:0 auto;padding:16px;max-width:1100px;background:var(--page);color:var(--text);
font:15px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
h1{font-size:1.6em;margin:.2em 0}h2{font-size:1.15em;margin:1.6em 0 .4em;
border-bottom:1px solid var(--line)}
.dim{color:var(--dim)}a{color:var(--trend)}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:12px}
figure{margin:0;padding:8px;background:var(--card);break-inside:avoid}
figcaption{font-size:.85em;display:flex;justify-content:space-between;gap:12px}
svg{display:block;width:100%;height:auto}
polyline{fill:none;stroke:var(--trend);stroke-width:1.5}
circle{fill:var(--trend)}circle.step{fill:var(--step)}
ul{margin:.3em 0 0;padding-left:18px;font-size:.85em}
)css";

// The values of one figure over the runs; absent where a run lacks it.
using Series = std::vector<std::optional<double>>;

struct GroupView {
  std::string name;
  std::vector<std::pair<std::string, Series>> figures;
  std::vector<std::string> fingerprints;  // by run; empty: none
};

std::string ShownNumber(double value) { return DoubleText(RoundSignificant(value, 7)); }

// Hundredths are plenty for a picture, and equal everywhere.
std::string Coordinate(double value) { return DoubleText(RoundDecimals(value, 2)); }

std::string CommitLink(const std::string& commit, const std::string& url) {
  const std::string shown = XmlText(commit.substr(0, kShownHash));
  if (url.empty()) return shown;
  return absl::StrCat("<a href=\"", XmlText(absl::StrReplaceAll(url, {{"{commit}", commit}})),
                      "\">", shown, "</a>");
}

// The run before `i` that has a value.
std::optional<size_t> Before(const Series& series, size_t i) {
  while (i-- > 0) {
    if (series[i].has_value()) return i;
  }
  return std::nullopt;
}

// The runs at which the figure differs from the one before.
std::vector<size_t> StepsOf(const Series& series) {
  std::vector<size_t> steps;
  for (size_t i = 0; i < series.size(); ++i) {
    const std::optional<size_t> before = Before(series, i);
    if (series[i].has_value() && before.has_value() && *series[*before] != *series[i]) {
      steps.push_back(i);
    }
  }
  return steps;
}

bool HasStep(const GroupView& group) {
  std::string last;
  for (const std::string& fingerprint : group.fingerprints) {
    if (!last.empty() && !fingerprint.empty() && fingerprint != last) return true;
    if (!fingerprint.empty()) last = fingerprint;
  }
  return std::any_of(group.figures.begin(), group.figures.end(),
                     [](const auto& figure) { return !StepsOf(figure.second).empty(); });
}

std::string TrendSvg(const Series& series, const std::vector<size_t>& steps,
                     const std::vector<HistoryRun>& runs, const std::string& title) {
  double low = 0;
  double high = 0;
  bool any = false;
  for (const std::optional<double>& value : series) {
    if (!value.has_value()) continue;
    low = any ? std::min(low, *value) : *value;
    high = any ? std::max(high, *value) : *value;
    any = true;
  }
  const double x_step =
      series.size() > 1 ? (kWidth - 2 * kEdge) / static_cast<double>(series.size() - 1) : 0;
  const auto x = [&](size_t i) { return Coordinate(kEdge + x_step * static_cast<double>(i)); };
  const auto y = [&](double value) {
    const double share = high > low ? (value - low) / (high - low) : 0.5;
    return Coordinate(kHeight - kEdge - share * (kHeight - 2 * kEdge));
  };
  std::string points;
  std::string marks;
  for (size_t i = 0; i < series.size(); ++i) {
    if (!series[i].has_value()) continue;
    absl::StrAppend(&points, points.empty() ? "" : " ", x(i), ",", y(*series[i]));
    const bool step = std::find(steps.begin(), steps.end(), i) != steps.end();
    absl::StrAppend(&marks, "<circle ", step ? "class=\"step\" " : "", "cx=\"", x(i), "\" cy=\"",
                    y(*series[i]), "\" r=\"", step ? 4 : 2, "\"><title>",
                    XmlText(runs[i].commit.substr(0, kShownHash)), ": ", ShownNumber(*series[i]),
                    "</title></circle>");
  }
  return absl::StrCat("<svg viewBox=\"0 0 ", Coordinate(kWidth), " ", Coordinate(kHeight),
                      "\" role=\"img\" aria-label=\"", XmlText(title), "\"><polyline points=\"",
                      points, "\"/>", marks, "</svg>\n");
}

std::string FigureHtml(const std::string& name, const Series& series,
                       const std::vector<HistoryRun>& runs, const std::string& url) {
  const std::vector<size_t> steps = StepsOf(series);
  const std::optional<size_t> last = Before(series, series.size());
  std::string html =
      absl::StrCat("<figure><figcaption><span>", XmlText(name), "</span><span>",
                   last.has_value() ? ShownNumber(*series[*last]) : "", "</span></figcaption>\n",
                   TrendSvg(series, steps, runs, name), "<ul>");
  // The newest first.
  for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
    const double before = *series[*Before(series, *at)];
    const double after = *series[*at];
    absl::StrAppend(&html, "<li>", CommitLink(runs[*at].commit, url), ": ", ShownNumber(before),
                    " → ", ShownNumber(after));
    if (before != 0) {
      absl::StrAppend(&html, " (", after > before ? "+" : "",
                      FixedText(100 * (after - before) / std::abs(before), 2), " %)");
    }
    html += "</li>";
  }
  return html + "</ul></figure>\n";
}

// The commits at which decisions changed.
std::string DecisionsHtml(const GroupView& group, const std::vector<HistoryRun>& runs,
                          const std::string& url) {
  std::string html;
  std::string last;
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string& fingerprint = group.fingerprints[i];
    if (fingerprint.empty()) continue;
    if (!last.empty() && fingerprint != last) {
      absl::StrAppend(&html, html.empty() ? "" : ", ", CommitLink(runs[i].commit, url));
    }
    last = fingerprint;
  }
  return html.empty() ? html
                      : absl::StrCat("<p class=\"dim\">Decisions changed at ", html, ".</p>\n");
}

std::vector<GroupView> ViewsOf(const std::vector<HistoryRun>& runs) {
  std::map<std::string, std::set<std::string>> names;
  for (const HistoryRun& run : runs) {
    for (const auto& [name, group] : run.groups) {
      for (const auto& [figure, value] : group.figures) names[name].insert(figure);
    }
  }
  std::vector<GroupView> views;
  for (const auto& [name, figures] : names) {
    GroupView view;
    view.name = name;
    for (const std::string& figure : figures) view.figures.emplace_back(figure, Series());
    for (const HistoryRun& run : runs) {
      const auto group = run.groups.find(name);
      const bool there = group != run.groups.end();
      view.fingerprints.push_back(there ? group->second.fingerprint : "");
      for (auto& [figure, series] : view.figures) {
        series.emplace_back();
        if (!there) continue;
        const auto value = group->second.figures.find(figure);
        if (value != group->second.figures.end()) series.back() = value->second;
      }
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace

std::string HistoryPage(const std::vector<HistoryRun>& runs, const std::string& commit_url) {
  const std::string suite = runs.empty() ? "" : XmlText(runs.back().suite);
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>drasim: history of ",
      suite, "</title>\n<style>", kPageStyle, "</style></head><body>\n<h1>History of ", suite,
      "</h1>\n");
  if (runs.empty()) return html + "<p>No runs yet.</p>\n</body></html>\n";
  absl::StrAppend(&html, "<p class=\"dim\">", runs.size(), " runs, ",
                  CommitLink(runs.front().commit, commit_url), " to ",
                  CommitLink(runs.back().commit, commit_url), ", oldest at the left</p>\n");
  std::string still;
  size_t still_count = 0;
  for (const GroupView& group : ViewsOf(runs)) {
    if (!HasStep(group)) {
      ++still_count;
      absl::StrAppend(&still, "<li>", XmlText(group.name), "</li>");
      continue;
    }
    absl::StrAppend(&html, "<h2>", XmlText(group.name), "</h2>\n",
                    DecisionsHtml(group, runs, commit_url), "<div class=\"plots\">\n");
    for (const auto& [figure, series] : group.figures) {
      if (!StepsOf(series).empty()) html += FigureHtml(figure, series, runs, commit_url);
    }
    html += "</div>\n";
  }
  if (still_count > 0) {
    absl::StrAppend(&html, "<h2>Without any change (", still_count, ")</h2>\n<ul>", still,
                    "</ul>\n");
  }
  return html + "</body></html>\n";
}

}  // namespace drasim::bench
