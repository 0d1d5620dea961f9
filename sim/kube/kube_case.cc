#include "sim/kube/kube_case.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/kube/admission.h"
#include "model/kube/case_reader.h"
#include "model/kube/cluster_objects_of.h"
#include "model/status_macros.h"
#include "sim/kube/kube_world.h"
#include "sim/scenario/kube_config.h"

namespace drasim {
namespace {

using proto::kube::KubeAnswer;
using proto::kube::KubeCase;

// The first pod that is placed starts a second after it.
constexpr int64_t kFirstStartSeconds = 1'893'456'000;  // 2030-01-01T00:00:00Z

absl::string_view OutcomeName(KubeAttempt::Outcome outcome) {
  constexpr absl::string_view kNames[] = {"scheduled", "unschedulable", "gated",        "ignored",
                                          "deleting",  "error",         "reserveFailed"};
  return kNames[static_cast<size_t>(outcome)];
}

// The world of one case, and its answer in the making.
class CaseRun {
 public:
  CaseRun(const KubeCase& given, const ApiAdmission& admission, KubeWorld* world)
      : given_(given), admission_(admission), world_(*world) {}

  absl::Status Build();
  void Run();
  KubeAnswer&& answer() && { return std::move(answer_); }

 private:
  proto::kube::Pod Admitted(const proto::kube::Pod& pod) const {
    proto::kube::Pod admitted = pod;
    admission_.Admit(&admitted);
    return admitted;
  }
  std::vector<PodId> OrderOfPass() const;
  void AddAttempt(PodId pod, int32_t pass, const KubeAttempt& attempt);
  void AddCycle(const KubeAttempt& attempt, KubeAnswer::Attempt* out) const;
  void AddPreemption(const KubeAttempt& attempt, KubeAnswer::Attempt* out) const;
  void AddEvent(int index);
  std::vector<PodId> Deliver(const proto::kube::KubeCaseEvent& event, bool* skipped);

  std::string NameOf(PodId pod) const { return std::string(world_.cluster().pod_name(pod)); }
  template <typename Field>
  void AddNodes(absl::Span<const NodeId> nodes, Field* field) const {
    for (const NodeId node : nodes) field->Add(std::string(world_.node_name(node)));
  }
  template <typename Field>
  void AddStatuses(absl::Span<const AttemptDetail::NodeStatus> statuses, Field* field) const;

