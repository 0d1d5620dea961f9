// Circles among includes: a header and its source file count as one file pair, so that two .cc
// files which need each other's headers are a circle, too.
#ifndef DRASIM_TESTS_REPOSITORY_INCLUDE_CIRCLES_H_
#define DRASIM_TESTS_REPOSITORY_INCLUDE_CIRCLES_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/repository/file_rules.h"
#include "tests/repository/tidy_rules.h"

namespace drasim::tidy {

// By file pair ("model/quantity"), the file pairs that it includes.
using IncludeGraph = std::map<std::string, std::set<std::string>>;

// Product code alone: tests and benchmarks include whatever they need.
inline IncludeGraph MakeIncludeGraph(const std::vector<SourceFile>& files) {
  IncludeGraph graph;
  for (const SourceFile& file : files) {
    if (!IsCpp(file.path) || IsUnderAny(file.path, "tests bench")) continue;
    const std::string pair = file.path.substr(0, file.path.rfind('.'));
    std::set<std::string>& to = graph[pair];
    for (const Include& include : IncludesOf(file.text)) {
      if (!include.quoted || !absl::EndsWith(include.header, ".h")) continue;
      const std::string other = include.header.substr(0, include.header.size() - 2);
      if (other != pair) to.insert(other);
    }
  }
  return graph;
}

// Tarjan's strongly connected components, of two file pairs or more. O(files + includes).
class CircleFinder {
 public:
  explicit CircleFinder(const IncludeGraph& graph) : graph_(graph) {}

  std::vector<std::vector<std::string>> Find() {
    for (const auto& [pair, to] : graph_) {
      if (order_.count(pair) == 0) Visit(pair);
    }
    return circles_;
  }

 private:
  void Visit(const std::string& pair) {
    const size_t order = order_.size();
    order_[pair] = order;
    size_t& low = low_[pair];
    low = order;
    path_.push_back(pair);
    on_path_.insert(pair);
    for (const std::string& next : graph_.at(pair)) {
      if (graph_.count(next) == 0) continue;
      if (order_.count(next) == 0) {
        Visit(next);
        low = std::min(low, low_[next]);
      } else if (on_path_.count(next) > 0) {
        low = std::min(low, order_[next]);
      }
    }
    if (low != order) return;
    std::vector<std::string> circle;
    do {
      circle.push_back(path_.back());
      on_path_.erase(path_.back());
      path_.pop_back();
    } while (circle.back() != pair);
    if (circle.size() == 1) return;
    std::sort(circle.begin(), circle.end());
    circles_.push_back(circle);
  }

  const IncludeGraph& graph_;
  std::map<std::string, size_t> order_;
  std::map<std::string, size_t> low_;
  std::vector<std::string> path_;
  std::set<std::string> on_path_;
  std::vector<std::vector<std::string>> circles_;
};

inline std::vector<Finding> CheckCircles(const std::vector<SourceFile>& files) {
  const IncludeGraph graph = MakeIncludeGraph(files);
  std::vector<Finding> findings;
  for (const std::vector<std::string>& circle : CircleFinder(graph).Find()) {
    findings.push_back(
        {circle.front(), 0, absl::StrCat("includes in a circle: ", absl::StrJoin(circle, ", "))});
  }
  return findings;
}

}  // namespace drasim::tidy

#endif  // DRASIM_TESTS_REPOSITORY_INCLUDE_CIRCLES_H_
