#include "sim/run/user_deletions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/text/did_you_mean.h"
#include "sim/run/dra_plan.h"
#include "sim/run/inline_jobs.h"
#include "sim/run/input_files.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

std::string DeletionKey(int i) { return absl::StrCat("workload.deletions[", i, "]"); }

absl::Status DeletionError(absl::string_view key, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": ", what));
}

int32_t PodsOfArrival(const JobArrival& job) {
  int32_t pods = job.pods;
  for (const PodGroup& group : job.more_pods) pods += group.pods;
  return pods;
}

// Names that may be deleted, and the jobs that they stand for.
class DeletableNames {
 public:
  DeletableNames(absl::Span<const JobArrival> jobs, const Manifests* manifests,
                 const proto::Workload& workload) {
    jobs_ = jobs;
    for (size_t j = 0; j < jobs.size(); ++j) by_name_.emplace(jobs[j].name, j);
    for (const proto::InlineJob& job : workload.jobs()) AddOwner(job);
    if (manifests == nullptr) return;
    for (const proto::InlineJob& job : manifests->jobs) {
      AddOwner(job);
      if (job.replicas() == 0) bare_.insert(job.name());
    }
  }

  // The jobs that are, or belong to, what is called so; none if nothing is.
  std::vector<const JobArrival*> Owned(const std::string& name) const {
    if (const JobArrival* job = Find(name)) return {job};
    std::vector<const JobArrival*> owned;
    const auto owner = owners_.find(name);
    for (int32_t i = 0; owner != owners_.end() && i < owner->second; ++i) {
      // Shaping leaves jobs out.
      if (const JobArrival* job = Find(absl::StrCat(name, "-", i))) owned.push_back(job);
    }
    return owned;
  }
  // The job of the pod that is called so; null if none is.
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
  // A Pod that nobody makes anew.
  bool IsBare(const std::string& job) const { return bare_.contains(job); }

  // Suggestions for a name that nothing has; only where there are few names.
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
  void AddOwner(const proto::InlineJob& job) {
    if (job.replicas() > 0) owners_.emplace(job.name(), job.replicas());
  }
  const JobArrival* Find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &jobs_[found->second];
  }

  absl::Span<const JobArrival> jobs_;
  absl::flat_hash_map<std::string, size_t> by_name_;
  absl::flat_hash_map<std::string, int32_t> owners_;  // and how many pods they make
  absl::flat_hash_set<std::string> bare_;
};

// As jobs are called: without the namespace "default".
std::string PlainName(const std::string& text) {
  constexpr absl::string_view kDefault = "default/";
  return absl::StartsWith(text, kDefault) ? text.substr(kDefault.size()) : text;
}