  const KubeCase& given_;
  const ApiAdmission& admission_;
  KubeWorld& world_;
  std::vector<PodId> queue_;
  int64_t scheduled_ = 0;
  KubeAnswer answer_;
};

absl::Status CaseRun::Build() {
  for (const proto::kube::Node& node : given_.nodes()) RETURN_IF_ERROR(world_.AddNode(node));
  world_.SetObjects(ClusterObjectsOf(given_));
  for (const proto::kube::Pod& pod : given_.pods()) {
    RETURN_IF_ERROR(world_.AddPod(Admitted(pod)).status());
  }
  for (const proto::kube::Pod& pod : given_.queue()) {
    ASSIGN_OR_RETURN(const PodId id, world_.AddPending(Admitted(pod)));
    queue_.push_back(id);
  }
  return absl::OkStatus();
}

// The queue of the original turns gated pods away as they enter, then pops by priority and arrival.
std::vector<PodId> CaseRun::OrderOfPass() const {
  std::vector<PodId> order;
  for (const PodId pod : queue_) {
    if (world_.IsPending(pod)) order.push_back(pod);
  }
  const auto rest = std::stable_partition(order.begin(), order.end(),
                                          [this](PodId pod) { return world_.IsGated(pod); });
  if (given_.order() == "queue") {
    std::stable_sort(rest, order.end(), [this](PodId a, PodId b) {
      return world_.cluster().pod_priority(a) > world_.cluster().pod_priority(b);
    });
  }
  return order;
}

void CaseRun::Run() {
  for (const NodeId node : world_.cluster().node_order()) {
    answer_.add_node_order(world_.node_name(node));
  }
  if (given_.has_config()) {
    for (const Profile& profile : world_.profiles()) {
      auto& list = (*answer_.mutable_filter_plugins())[profile.scheduler_name()];
      for (const Profile::FilterEntry& entry : profile.filters()) {
        list.add_values()->set_string_value(std::string(entry.plugin->name()));
      }
    }
  }
  for (const PodId pod : queue_) world_.NominateAsGiven(pod);
  const int32_t passes = std::max(given_.passes(), 1);
  for (int32_t pass = 1; pass <= passes; ++pass) {
    for (const PodId pod : OrderOfPass()) {
      // A pod that was placed earlier in the pass may have been a victim since.
      if (!world_.IsPending(pod)) continue;
      const SimTime start((kFirstStartSeconds + scheduled_ + 1) * kSecondNs);
      const KubeAttempt attempt = world_.Attempt(pod, start);
      if (attempt.outcome == KubeAttempt::Outcome::kScheduled) ++scheduled_;
      AddAttempt(pod, pass, attempt);
    }
  }
  for (int i = 0; i < given_.events_size(); ++i) AddEvent(i);
}

// Groups in the order of their first nodes.
template <typename Field>
void CaseRun::AddStatuses(absl::Span<const AttemptDetail::NodeStatus> statuses,
                          Field* field) const {
  for (const AttemptDetail::NodeStatus& status : statuses) {
    const std::string plugin(status.plugin == nullptr ? "" : status.plugin->name());
    std::vector<std::string> reasons = status.reasons;
    std::sort(reasons.begin(), reasons.end());
    const auto group = std::find_if(field->begin(), field->end(), [&](const auto& other) {
      return other.plugin() == plugin && other.code() == StepCodeName(status.code) &&
             std::equal(reasons.begin(), reasons.end(), other.reasons().begin(),
                        other.reasons().end());
    });
    if (group != field->end()) {
      group->add_nodes(world_.node_name(status.node));
      continue;
    }
    KubeAnswer::StatusGroup* added = field->Add();
    added->set_plugin(plugin);
    added->set_code(std::string(StepCodeName(status.code)));
    for (std::string& reason : reasons) added->add_reasons(std::move(reason));
    added->add_nodes(world_.node_name(status.node));
  }
}

void CaseRun::AddCycle(const KubeAttempt& attempt, KubeAnswer::Attempt* out) const {
  const AttemptDetail& detail = attempt.detail;
  if (detail.reached_filter) {
    out->set_start(static_cast<int64_t>(detail.start));
    out->set_next_start(static_cast<int64_t>(detail.next_start));
  }
  out->set_via_nominated_node(detail.via_nominated_node);
  AddNodes(detail.feasible, out->mutable_feasible());
  AddStatuses(detail.infeasible, out->mutable_infeasible());
  google::protobuf::RepeatedPtrField<KubeAnswer::StatusGroup> absent;
  AddStatuses(detail.absent, &absent);
  if (!absent.empty()) *out->mutable_absent() = absent[0];
  const auto add_names = [](absl::Span<const Plugin* const> plugins, auto* field) {
    for (const Plugin* plugin : plugins) field->Add(std::string(plugin->name()));
    std::sort(field->begin(), field->end());
  };
  add_names(detail.skipped_filters, out->mutable_skipped_filter());
  out->set_pre_filter_message(detail.pre_filter_message);
  for (const AttemptDetail::PluginScores& scores : detail.scores) {
    KubeAnswer::PluginScores* added = out->add_scores();
    added->set_plugin(std::string(scores.plugin->name()));
    added->set_weight(scores.weight);
    added->mutable_raw()->Assign(scores.raw.begin(), scores.raw.end());
    added->mutable_weighted()->Assign(scores.weighted.begin(), scores.weighted.end());
  }
  add_names(detail.skipped_scores, out->mutable_skipped_score());
  out->mutable_total()->Assign(detail.totals.begin(), detail.totals.end());
  if (attempt.outcome == KubeAttempt::Outcome::kScheduled ||
      attempt.outcome == KubeAttempt::Outcome::kReserveFailed) {
    AddNodes(detail.best, out->mutable_top());
  }
}

void CaseRun::AddPreemption(const KubeAttempt& attempt, KubeAnswer::Attempt* out) const {
  const AttemptDetail& detail = attempt.detail;
  if (detail.ran_post_filter) {
    KubeAnswer::PostFilter* post = out->mutable_post_filter();
    const NodeId nominated = attempt.post_filter.nominated;
    post->set_code(std::string(StepCodeName(attempt.post_filter.code)));
    if (nominated.valid()) post->set_nominated(world_.node_name(nominated));
    post->set_mode(attempt.post_filter.keeps_nomination ? "noop" : "override");
  }
  if (!detail.preemption_ran) return;
  KubeAnswer::Preemption* preemption = out->mutable_preemption();
  preemption->set_eligible(detail.preemption_eligible);
  preemption->set_reason(detail.not_eligible);
  AddNodes(detail.potential, preemption->mutable_potential());
  for (const AttemptDetail::Candidate& candidate : detail.candidates) {
    KubeAnswer::Candidate* added = preemption->add_candidates();
    added->set_node(world_.node_name(candidate.node));
    for (const PodId victim : candidate.victims) added->add_victims(NameOf(victim));
    added->set_pdb_violations(candidate.budget_violations);
  }
  AddStatuses(detail.rejected, preemption->mutable_rejected());
  AddNodes(detail.best_candidates, preemption->mutable_best());
  if (attempt.post_filter.code != StepCode::kSuccess) return;
  preemption->set_chosen(world_.node_name(attempt.post_filter.nominated));
  for (const PodId victim : attempt.post_filter.victims) preemption->add_victims(NameOf(victim));
  for (const PodId pod : attempt.post_filter.cleared_nominations) {
    preemption->add_cleared_nominations(NameOf(pod));
  }
  std::sort(preemption->mutable_cleared_nominations()->begin(),
            preemption->mutable_cleared_nominations()->end());
}

void CaseRun::AddAttempt(PodId pod, int32_t pass, const KubeAttempt& attempt) {
  KubeAnswer::Attempt* out = answer_.add_attempts();
  out->set_pod(NameOf(pod));
  out->set_pass(pass);
  out->set_outcome(std::string(OutcomeName(attempt.outcome)));
  if (attempt.ran_cycle) {
    AddCycle(attempt, out);
    AddPreemption(attempt, out);
  }
  if (attempt.chosen.valid()) out->set_chosen(world_.node_name(attempt.chosen));
  out->set_message(attempt.message);
  for (const std::string& plugin : attempt.rejectors) out->add_unschedulable_plugins(plugin);
  out->set_nominated_after(attempt.nominated);
}

std::vector<PodId> CaseRun::Deliver(const proto::kube::KubeCaseEvent& event, bool* skipped) {
  if (event.type() == "nodeAdd") return world_.OnNodeAdded(event.node());
  if (event.type() == "nodeUpdate") return world_.OnNodeUpdated(event.node());
  if (event.type() == "nodeDelete") return world_.OnNodeDeleted(event.name());
  if (event.type() == "podAdd") return world_.OnPodAdded(Admitted(event.pod()));
  if (event.type() == "podUpdate") return world_.OnPodUpdated(Admitted(event.pod()));
  *skipped = !world_.FindPod(event.name()).valid();
  return *skipped ? std::vector<PodId>() : world_.OnPodDeleted(event.name());
}

void CaseRun::AddEvent(int index) {
  KubeAnswer::EventAnswer* out = answer_.add_events();
  out->set_index(index);
  bool skipped = false;
  for (const PodId pod : Deliver(given_.events(index), &skipped)) {
    out->add_requeued(NameOf(pod));
  }
  out->set_skipped(skipped);
}

constexpr absl::string_view kConfigName = "config";

// The message without "config:LINE:COLUMN: ": the places are those of a text that nobody has seen.
std::string WithoutPlaces(absl::string_view message) {
  std::vector<absl::string_view> lines = absl::StrSplit(message, '\n');
  for (absl::string_view& line : lines) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, kConfigName)) continue;
    while (!rest.empty() &&
           (rest[0] == ':' || absl::ascii_isdigit(static_cast<unsigned char>(rest[0])))) {
      rest.remove_prefix(1);
    }
    if (absl::ConsumePrefix(&rest, " ")) line = rest;
  }
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<KubeConfig> ConfigOf(const KubeCase& given) {
  if (given.has_config()) {
    std::string text;
    const auto status = google::protobuf::util::MessageToJsonString(given.config(), &text);
    if (!status.ok()) return absl::InvalidArgumentError("a configuration that is no JSON");
    const absl::StatusOr<KubeConfig> config = ReadKubeConfig(text, kConfigName);
    if (config.ok()) return config;
    return absl::Status(config.status().code(), WithoutPlaces(config.status().message()));
  }
  KubeConfig config = DefaultKubeConfig();
  config.percentage_of_nodes = 100;
  for (ProfileSpec& profile : config.profiles) profile.percentage_of_nodes = 100;
  return config;
}

}  // namespace

