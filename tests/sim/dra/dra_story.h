// What happens to pods and claims in a run with classic DRA, one line per change, as somebody sees
// it who watches the API server without delay; and deeds of users and faults at given times.
#ifndef DRASIM_TESTS_SIM_DRA_DRA_STORY_H_
#define DRASIM_TESTS_SIM_DRA_DRA_STORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api_network.h"
#include "sim/dra/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/dra_rig.h"

namespace drasim {

// Nodes "node-0", "node-1", ... of 8 CPUs, a driver with so many units on each, of which the class
// is "class" and a template "template"; kube-scheduler's queue of the time. No pods yet.
inline constexpr char kStoryDriver[] = "gpu.example.com";
inline constexpr int64_t kStorySecond = 1'000'000'000;
inline constexpr int64_t kStoryMs = 1'000'000;

inline CountingDriverOptions StoryDriver(absl::string_view name,
                                         const std::vector<int64_t>& units) {
  CountingDriverOptions driver;
  driver.name = std::string(name);
  for (size_t n = 0; n < units.size(); ++n) driver.units.emplace_back(NodeId(n), units[n]);
  return driver;
}

inline DraScenario StoryScenario(const std::vector<int64_t>& units) {
  DraScenario s;
  s.engine.options.mode = RunMode::kReplay;
  s.engine.options.check_invariants = true;
  s.engine.identity_ranks = true;
  s.engine.policy = "consolidate";  // no GPUs, no preference: the first node that fits
  s.engine.kubernetes = KubernetesQueueOptions();
  s.engine.kubernetes.pop_from_backoff = false;  // these releases do not
  for (size_t n = 0; n < units.size(); ++n) {
    s.engine.nodes.push_back(TestNode(absl::StrCat("node-", n), 8000, 0));
  }
  // A pod with claims, and one that wants a whole node.
  s.engine.shapes = {TestShape(1000, 0), TestShape(8000, 0)};
  s.plane.behaviour.queueing_hints = true;
  s.drivers = {StoryDriver(kStoryDriver, units)};
  s.objects = [](ControlPlane& plane) {
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
    DRASIM_CHECK(plane.Create(TestTemplate(plane.names(), "template", "class")).ok());
  };
  // Pods named "plain..." have no claims.
  s.claims = [](NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims;
    if (!absl::StartsWith(pod, "plain")) claims.push_back(FromTemplate(names, "gpu", "template"));
    return claims;
  };
  return s;
}

inline Distribution Constant(double seconds) {
  return *Distribution::Parse(absl::StrCat("constant(", seconds, ")"));
}

class DraStory : private Actor {
 public:
  explicit DraStory(DraRig* rig) : rig_(rig) {
    ClientOptions options;
    options.name = "story";
    options.watches = WatchBit(ObjectKind::kPod) | WatchBit(ObjectKind::kResourceClaim) |
                      WatchBit(ObjectKind::kPodSchedulingContext);
    client_ = rig->plane().network().Connect(options, this);
  }

  // Before the run.
  void At(double seconds, std::function<void()> deed) {
    client_->ArmTimer(SimDuration(static_cast<int64_t>(seconds * 1e9)), deeds_.size());
    deeds_.push_back(std::move(deed));
    // So that the engine hears of the timer.
    rig_->plane().faults().BreakWatch(client_->options().name, SimDuration());
  }
  // A call by somebody else than the components, from a deed.
  void Call(ApiRequest request) { client_->Call(std::move(request), 0); }

