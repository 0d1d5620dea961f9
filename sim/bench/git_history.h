// A git repository as bisection needs it: commits between two, and worktrees of them.
#ifndef DRASIM_SIM_BENCH_GIT_HISTORY_H_
#define DRASIM_SIM_BENCH_GIT_HISTORY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace drasim::bench {

class GitHistory {
 public:
  // The repository that `folder` is in. FailedPrecondition if it is in none; NotFound without git.
  static absl::StatusOr<GitHistory> Open(const std::string& folder);

  const std::string& top() const { return top_; }

  // The commit's full hash. InvalidArgument, beginning with `origin`, for any other name.
  absl::StatusOr<std::string> Resolve(const std::string& revision, const std::string& origin) const;
  // The commit's subject line.
  absl::StatusOr<std::string> SubjectOf(const std::string& commit) const;
  absl::StatusOr<bool> IsAncestor(const std::string& old_commit, const std::string& commit) const;
  // All commits that are ancestors of `bad` (itself included) and of none of `good`; those that
  // halve the rest best come first.
  absl::StatusOr<std::vector<std::string>> Halving(const std::string& bad,
                                                   const std::vector<std::string>& good) const;
  // Makes `folder` a worktree of the commit; one that is there already goes to the commit.
  // Untracked files, such as those of a build, stay.
  absl::Status CheckOut(const std::string& commit, const std::string& folder) const;
  // Removes a worktree with everything in it, if there is one.
  void RemoveWorktree(const std::string& folder) const;

 private:
  explicit GitHistory(std::string top) : top_(std::move(top)) {}
  absl::StatusOr<std::string> Git(std::vector<std::string> args, const std::string& cwd) const;

  std::string top_;
};

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_GIT_HISTORY_H_
