// The verdicts, beside those of cluster_scheduled.h, are gated (scheduling gates), waiting (claims
// keep it from every node), unschedulable (no node takes it), schedulable, and undecided (nothing
// that is looked at keeps it from some node, but it has claims or volumes that nothing judges).
#include "sim/explain/cluster.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/explain/cluster_claims.h"
#include "sim/explain/cluster_devices.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_groups.h"
#include "sim/explain/cluster_pending.h"
#include "sim/explain/cluster_remedies.h"
#include "sim/explain/cluster_report.h"
#include "sim/explain/cluster_scheduled.h"
#include "sim/explain/cluster_verdicts.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr size_t kMostHelps = 3;
constexpr size_t kMostGroupsWithHolders = 2;

// The event that would make nodes do that a plugin rejects, if one can happen without a user.
struct AwaitedByPlugin {
  absl::string_view plugin;
  const char* who;
  const char* what;
};
constexpr AwaitedByPlugin kAwaited[] = {
    {"NodeUnschedulable", "a node", "to be uncordoned"},
    {"TaintToleration", "a node", "to lose its taint"},
    {"NodeAffinity", "a node", "that meets its node affinity and selector to be added or labelled"},
    {"NodePorts", "pods", "that use its host ports to end"},
    {"VolumeRestrictions", "pods", "that use its volumes to end"},
    {"NodeVolumeLimits", "pods", "that have volumes attached to end, or nodes to be added"},
    {"VolumeBinding", "a node", "that its volumes can be used on"},
    {"VolumeZone", "a node", "in the zone of its volumes"},
    {"PodTopologySpread", "pods", "that its topology spread counts to come or go elsewhere"},
    {"InterPodAffinity", "pods", "that it must not be near to end"},
    {kClaimPlugin, "a node", "that suits its claims"},
};

// The volumes that can keep a pod from nodes.
std::vector<std::string> VolumesOf(const DumpPod& pod) {
  std::vector<std::string> volumes;
  for (const kube::Volume& volume : pod.spec().volumes()) {
    if (volume.has_persistent_volume_claim()) {
      volumes.push_back(absl::StrCat("PersistentVolumeClaim ",
                                     KubeKey(pod.object->metadata().namespace_(),
                                             volume.persistent_volume_claim().claim_name())));
    } else if (volume.has_ephemeral()) {
      volumes.push_back(absl::StrCat("ephemeral volume ", volume.name()));
    }
  }
  return volumes;
}

