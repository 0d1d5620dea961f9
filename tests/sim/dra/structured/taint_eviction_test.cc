// TaintEviction alone, beside an API server: which pods it deletes, when, by which calls, and what
// it says of rules. Times are those of the run, in seconds.
#include "sim/dra/structured/taint_eviction.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/kube_time.h"
#include "model/proto/resource.pb.h"
#include "model/state_io.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/structured/taint_admin.h"

namespace drasim {
namespace taint_eviction_test {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SimTime At(double seconds) { return SimTime(static_cast<int64_t>(seconds * 1e9)); }

ClientOptions Named(const char* name) {
  ClientOptions options;
  options.name = name;
  return options;
}

struct Toleration {
  std::optional<int64_t> seconds;
  const char* effect = "NoExecute";
};

class TaintEvictionTest : public ::testing::Test {
 protected:
  TaintEvictionTest() {
    network_.set_on_commit([this](const WatchEvent& event) {
      const Pod* const pod = PeekAs<Pod>(event.object);
      if (pod == nullptr || !pod->meta.deleting || !deleting_.insert(pod->meta.uid).second) return;
      evicted_.push_back(absl::StrCat(network_.now().seconds(), " ", pod->meta.name.text()));
    });
    network_.set_on_message([this](const ApiMessage& message) {
      if (client_ == nullptr || message.client != client_->id()) return;
      calls_.push_back(absl::StrCat(message.done.seconds(), " ",
                                    CallText(message.verb, message.kind), " ",
                                    message.name.text()));
    });
  }

  void Start(const char* write_latency = nullptr) {
    ClientOptions options = eviction_.connection();
    if (write_latency != nullptr) options.write_latency = *Distribution::Parse(write_latency);
    client_ = network_.Connect(options, &eviction_);
    eviction_.Start(client_);
  }
  void RunUntil(double seconds) { network_.RunUntil(At(seconds)); }

  ObjectRef Do(const ApiRequest& request) {
    const ApiReply reply = network_.server().Handle(request, network_.now());
    EXPECT_TRUE(reply.ok()) << reply.message;
    return reply.object;
  }
  Name In(absl::string_view text) { return names_.Intern(text); }

  // Devices of the driver, and NoExecute taints of the first one.
  void PutSlice(const std::string& name, int64_t generation, int devices, int taints) {
    kube::ResourceSlice slice;
    slice.mutable_metadata()->set_name(name);
    slice.mutable_spec()->set_driver("driver");
    slice.mutable_spec()->mutable_pool()->set_name("pool");
    slice.mutable_spec()->mutable_pool()->set_generation(generation);
    for (int i = 0; i < devices; ++i) {
      kube::Device* const device = slice.mutable_spec()->add_devices();
      device->set_name(absl::StrCat("gpu-", i));
      for (int t = 0; t < taints && i == 0; ++t) {
        device->add_taints()->set_key(absl::StrCat("sick-", t));
        device->mutable_taints(t)->set_effect("NoExecute");
      }
    }
    auto object = std::make_shared<ResourceSliceObject>();
    object->meta.name = In(name);
    object->object = SharedMessage<kube::ResourceSlice>(std::move(slice));
    const auto& known = network_.server().objects().of<ResourceSliceObject>();
    const bool is_new = known.Find(Name(), In(name)) == nullptr;
    Do(WriteRequest(is_new ? Verb::kCreate : Verb::kUpdate,
                    Ref<ResourceSliceObject>(std::move(object))));
  }