absl::Status CheckDeletion(const proto::Scenario& s, int i) {
  const proto::UserDeletion& d = s.workload().deletions(i);
  const std::string key = DeletionKey(i);
  if (d.at().empty()) return DeletionError(key + ".at", "found none, expected a duration");
  SimDuration at;
  if (absl::Status e = ReadDuration(key + ".at", d.at(), &at); !e.ok()) return e;
  if (at.ns() > kLongestNs) return DeletionError(key + ".at", "expected times below 100 years");
  const int named =
      (d.pod().empty() ? 0 : 1) + (d.job().empty() ? 0 : 1) + (d.claim().empty() ? 0 : 1);
  if (named != 1) {
    return DeletionError(key, absl::StrCat("found ", named == 0 ? "none" : "several",
                                           " of pod, job and claim, expected one of them"));
  }
  if (!d.claim().empty() && !UsesDra(s)) {
    return DeletionError(
        key + ".claim",
        absl::StrCat("found '", d.claim(), "', expected none without front_end.kind: dra-classic"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDeletions(const proto::Scenario& s) {
  if (s.workload().deletions_size() == 0) return absl::OkStatus();
  if (s.mode() != "replay") {
    return DeletionError("workload.deletions", "expected none: a fill has no clock");
  }
  for (int i = 0; i < s.workload().deletions_size(); ++i) {
    if (absl::Status e = CheckDeletion(s, i); !e.ok()) return e;
  }
  // Names of workload.jobs are known before anything is read.
  if (s.workload().jobs_size() == 0 || ShapesWorkload(s)) return absl::OkStatus();
  std::vector<JobArrival> jobs;
  for (const proto::InlineJob& job : s.workload().jobs()) {
    for (int32_t replica = 0; replica < std::max(1, job.replicas()); ++replica) {
      JobArrival arrival;
      arrival.name = job.replicas() == 0 ? job.name() : absl::StrCat(job.name(), "-", replica);
      arrival.pods = std::max(1, job.pods());
      const absl::StatusOr<SimDuration> after = ParseDuration(job.arrival());
      if (after.ok()) arrival.time = SimTime() + *after;  // else said when jobs are read
      jobs.push_back(std::move(arrival));
      if (jobs.size() > static_cast<size_t>(kMaxInlinePods)) return absl::OkStatus();
    }
  }
  return MakeDeletions(s, jobs, nullptr).status();
}

absl::StatusOr<UserDeletions> MakeDeletions(const proto::Scenario& s,
                                            absl::Span<const JobArrival> jobs,
                                            const Manifests* manifests) {
  UserDeletions result;
  if (s.workload().deletions_size() == 0) return result;
  const DeletableNames names(jobs, manifests, s.workload());
  for (int i = 0; i < s.workload().deletions_size(); ++i) {
    const proto::UserDeletion& d = s.workload().deletions(i);
    const SimTime at = SimTime() + *ParseDuration(d.at());
    result.last = std::max(result.last, at);
    if (!d.claim().empty()) continue;
    const bool is_pod = !d.pod().empty();
    const std::string& text = is_pod ? d.pod() : d.job();
    const std::string name = PlainName(text);
    const std::string key = absl::StrCat(DeletionKey(i), is_pod ? ".pod" : ".job");
    std::vector<const JobArrival*> found;
    if (!is_pod) {
      found = names.Owned(name);
    } else if (const JobArrival* job = names.JobOfPod(name)) {
      found.push_back(job);
    }
    if (found.empty()) {
      return DeletionError(
          key, absl::StrCat("found '", text, "', expected the name of a ",
                            is_pod ? "pod" : "job, or of what makes pods", names.SuggestFor(name)));
    }
    for (const JobArrival* job : found) {
      // A stream has arrivals of its own.
      if (at < job->time && !IsStream(s)) {
        return DeletionError(
            absl::StrCat(DeletionKey(i), ".at"),
            absl::StrCat("found '", d.at(), "', expected no time before '", job->name,
                         "' arrives, ", static_cast<double>(job->time.ns()) / 1e9, " s"));
      }
      result.by_job[job->name].push_back({at, !is_pod || names.IsBare(job->name)});
    }
  }
  return result;
}

absl::Status CheckClaimNames(const proto::Scenario& s, absl::Span<const JobArrival> jobs,
                             const ShapeTable& shapes, ControlPlane* plane) {
  const auto uses_template = [&shapes](ShapeId shape) {
    const auto& claims = shapes.row(shape).claims;
    return std::any_of(claims.begin(), claims.end(),
                       [](const ClaimEntry& entry) { return !entry.from_template.empty(); });
  };
  for (int i = 0; i < s.workload().deletions_size(); ++i) {
    const std::string& text = s.workload().deletions(i).claim();
    if (text.empty()) continue;
    std::string ns;
    std::string name;
    SplitObjectName(text, &ns, &name);
    NamePool& pool = plane->names();
    const ObjectCache& objects = plane->network().server().objects();
    if (objects.claim(pool.Intern(ns), pool.Intern(name)) != nullptr) continue;
    // Names of claims that are made for a pod begin with the pod's.
    const std::string plain = PlainName(text);
    const bool may_be_made = std::any_of(jobs.begin(), jobs.end(), [&](const JobArrival& job) {
      return absl::StartsWith(plain, absl::StrCat(job.name, "-")) && uses_template(job.shape);
    });
    if (may_be_made) continue;
    return DeletionError(
        DeletionKey(i) + ".claim",
        absl::StrCat("found '", text,
                     "', expected the name of a ResourceClaim, or one that is made "
                     "from a template for a pod"));
  }
  return absl::OkStatus();
}

std::vector<PlaneFault> ClaimDeletions(const proto::Scenario& s) {
  std::vector<PlaneFault> faults;
  for (const proto::UserDeletion& d : s.workload().deletions()) {
    if (d.claim().empty()) continue;
    PlaneFault fault;
    fault.at = SimTime() + *ParseDuration(d.at());
    fault.action = PlaneFault::Action::kDeleteClaim;
    SplitObjectName(d.claim(), &fault.ns, &fault.claim);
    faults.push_back(std::move(fault));
  }
  return faults;
}

void SplitObjectName(const std::string& text, std::string* ns, std::string* name) {
  const size_t slash = text.find('/');
  *ns = slash == std::string::npos ? "default" : text.substr(0, slash);
  *name = slash == std::string::npos ? text : text.substr(slash + 1);
}

}  // namespace drasim
