// The results of a command, for files that other tools read: tables for people, checks that passed
// or failed, and figures. Each writer of this folder takes what its format has a place for.
//
//   ResultSet results;
//   results.command = "bench compare";
//   results.checks.push_back({"fill/-/fgd/42", "fill", CheckOutcome::kFailed, "worse by 2 %"});
//   const std::string xml = JunitXml(results);
#ifndef DRASIM_SIM_OUTPUTS_RESULT_SET_H_
#define DRASIM_SIM_OUTPUTS_RESULT_SET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace drasim {

enum class CheckOutcome : uint8_t {
  kPassed,
  kChanged,  // not as it was, although not worse: somebody has to look
  kFailed,
  kMissing,  // could not be checked, which is no pass
};

struct ResultCheck {
  std::string name;   // "fill/-/fgd/42"
  std::string group;  // what checks are gathered under
  CheckOutcome outcome = CheckOutcome::kPassed;
  std::string message;  // one line; empty if there is nothing to say
  std::string file;     // where to look; empty: nowhere in particular
  size_t line = 0;      // in `file`, from 1; 0: the file as a whole
  size_t column = 0;    // in `line`, from 1; 0: unknown
  double seconds = 0;   // CPU time; 0: not measured
};

struct ResultFigure {
  std::string name;  // of the thing measured, without the seed
  std::vector<std::pair<std::string, std::string>> labels;  // such as ("policy", "fgd")
  std::optional<uint64_t> seed;                             // absent: over all seeds
  std::string metric;
  double value = 0;  // finite
  // The 95 % confidence interval.
  std::optional<double> low;
  std::optional<double> high;
};

struct ResultTable {
  std::string title;  // may be empty
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct ResultSet {
  std::string command;  // "bench compare"
  std::string summary;  // one line
  std::string text;     // what the command prints for people, if that is no table; may be empty
  std::vector<ResultTable> tables;
  std::vector<ResultCheck> checks;
  std::vector<ResultFigure> figures;

  size_t Count(CheckOutcome outcome) const {
    size_t count = 0;
    for (const ResultCheck& check : checks) {
      if (check.outcome == outcome) ++count;
    }
    return count;
  }
};

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_RESULT_SET_H_