  // Effect of the rule "rule" about `device`; empty: all devices.
  void PutRule(const char* effect, const std::string& device = "") {
    auto object = std::make_shared<DeviceTaintRuleObject>();
    object->meta.name = In("rule");
    kube::DeviceTaintRule rule;
    rule.mutable_metadata()->set_name("rule");
    rule.mutable_spec()->mutable_device_selector();
    if (!device.empty()) rule.mutable_spec()->mutable_device_selector()->set_device(device);
    rule.mutable_spec()->mutable_taint()->set_key("broken");
    rule.mutable_spec()->mutable_taint()->set_effect(effect);
    object->object = SharedMessage<kube::DeviceTaintRule>(std::move(rule));
    Do(WriteRequest(FindRule() == nullptr ? Verb::kCreate : Verb::kApply,
                    Ref<DeviceTaintRuleObject>(std::move(object))));
  }
  Ref<DeviceTaintRuleObject> FindRule() {
    return network_.server().objects().of<DeviceTaintRuleObject>().Find(Name(), In("rule"));
  }
  void DeleteRule() {
    Do(NamedRequest(Verb::kDelete, ObjectKind::kDeviceTaintRule, Name(), In("rule")));
  }
  // "True PodsPendingEviction @10: MESSAGE".
  std::string Condition() {
    const DeviceTaintRuleObject::Eviction& e = FindRule()->eviction;
    if (!e.known) return "none";
    return absl::StrCat(e.in_progress ? "True " : "False ", e.reason, " @", e.changed.seconds(),
                        ": ", e.message);
  }

  // A bound pod of the claim of that name.
  Uid AddPod(const std::string& name, const std::string& claim, const std::string& ns = "default") {
    auto pod = std::make_shared<Pod>();
    pod->meta.ns = In(ns);
    pod->meta.name = In(name);
    PodClaim entry;
    entry.entry = In("gpu");
    entry.claim = In(claim);
    pod->claims.push_back(entry);
    Do(WriteRequest(Verb::kCreate, Ref<Pod>(std::move(pod))));
    ApiRequest bind = NamedRequest(Verb::kBind, ObjectKind::kPod, In(ns), In(name));
    bind.node = NodeId(size_t{0});
    return MetaOf(Do(bind))->uid;
  }

  // A claim that holds the device for the pods.
  void AddClaim(const std::string& name, const std::string& device, const std::vector<Uid>& pods,
                const std::vector<Toleration>& tolerations = {},
                const std::string& ns = "default") {
    auto allocation = std::make_shared<Allocation>();
    kube::AllocationResultV1 result;
    kube::DeviceRequestAllocationResult* const taken = result.mutable_devices()->add_results();
    taken->set_driver("driver");
    taken->set_pool("pool");
    taken->set_device(device);
    for (const Toleration& given : tolerations) {
      kube::DeviceToleration* const toleration = taken->add_tolerations();
      toleration->set_operator_("Exists");
      toleration->set_effect(given.effect);
      if (given.seconds.has_value()) toleration->set_toleration_seconds(*given.seconds);
    }
    allocation->result = SharedMessage<kube::AllocationResultV1>(std::move(result));
    allocation->shareable = true;
    allocation->available_on = NodeSet::Of({NodeId(size_t{0})});
    auto claim = std::make_shared<ResourceClaim>();
    claim->meta.ns = In(ns);
    claim->meta.name = In(name);
    claim->spec.devices = SharedMessage<kube::DeviceClaim>(kube::DeviceClaim());
    claim->status.allocation = std::move(allocation);
    for (const Uid pod : pods) {
      claim->status.reserved_for.push_back(
          {In("pods"), network_.server().objects().pod(pod)->meta.name, pod});
    }
    Do(WriteRequest(Verb::kCreate, Ref<ResourceClaim>(std::move(claim))));
  }

  std::vector<std::string> Calls() { return std::exchange(calls_, {}); }

