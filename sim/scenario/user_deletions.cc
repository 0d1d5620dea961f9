#include "sim/scenario/user_deletions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/scenario/dra_spec.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/workload_spec.h"

namespace drasim {
namespace {

absl::Status DeletionError(absl::string_view key, absl::string_view what) {
  return KeyError(key, what);
}

int32_t PodsOfArrival(const JobArrival& job) {
  int32_t pods = job.pods;
  for (const PodGroup& group : job.more_pods) pods += group.pods;
  return pods;
}

// Names accepted in deletions, and their jobs.
class DeletableNames {
 public:
  explicit DeletableNames(const DeletableJobs& jobs) : jobs_(jobs.jobs) {
    for (size_t j = 0; j < jobs_.size(); ++j) by_name_.emplace(jobs_[j].name, j);
    for (const InlineJob& job : jobs.listed) {
      if (job.replicas > 0) {
        owners_.emplace(job.name, job.replicas);
      } else if (jobs.from_manifests) {
        bare_.insert(job.name);
      }
    }
  }

  // The job of that name, or the jobs of the owner of that name.
  std::vector<const JobArrival*> Owned(const std::string& name) const {
    if (const JobArrival* job = Find(name)) return {job};
    std::vector<const JobArrival*> owned;
    const auto owner = owners_.find(name);
    for (int32_t i = 0; owner != owners_.end() && i < owner->second; ++i) {
      // Shaping may have dropped the job.
      if (const JobArrival* job = Find(absl::StrCat(name, "-", i))) owned.push_back(job);
    }
    return owned;
  }
  // The job of the pod of that name; null if there is none.
  const JobArrival* JobOfPod(const std::string& name) const {
    const JobArrival* job = Find(name);
    if (job != nullptr && PodsOfArrival(*job) == 1) return job;
    const size_t dash = name.rfind('-');
    int32_t number = 0;
    if (dash == std::string::npos || !absl::SimpleAtoi(name.substr(dash + 1), &number)) {
      return nullptr;
    }
    const JobArrival* gang = Find(name.substr(0, dash));
    if (gang == nullptr || number < 0 || PodsOfArrival(*gang) == 1) return nullptr;
    const bool is_its =
        number < PodsOfArrival(*gang) && name == absl::StrCat(gang->name, "-", number);
    return is_its ? gang : nullptr;
  }
  // Whether the job is a Pod without an owner, which nobody replaces.
  bool IsBare(const std::string& job) const { return bare_.contains(job); }

  // Suggestions for an unknown name, unless there are too many names to compare.
  std::string SuggestFor(const std::string& name) const {
    constexpr size_t kMostToCompare = 10'000;
    if (const JobArrival* gang = Find(name)) {
      return absl::StrCat(", such as ", name, "-0: the job has ", PodsOfArrival(*gang), " pods");
    }
    if (jobs_.size() > kMostToCompare) return "";
    std::vector<std::string> known;
    for (const JobArrival& job : jobs_) known.push_back(job.name);
    return Suggest(name, known);
  }

 private:
  const JobArrival* Find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &jobs_[found->second];
  }

