// Virtual time between the server and its clients, by hand: when calls are answered and changes
// told, in which order, what caches hold then, and what faults do. Times in lists are milliseconds.
#include "sim/dra/api_network.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api_types.h"

namespace drasim {
namespace api_network_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

constexpr uint32_t kClaims = WatchBit(ObjectKind::kResourceClaim);
constexpr uint32_t kPods = WatchBit(ObjectKind::kPod);

SimTime Ms(int64_t ms) { return SimTime() + SimDuration::Millis(ms); }

absl::optional<Distribution> Latency(absl::string_view text) { return *Distribution::Parse(text); }

// "c1@5", "none".
std::string StateText(const ObjectRef& object) {
  const ObjectMeta* meta = MetaOf(object);
  return meta == nullptr ? "none" : absl::StrCat(meta->name.text(), "@", meta->version);
}

// Writes down what it is told; does what the test says.
class Recorder : public Actor {
 public:
  Recorder(std::string name, Lines* lines) : name_(std::move(name)), lines_(lines) {}
  std::function<void(const WatchEvent&)> on_watch = [](const WatchEvent&) {};
  std::function<void(uint64_t, const ApiReply&)> on_reply = [](uint64_t, const ApiReply&) {};
  std::function<void(uint64_t)> on_timer = [](uint64_t) {};
  std::function<void()> on_restart = [] {};
  ApiClient* client = nullptr;

  void OnWatch(const WatchEvent& event) override {
    constexpr absl::string_view kTypes[] = {"added", "modified", "deleted"};
    Add(kTypes[static_cast<size_t>(event.type)], " ", StateText(event.object), " before ",
        StateText(event.before));
    on_watch(event);
  }
  void OnReply(uint64_t token, const ApiReply& reply) override {
    Add("reply ", token, " ", static_cast<int>(reply.code), " ", StateText(reply.object));
    on_reply(token, reply);
  }
  void OnTimer(uint64_t token) override {
    Add("timer ", token);
    on_timer(token);
  }
  void OnRestart() override {
    Add("restart");
    on_restart();
  }
  template <typename... Parts>
  void Add(const Parts&... parts) {
    lines_->push_back(absl::StrCat(client->now().ns() / 1'000'000, " ", name_, ": ", parts...));
  }

 private:
  std::string name_;
  Lines* lines_;
};

class ApiNetworkTest : public ::testing::Test {
 protected:
  // A client of this name, with latencies for everything it has none for.
  Recorder& Connect(const std::string& name, ClientOptions options = {}) {
    options.name = name;
    recorders_.push_back(std::make_unique<Recorder>(name, &lines));
    recorders_.back()->client = network.Connect(std::move(options), recorders_.back().get());
    return *recorders_.back();
  }
  Recorder& Watcher(const std::string& name, uint32_t watches, absl::string_view latency = "") {
    ClientOptions options;
    options.watches = watches;
    if (!latency.empty()) options.watch_latency = Latency(latency);
    return Connect(name, std::move(options));
  }
  // Everybody's way to write, which watches nothing and takes no time.
  Recorder& user() {
    if (user_ == nullptr) user_ = &Connect("user");
    return *user_;
  }

