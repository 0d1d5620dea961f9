// Virtual time between the server and its clients, by hand: when calls are answered and changes
// told, in which order, what caches hold then, and what faults do; and random components against a
// naive model. Times in lists are milliseconds.
#include "sim/dra/api/api_network.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"
#include "tests/sim/dra/api/naive_network.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace api_network_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

constexpr uint32_t kClaims = WatchBit(ObjectKind::kResourceClaim);
constexpr uint32_t kPods = WatchBit(ObjectKind::kPod);

SimTime Ms(int64_t ms) { return SimTime() + SimDuration::Millis(ms); }

std::optional<Distribution> Latency(absl::string_view text) { return *Distribution::Parse(text); }

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
    std::optional<ApiReply> reply = user().client->Call(request, 0);
    EXPECT_TRUE(reply.has_value());
    EXPECT_TRUE(reply->ok()) << reply->message;
    return *reply;
  }
  void Relabel(absl::string_view name, const std::string& value) { Do(Label(Stored(name), value)); }
  // The notifications until then, since the last call.
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
  const std::optional<ApiReply> reply = a.client->Call(CreateClaim("c1"), 7);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(StateText(reply->object), "c1@1");
  EXPECT_EQ(Cached(a, "c1"), nullptr) << "its own watch comes later";
  EXPECT_EQ(network.NextTime(), std::make_optional(SimTime()));
  EXPECT_THAT(Until(0), ElementsAre("0 a: added c1@1 before none"));
  EXPECT_EQ(Cached(a, "c1"), Stored("c1"));
  EXPECT_EQ(network.NextTime(), std::nullopt);
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
      std::make_shared<Allocation>(Allocation{{}, NodeSet(), true, NodeId(), {}, {}});
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
  EXPECT_EQ(network.NextTime(), std::nullopt);
  EXPECT_FALSE(network.Step(Ms(100)));
  a.client->ArmTimer(SimDuration::Millis(10), 1);
  a.client->ArmTimer(SimDuration::Millis(5), 2);
  EXPECT_EQ(network.NextTime(), std::make_optional(Ms(5)));
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
using naive_network::FindIn;
using naive_network::NaiveClient;
using naive_network::NaiveNetwork;
using naive_network::Objects;
using naive_network::Wire;
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

// ---- The network against a naive model of time: random components make the same calls on both,
// with every kind of latency, limit and fault, and must see and hear the same. ----

constexpr ObjectKind kWatchable[] = {ObjectKind::kPod, ObjectKind::kResourceClaim};

std::string VersionText(const ObjectRef& object) {
  const ObjectMeta* meta = MetaOf(object);
  if (meta == nullptr) return "none";
  return absl::StrCat(object.index(), "/", meta->name.text(), "#", meta->uid, "@", meta->version);
}

std::string MessageText(const ApiMessage& m) {
  return absl::StrCat(m.issued.ns(), "-", m.done.ns(), " client ", m.client, " verb ",
                      static_cast<int>(m.verb), " ", static_cast<size_t>(m.kind), "/",
                      m.name.text(), "#", m.uid, " ", static_cast<int>(m.code), " pod ",
                      m.pod.value());
}

// --- The components: the same on both. ---

class RealWire : public Wire {
 public:
  explicit RealWire(ApiClient* client) : client_(client) {}
  std::optional<ApiReply> Call(ApiRequest request, uint64_t token) override {
    return client_->Call(std::move(request), token);
  }
  void ArmTimer(SimDuration after, uint64_t token) override { client_->ArmTimer(after, token); }
  void Remember(const ObjectRef& object) override { client_->Remember(object); }
  ObjectRef Find(ObjectKind kind, Name ns, Name name) const override {
    return FindIn(client_->cache(), kind, ns, name);
  }
  std::vector<ObjectRef> Cached() const override {
    return Objects(client_->cache(), client_->options().watches);
  }
  SimTime now() const override { return client_->now(); }

 private:
  ApiClient* client_;
};