  absl::Span<const JobArrival> jobs_;
  absl::flat_hash_map<std::string, size_t> by_name_;
  absl::flat_hash_map<std::string, int32_t> owners_;  // and how many pods they make
  absl::flat_hash_set<std::string> bare_;
};

absl::StatusOr<UserDeletion> ReadDeletion(const proto::UserDeletion& d, const std::string& key,
                                          bool with_claims) {
  if (d.at().empty()) return DeletionError(key + ".at", "found none, expected a duration");
  SimDuration at;
  RETURN_IF_ERROR(ReadDuration(key + ".at", d.at(), &at));
  if (at.ns() > kLongestNs) return DeletionError(key + ".at", "expected times below 100 years");
  const int named =
      (d.pod().empty() ? 0 : 1) + (d.job().empty() ? 0 : 1) + (d.claim().empty() ? 0 : 1);
  if (named != 1) {
    return DeletionError(key, absl::StrCat("found ", named == 0 ? "none" : "several",
                                           " of pod, job and claim, expected one of them"));
  }
  if (!d.claim().empty() && !with_claims) {
    return DeletionError(key + ".claim",
                         absl::StrCat("found '", d.claim(),
                                      "', expected none without front_end.kind: dra-classic or "
                                      "dra-structured"));
  }
  UserDeletion deletion;
  deletion.at = SimTime() + at;
  deletion.at_text = d.at();
  if (!d.claim().empty()) {
    deletion.kind = UserDeletion::Kind::kClaim;
    deletion.name = d.claim();
  } else if (!d.job().empty()) {
    deletion.kind = UserDeletion::Kind::kJob;
    deletion.name = d.job();
  } else {
    deletion.name = d.pod();
  }
  return deletion;
}

// Checks the names against workload.jobs, which are known before any input is read.
absl::Status CheckNamesOfJobs(absl::Span<const InlineJob> listed, bool stream,
                              absl::Span<const UserDeletion> deletions) {
  std::vector<JobArrival> arrivals;
  for (const InlineJob& job : listed) {
    for (int32_t replica = 0; replica < std::max(1, job.replicas); ++replica) {
      arrivals.push_back(job.arrival);
      arrivals.back().name = NameOfReplica(job, replica);
    }
  }
  DeletableJobs jobs;
  jobs.jobs = arrivals;
  jobs.listed = listed;
  jobs.stream = stream;
  return MakeDeletions(deletions, jobs).status();
}

}  // namespace

absl::StatusOr<std::vector<UserDeletion>> ReadDeletions(const proto::Scenario& s,
                                                        absl::Span<const InlineJob> jobs) {
  std::vector<UserDeletion> deletions;
  if (s.workload().deletions_size() == 0) return deletions;
  if (s.mode() != "replay") {
    return DeletionError("workload.deletions", "expected none: a fill has no clock");
  }
  for (const proto::UserDeletion& d : s.workload().deletions()) {
    ASSIGN_OR_RETURN(UserDeletion deletion,
                     ReadDeletion(d, DeletionKey(deletions.size()), UsesDra(s)));
    deletions.push_back(std::move(deletion));
  }
  if (jobs.empty() || ShapesWorkload(s)) return deletions;
  RETURN_IF_ERROR(CheckNamesOfJobs(jobs, !s.workload().stream_interval().empty(), deletions));
  return deletions;
}

absl::StatusOr<UserDeletions> MakeDeletions(absl::Span<const UserDeletion> deletions,
                                            const DeletableJobs& jobs) {
  UserDeletions result;
  if (deletions.empty()) return result;
  const DeletableNames names(jobs);
  for (size_t i = 0; i < deletions.size(); ++i) {
    const UserDeletion& d = deletions[i];
    result.last = std::max(result.last, d.at);
    if (d.kind == UserDeletion::Kind::kClaim) continue;
    const bool is_pod = d.kind == UserDeletion::Kind::kPod;
    const std::string name = PlainObjectName(d.name);
    const std::string key = absl::StrCat(DeletionKey(i), is_pod ? ".pod" : ".job");
    std::vector<const JobArrival*> found;
    if (!is_pod) {
      found = names.Owned(name);
    } else if (const JobArrival* job = names.JobOfPod(name)) {
      found.push_back(job);
    }
    if (found.empty()) {
      return DeletionError(
          key, absl::StrCat("found '", d.name, "', expected the name of a ",
                            is_pod ? "pod" : "job, or of what makes pods", names.SuggestFor(name)));
    }
    for (const JobArrival* job : found) {
      if (d.at < job->time && !jobs.stream) {
        return DeletionError(
            absl::StrCat(DeletionKey(i), ".at"),
            absl::StrCat("found '", d.at_text, "', expected no time before '", job->name,
                         "' arrives, ", static_cast<double>(job->time.ns()) / 1e9, " s"));
      }
      result.by_job[job->name].push_back({d.at, !is_pod || names.IsBare(job->name)});
    }
  }
  return result;
}

}  // namespace drasim
