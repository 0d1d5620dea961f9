// The parts of shapes that plugins of kube-scheduler read survive a ledger; shapes without them
// take no byte more.
#include "sim/record/ledger_shapes.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/pod_shape.h"
#include "model/proto/ledger.pb.h"

namespace drasim {
namespace ledger_shapes_test {

LabelSelector SelectorOfApp(const std::string& app) {
  LabelSelector selector;
  selector.given = true;
  selector.requirements = {{"app", SelectorOperator::kNotIn, {app, "b"}},
                           {"tier", SelectorOperator::kDoesNotExist, {}}};
  return selector;
}

AffinityTerm TermOf(const std::string& key) {
  AffinityTerm term = {key, SelectorOfApp("x"), {"one", "two"}, {}};
  term.namespace_selector.given = true;
  return term;
}

// Through the bytes of a ledger. The caller has written node_terms, as the writer does.
PodShape ThroughLedger(const PodShape& shape) {
  proto::LedgerShape written;
  for (size_t i = 0; i < shape.constraints.node_terms.size(); ++i) written.add_node_terms();
  AddKubeShape(shape, &written);
  proto::LedgerShape read;
  EXPECT_TRUE(read.ParseFromString(written.SerializeAsString()));
  EXPECT_TRUE(IsSoundKubeShape(read));
  PodShape back;
  back.constraints.node_terms.resize(shape.constraints.node_terms.size());
  SetKubeShape(read, &back);
  return back;
}

TEST(LedgerShapesTest, EachPartComesBackAlone) {
  const std::vector<std::pair<std::string, std::function<void(PodShape*)>>> parts = {
      {"scored",
       [](PodShape* s) {
         s->scored = {true, 100, 200, 300, 400, {{"a.com/x", 5}, {"hugepages-2Mi", 6}}};
       }},
      {"scored nothing", [](PodShape* s) { s->scored.given = true; }},
      {"spread",
       [](PodShape* s) {
         s->topology.spread = {{2, "zone", false, SelectorOfApp("a"), 3, false, true},
                               {1, "host", true, LabelSelector(), 1, true, false}};
       }},
      {"broken selector",
       [](PodShape* s) {
         s->topology.spread.resize(1);
         s->topology.spread[0].selector.given = true;
         s->topology.spread[0].selector.error = "bad";
       }},
      {"affinity",
       [](PodShape* s) {
         s->topology.affinity = {TermOf("a"), TermOf("b")};
       }},
      {"anti-affinity", [](PodShape* s) { s->topology.anti_affinity = {TermOf("a")}; }},
      {"preferred affinity",
       [](PodShape* s) {
         s->topology.preferred_affinity = {{7, TermOf("a")}, {9, TermOf("b")}};
       }},
      {"preferred anti-affinity",
       [](PodShape* s) {
         s->topology.preferred_anti_affinity = {{100, TermOf("c")}};
       }},
      {"claim",
       [](PodShape* s) {
         PodVolume volume;
         volume.has_claim = true;
         volume.claim = "data";
         volume.ephemeral = true;
         volume.pod_name = "p";
         volume.pod_uid = "u";
         s->volumes.volumes = {volume};
       }},
      {"source",
       [](PodShape* s) {
         PodVolume volume;
         volume.source = {VolumeSource::Kind::kRbd, "d", "image", "pool", {"m1", "m2"}, true};
         s->volumes.volumes = {volume, PodVolume()};
       }},
      {"identity",
       [](PodShape* s) {
         s->identity = {"ns", {{"a", "b"}, {"c", ""}}, "ReplicaSet", "rs", "mine", true, true};
       }},
      {"empty sections",
       [](PodShape* s) {
         s->constraints.gives_node_selector = true;
         s->constraints.requires_node_terms = true;
         s->constraints.prefers_nodes = true;
       }},
      {"preferred nodes",
       [](PodShape* s) {
         NodeTerm term;
         term.requirements = {{true, "metadata.name", NodeOperator::kNotIn, {"n1"}}};
         s->constraints.preferred_nodes = {{5, term}, {6, NodeTerm{{}, "broken"}}};
       }},
      {"errors of required nodes",
       [](PodShape* s) {
         s->constraints.node_terms = {NodeTerm(), NodeTerm{{}, "broken"}};
       }},
      {"node name", [](PodShape* s) { s->constraints.node_name = "n1"; }},
      {"gates",
       [](PodShape* s) {
         s->constraints.gates = {"a", "b"};
       }},
      {"ports",
       [](PodShape* s) {
         s->constraints.host_ports = {{"10.0.0.1", "UDP", 53}, HostPort()};
       }},
      {"images",
       [](PodShape* s) {
         s->constraints.images = {"a:1", "b:latest"};
       }},
      {"images of volumes", [](PodShape* s) { s->constraints.volume_images = {"model:1"}; }},
  };
  PodShape all;
  for (const auto& [name, set] : parts) {
    PodShape shape;
    set(&shape);
    EXPECT_EQ(ThroughLedger(shape), shape) << name;
    set(&all);
  }
  EXPECT_EQ(ThroughLedger(all), all);
}

TEST(LedgerShapesTest, AShapeWithoutThemTakesNoByte) {
  PodShape shape;
  shape.request.cpu_milli = 5;
  shape.constraints.node_terms.resize(2);
  proto::LedgerShape written;
  AddKubeShape(shape, &written);
  EXPECT_EQ(written.ByteSizeLong(), 0U);
  PodShape back;
  SetKubeShape(written, &back);
  EXPECT_EQ(back, PodShape());
}

TEST(LedgerShapesTest, NumbersBeyondTheirTypesAreUnsound) {
  const auto sound = [](const std::function<void(proto::LedgerKubeShape*)>& change) {
    proto::LedgerShape shape;
    shape.add_node_terms();
    change(shape.mutable_kube());
    return IsSoundKubeShape(shape);
  };
  EXPECT_TRUE(sound([](proto::LedgerKubeShape*) {}));
  EXPECT_TRUE(sound([](proto::LedgerKubeShape* kube) { kube->add_node_term_errors("e"); }));
  EXPECT_FALSE(sound([](proto::LedgerKubeShape* kube) {
    kube->add_node_term_errors("e");
    kube->add_node_term_errors("e");
  }));
  EXPECT_TRUE(sound([](proto::LedgerKubeShape* kube) {
    kube->add_spread()->mutable_selector()->add_requirements()->set_op(3);
  }));
  EXPECT_FALSE(sound([](proto::LedgerKubeShape* kube) {
    kube->add_spread()->mutable_selector()->add_requirements()->set_op(4);
  }));
  EXPECT_FALSE(sound([](proto::LedgerKubeShape* kube) {
    kube->add_affinity()->mutable_selector()->add_requirements()->set_op(4);
  }));
  EXPECT_FALSE(sound([](proto::LedgerKubeShape* kube) {
    kube->add_affinity()->mutable_namespace_selector()->add_requirements()->set_op(4);
  }));
  EXPECT_FALSE(sound([](proto::LedgerKubeShape* kube) {
    kube->add_preferred_nodes()->mutable_term()->add_requirements()->set_op(6);
  }));
  EXPECT_TRUE(sound([](proto::LedgerKubeShape* kube) { kube->add_volumes()->set_kind(11); }));
  EXPECT_FALSE(sound([](proto::LedgerKubeShape* kube) { kube->add_volumes()->set_kind(12); }));
}

}  // namespace ledger_shapes_test
}  // namespace drasim
