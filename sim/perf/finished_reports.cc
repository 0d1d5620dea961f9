#include "sim/perf/finished_reports.h"

#include <ios>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace drasim::perf {
namespace {

constexpr char kWholeLineEnd[] = "end";

}  // namespace

FinishedReports::FinishedReports(std::string path) : path_(std::move(path)) {
  std::ifstream earlier(path_, std::ios::binary);
  std::string line;
  while (std::getline(earlier, line)) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    std::string text;
    if (parts.size() == 3 && parts[2] == kWholeLineEnd && absl::CUnescape(parts[1], &text))
      texts_[parts[0]] = text;
  }
  file_.open(path_, std::ios::binary | std::ios::app);
  file_ << "\n";  // ends a line that a killed run may have torn
}

const std::string* FinishedReports::Find(const std::string& key) const {
  const auto it = texts_.find(key);
  return it == texts_.end() ? nullptr : &it->second;
}

void FinishedReports::Keep(const std::string& key, const std::string& text) {
  texts_[key] = text;
  file_ << absl::StrCat(key, "\t", absl::CEscape(text), "\t", kWholeLineEnd, "\n") << std::flush;
}

absl::Status FinishedReports::status() const {
  if (file_.good()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path_, ": cannot write"));
}

}  // namespace drasim::perf