class RandomActor : public Actor {
 public:
  RandomActor(uint64_t seed, const ClientOptions& options, NamePool* names, Lines* lines)
      : name_(options.name),
        watches_(options.watches),
        names_(names),
        lines_(lines),
        random_(seed, absl::StrCat("actor ", options.name)) {}
  void set_wire(Wire* wire) { wire_ = wire; }

  void OnWatch(const WatchEvent& event) override {
    Add("watch ", static_cast<int>(event.type), " ", VersionText(event.object), " before ",
        VersionText(event.before));
    const ObjectMeta& meta = *MetaOf(event.object);
    Add("cached ", VersionText(wire_->Find(event.kind(), meta.ns, meta.name)));
    Act(1, 3);
  }
  void OnReply(uint64_t token, const ApiReply& reply) override {
    Add("reply ", token, " ", static_cast<int>(reply.code), " ", VersionText(reply.object));
    MaybeRemember(reply);
    Act(1, 2);
  }
  void OnTimer(uint64_t token) override {
    Add("timer ", token);
    Act(1, 1);
  }
  void OnRestart() override {
    Add("restart");
    AddCache();
    Act(1, 1);
  }
  void AddCache() {
    std::string text;
    for (const ObjectRef& object : wire_->Cached())
      absl::StrAppend(&text, " ", VersionText(object));
    lines_->push_back(absl::StrCat(name_, " has", text));
  }
  // With this chance, one to three things, while there is something left to do.
  void Act(uint64_t chance, uint64_t of) {
    if (!random_.Bernoulli(chance, of)) return;
    for (uint64_t n = 1 + random_.Below(3); n > 0 && budget_ > 0; --n) {
      --budget_;
      if (random_.Bernoulli(1, 4)) {
        wire_->ArmTimer(SimDuration::Millis(static_cast<int64_t>(random_.Below(4))), ++token_);
        continue;
      }
      const std::optional<ApiReply> reply = wire_->Call(RandomRequest(), ++token_);
      if (!reply.has_value()) continue;
      Add("at once ", token_, " ", static_cast<int>(reply->code), " ", VersionText(reply->object));
      MaybeRemember(*reply);
    }
  }

 private:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    lines_->push_back(absl::StrCat(wire_->now().ns(), " ", name_, ": ", parts...));
  }
  void MaybeRemember(const ApiReply& reply) {
    if (!reply.ok() || (watches_ & WatchBit(KindOf(reply.object))) == 0) return;
    if (random_.Bernoulli(1, 2)) wire_->Remember(reply.object);
  }
  ApiRequest RandomRequest() {
    constexpr Verb kVerbs[] = {Verb::kGet,   Verb::kCreate, Verb::kCreate, Verb::kUpdate,
                               Verb::kApply, Verb::kDelete, Verb::kBind};
    ApiRequest request;
    request.kind = kWatchable[random_.Below(2)];
    request.verb = kVerbs[random_.Below(request.kind == ObjectKind::kPod ? 7 : 6)];
    request.ns = names_->Intern("ns");
    request.name = names_->Intern(absl::StrCat("n", random_.Below(4)));
    request.node = NodeId(random_.Below(3));
    request.force = random_.Bernoulli(1, 2);
    const ObjectRef known = wire_->Find(request.kind, request.ns, request.name);
    if (request.kind == ObjectKind::kPod) {
      SetObject(As<Pod>(known), &request);
    } else {
      SetObject(As<ResourceClaim>(known), &request);
    }
    return request;
  }
  template <typename T>
  void SetObject(const Ref<T>& known, ApiRequest* request) {
    const bool writes = request->verb == Verb::kCreate || request->verb == Verb::kUpdate ||
                        request->verb == Verb::kApply;
    if (!writes) return;
    auto next = known == nullptr || request->verb == Verb::kCreate ? std::make_shared<T>()
                                                                   : std::make_shared<T>(*known);
    next->meta.ns = request->ns;
    next->meta.name = request->name;
    const bool created = request->verb == Verb::kCreate;
    if constexpr (std::is_same_v<T, Pod>) {
      if (created) next->row = PodId(random_.Below(1000));
      next->meta.finalizers.clear();
      if (random_.Bernoulli(1, 3)) next->meta.finalizers.push_back(names_->Intern("f"));
    } else {
      if (created) next->meta.owner = random_.Below(20);
      next->spec.class_name = names_->Intern("class");
      next->labels = {{"label", absl::StrCat(random_.Below(3))}};
    }
    request->object = Ref<T>(std::move(next));
  }

  std::string name_;
  uint32_t watches_;
  NamePool* names_;
  Lines* lines_;
  Wire* wire_ = nullptr;
  Random random_;
  int budget_ = 120;
  uint64_t token_ = 0;
};