  ApiRequest CreateClaim(absl::string_view name, Uid owner = 0) {
    auto claim = std::make_shared<ResourceClaim>();
    claim->meta.ns = names.Intern("ns");
    claim->meta.name = names.Intern(name);
    claim->meta.owner = owner;
    claim->spec.class_name = names.Intern("class");
    ApiRequest request;
    request.verb = Verb::kCreate;
    request.kind = ObjectKind::kResourceClaim;
    request.object = Ref<ResourceClaim>(claim);
    return request;
  }
  ApiRequest CreatePod(absl::string_view name, uint32_t row) {
    auto pod = std::make_shared<Pod>();
    pod->meta.ns = names.Intern("ns");
    pod->meta.name = names.Intern(name);
    pod->row = PodId(row);
    ApiRequest request;
    request.verb = Verb::kCreate;
    request.object = Ref<Pod>(pod);
    return request;
  }
  ApiRequest Named(Verb verb, absl::string_view name,
                   ObjectKind kind = ObjectKind::kResourceClaim) {
    ApiRequest request;
    request.verb = verb;
    request.kind = kind;
    request.ns = names.Intern("ns");
    request.name = names.Intern(name);
    return request;
  }
  // A PUT that changes a label of this state.
  ApiRequest Label(const Ref<ResourceClaim>& claim, const std::string& value) {
    auto next = std::make_shared<ResourceClaim>(*claim);
    next->labels = {{"label", value}};
    ApiRequest request;
    request.verb = Verb::kUpdate;
    request.kind = ObjectKind::kResourceClaim;
    request.object = Ref<ResourceClaim>(next);
    return request;
  }
  Ref<ResourceClaim> Stored(absl::string_view name) {
    return network.server().objects().claim(names.Intern("ns"), names.Intern(name));
  }
  Ref<ResourceClaim> Cached(const Recorder& recorder, absl::string_view name) {
    return recorder.client->cache().claim(names.Intern("ns"), names.Intern(name));
  }
  // By the user, at once.
  ApiReply Do(const ApiRequest& request) {
    absl::optional<ApiReply> reply = user().client->Call(request, 0);
    EXPECT_TRUE(reply.has_value());
    EXPECT_TRUE(reply->ok()) << reply->message;
    return *reply;
  }
  void Relabel(absl::string_view name, const std::string& value) { Do(Label(Stored(name), value)); }
  // What was told until then, since the last time.
  Lines Until(int64_t ms) {
    network.RunUntil(Ms(ms));
    return std::exchange(lines, {});
  }

  NamePool names;
  ApiNetwork network{&names, 1};
  Lines lines;

