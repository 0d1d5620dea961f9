#include "sim/bench/git_history.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "sim/bench/last_line.h"
#include "sim/bench/program_run.h"

namespace drasim::bench {
namespace {

constexpr double kGitSeconds = 600;

}  // namespace

absl::StatusOr<std::string> GitHistory::Git(std::vector<std::string> args,
                                            const std::string& cwd) const {
  args.insert(args.begin(), "git");
  ASSIGN_OR_RETURN(const ProgramOutput output, RunProgram(args, cwd, kGitSeconds));
  if (output.exit_code == 0) return std::string(absl::StripTrailingAsciiWhitespace(output.out));
  if (output.exit_code == 127) return absl::NotFoundError("bench bisect needs git");
  return absl::FailedPreconditionError(
      absl::StrCat("git ", args[1], " in ", cwd, ": ", LastLine(output.err)));
}

absl::StatusOr<GitHistory> GitHistory::Open(const std::string& folder) {
  GitHistory history(folder);
  ASSIGN_OR_RETURN(history.top_, history.Git({"rev-parse", "--show-toplevel"}, folder));
  return history;
}

absl::StatusOr<std::string> GitHistory::Resolve(const std::string& revision,
                                                const std::string& origin) const {
  const absl::StatusOr<std::string> commit =
      Git({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}, top_);
  if (commit.ok()) return commit;
  return absl::InvalidArgumentError(
      absl::StrCat(origin, ": found '", revision, "', expected a commit of ", top_));
}

absl::StatusOr<std::string> GitHistory::SubjectOf(const std::string& commit) const {
  return Git({"log", "-1", "--format=%s", commit}, top_);
}

absl::StatusOr<bool> GitHistory::IsAncestor(const std::string& old_commit,
                                            const std::string& commit) const {
  ASSIGN_OR_RETURN(const std::string count,
                   Git({"rev-list", "--count", "-1", old_commit, "^" + commit}, top_));
  return count == "0";
}

absl::StatusOr<std::vector<std::string>> GitHistory::Halving(
    const std::string& bad, const std::vector<std::string>& good) const {
  std::vector<std::string> args = {"rev-list", "--bisect-all", bad, "--not"};
  args.insert(args.end(), good.begin(), good.end());
  ASSIGN_OR_RETURN(const std::string text, Git(args, top_));
  // "HASH (dist=3, tag: ...)"
  std::vector<std::string> commits;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    commits.emplace_back(line.substr(0, line.find(' ')));
  }
  return commits;
}

absl::Status GitHistory::CheckOut(const std::string& commit, const std::string& folder) const {
  std::error_code error;
  if (std::filesystem::exists(folder, error)) {
    return Git({"checkout", "--quiet", "--force", "--detach", commit}, folder).status();
  }
  return Git({"worktree", "add", "--quiet", "--force", "--detach", folder, commit}, top_).status();
}

void GitHistory::RemoveWorktree(const std::string& folder) const {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  // Git knows a worktree by its folder, so one that is gone can be forgotten.
  std::filesystem::remove_all(folder, error);
  Git({"worktree", "prune"}, top_).IgnoreError();
}

}  // namespace drasim::bench