class Listener : public Actor {
 public:
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t, const ApiReply&) override {}
  void OnTimer(uint64_t) override {}
};

std::vector<ClientOptions> RandomClients(Random& random) {
  constexpr const char* kLatencies[] = {
      "", "", "constant(0.001)", "discrete(0:1,0.001:2,0.004:1)", "exponential(mean=0.002)",
  };
  const auto latency = [&]() -> std::optional<Distribution> {
    const std::string text = kLatencies[random.Below(5)];
    if (text.empty()) return std::nullopt;
    return *Distribution::Parse(text);
  };
  std::vector<ClientOptions> clients(2 + random.Below(3));
  for (size_t i = 0; i < clients.size(); ++i) {
    ClientOptions& options = clients[i];
    options.name = absl::StrCat("client-", i);
    options.read_latency = latency();
    options.write_latency = latency();
    options.watch_latency = latency();
    for (const ObjectKind kind : kWatchable) {
      if (random.Bernoulli(3, 4)) options.watches |= WatchBit(kind);
    }
    if (random.Bernoulli(1, 2)) {
      options.qps = 500;
      options.burst = static_cast<int64_t>(1 + random.Below(4));
    }
  }
  return clients;
}

struct Fault {
  SimTime at;
  ClientId client = 0;
  bool restart = false;
  SimDuration length;
};

std::vector<Fault> RandomFaults(size_t clients, Random& random) {
  std::vector<Fault> faults(random.Below(12));
  SimTime at;
  for (Fault& fault : faults) {
    at = at + SimDuration::Millis(static_cast<int64_t>(random.Below(8)));
    fault.at = at;
    fault.client = static_cast<ClientId>(random.Below(clients));
    fault.restart = random.Bernoulli(1, 2);
    fault.length = SimDuration::Millis(static_cast<int64_t>(random.Below(10)));
  }
  return faults;
}

constexpr SimTime kEnd(1000 * kSecondNs);

// Everything that was told and heard.
Lines RunOnNetwork(uint64_t seed, bool add_bystander) {
  Random random(seed, "network test");
  const std::vector<ClientOptions> options = RandomClients(random);
  Lines lines;
  NamePool names;
  std::vector<std::unique_ptr<RandomActor>> actors;
  std::vector<std::unique_ptr<RealWire>> wires;
  ApiNetwork network(&names, seed);
  network.set_on_message([&](const ApiMessage& m) { lines.push_back(MessageText(m)); });
  for (const ClientOptions& client : options) {
    actors.push_back(std::make_unique<RandomActor>(seed, client, &names, &lines));
    wires.push_back(std::make_unique<RealWire>(network.Connect(client, actors.back().get())));
    actors.back()->set_wire(wires.back().get());
  }
  ClientOptions bystander;
  bystander.name = "bystander";
  bystander.watch_latency = *Distribution::Parse("uniform(low=0,high=1)");
  bystander.watches = kWatchAll;
  Listener listener;
  if (add_bystander) network.Connect(bystander, &listener);
  const auto check_order = [&] {
    const std::optional<SimTime> next = network.NextTime();
    EXPECT_TRUE(!next.has_value() || *next >= network.now()) << "seed " << seed;
  };
  for (const auto& actor : actors) actor->Act(1, 1);
  for (const Fault& fault : RandomFaults(options.size(), random)) {
    while (network.Step(fault.at)) check_order();
    network.RunUntil(fault.at);
    if (fault.restart) {
      network.Restart(fault.client, fault.length);
    } else {
      network.BreakWatch(fault.client, fault.length);
    }
    actors[(fault.client + 1u) % actors.size()]->Act(1, 2);
  }
  EXPECT_TRUE(network.RunToRest(kEnd)) << "seed " << seed;
  for (size_t i = 0; i < actors.size(); ++i) {
    actors[i]->AddCache();
    EXPECT_EQ(wires[i]->Cached(), Objects(network.server().objects(), options[i].watches))
        << "seed " << seed << ": at rest, client " << i << " does not see what there is";
  }
  return lines;
}