absl::Status UnknownPod(const ClusterDump& dump, const std::string& wanted) {
  const std::string name = wanted.substr(wanted.find('/') + 1);
  // Pods of the same name in other namespaces are more likely than misspelt ones.
  std::vector<std::string> same;
  std::vector<std::string> similar;
  std::vector<std::string> known;
  for (const DumpPod& pod : dump.pods()) {
    const std::string& other = pod.object->metadata().name();
    known.push_back(pod.key);
    if (other == name) same.push_back(absl::StrCat("'", pod.key, "'"));
    if (!Suggest(name, {other}).empty()) similar.push_back(absl::StrCat("'", pod.key, "'"));
  }
  std::string hint = Suggest(wanted, known);
  if (!same.empty()) {
    hint = absl::StrCat(" (there is ", ShortList(same), ")");
  } else if (hint.empty() && !similar.empty()) {
    hint = absl::StrCat(" (there is ", ShortList(similar), ")");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no pod '", wanted, "' among the ", known.size(), " pods of the dump", hint));
}

class ClusterExplainer {
 public:
  ClusterExplainer(const ClusterDump& dump, ClusterRules* rules, DumpDevices* devices,
                   const DumpPod& pod)
      : dump_(dump),
        rules_(*rules),
        pod_(pod),
        claims_(dump, pod),
        all_devices_(*devices),
        devices_(devices, pod, claims_.structured()),
        volumes_(VolumesOf(pod)) {}

  void Explain(ClusterExplanation* explanation) {
    const bool gated = !pod_.spec().scheduling_gates().empty();
    const bool on_nodes = !gated && ClaimObstacle().empty();
    explanation->devices = devices_.story();
    PodVerdicts judged = rules_.Judge(pod_);
    obstacle_ = std::move(judged.obstacle);
    obstacle_plugin_ = std::move(judged.obstacle_plugin);
    verdicts_ = std::move(judged.nodes);
    for (size_t i = 0; i < verdicts_.size(); ++i) {
      if (!ClaimObstacle().empty() || !obstacle_.empty()) break;
      std::optional<DumpRejection> rejection = claims_.Check(*verdicts_[i].node);
      if (!rejection.has_value() && devices_.judges()) rejection = devices_.Check(i);
      if (rejection.has_value()) verdicts_[i].rejections.push_back(*std::move(rejection));
    }
    groups_ = GroupVerdicts(verdicts_);
    for (const VerdictGroup& group : groups_) explanation->groups.push_back(group.shown);
    if (gated) {
      ExplainGates(explanation);
    } else if (!on_nodes) {
      ExplainObstacle(explanation);
    } else if (Takers().empty()) {
      ExplainRejection(explanation);
    } else {
      ExplainTakers(explanation);
    }
    AddNotes(explanation);
  }

 private:
  std::vector<std::string> Takers() const {
    std::vector<std::string> names;
    if (!obstacle_.empty()) return names;
    for (const DumpVerdict& verdict : verdicts_) {
      if (verdict.rejections.empty()) names.push_back(verdict.node->name());
    }
    return names;
  }

  // Why claims of either kind keep the pod from being tried; empty if they do not.
  const std::string& ClaimObstacle() const {
    return claims_.obstacle().empty() ? devices_.obstacle() : claims_.obstacle();
  }

  // Whether the pod has volumes that nothing in the dump judges.
  bool LeavesVolumes() const { return !volumes_.empty() && !rules_.judges_volumes(); }

  // The parts of the pod that nothing here judges: "its volumes"; empty: none.
  std::string Unjudged() const {
    std::vector<std::string> parts;
    if (devices_.leaves()) parts.push_back("its structured claims");
    if (LeavesVolumes()) parts.push_back("its volumes");
    return absl::StrJoin(parts, " and ");
  }
  // The same as a sentence without a full stop.
  std::string UnjudgedText() const {
    std::vector<std::string> parts;
    if (devices_.leaves()) parts.push_back("its structured claims are not judged");
    if (LeavesVolumes()) parts.push_back("its volumes are not looked at");
    return absl::StrJoin(parts, " and ");
  }

  // "2 of 3 nodes (n-1 and n-2)"
  std::string TakersText(const std::vector<std::string>& takers) const {
    return absl::StrCat(takers.size(), " of ", verdicts_.size(), " nodes (", ShortList(takers),
                        ")");
  }

  std::string Message() const { return FitErrorText(verdicts_, obstacle_); }

  // Notes which nodes would take the pod if `what` did not keep it from all of them.
  void NoteTakers(absl::string_view what, ClusterExplanation* explanation) const {
    const std::vector<std::string> takers = Takers();
    std::string note = absl::StrCat("apart from ", what, ", ");
    if (takers.empty()) {
      absl::StrAppend(&note, "no node would take it now: ", Message());
    } else if (!Unjudged().empty()) {
      absl::StrAppend(&note, UnjudgedText(), "; nothing else keeps it from ", TakersText(takers));
    } else {
      absl::StrAppend(&note, takers.size(), " of ", verdicts_.size(), " nodes would take it now (",
                      ShortList(takers), ")");
    }
    explanation->notes.push_back(std::move(note));
  }

  void ExplainGates(ClusterExplanation* explanation) const {
    explanation->verdict = "gated";
    explanation->summary = "its scheduling gates keep it out of kube-scheduler's queue";
    for (const kube::SchedulingGate& gate : pod_.spec().scheduling_gates()) {
      explanation->waits_for.push_back(
          {"whoever set it", absl::StrCat("to remove the scheduling gate ", gate.name())});
    }
    NoteTakers("its gates", explanation);
    if (!ClaimObstacle().empty()) {
      explanation->notes.push_back(
          absl::StrCat("without the gates its claims would keep it waiting: ", ClaimObstacle()));
    }
  }

  void ExplainObstacle(ClusterExplanation* explanation) const {
    explanation->verdict = "waiting";
    explanation->summary =
        claims_.before_queue()
            ? absl::StrCat("its claims keep it out of kube-scheduler's queue: ", claims_.obstacle())
            : std::string("its claims keep it from being tried on any node");
    if (!claims_.before_queue()) {
      explanation->message = FitErrorText(verdicts_, ClaimObstacle());
    }
    explanation->waits_for =
        claims_.obstacle().empty() ? devices_.Awaited() : claims_.Awaited(false, false);
    explanation->holders = claims_.Consumers();
    NoteTakers("its claims", explanation);
  }

  void ExplainTakers(ClusterExplanation* explanation) const {
    const std::vector<std::string> takers = Takers();
    const std::string unjudged = Unjudged();
    explanation->waits_for = claims_.Awaited(true, false);
    explanation->holders = claims_.Consumers();
    const bool only_scheduler = explanation->waits_for.empty();
    if (!unjudged.empty()) {
      explanation->verdict = "undecided";
      explanation->summary =
          absl::StrCat(UnjudgedText(), "; nothing else keeps it from ", TakersText(takers));
      if (!only_scheduler) return;
      explanation->waits_for.push_back(
          {"kube-scheduler",
           absl::StrCat("to judge ", unjudged, " at its next attempt, which decides")});
      return;
    }
    explanation->verdict = "schedulable";
    explanation->summary = absl::StrCat(takers.size(), " of ", verdicts_.size(),
                                        " nodes would take it now (", ShortList(takers), ")");
    if (!only_scheduler) return;
    explanation->waits_for.push_back(
        {"kube-scheduler",
         devices_.story().has_value() ? "to allocate its claims and bind it at its next attempt"
         : claims_.has_classic()      ? "to reserve its claims and bind it at its next attempt"
                                      : "to bind it at its next attempt"});
  }

  void ExplainRejection(ClusterExplanation* explanation) const {
    explanation->verdict = "unschedulable";
    explanation->summary = "no node takes it";
    explanation->message = Message();
    if (devices_.story().has_value() && devices_.story()->error.has_value()) {
      explanation->message = absl::StrCat("running \"", kClaimPlugin,
                                          "\" filter plugin: ", devices_.story()->error->message);
    }
    if (!obstacle_.empty()) {
      explanation->groups.clear();
      if (absl::StartsWith(obstacle_plugin_, "Volume")) {
        explanation->waits_for.push_back(
            {"the volumes of the pod", "to be there, bound and free for it"});
      }
      return;
    }
    const std::vector<Remedy> remedies = FindRemedies(pod_, verdicts_, false);
    for (size_t i = 0; i < groups_.size(); ++i) {
      ShowNode(ShownNode(groups_[i], remedies), &explanation->groups[i]);
    }
    AddHolders(remedies, explanation);
    AddWaits(remedies, explanation);
    for (const Remedy& remedy : remedies) {
      if (explanation->helps.size() == kMostHelps) break;
      if (remedy.leave.empty() && remedy.conditions.empty()) continue;  // it is waited for
      const std::vector<std::string> nodes = remedy.leave.empty() && remedy.leaving.empty()
                                                 ? NodesWithRemedy(verdicts_, remedy.conditions)
                                                 : std::vector<std::string>();
      explanation->helps.push_back(RemedyText(remedy, nodes));
    }
    for (std::string& help : devices_.Helps()) explanation->helps.push_back(std::move(help));
    for (std::string& note : ShortageNotes(verdicts_)) {
      explanation->notes.push_back(std::move(note));
    }
    NotePreemption(explanation);
  }

  // The node of a group to look at: the one of the cheapest remedy, else the nearest.
  static const DumpVerdict& ShownNode(const VerdictGroup& group,
                                      const std::vector<Remedy>& remedies) {
    for (const Remedy& remedy : remedies) {
      for (const DumpVerdict* verdict : group.nodes) {
        if (verdict->node == remedy.node) return *verdict;
      }
    }
    return *group.nodes.front();
  }

  // Makes the node the first example of its group.
  static void ShowNode(const DumpVerdict& verdict, RejectedGroup* group) {
    std::vector<std::string>& examples = group->examples;
    const std::string& name = verdict.node->name();
    const auto known = std::find(examples.begin(), examples.end(), name);
    if (known == examples.end()) examples.back() = name;
    std::rotate(examples.begin(), std::find(examples.begin(), examples.end(), name),
                std::find(examples.begin(), examples.end(), name) + 1);
    group->detail = verdict.rejections.front().detail;
  }

  void AddHolders(const std::vector<Remedy>& remedies, ClusterExplanation* explanation) const {
    size_t shown = 0;
    for (const VerdictGroup& group : groups_) {
      if (shown == kMostGroupsWithHolders) break;
      const DumpVerdict& verdict = ShownNode(group, remedies);
      std::vector<HolderList> lists = group.shown.plugin == kClaimPlugin
                                          ? claims_.HoldersOn(NodesOfGroup(group, verdict))
                                          : HoldersOfNode(verdict);
      if (!lists.empty()) ++shown;
      for (HolderList& list : lists) explanation->holders.push_back(std::move(list));
    }
    for (HolderList& list : claims_.Consumers()) explanation->holders.push_back(std::move(list));
  }

  // The nodes of a group, the shown one first.
  static std::vector<const DumpNode*> NodesOfGroup(const VerdictGroup& group,
                                                   const DumpVerdict& shown) {
    std::vector<const DumpNode*> nodes = {shown.node};
    for (const DumpVerdict* verdict : group.nodes) {
      if (verdict != &shown) nodes.push_back(verdict->node);
    }
    return nodes;
  }

  // The event that would make the nodes of a group do, if one can happen without a user.
  static AwaitedAct AwaitedOf(const RejectedGroup& group) {
    if (group.lacks_pods) return {"a pod", "that it wants to be near to run"};
    for (const AwaitedByPlugin& known : kAwaited) {
      if (known.plugin == group.plugin) return {known.who, known.what};
    }
    std::vector<std::string> wanted;
    for (const LackInGroup& lack : group.lacks) {
      wanted.push_back(
          absl::StrCat(ShortAmountText(lack.resource, lack.wanted, true), " ", lack.resource));
    }
    return {"a node", absl::StrCat("with ", ShortList(wanted), " free to be added")};
  }

  // Whether some node of the group is rejected by that filter alone, and not beyond hope.
  static bool IsEnough(const VerdictGroup& group) {
    return std::any_of(group.nodes.begin(), group.nodes.end(), [&group](const DumpVerdict* node) {
      return std::all_of(node->rejections.begin(), node->rejections.end(),
                         [&group](const DumpRejection& rejection) {
                           return rejection.plugin == group.shown.plugin && !rejection.hopeless;
                         });
    });
  }

  void AddWaits(const std::vector<Remedy>& remedies, ClusterExplanation* explanation) const {
    const std::string& nominated = pod_.status().nominated_node_name();
    if (!nominated.empty()) {
      explanation->waits_for.push_back(
          {"the victims of its preemption",
           absl::StrCat("to leave ", nominated, ", which it is nominated for")});
    }
    for (const Remedy& remedy : remedies) {
      if (!remedy.leave.empty() || !remedy.conditions.empty()) continue;
      std::vector<std::string> names;
      for (const DumpPod* pod : remedy.leaving) names.push_back(pod->key);
      explanation->waits_for.push_back(
          {ShortList(names), absl::StrCat("to be gone, being deleted already: then ",
                                          remedy.node->name(), " takes it")});
    }
    std::set<std::string> said;
    std::set<std::string> held;  // resources that a node would have if its pods ended
    bool pinned = false;
    for (const VerdictGroup& group : groups_) {
      if (group.shown.plugin == kClaimPlugin) {
        pinned = pinned || group.nodes.front()->rejections.front().pinned;
      } else if (!IsEnough(group)) {
        continue;
      } else if (!group.shown.lacks.empty()) {
        for (const LackInGroup& lack : group.shown.lacks) {
          held.insert(lack.resource == "pods" ? "pod slots" : lack.resource);
        }
      } else {
        AwaitedAct act = AwaitedOf(group.shown);
        if (said.insert(act.what).second) explanation->waits_for.push_back(std::move(act));
      }
    }
    if (!held.empty()) {
      explanation->waits_for.push_back(
          {"pods", absl::StrCat("that hold ", ShortList({held.begin(), held.end()}),
                                " to end, or nodes to be added")});
    }
    for (AwaitedAct& act : claims_.Awaited(false, pinned)) {
      explanation->waits_for.push_back(std::move(act));
    }
    if (devices_.story().has_value() && devices_.story()->fitting == 0) {
      for (AwaitedAct& act : devices_.Awaited()) explanation->waits_for.push_back(std::move(act));
    }
    if (explanation->waits_for.empty()) {
      explanation->waits_for.push_back(AwaitedOf(groups_.front().shown));
    }
  }

  void NotePreemption(ClusterExplanation* explanation) const {
    const std::vector<Remedy> remedies = FindRemedies(pod_, verdicts_, true);
    if (remedies.empty() || remedies.front().leave.empty()) return;
    std::vector<std::string> names;
    for (const DumpPod* pod : remedies.front().leave) names.push_back(pod->key);
    const std::string victims = absl::StrCat(
        ShortList(names), " on ", remedies.front().node->name(),
        names.size() == 1 ? " has" : " have", " a lower priority than its ", pod_.priority());
    explanation->notes.push_back(
        pod_.spec().preemption_policy() == "Never"
            ? absl::StrCat(victims, ", but its preemptionPolicy is Never")
            : absl::StrCat(victims, ": kube-scheduler may preempt to make room"));
  }

  void AddNotes(ClusterExplanation* explanation) const {
    if (devices_.leaves()) {
      explanation->notes.push_back(absl::StrCat(
          "structured claims are not judged: ", ShortList(claims_.structured()), " (",
          dump_.has_claims() ? all_devices_.why_not() : "the dump has no ResourceClaim at all",
          ")"));
    }
    for (const kube::Object& object : dump_.structured()) {
      if (!object.has_device_class()) continue;
      const std::string& resource = object.device_class().spec().extended_resource_name();
      const auto wanted = pod_.request.find(resource);
      if (wanted == pod_.request.end() || wanted->second == 0) continue;
      explanation->notes.push_back(absl::StrCat(
          "DeviceClass ", object.device_class().metadata().name(), " serves ", resource,
          ": kube-scheduler may allocate devices for it on nodes without a "
          "device plugin, which is not looked at here"));
    }
    for (std::string& note : claims_.Notes()) explanation->notes.push_back(std::move(note));
    if (LeavesVolumes()) {
      explanation->notes.push_back(
          absl::StrCat("volumes are not looked at: ", ShortList(volumes_)));
    } else if (!volumes_.empty() && !rules_.knows_volume_limits()) {
      explanation->notes.push_back(
          "the dump has no CSINode, so limits on attached volumes are not known (kubectl get "
          "csinodes)");
    }
    std::string doubt = rules_.DoubtAbout(pod_);
    if (!doubt.empty()) explanation->notes.push_back(std::move(doubt));
    const std::string& scheduler = pod_.spec().scheduler_name();
    if (!scheduler.empty() && scheduler != "default-scheduler") {
      explanation->notes.push_back(absl::StrCat("its scheduler is ", scheduler,
                                                "; what is said here are kube-scheduler's rules"));
    }
    for (const kube::Condition& condition : pod_.status().conditions()) {
      if (condition.type() != "PodScheduled" || condition.status() != "False") continue;
      if (condition.message().empty()) continue;
      const bool same = !explanation->message.empty() &&
                        absl::StartsWith(condition.message(), explanation->message);
      // The time of a condition is that of its change from or to False; the message is newer.
      explanation->notes.push_back(
          same ? absl::StrCat("kube-scheduler said the same at ", condition.last_transition_time())
               : absl::StrCat("when it was last tried, at ", condition.last_transition_time(),
                              " or later, kube-scheduler saw: ", condition.message()));
      if (!same) {
        explanation->notes.push_back(
            "everything else here is from the objects of the dump, which may have changed since "
            "then");
      }
    }
    std::set<std::string> namespaces;
    for (const DumpPod& pod : dump_.pods()) {
      namespaces.insert(NamespaceOf(pod.object->metadata()));
    }
    if (namespaces.size() == 1) {
      explanation->notes.push_back(
          absl::StrCat("all pods of the dump are in the namespace ", *namespaces.begin(),
                       "; if there are others, less is free than it seems (kubectl get -A)"));
    }
    explanation->not_looked_at = {"the scheduler's configuration and extenders",
                                  "resizes of running pods in place"};
    if (!rules_.judges_volumes()) {
      explanation->not_looked_at.insert(explanation->not_looked_at.begin(), "volumes");
    }
    if (devices_.leaves()) explanation->not_looked_at.push_back("structured claims");
  }

  const ClusterDump& dump_;
  ClusterRules& rules_;
  const DumpPod& pod_;
  DumpClaims claims_;
  DumpDevices& all_devices_;
  DumpDeviceClaims devices_;
  std::vector<std::string> volumes_;  // that matter
  std::string obstacle_;              // see PodVerdicts
  std::string obstacle_plugin_;
  std::vector<DumpVerdict> verdicts_;
  std::vector<VerdictGroup> groups_;
};

ClusterExplanation ExplainPod(const ClusterDump& dump, ClusterRules* rules, DumpDevices* devices,
                              const DumpPod& pod) {
  ClusterExplanation explanation;
  explanation.pod = pod.key;
  explanation.phase = pod.status().phase().empty() ? "Pending" : pod.status().phase();
  if (!ExplainPastScheduler(dump, pod, &explanation)) {
    ClusterExplainer(dump, rules, devices, pod).Explain(&explanation);
  }
  return explanation;
}

}  // namespace

