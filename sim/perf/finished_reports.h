// Answers of workloads that have finished, kept in a folder of results, so that a run that was
// interrupted goes on where it was.
#ifndef DRASIM_SIM_PERF_FINISHED_REPORTS_H_
#define DRASIM_SIM_PERF_FINISHED_REPORTS_H_

#include <fstream>
#include <map>
#include <string>

#include "absl/status/status.h"

namespace drasim::perf {

// One line for each answer: its key and the escaped text. A line that a killed run has torn is
// left out.
class FinishedReports {
 public:
  // Reads what an earlier run has left, and appends to it.
  explicit FinishedReports(std::string path);

  // Null if there is none. Valid until the next Keep.
  const std::string* Find(const std::string& key) const;
  // Writes at once. `key`: without white space.
  void Keep(const std::string& key, const std::string& text);
  // Unavailable if something could not be written.
  absl::Status status() const;

 private:
  std::string path_;
  std::map<std::string, std::string> texts_;
  std::ofstream file_;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_FINISHED_REPORTS_H_