Lines RunOnModel(uint64_t seed) {
  Random random(seed, "network test");
  const std::vector<ClientOptions> options = RandomClients(random);
  Lines lines;
  NamePool names;
  std::vector<std::unique_ptr<RandomActor>> actors;
  NaiveNetwork network(&names, seed);
  network.hear = [&](const ApiMessage& m) { lines.push_back(MessageText(m)); };
  for (const ClientOptions& client : options) {
    actors.push_back(std::make_unique<RandomActor>(seed, client, &names, &lines));
    network.clients.push_back(std::make_unique<NaiveClient>(&network, client, actors.back().get()));
    actors.back()->set_wire(network.clients.back().get());
  }
  for (const auto& actor : actors) actor->Act(1, 1);
  for (const Fault& fault : RandomFaults(options.size(), random)) {
    while (network.Step(fault.at)) {
    }
    network.now = fault.at;
    NaiveClient& client = *network.clients[fault.client];
    if (fault.restart) {
      client.Restart(fault.length);
    } else {
      client.BreakWatch(fault.length);
    }
    actors[(fault.client + 1u) % actors.size()]->Act(1, 2);
  }
  while (network.Step(kEnd)) {
  }
  for (const auto& actor : actors) actor->AddCache();
  return lines;
}

// The first difference of the lists, with some lines before it.
std::string Difference(const Lines& a, const Lines& b) {
  const size_t same = static_cast<size_t>(
      std::distance(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first));
  if (same == a.size() && same == b.size()) return "";
  std::string text = absl::StrCat("after ", same, " lines:\n");
  for (size_t i = same - std::min<size_t>(same, 15); i < same; ++i) {
    absl::StrAppend(&text, "    ", a[i], "\n");
  }
  const auto tail = [&](const char* mark, const Lines& lines) {
    for (size_t i = same; i < std::min(lines.size(), same + 5); ++i) {
      absl::StrAppend(&text, mark, lines[i], "\n");
    }
  };
  tail("  - ", a);
  tail("  + ", b);
  return text;
}

TEST(ApiNetworkRandomTest, SameAsTheModel) {
  size_t lines = 0;
  for (uint64_t seed = 0; seed < SoakSeeds(50); ++seed) {
    const Lines network = RunOnNetwork(seed, /*add_bystander=*/false);
    ASSERT_EQ(Difference(RunOnModel(seed), network), "") << "seed " << seed;
    lines += network.size();
  }
  EXPECT_GT(lines, 10'000u) << "the scenarios do not do much";
}

TEST(ApiNetworkRandomTest, SameEveryTime) {
  for (uint64_t seed = 0; seed < SoakSeeds(10); ++seed) {
    ASSERT_EQ(Difference(RunOnNetwork(seed, false), RunOnNetwork(seed, false)), "")
        << "seed " << seed;
  }
}

// One more client that only listens changes nothing for the others.
TEST(ApiNetworkRandomTest, BystandersChangeNothing) {
  for (uint64_t seed = 0; seed < SoakSeeds(20); ++seed) {
    ASSERT_EQ(Difference(RunOnNetwork(seed, false), RunOnNetwork(seed, true)), "")
        << "seed " << seed;
  }
}

}  // namespace api_network_test
}  // namespace drasim