absl::StatusOr<std::string> ExplainCluster(const std::vector<std::string>& paths,
                                           const std::string& pod, OutputFormat format,
                                           std::vector<std::string>* warnings) {
  ASSIGN_OR_RETURN(const ClusterDump dump, ClusterDump::Read(paths, warnings));
  DumpDevices devices(&dump);
  if (pod.empty()) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ClusterRules> rules, ClusterRules::Make(dump));
    const PendingReport report = GroupPending(dump, rules.get(), [&](const DumpPod& one) {
      return ExplainPod(dump, rules.get(), &devices, one);
    });
    return PendingText(report, format);
  }
  const std::string key = absl::StrContains(pod, '/') ? pod : KubeKey("", pod);
  const DumpPod* found = dump.FindPod(key);
  if (found == nullptr) return UnknownPod(dump, key);
  ASSIGN_OR_RETURN(const std::unique_ptr<ClusterRules> rules, ClusterRules::Make(dump));
  const ClusterExplanation explanation = ExplainPod(dump, rules.get(), &devices, *found);
  return format == OutputFormat::kJson  ? ClusterExplanationJson(explanation)
         : format == OutputFormat::kCsv ? ClusterExplanationCsv(explanation)
                                        : ClusterExplanationText(explanation);
}

}  // namespace drasim