  // "12.000 pod: bound to node-0".
  const Lines& lines() const { return lines_; }
  int Count(absl::string_view text) const {
    int count = 0;
    for (const std::string& line : lines_) count += absl::StrContains(line, text) ? 1 : 0;
    return count;
  }
  // Seconds of the first line that ends so; -1: none.
  double TimeOf(absl::string_view end) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (absl::EndsWith(lines_[i], end)) return times_[i];
    }
    return -1;
  }
  double BoundAt(absl::string_view pod) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (absl::StrContains(lines_[i], absl::StrCat(" ", pod, ": bound"))) return times_[i];
    }
    return -1;
  }
  // Deallocations that the scheduler asked for: nothing but the node kept the pod from running.
  int Deallocations() const { return Count("deallocation requested for a pod that waits"); }

  Lines Messages() const {
    Lines lines;
    for (const ApiMessage& m : rig_->messages()) {
      const std::string& client = rig_->plane().network().client(m.client).options().name;
      std::string line = absl::StrCat(TimeText(m.done), " ", client, " ", CallText(m.verb, m.kind),
                                      " ", m.name.text());
      if (m.code != ApiCode::kOk) absl::StrAppend(&line, " ", static_cast<int>(m.code));
      lines.push_back(std::move(line));
    }
    return lines;
  }
  int Messages(absl::string_view client, absl::string_view call, ApiCode code) const {
    int count = 0;
    for (const ApiMessage& m : rig_->messages()) {
      if (m.code == code && CallText(m.verb, m.kind) == call &&
          rig_->plane().network().client(m.client).options().name == client) {
        ++count;
      }
    }
    return count;
  }
  int Messages(absl::string_view client, absl::string_view call) const {
    return Messages(client, call, ApiCode::kOk);
  }
  // For failures.
  std::string Text() const {
    return absl::StrCat("what happened:\n", absl::StrJoin(lines_, "\n"), "\ncalls:\n",
                        absl::StrJoin(Messages(), "\n"), "\nrecords:\n",
                        absl::StrJoin(rig_->rig().RecordLines(), "\n"), "\n");
  }

  // The claim of an entry of a pod, or one of that name; null: none.
  Ref<ResourceClaim> Claim(absl::string_view name, absl::string_view entry = "") const {
    for (const auto& claim : client_->cache().of<ResourceClaim>().Sorted()) {
      if (NameOf(*claim) == (entry.empty() ? std::string(name) : absl::StrCat(name, "/", entry))) {
        return claim;
      }
    }
    return nullptr;
  }
  const ObjectCache& objects() const { return client_->cache(); }
  Ref<Pod> PodNamed(absl::string_view name) const {
    NamePool& names = rig_->plane().names();
    return client_->cache().of<Pod>().Find(names.Intern("default"), names.Intern(name));
  }

 private:
  void OnReply(uint64_t, const ApiReply&) override {}
  void OnTimer(uint64_t token) override { deeds_[token](); }
  void OnWatch(const WatchEvent& event) override {
    const bool gone = event.type == WatchEvent::Type::kDeleted;
    if (const auto pod = As<Pod>(event.object)) {
      Tell(*pod, As<Pod>(event.before).get(), gone);
    } else if (const auto claim = As<ResourceClaim>(event.object)) {
      Tell(*claim, As<ResourceClaim>(event.before).get(), gone);
    } else if (const auto context = As<PodSchedulingContext>(event.object)) {
      Tell(*context, As<PodSchedulingContext>(event.before).get(), gone);
    }
  }

  void Say(absl::string_view what, absl::string_view how) {
    times_.push_back(client_->now().seconds());
    lines_.push_back(absl::StrCat(TimeText(client_->now()), " ", what, ": ", how));
  }
  static std::string TimeText(SimTime time) {
    const int64_t ms = time.ns() / kStoryMs;
    return absl::StrCat(absl::Dec(ms / 1000, absl::kSpacePad4), ".",
                        absl::Dec(ms % 1000, absl::kZeroPad3));
  }
  static std::string Node(NodeId node) {
    return node.valid() ? absl::StrCat("node-", node.value()) : std::string("no node");
  }
  // "pod/entry" of a claim made from a template, also when the pod is gone.
  std::string NameOf(const ResourceClaim& claim) const {
    const absl::string_view name = claim.meta.name.text();
    const auto owner = pod_names_.find(claim.meta.owner);
    if (owner == pod_names_.end()) return std::string(name);
    // Releases without generated names do not say the entry elsewhere.
    return absl::StrCat(owner->second, "/",
                        claim.pod_claim_name.empty() ? name.substr(owner->second.size() + 1)
                                                     : claim.pod_claim_name.text());
  }

  void Tell(const Pod& pod, const Pod* before, bool gone) {
    const absl::string_view name = pod.meta.name.text();
    if (gone) return Say(name, "deleted");
    if (before == nullptr) {
      pod_names_[pod.meta.uid] = std::string(name);
      return Say(name, "created");
    }
    if (pod.node != before->node) Say(name, absl::StrCat("bound to ", Node(pod.node)));
    if (pod.phase == before->phase) return;
    Say(name, pod.phase == KubePodPhase::kRunning ? "runs" : "ended");
  }

  void Tell(const ResourceClaim& claim, const ResourceClaim* before, bool gone) {
    const std::string name = NameOf(claim);
    if (gone) return Say(name, "gone");
    if (before == nullptr) return Say(name, "created");
    const ClaimStatus& now = claim.status;
    const ClaimStatus& then = before->status;
    if (now.allocation != nullptr && then.allocation == nullptr) {
      Say(name, absl::StrCat("allocated on ", Node(now.allocation->node)));
    }
    for (const Consumer& c : now.reserved_for) {
      if (!IsReservedFor(*before, c.uid)) Say(name, absl::StrCat("reserved for ", c.name.text()));
    }
    for (const Consumer& c : then.reserved_for) {
      if (!IsReservedFor(claim, c.uid)) Say(name, absl::StrCat("released by ", c.name.text()));
    }
    if (now.deallocation_requested && !then.deallocation_requested) {
      const Ref<Pod> owner = client_->cache().pod(claim.meta.owner);
      const bool waits = owner != nullptr && !owner->node.valid();
      Say(name, absl::StrCat("deallocation requested", waits ? " for a pod that waits" : ""));
    }
    if (now.allocation == nullptr && then.allocation != nullptr) Say(name, "freed");
    if (claim.meta.deleting && !before->meta.deleting) Say(name, "is to be deleted");
  }

  void Tell(const PodSchedulingContext& context, const PodSchedulingContext* before, bool gone) {
    const std::string name = absl::StrCat(context.meta.name.text(), " (context)");
    if (gone) return Say(name, "gone");
    const PodSchedulingContext none;
    if (before == nullptr) before = &none;
    if (context.potential != before->potential) {
      Say(name, absl::StrCat(context.potential.size(), " potential nodes"));
    }
    if (context.selected != before->selected) {
      Say(name, absl::StrCat("selects ", Node(context.selected)));
    }
    for (const auto& claim : context.claims) {
      bool same = false;
      for (const auto& known : before->claims) same = same || known == claim;
      if (same) continue;
      std::vector<std::string> nodes;
      for (const NodeId node : claim.unsuitable) nodes.push_back(Node(node));
      if (nodes.size() > 4) nodes = {absl::StrCat(nodes.size(), " nodes")};
      Say(name, absl::StrCat("unsuitable for ", claim.entry.text(), ": ",
                             nodes.empty() ? "none" : absl::StrJoin(nodes, ", ")));
    }
  }

  DraRig* rig_;
  ApiClient* client_;
  std::vector<std::function<void()>> deeds_;
  std::map<Uid, std::string> pod_names_;
  Lines lines_;
  std::vector<double> times_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_DRA_DRA_STORY_H_