 private:
  std::vector<std::unique_ptr<Recorder>> recorders_;
  Recorder* user_ = nullptr;
};

TEST_F(ApiNetworkTest, AnswersAtOnceWithoutLatency) {
  Recorder& a = Watcher("a", kClaims);
  const absl::optional<ApiReply> reply = a.client->Call(CreateClaim("c1"), 7);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(StateText(reply->object), "c1@1");
  EXPECT_EQ(Cached(a, "c1"), nullptr) << "its own watch comes later";
  EXPECT_EQ(network.NextTime(), absl::make_optional(SimTime()));
  EXPECT_THAT(Until(0), ElementsAre("0 a: added c1@1 before none"));
  EXPECT_EQ(Cached(a, "c1"), Stored("c1"));
  EXPECT_EQ(network.NextTime(), absl::nullopt);
}

TEST_F(ApiNetworkTest, ConstantZeroIsNoLatency) {
  ClientOptions options;
  options.watches = kClaims;
  options.write_latency = Latency("constant(0)");
  options.watch_latency = Latency("constant(-1)");
  Recorder& a = Connect("a", options);
  a.on_timer = [&](uint64_t) { EXPECT_TRUE(a.client->Call(CreateClaim("c1"), 0).has_value()); };
  a.client->ArmTimer(SimDuration::Millis(5), 1);
  a.client->ArmTimer(SimDuration::Millis(5), 2);
  a.client->ArmTimer(SimDuration::Millis(5), 3);
  EXPECT_TRUE(network.Step(Ms(5)));
  EXPECT_TRUE(network.Step(Ms(5)));
  EXPECT_THAT(lines, ElementsAre("5 a: timer 1", "5 a: added c1@1 before none"));
}

// Changes come right after the handler that made them, commit by commit and client by client, and
// before anything else of that instant, which goes by the order of arrival.
TEST_F(ApiNetworkTest, OrderWithinAnInstant) {
  Recorder& a = Connect("a");
  Recorder& b = Watcher("b", kClaims);
  Watcher("late", kClaims, "constant(0.01)");
  Watcher("c", kClaims);
  a.on_timer = [&](uint64_t token) {
    if (token != 1) return;
    a.client->ArmTimer(SimDuration(), 9);
    a.client->Call(CreateClaim("c1"), 0);
    a.client->Call(CreateClaim("c2"), 0);
    a.Add("end of handler");
  };
  b.on_watch = [&](const WatchEvent& event) {
    if (event.type == WatchEvent::Type::kAdded && Stored("c3") == nullptr) {
      b.client->Call(CreateClaim("c3"), 0);
    }
  };
  a.client->ArmTimer(SimDuration::Millis(10), 2);
  b.client->ArmTimer(SimDuration::Millis(5), 3);
  a.client->ArmTimer(SimDuration::Millis(5), 1);
  b.client->ArmTimer(SimDuration::Millis(5), 4);
  EXPECT_THAT(
      Until(15),
      ElementsAre("5 b: timer 3", "5 a: timer 1", "5 a: end of handler",
                  "5 b: added c1@1 before none", "5 c: added c1@1 before none",
                  "5 b: added c2@2 before none", "5 c: added c2@2 before none",
                  "5 b: added c3@3 before none", "5 c: added c3@3 before none", "5 b: timer 4",
                  "5 a: timer 9", "10 a: timer 2", "15 late: added c1@1 before none",
                  "15 late: added c2@2 before none", "15 late: added c3@3 before none"));
}

// The server decides at the end of the latency, by what is there then.
TEST_F(ApiNetworkTest, CommitsWhenTheReplyComes) {
  Do(CreateClaim("c1"));
  ClientOptions options;
  options.read_latency = Latency("constant(0.003)");
  options.write_latency = Latency("constant(0.02)");
  Recorder& a = Connect("a", options);
  EXPECT_FALSE(a.client->Call(Label(Stored("c1"), "a"), 1).has_value());
  EXPECT_FALSE(a.client->Call(Named(Verb::kGet, "c1"), 2).has_value());
  EXPECT_FALSE(a.client->Call(CreateClaim("c2"), 3).has_value());
  EXPECT_THAT(Until(10), ElementsAre("3 a: reply 2 200 c1@1"));
  Relabel("c1", "user");
  EXPECT_EQ(Stored("c2"), nullptr);
  EXPECT_THAT(Until(30), ElementsAre("20 a: reply 1 409 none", "20 a: reply 3 200 c2@3"));
  EXPECT_EQ(Stored("c1")->labels[0].second, "user");
}

TEST_F(ApiNetworkTest, RateLimit) {
  Do(CreateClaim("c1"));
  ClientOptions options;
  options.qps = 10;
  options.burst = 2;
  options.read_latency = Latency("constant(0.25)");  // writes take none
  Recorder& a = Connect("a", options);
  a.on_timer = [&](uint64_t) {
    EXPECT_TRUE(a.client->Call(CreateClaim("c2"), 1).has_value());
    EXPECT_FALSE(a.client->Call(Named(Verb::kGet, "c1"), 2).has_value());
    EXPECT_FALSE(a.client->Call(Named(Verb::kGet, "c2"), 3).has_value());
    // The one before waits 100 ms for its turn and 250 ms for its answer.
    EXPECT_FALSE(a.client->Call(CreateClaim("c3"), 4).has_value());
    a.Add("end of handler");
  };
  a.client->ArmTimer(SimDuration::Millis(50), 0);
  EXPECT_THAT(Until(10'000),
              ElementsAre("50 a: timer 0", "50 a: end of handler", "250 a: reply 4 200 c3@3",
                          "300 a: reply 2 200 c1@1", "400 a: reply 3 200 c2@2"));
}

TEST_F(ApiNetworkTest, ChangesNeverOvertake) {
  Recorder& a = Watcher("a", kClaims, "discrete(0:1,0.001:1,0.05:1)");
  Do(CreateClaim("c1"));
  uint64_t told = 0;
  std::vector<int64_t> lags;
  std::map<uint64_t, SimTime> committed;
  a.on_watch = [&](const WatchEvent& event) {
    const uint64_t version = MetaOf(event.object)->version;
    EXPECT_EQ(version, told + 1);
    told = version;
    if (version > 1) lags.push_back((a.client->now() - committed[version]).ns());
  };
  for (int i = 0; i < 200; ++i) {
    network.RunUntil(Ms(10 * i));
    Relabel("c1", absl::StrCat(i));
    committed[Stored("c1")->meta.version] = network.now();
  }
  ASSERT_TRUE(network.RunToRest(Ms(100'000)));
  EXPECT_EQ(told, 201u);
  // Short draws wait for long ones before them.
  for (const int64_t ms : {0, 1, 10, 20, 30, 40, 50}) {
    EXPECT_NE(std::count(lags.begin(), lags.end(), ms * 1'000'000), 0) << ms;
  }
  EXPECT_EQ(*std::max_element(lags.begin(), lags.end()), 50'000'000);
}

// Kinds are watched one by one: a claim may arrive before the pod that was there first, but no
// change before an earlier one of its kind.
TEST_F(ApiNetworkTest, KindsOvertakeEachOther) {
  Recorder& a = Watcher("a", kClaims | kPods, "discrete(0.001:1,0.05:1)");
  std::vector<int> pods;
  std::vector<int> claims;
  int overtaken = 0;
  a.on_watch = [&](const WatchEvent& event) {
    int number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(MetaOf(event.object)->name.text().substr(1), &number));
    (event.kind() == ObjectKind::kPod ? pods : claims).push_back(number);
    overtaken += claims.size() > pods.size() ? 1 : 0;
  };
  for (int i = 0; i < 200; ++i) {
    network.RunUntil(Ms(10 * i));
    Do(CreatePod(absl::StrCat("p", i), static_cast<uint32_t>(i)));
    Do(CreateClaim(absl::StrCat("c", i)));
  }
  ASSERT_TRUE(network.RunToRest(Ms(100'000)));
  EXPECT_EQ(pods.size(), 200u);
  EXPECT_EQ(claims.size(), 200u);
  EXPECT_TRUE(std::is_sorted(pods.begin(), pods.end()));
  EXPECT_TRUE(std::is_sorted(claims.begin(), claims.end()));
  EXPECT_GT(overtaken, 20);
}

TEST_F(ApiNetworkTest, CacheIsChangedFirst) {
  Recorder& a = Watcher("a", kClaims, "constant(0.002)");
  Lines seen;
  a.on_watch = [&](const WatchEvent&) { seen.push_back(StateText(Cached(a, "c1"))); };
  Do(CreateClaim("c1"));
  Relabel("c1", "x");
  Do(Named(Verb::kDelete, "c1"));
  EXPECT_THAT(Until(5), ElementsAre("2 a: added c1@1 before none", "2 a: modified c1@2 before c1@1",
                                    "2 a: deleted c1@3 before c1@2"));
  EXPECT_THAT(seen, ElementsAre("c1@1", "c1@2", "none"));
}

TEST_F(ApiNetworkTest, OnlyWhatIsWatched) {
  Recorder& pods = Watcher("pods", kPods);
  Recorder& claims = Watcher("claims", kClaims);
  Do(CreateClaim("c1"));
  Do(CreatePod("p1", 0));
  EXPECT_THAT(Until(1),
              ElementsAre("0 claims: added c1@1 before none", "0 pods: added p1@2 before none"));
  Recorder& both = Watcher("both", kPods | kClaims);
  Recorder& none = Watcher("none", 0);
  EXPECT_THAT(Until(2), IsEmpty()) << "no event for what is there at the start";
  const auto sizes = [](const Recorder& r) {
    const ObjectCache& cache = r.client->cache();
    return std::make_pair(cache.of<Pod>().size(), cache.of<ResourceClaim>().size());
  };
  EXPECT_EQ(sizes(pods), std::make_pair(size_t{1}, size_t{0}));
  EXPECT_EQ(sizes(claims), std::make_pair(size_t{0}, size_t{1}));
  EXPECT_EQ(sizes(both), std::make_pair(size_t{1}, size_t{1}));
  EXPECT_EQ(sizes(none), std::make_pair(size_t{0}, size_t{0}));
  Relabel("c1", "x");
  EXPECT_THAT(Until(3), ElementsAre("2 claims: modified c1@3 before c1@1",
                                    "2 both: modified c1@3 before c1@1"));
}

TEST_F(ApiNetworkTest, RememberedWritesAreNotUndone) {
  Recorder& a = Watcher("a", kClaims, "constant(0.01)");
  Do(CreateClaim("c1"));
  Relabel("c1", "theirs");
  ApiReply own = *a.client->Call(Label(Stored("c1"), "mine"), 0);
  a.client->Remember(own.object);
  EXPECT_EQ(Cached(a, "c1"), Stored("c1"));
  a.client->Remember(ObjectRef());
  network.RunUntil(Ms(5));
  Relabel("c1", "theirs again");
  EXPECT_THAT(Until(12), ElementsAre("10 a: modified c1@3 before c1@3"))
      << "two older states are not told, the echo is";
  EXPECT_THAT(Until(15), ElementsAre("15 a: modified c1@4 before c1@3"));
  a.client->Remember(own.object);
  EXPECT_EQ(Cached(a, "c1"), Stored("c1")) << "older than the cache";
}

TEST_F(ApiNetworkTest, RememberedObjectsCanBeDeleted) {
  Recorder& a = Watcher("a", kClaims, "constant(0.01)");
  a.client->Remember(a.client->Call(CreateClaim("c1"), 0)->object);
  Do(Named(Verb::kDelete, "c1"));
  a.client->Remember(a.client->Call(CreateClaim("c1"), 0)->object);
  const Uid younger = Stored("c1")->meta.uid;
  a.on_watch = [&](const WatchEvent&) { EXPECT_EQ(Cached(a, "c1")->meta.uid, younger); };
  EXPECT_THAT(Until(20),
              ElementsAre("10 a: added c1@1 before c1@1", "10 a: deleted c1@2 before c1@1",
                          "10 a: added c1@3 before c1@3"));
  EXPECT_EQ(a.client->cache().of<ResourceClaim>().size(), 1u);
}

// The events of a remembered object's predecessor do not take its name away.
TEST_F(ApiNetworkTest, SuccessorKeepsTheName) {
  Do(CreateClaim("c1"));
  Recorder& a = Watcher("a", kClaims, "constant(0.01)");
  Relabel("c1", "x");
  Do(Named(Verb::kDelete, "c1"));
  a.client->Remember(a.client->Call(CreateClaim("c1"), 0)->object);
  const Uid younger = Stored("c1")->meta.uid;
  a.on_watch = [&](const WatchEvent&) {
    ASSERT_NE(Cached(a, "c1"), nullptr);
    EXPECT_EQ(Cached(a, "c1")->meta.uid, younger);
  };
  EXPECT_THAT(Until(20),
              ElementsAre("10 a: modified c1@2 before c1@1", "10 a: deleted c1@3 before c1@2",
                          "10 a: added c1@4 before c1@4"));
}

TEST_F(ApiNetworkTest, RestartForgets) {
  ClientOptions options;
  options.qps = 10;
  options.burst = 2;
  options.write_latency = Latency("constant(0.02)");
  options.watch_latency = Latency("constant(0.02)");
  options.watches = kClaims;
  Recorder& a = Connect("a", options);
  a.client->Call(CreateClaim("under-way"), 1);
  a.client->Call(CreateClaim("c2"), 2);
  a.client->Call(CreateClaim("never-made"), 3);  // waits for the limit until 100 ms
  a.client->ArmTimer(SimDuration::Millis(200), 4);
  a.client->Remember(Do(CreatePod("p", 0)).object);  // watched or not
  network.RunUntil(Ms(10));
  network.Restart(a.client->id(), SimDuration::Millis(140));
  EXPECT_FALSE(a.client->Call(CreateClaim("down"), 5).has_value());
  a.client->ArmTimer(SimDuration::Millis(1), 6);
  Do(CreateClaim("c5"));
  EXPECT_THAT(Until(149), IsEmpty());
  a.on_restart = [&] {
    const ObjectCache& cache = a.client->cache();
    a.Add(cache.of<Pod>().size(), "+", cache.of<ResourceClaim>().size(), " in the cache");
    // The bucket is full again.
    a.client->Call(CreateClaim("c6"), 7);
    a.client->Call(CreateClaim("c7"), 8);
  };
  EXPECT_THAT(Until(1000),
              ElementsAre("150 a: restart", "150 a: 0+3 in the cache", "170 a: reply 7 200 c6@5",
                          "170 a: reply 8 200 c7@6", "190 a: added c6@5 before none",
                          "190 a: added c7@6 before none"));
  EXPECT_NE(Stored("under-way"), nullptr);
  EXPECT_EQ(Stored("never-made"), nullptr);
  EXPECT_EQ(Stored("down"), nullptr);
}

TEST_F(ApiNetworkTest, RestartsMeanwhile) {
  Recorder& a = Watcher("a", kClaims);
  network.Restart(a.client->id(), SimDuration::Millis(100));
  network.RunUntil(Ms(10));
  network.Restart(a.client->id(), SimDuration::Millis(20));
  EXPECT_THAT(Until(100), ElementsAre("100 a: restart"));
  network.Restart(a.client->id(), SimDuration::Millis(10));
  network.RunUntil(Ms(105));
  network.Restart(a.client->id(), SimDuration::Millis(20));
  EXPECT_THAT(Until(200), ElementsAre("125 a: restart"));
  // From its own handler, at once.
  a.on_watch = [&](const WatchEvent&) {
    network.Restart(a.client->id(), SimDuration());
    a.Add("end of handler");
  };
  Do(CreateClaim("c1"));
  EXPECT_THAT(Until(300), ElementsAre("200 a: added c1@1 before none", "200 a: end of handler",
                                      "200 a: restart"));
}

TEST_F(ApiNetworkTest, BrokenWatch) {
  Recorder& a = Watcher("a", kClaims | kPods, "constant(0.005)");
  for (const absl::string_view name : {"c1", "c2", "c3", "c4"}) Do(CreateClaim(name));
  Do(CreatePod("p1", 0));
  Until(5);
  Relabel("c4", "under way");
  network.BreakWatch(a.client->id(), SimDuration::Millis(100));
  Do(CreatePod("p2", 1));
  Relabel("c3", "x");
  Relabel("c3", "y");
  Do(Named(Verb::kDelete, "c2"));
  Do(Named(Verb::kDelete, "p1", ObjectKind::kPod));
  Do(CreateClaim("c5"));
  Do(CreateClaim("short-lived"));
  Do(Named(Verb::kDelete, "short-lived"));
  // Calls and timers work meanwhile.
  EXPECT_TRUE(a.client->Call(Named(Verb::kGet, "c1"), 0).has_value());
  a.client->ArmTimer(SimDuration::Millis(1), 1);
  EXPECT_THAT(Until(104), ElementsAre("6 a: timer 1", "10 a: modified c4@6 before c4@4"));
  int steps = 0;
  a.on_watch = [&](const WatchEvent&) {
    if (++steps == 1) Relabel("c1", "after the list");
  };
  EXPECT_THAT(Until(200),
              ElementsAre("105 a: deleted c2@2 before c2@2", "105 a: deleted p1@5 before p1@5",
                          "105 a: modified c3@9 before c3@3", "105 a: added p2@7 before none",
                          "105 a: added c5@12 before none", "110 a: modified c1@15 before c1@1"));
}

// The new list waits for what was sent before the break.
TEST_F(ApiNetworkTest, ListDoesNotOvertake) {
  Recorder& a = Watcher("a", kClaims, "constant(0.05)");
  Do(CreateClaim("c1"));
  network.BreakWatch(a.client->id(), SimDuration::Millis(10));
  Relabel("c1", "x");
  network.RunUntil(Ms(20));
  Relabel("c1", "still broken");
  EXPECT_THAT(Until(100),
              ElementsAre("50 a: added c1@1 before none", "50 a: modified c1@3 before c1@1"));
}

TEST_F(ApiNetworkTest, BreaksMeanwhileAndRestarts) {
  Recorder& a = Watcher("a", kClaims);
  network.BreakWatch(a.client->id(), SimDuration::Millis(100));
  Do(CreateClaim("c1"));
  network.RunUntil(Ms(10));
  network.BreakWatch(a.client->id(), SimDuration::Millis(10));
  EXPECT_THAT(Until(99), IsEmpty());
  EXPECT_THAT(Until(100), ElementsAre("100 a: added c1@1 before none"));
  // Restarted, it has listed once; the rest when the watch is whole again.
  network.BreakWatch(a.client->id(), SimDuration::Millis(100));
  network.Restart(a.client->id(), SimDuration::Millis(50));
  Do(CreateClaim("c2"));
  EXPECT_THAT(Until(150), ElementsAre("150 a: restart"));
  EXPECT_EQ(Cached(a, "c2"), Stored("c2"));
  Do(CreateClaim("c3"));
  EXPECT_THAT(Until(250), ElementsAre("200 a: added c3@3 before none"));
  // Down when the watch would list: the restart does.
  network.Restart(a.client->id(), SimDuration::Millis(50));
  network.BreakWatch(a.client->id(), SimDuration::Millis(10));
  Do(CreateClaim("c4"));
  EXPECT_THAT(Until(300), ElementsAre("300 a: restart"));
  Do(CreateClaim("c5"));
  EXPECT_THAT(Until(400), ElementsAre("300 a: added c5@5 before none"));
}

TEST_F(ApiNetworkTest, Messages) {
  constexpr absl::string_view kVerbs[] = {"get",   "create", "update", "status",
                                          "apply", "patch",  "delete", "bind"};
  Lines heard;
  network.set_on_message([&](const ApiMessage& m) {
    heard.push_back(absl::StrCat(m.issued.ns() / 1'000'000, "-", m.done.ns() / 1'000'000, " ",
                                 m.client, " ", kVerbs[static_cast<size_t>(m.verb)], " ",
                                 m.ns.text(), "/", m.name.text(), " ", static_cast<int>(m.code),
                                 " uid ", m.uid, " kind ", static_cast<int>(m.kind),
                                 m.pod.valid() ? absl::StrCat(" pod ", m.pod.value()) : ""));
  });
  ClientOptions options;
  options.write_latency = Latency("constant(0.01)");
  Recorder& a = Connect("a", options);
  const Uid pod = MetaOf(Do(CreatePod("p", 42)).object)->uid;
  Do(CreateClaim("free"));
  a.client->Call(CreateClaim("owned", pod), 1);
  a.client->Call(CreateClaim("owned", 99), 2);
  ApiRequest generated = CreateClaim("", pod);
  generated.generate_name = names.Intern("p-");
  ResourceClaim classless = *As<ResourceClaim>(generated.object);
  classless.spec.class_name = Name();  // not allowed
  generated.object = std::make_shared<const ResourceClaim>(classless);
  a.client->Call(generated, 3);
  network.RunUntil(Ms(10));
  auto reserved = std::make_shared<ResourceClaim>(*Stored("free"));
  reserved->status.driver = names.Intern("driver");
  reserved->status.allocation =
      std::make_shared<Allocation>(Allocation{{}, NodeSet(), true, NodeId(), {}});
  reserved->status.reserved_for = {{names.Intern("pods"), names.Intern("p"), pod}};
  ApiRequest status;
  status.verb = Verb::kUpdateStatus;
  status.kind = ObjectKind::kResourceClaim;
  status.object = Ref<ResourceClaim>(reserved);
  Do(status);
  auto shared = std::make_shared<ResourceClaim>(*reserved);
  shared->status.reserved_for.push_back({names.Intern("pods"), names.Intern("q"), 98});
  status.verb = Verb::kPatchStatus;
  status.part = StatusPart::kAddConsumers;
  status.object = Ref<ResourceClaim>(shared);
  Do(status);
  ApiRequest bind = Named(Verb::kBind, "p", ObjectKind::kPod);
  bind.node = NodeId(3u);
  Do(bind);
  user().client->Call(Named(Verb::kGet, "absent"), 0);
  ApiRequest end = Named(Verb::kDelete, "p", ObjectKind::kPod);
  end.force = true;
  Do(end);
  Do(Named(Verb::kGet, "owned"));
  EXPECT_THAT(heard, ElementsAre("0-0 1 create ns/p 200 uid 1 kind 0 pod 42",
                                 "0-0 1 create ns/free 200 uid 2 kind 2",
                                 "0-10 0 create ns/owned 200 uid 3 kind 2 pod 42",
                                 "0-10 0 create ns/owned 4090 uid 3 kind 2 pod 42",
                                 "0-10 0 create ns/ 422 uid 0 kind 2 pod 42",
                                 "10-10 1 status ns/free 200 uid 2 kind 2 pod 42",
                                 "10-10 1 patch ns/free 200 uid 2 kind 2",
                                 "10-10 1 bind ns/p 200 uid 1 kind 0 pod 42",
                                 "10-10 1 get ns/absent 404 uid 0 kind 2",
                                 "10-10 1 delete ns/p 200 uid 1 kind 0 pod 42",
                                 "10-10 1 get ns/owned 200 uid 3 kind 2"));
}

TEST_F(ApiNetworkTest, Clock) {
  Recorder& a = Connect("a");
  EXPECT_EQ(network.NextTime(), absl::nullopt);
  EXPECT_FALSE(network.Step(Ms(100)));
  a.client->ArmTimer(SimDuration::Millis(10), 1);
  a.client->ArmTimer(SimDuration::Millis(5), 2);
  EXPECT_EQ(network.NextTime(), absl::make_optional(Ms(5)));
  EXPECT_FALSE(network.Step(Ms(4)));
  EXPECT_TRUE(network.Step(Ms(100)));
  EXPECT_EQ(network.now(), Ms(5));
  EXPECT_FALSE(network.RunToRest(Ms(8)));
  EXPECT_EQ(network.now(), Ms(8));
  EXPECT_TRUE(network.RunToRest(Ms(100)));
  EXPECT_EQ(network.now(), Ms(10));
  network.MoveClock(Ms(20));
  EXPECT_EQ(network.now(), Ms(20));
  network.Restart(a.client->id(), SimDuration());
  a.client->ArmTimer(SimDuration::Millis(1), 3);
  EXPECT_TRUE(network.RunToRest(Ms(100)));
  EXPECT_THAT(lines, ElementsAre("5 a: timer 2", "10 a: timer 1", "20 a: restart"));
}

using ApiNetworkDeathTest = ApiNetworkTest;
TEST_F(ApiNetworkDeathTest, Misuse) {
  Recorder& a = Connect("a");
  a.on_timer = [&](uint64_t) { network.RunUntil(Ms(10)); };
  a.client->ArmTimer(SimDuration(), 1);
  EXPECT_DEATH(network.RunUntil(Ms(5)), "CHECK failed");
  EXPECT_DEATH(network.MoveClock(Ms(5)), "CHECK failed") << "the timer is due before";
  EXPECT_DEATH(a.client->ArmTimer(SimDuration(-1), 1), "CHECK failed");
  a.on_timer = [](uint64_t) {};
  network.RunUntil(Ms(5));
  EXPECT_DEATH(network.RunUntil(Ms(4)), "CHECK failed");
}

}  // namespace api_network_test
}  // namespace drasim
