// Runs the commands of a Markdown page in a folder of its own, with the real drasim.
#ifndef DRASIM_TESTS_REPOSITORY_PAGE_RUNNER_H_
#define DRASIM_TESTS_REPOSITORY_PAGE_RUNNER_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tests/repository/shown_commands.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/subprocess.h"
#include "tests/testing/temp_dir.h"

namespace drasim::docs {

// Files that `drasim trace fetch` leaves, and where the shared folder has them.
struct FetchedFile {
  const char* path;
  const char* shared;
};

inline constexpr FetchedFile kFetchedFiles[] = {
    {"openb/openb_node_list_gpu_node.csv", "traces/openb/openb_node_list_gpu_node.csv"},
    {"openb/openb_pod_list_default.csv", "traces/openb/openb_pod_list_default.csv.gz"},
    {"philly/muri_trace1_vc7f04ca.csv", "traces/philly/muri_trace1_vc7f04ca.csv"},
    {"swf/KTH-SP2-1996-2.1-cln.swf", "traces/swf/KTH-SP2-1996-2.1-cln.swf.gz"},
    {"alibaba-dlrm/disaggregated_DLRM_trace.csv",
     "traces/alibaba-gpu-v2025-dlrm/disaggregated_DLRM_trace.csv.gz"},
};

struct PageResult {
  size_t commands = 0;                // that were run
  std::vector<std::string> findings;  // "PAGE:LINE: COMMAND", and the difference below
  std::vector<std::string> skipped;   // "PAGE:LINE: skipped: " and what is missing
};

// One page. Its commands share a folder with the repository's scenarios/ and bench/, in the order
// of the page.
class PageRunner {
 public:
  // `slow`: blocks that take seconds run, too.
  PageRunner(std::string path, bool slow) : path_(std::move(path)), slow_(slow) {
    namespace fs = std::filesystem;
    fs::copy(fs::path(DRASIM_SOURCE_DIR) / "scenarios", dir_.PathOf("scenarios"),
             fs::copy_options::recursive);
    fs::create_directory_symlink(fs::path(DRASIM_SOURCE_DIR) / "bench", dir_.PathOf("bench"));
    for (const FetchedFile& file : kFetchedFiles) {
      const fs::path link = dir_.PathOf(file.path);
      fs::create_directories(link.parent_path());
      if (MissingSharedData({file.shared}).empty()) {
        fs::create_symlink(fs::absolute(SharedPath(file.shared)), link);
      }
    }
  }

  PageResult Run(absl::string_view page) {
    for (const Block& block : BlocksOf(page)) {
      if (block.IsFile()) dir_.Write(block.note, block.Text());
      if (block.language == "yaml" && block.note.empty()) Validate(block);
      if (block.IsConsole() && (slow_ || !block.IsSlow())) RunBlock(block);
    }
    return std::move(result_);
  }

 private:
  // A block lacks data as a whole: its later commands need what its earlier ones leave.
  void RunBlock(const Block& block) {
    for (const ShownCommand& command : CommandsOf(block)) {
      if (UncheckedBy(command.text) != nullptr) continue;
      const std::string place = absl::StrCat(path_, ":", command.line, ": ");
      const std::string missing = MissingData(command.text);
      if (!missing.empty()) {
        (MustHaveSharedData() ? result_.findings : result_.skipped)
            .push_back(absl::StrCat(place, "skipped: ", missing));
        return;
      }
      const std::string difference = DifferenceOf(command);
      ++result_.commands;
      if (difference.empty()) continue;
      result_.findings.push_back(absl::StrCat(place, command.text, "\n", difference));
    }
  }

  std::string MissingData(absl::string_view command) const {
    for (const FetchedFile& file : kFetchedFiles) {
      if (!absl::StrContains(command, file.path)) continue;
      const std::string missing = MissingSharedData({file.shared});
      if (!missing.empty()) return missing;
    }
    return "";
  }

  std::string DifferenceOf(const ShownCommand& command) const {
    const ProcessResult run = Shell(command.text);
    const std::vector<std::string> lines = absl::StrSplit(run.out, '\n');
    if (!ShownLines(command.output).empty()) return Difference(command.output, lines);
    if (run.exit_code == 0) return "";
    return absl::StrCat("exit code ", run.exit_code, ":\n", run.out);
  }

  // An unnamed YAML block is a scenario or a mapping as it stands, but for fragments.
  void Validate(const Block& block) {
    static constexpr absl::string_view kFragments[] = {
        "deletions:",       // of a scenario that says `mode: replay` elsewhere
        "deadline_after:",  // a line that copies of a built-in mapping gain
    };
    for (const absl::string_view fragment : kFragments) {
      if (absl::StrContains(block.Text(), fragment)) return;
    }
    dir_.Write("block.yaml", block.Text());
    const ProcessResult run = Shell("drasim validate block.yaml");
    if (run.exit_code == 0) return;
    result_.findings.push_back(absl::StrCat(path_, ":", block.line, ": ", run.out));
  }

  // Runs a shell command; `out` gets standard output and standard error, as a terminal shows them.
  ProcessResult Shell(absl::string_view command) const {
    const std::string bin = std::filesystem::path(DRASIM_BINARY).parent_path().string();
    return Process("/bin/sh", {"-c", absl::StrCat("PATH='", bin, "':$PATH\nexec 2>&1\n", command)},
                   dir_.path())
        .Wait(600);
  }

  std::string path_;
  bool slow_;
  TempDir dir_;
  PageResult result_;
};

}  // namespace drasim::docs

#endif  // DRASIM_TESTS_REPOSITORY_PAGE_RUNNER_H_
