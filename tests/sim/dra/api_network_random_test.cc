// The network against a naive model of time: random components do the same on both, call by call,
// with every kind of latency, limit and fault, and must see and hear the same.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "tests/sim/dra/naive_network.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace api_network_random_test {

using Lines = std::vector<std::string>;
using naive_network::FindIn;
using naive_network::NaiveClient;
using naive_network::NaiveNetwork;
using naive_network::Objects;
using naive_network::Wire;
constexpr ObjectKind kWatchable[] = {ObjectKind::kPod, ObjectKind::kResourceClaim};

std::string StateText(const ObjectRef& object) {
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
  absl::optional<ApiReply> Call(ApiRequest request, uint64_t token) override {
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
    Add("watch ", static_cast<int>(event.type), " ", StateText(event.object), " before ",
        StateText(event.before));
    const ObjectMeta& meta = *MetaOf(event.object);
    Add("cached ", StateText(wire_->Find(event.kind(), meta.ns, meta.name)));
    Act(1, 3);
  }
  void OnReply(uint64_t token, const ApiReply& reply) override {
    Add("reply ", token, " ", static_cast<int>(reply.code), " ", StateText(reply.object));
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
    for (const ObjectRef& object : wire_->Cached()) absl::StrAppend(&text, " ", StateText(object));
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
      const absl::optional<ApiReply> reply = wire_->Call(RandomRequest(), ++token_);
      if (!reply.has_value()) continue;
      Add("at once ", token_, " ", static_cast<int>(reply->code), " ", StateText(reply->object));
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
  const auto latency = [&]() -> absl::optional<Distribution> {
    const std::string text = kLatencies[random.Below(5)];
    if (text.empty()) return absl::nullopt;
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
    const absl::optional<SimTime> next = network.NextTime();
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

// Where the lists part, with some lines before.
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

}  // namespace api_network_random_test
}  // namespace drasim