absl::StatusOr<KubeCaseLine> ReadKubeCaseLine(absl::string_view line, bool with_answer) {
  KubeCaseLine result;
  ASSIGN_OR_RETURN(result.given, ReadKubeCase(line));
  if (!with_answer) return result;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  proto::kube::KubeAnswerLine read;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(line.data(), line.size()), &read, options);
  if (!status.ok()) return absl::InvalidArgumentError("the member \"answer\" is no answer");
  if (read.has_answer()) result.stored = std::move(*read.mutable_answer());
  return result;
}

absl::StatusOr<KubeAnswer> AnswerKubeCase(const KubeCase& given, ExtenderChannel* channel) {
  KubeAnswer refused;
  const absl::StatusOr<KubeConfig> config = ConfigOf(given);
  if (!config.ok()) {
    refused.set_config_error(std::string(config.status().message()));
    return refused;
  }
  absl::StatusOr<std::unique_ptr<KubeWorld>> world = KubeWorld::Make(*config, channel);
  if (!world.ok()) {
    refused.set_config_error(std::string(world.status().message()));
    return refused;
  }
  std::vector<const proto::kube::PriorityClass*> classes;
  for (const proto::kube::PriorityClass& c : given.priority_classes()) classes.push_back(&c);
  const ApiAdmission admission(classes);
  CaseRun run(given, admission, world->get());
  RETURN_IF_ERROR(run.Build());
  run.Run();
  if (channel != nullptr) RETURN_IF_ERROR(channel->status());
  return std::move(run).answer();
}

}  // namespace drasim