  NamePool names_;
  ApiNetwork network_{&names_, 1};
  TaintEviction eviction_{/*rules=*/true, Named(TaintEviction::kName)};
  ApiClient* client_ = nullptr;
  std::set<Uid> deleting_;
  std::vector<std::string> evicted_;
  std::vector<std::string> calls_;
};

// The status of the rule comes first, and again ten seconds after the last (whole) second.
TEST_F(TaintEvictionTest, ARuleEvictsAtOnce) {
  Start();
  const Uid pod = AddPod("a", "claim");
  AddClaim("claim", "gpu-0", {pod});
  AddClaim("other", "gpu-1", {AddPod("b", "other")});
  RunUntil(10.5);
  PutRule("NoExecute", "gpu-0");
  RunUntil(20.4);
  EXPECT_THAT(evicted_, ElementsAre("10.5 a"));
  EXPECT_THAT(Calls(),
              ElementsAre("10.5 PATCH devicetaintrules/status rule", "10.5 GET pods a",
                          "10.5 POST events a", "10.5 PATCH pods/status a", "10.5 DELETE pods a"));
  EXPECT_TRUE(network_.server().objects().pod(pod)->meta.deleting);
  EXPECT_TRUE(network_.server().objects().pod(pod)->disrupted);
  EXPECT_EQ(Condition(), "True PodsPendingEviction @10: 1 pod needs to be evicted in 1 namespace.");
  EXPECT_TRUE(eviction_.IsBusy());
  RunUntil(30);
  EXPECT_EQ(Condition(), "False Completed @20: 1 pod evicted since starting the controller.");
  EXPECT_THAT(Calls(), ElementsAre("20.5 PATCH devicetaintrules/status rule"));
  RunUntil(100);
  EXPECT_THAT(Calls(), IsEmpty());
  EXPECT_FALSE(eviction_.IsBusy());
}

// timeAdded is a whole second, so that the pod goes 30 s after it and not after the write.
TEST_F(TaintEvictionTest, TolerationSecondsCountFromTimeAdded) {
  Start();
  AddClaim("claim", "gpu-0", {AddPod("a", "claim")}, {{30}});
  RunUntil(10.5);
  PutRule("NoExecute");
  EXPECT_EQ(FindRule()->object->spec().taint().time_added(), "2000-01-01T00:00:10Z");
  RunUntil(39.9);
  EXPECT_THAT(evicted_, IsEmpty());
  EXPECT_EQ(Condition(), "True PodsPendingEviction @10: 1 pod needs to be evicted in 1 namespace.");
  RunUntil(49.9);
  EXPECT_THAT(evicted_, ElementsAre("40 a"));
  RunUntil(50);
  EXPECT_EQ(Condition(), "False Completed @50: 1 pod evicted since starting the controller.");
}

TEST_F(TaintEvictionTest, TheLeastOfTheTolerationsThatMatchCounts) {
  Start();
  AddClaim("c1", "gpu-0", {AddPod("soon", "c1")}, {{60}, {20}, {5, "NoSchedule"}});
  AddClaim("c2", "gpu-0", {AddPod("never", "c2")}, {{60}, {}});
  AddClaim("c3", "gpu-0", {AddPod("without-effect", "c3")}, {{std::nullopt, ""}});
  AddClaim("c4", "gpu-0", {AddPod("negative", "c4")}, {{-7}});
  RunUntil(100);
  PutRule("NoExecute");
  RunUntil(1000);
  EXPECT_THAT(evicted_, ElementsAre("100 without-effect", "100 negative", "120 soon"));
}

TEST_F(TaintEvictionTest, ARuleDeletedInTimeEvictsNobody) {
  Start();
  AddClaim("claim", "gpu-0", {AddPod("a", "claim")}, {{30}});
  RunUntil(10);
  PutRule("NoExecute");
  RunUntil(39);
  Calls();
  DeleteRule();
  RunUntil(100);
  EXPECT_THAT(evicted_, IsEmpty());
  EXPECT_THAT(Calls(), ElementsAre("39 POST events a"));
  EXPECT_FALSE(eviction_.IsBusy());
  EXPECT_EQ(eviction_.Figures()[1].count, 1U);
}

TEST_F(TaintEvictionTest, AllPodsOfASharedClaimGo) {
  Start();
  AddClaim("claim", "gpu-0", {AddPod("a", "claim"), AddPod("b", "claim")});
  AddClaim("claim", "gpu-1", {AddPod("c", "claim", "ml")}, {}, "ml");
  AddPod("not-a-user", "claim");
  PutRule("NoExecute");
  RunUntil(5);
  EXPECT_EQ(Condition(),
            "True PodsPendingEviction @0: 3 pods need to be evicted in 2 different namespaces.");
  RunUntil(50);
  EXPECT_THAT(evicted_, ElementsAre("0 a", "0 b", "0 c"));
  EXPECT_EQ(Condition(), "False Completed @10: 3 pods evicted since starting the controller.");
}

// A taint of a slice keeps the time at which it came; slices of older generations say nothing.
TEST_F(TaintEvictionTest, TaintsOfSlicesOfTheLatestGenerationCount) {
  PutSlice("s1", 1, 2, 0);
  Start();
  AddClaim("claim", "gpu-0", {AddPod("a", "claim")}, {{30}});
  RunUntil(10);
  PutSlice("s2", 2, 1, 0);
  RunUntil(20);
  PutSlice("s1", 1, 2, 1);  // left over
  RunUntil(60);
  EXPECT_THAT(evicted_, IsEmpty());
  PutSlice("s2", 2, 2, 1);
  RunUntil(70);
  PutSlice("s2", 3, 2, 2);  // one taint more, the first still from 60
  RunUntil(89);
  EXPECT_THAT(evicted_, IsEmpty());
  RunUntil(90);
  EXPECT_THAT(evicted_, ElementsAre("90 a"));
}

TEST_F(TaintEvictionTest, ATaintThatGoesInTimeIsForgotten) {
  PutSlice("s1", 1, 2, 1);
  Start();
  AddClaim("claim", "gpu-0", {AddPod("a", "claim")}, {{30}});
  RunUntil(10);
  PutSlice("s1", 1, 2, 0);
  RunUntil(20);
  PutSlice("s1", 1, 2, 1);
  RunUntil(49);
  EXPECT_THAT(evicted_, IsEmpty());
  RunUntil(50);
  EXPECT_THAT(evicted_, ElementsAre("50 a"));
}

// A dry run; the change of the effect gives the taint a new time.
TEST_F(TaintEvictionTest, TheEffectNoneOnlyForetells) {
  PutSlice("s1", 1, 3, 0);
  Start();
  AddClaim("claim", "gpu-0", {AddPod("a", "claim")}, {{10}});
  RunUntil(1);
  PutRule("None");
  RunUntil(30);
  EXPECT_THAT(evicted_, IsEmpty());
  EXPECT_EQ(Condition(),
            "False NoEffect @1: 3 published devices selected. 1 allocated device selected. 1 pod "
            "would be evicted in 1 namespace if the effect was NoExecute. This information will "
            "not be updated again. Recreate the DeviceTaintRule to trigger an update.");
  EXPECT_THAT(Calls(), ElementsAre("1 PATCH devicetaintrules/status rule"));
  PutRule("NoExecute");
  RunUntil(39);
  EXPECT_THAT(evicted_, IsEmpty());
  RunUntil(41);
  EXPECT_THAT(evicted_, ElementsAre("40 a"));
  PutRule("NoSchedule");
  RunUntil(60);
  EXPECT_EQ(Condition(),
            "False OtherEffect @41: Eviction only happens for the NoExecute effect. 1 pod evicted "
            "since starting the controller.");
}

// A new life finds the pod still there, and begins again; its counts begin at 0.
TEST_F(TaintEvictionTest, ARestartInTheMiddleLosesNothing) {
  Start("constant(1)");
  AddClaim("claim", "gpu-0", {AddPod("a", "claim")});
  AddClaim("other", "gpu-1", {AddPod("b", "other")}, {{60}});
  RunUntil(10);
  PutRule("NoExecute");
  RunUntil(10.9);  // before the PATCH of the pod's status is committed
  network_.Restart(client_->id(), SimDuration::Seconds(5));
  RunUntil(60);
  EXPECT_THAT(evicted_, ElementsAre("16.9 a"));
  RunUntil(100);
  EXPECT_THAT(evicted_, ElementsAre("16.9 a", "72 b"));
}

// DELETE answers 404: somebody else was faster, and nobody is evicted.
TEST_F(TaintEvictionTest, APodThatIsGoneIsNotCounted) {
  Start("constant(1)");
  const Uid pod = AddPod("a", "claim");
  AddClaim("claim", "gpu-0", {pod});
  RunUntil(10);
  PutRule("NoExecute");
  RunUntil(11.5);
  ApiRequest request = DeleteRequest(ObjectKind::kPod, network_.server().objects().pod(pod)->meta);
  request.force = true;
  Do(request);
  RunUntil(60);
  EXPECT_THAT(evicted_, IsEmpty());
  EXPECT_FALSE(eviction_.IsBusy());
}

TEST_F(TaintEvictionTest, ItsStateSurvivesACheckpoint) {
  Start("constant(1)");
  AddClaim("claim", "gpu-0", {AddPod("a", "claim")});
  AddClaim("other", "gpu-1", {AddPod("b", "other")}, {{60}});
  RunUntil(10);
  PutRule("NoExecute");
  RunUntil(11.5);
  const auto bytes_of = [](const TaintEviction& eviction) {
    StateWriter out;
    PlaneWriter archive(&out);
    eviction.Save(archive);
    return out.Release();
  };
  const std::string bytes = bytes_of(eviction_);
  TaintEviction loaded(/*rules=*/true, Named("second"));
  ClientOptions options = loaded.connection();
  options.write_latency = *Distribution::Parse("constant(1000)");
  loaded.Start(network_.Connect(options, &loaded));
  StateReader in(bytes);
  PlaneReader archive(&in, &names_);
  loaded.Load(archive);
  EXPECT_EQ(in.status(), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(bytes_of(loaded), bytes);
}

// --- The administrator ---

// Each call waits for the reply to the one before.
TEST(TaintAdminTest, DoesWhatIsPlanned) {
  NamePool names;
  ApiNetwork network(&names, 1);
  std::vector<std::string> calls;
  network.set_on_message([&calls](const ApiMessage& message) {
    calls.push_back(absl::StrCat(message.done.seconds(), " ", CallText(message.verb, message.kind),
                                 " ", message.name.text(),
                                 message.code == ApiCode::kOk ? "" : " refused"));
  });
  const auto event = [](double at, TaintRuleEvent::Action action, const char* effect) {
    TaintRuleEvent made;
    made.at = At(at);
    made.action = action;
    made.rule.mutable_metadata()->set_name("rule");
    made.rule.mutable_spec()->mutable_taint()->set_key("broken");
    made.rule.mutable_spec()->mutable_taint()->set_effect(effect);
    return made;
  };
  using Action = TaintRuleEvent::Action;
  ClientOptions options = Named(TaintAdmin::kName);
  options.write_latency = *Distribution::Parse("constant(2)");
  TaintAdmin admin({event(12, Action::kDelete, ""), event(5, Action::kCreate, "None"),
                    event(5, Action::kChange, "NoSchedule")},
                   options);
  admin.Start(network.Connect(admin.connection(), &admin));
  EXPECT_TRUE(admin.IsBusy());
  network.RunUntil(At(10));
  EXPECT_THAT(calls, ElementsAre("7 POST devicetaintrules rule", "9 PATCH devicetaintrules rule"));
  const auto& rules = network.server().objects().of<DeviceTaintRuleObject>();
  EXPECT_EQ(rules.Find(Name(), names.Intern("rule"))->generation, 2);
  EXPECT_EQ(rules.Find(Name(), names.Intern("rule"))->object->spec().taint().time_added(),
            "2000-01-01T00:00:09Z");
  network.RunUntil(At(20));
  EXPECT_EQ(calls.back(), "14 DELETE devicetaintrules rule");
  EXPECT_EQ(rules.size(), 0U);
  EXPECT_FALSE(admin.IsBusy());
}

}  // namespace taint_eviction_test
}  // namespace drasim
