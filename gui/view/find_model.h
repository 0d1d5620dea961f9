// Ranked search among the names of a run, in slices: a keystroke over a million pods costs no
// frame.
//
//   FindModel find;
//   find.SetSources({{commands.size(), [&](size_t i) { return commands[i].title; }}});
//   find.SetQuery("pod 48");
//   while (find.Scan(20'000)) {}          // or one slice per frame
//   for (const FindHit& hit : find.hits()) Draw(hit);
#ifndef DRASIM_GUI_VIEW_FIND_MODEL_H_
#define DRASIM_GUI_VIEW_FIND_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim::view {

// The rank of `text` for a query; larger is better, none if it does not match. Letter case does not
// matter. From best to worst: equal; the query begins the text; it begins a word; it is somewhere
// inside; all of its words are; its letters appear in order. Shorter texts are better within each.
// O(query x text).
std::optional<int64_t> FindScore(absl::string_view query, absl::string_view text);

// Names of one kind, such as all pods.
struct FindSource {
  size_t count = 0;
  std::function<absl::string_view(size_t index)> text;  // valid until the next call
  // Letters in order are enough. Without it, nothing below "all words" matches: among many similar
  // names, letters in order are noise.
  bool loose = false;
};

struct FindHit {
  size_t source = 0;
  size_t index = 0;
  int64_t score = 0;
  bool operator==(const FindHit&) const = default;
};

inline constexpr size_t kFindHits = 50;

class FindModel {
 public:
  // Begins again. The sources must stay as they are until the next call.
  void SetSources(std::vector<FindSource> sources);
  // Begins again if the query is another one. An empty query finds nothing.
  void SetQuery(absl::string_view query);
  const std::string& query() const { return query_; }

  // Looks at up to `budget` further names. False when all have been seen.
  bool Scan(size_t budget);
  bool complete() const { return source_ >= sources_.size(); }

  // The best hits so far, at most kFindHits, the best first; ties in the order of the sources.
  const std::vector<FindHit>& hits() const { return hits_; }

 private:
  void Restart();
  void Add(const FindHit& hit);

  std::vector<FindSource> sources_;
  std::string query_;
  size_t source_ = 0;  // the next name to look at
  size_t index_ = 0;
  std::vector<FindHit> hits_;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_FIND_MODEL_H_
