// An API server and its network around one component under test: what the tests of controllers, of
// the scheduler's plugin and of the kubelets share.
//
// Everybody else's writes are made on the server itself and take no time; they are not among the
// messages.
#ifndef DRASIM_TESTS_SIM_DRA_COMPONENT_RIG_H_
#define DRASIM_TESTS_SIM_DRA_COMPONENT_RIG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"

namespace drasim::component_testing {

// Claims and contexts of the server, in order of creation. Versions are left out.
struct Objects {
  std::vector<ResourceClaim> claims;
  std::vector<PodSchedulingContext> contexts;
  bool operator==(const Objects&) const = default;
};

inline std::string MetaText(const ObjectMeta& meta) {
  std::string text = absl::StrCat(meta.ns.text(), "/", meta.name.text(), " uid ", meta.uid,
                                  " owner ", meta.owner, meta.deleting ? " deleting" : "");
  for (const Name finalizer : meta.finalizers) absl::StrAppend(&text, " +", finalizer.text());
  return text;
}

// A client whose calls and watches take these times, in seconds; 0: none.
inline ClientOptions ClientWith(absl::string_view name, uint32_t watches, double read, double write,
                                double watch) {
  ClientOptions client;
  client.name = std::string(name);
  client.watches = watches;
  if (read > 0) client.read_latency = Distribution::Constant(read).value();
  if (write > 0) client.write_latency = Distribution::Constant(write).value();
  if (watch > 0) client.watch_latency = Distribution::Constant(watch).value();
  return client;
}

class ComponentRig {
 public:
  explicit ComponentRig(uint64_t seed = 1) : network_(&names_, seed) {
    network_.set_on_message([this](const ApiMessage& message) {
      messages_.push_back(absl::StrCat(CallText(message.verb, message.kind), " ",
                                       message.name.text(), " ", static_cast<int>(message.code)));
    });
  }
  ComponentRig(const ComponentRig&) = delete;
  ComponentRig& operator=(const ComponentRig&) = delete;

  NamePool& names() { return names_; }
  ApiNetwork& network() { return network_; }
  const ObjectCache& objects() const { return network_.server().objects(); }
  Name In(absl::string_view text) { return names_.Intern(text); }
  void RunMillis(int64_t ms) { network_.RunUntil(network_.now() + SimDuration::Millis(ms)); }

  // Straight into the server.
  ApiReply Do(const ApiRequest& request) {
    ApiReply reply = network_.server().Handle(request);
    EXPECT_TRUE(reply.ok()) << CallText(request.verb, request.kind) << ": " << reply.message;
    return reply;
  }
  ApiReply Do(Verb verb, ObjectRef object, StatusPart part = StatusPart::kNone) {
    ApiRequest request;
    request.verb = verb;
    request.part = part;
    request.kind = KindOf(object);
    request.object = std::move(object);
    return Do(request);
  }
  template <typename T>
  Ref<T> Send(Verb verb, T object) {
    return As<T>(Do(verb, ObjectRef(Ref<T>(std::make_shared<const T>(std::move(object))))).object);
  }
  void Delete(ObjectKind kind, Name ns, Name name, bool force = false) {
    ApiRequest request;
    request.verb = Verb::kDelete;
    request.kind = kind;
    request.ns = ns;
    request.name = name;
    request.force = force;
    Do(request);
  }

  Objects Snapshot() const {
    Objects found;
    for (const auto& claim : objects().of<ResourceClaim>().Sorted()) {
      found.claims.push_back(*claim);
      found.claims.back().meta.version = 0;
    }
    for (const auto& context : objects().of<PodSchedulingContext>().Sorted()) {
      found.contexts.push_back(*context);
      found.contexts.back().meta.version = 0;
    }
    return found;
  }
  // The calls since the last time: "PUT resourceclaims/status claim 200".
  std::vector<std::string> TakeMessages() { return std::exchange(messages_, {}); }

 private:
  NamePool names_;
  ApiNetwork network_;
  std::vector<std::string> messages_;
};

}  // namespace drasim::component_testing

#endif  // DRASIM_TESTS_SIM_DRA_COMPONENT_RIG_H_
