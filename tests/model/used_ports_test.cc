#include "model/used_ports.h"

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace {

using Ports = std::vector<HostPort>;

const HostPort kWeb = {"0.0.0.0", "TCP", 80};
const HostPort kDns = {"10.0.0.1", "UDP", 53};

std::string UsedText(absl::Span<const HostPort> ports) {
  return absl::StrJoin(ports, " ", [](std::string* out, const HostPort& port) {
    absl::StrAppend(out, port.ip, "/", port.protocol, "/", port.port);
  });
}

TEST(UsedPortsTest, ConflictsAreSymmetric) {
  const HostPort local = {"10.0.0.1", "TCP", 80};
  const HostPort other = {"10.0.0.2", "TCP", 80};
  for (const auto& [a, b, conflict] :
       {std::tuple{kWeb, kWeb, true}, std::tuple{kWeb, local, true}, std::tuple{local, local, true},
        std::tuple{local, other, false}, std::tuple{kWeb, kDns, false},
        std::tuple{kWeb, HostPort{"0.0.0.0", "UDP", 80}, false},
        std::tuple{kWeb, HostPort{"0.0.0.0", "TCP", 81}, false}}) {
    EXPECT_EQ(PortsConflict(a, b), conflict) << UsedText({a, b});
    EXPECT_EQ(PortsConflict(b, a), conflict) << UsedText({a, b});
  }
  EXPECT_TRUE(AnyPortConflicts(Ports{kDns, local}, Ports{kWeb}));
  EXPECT_FALSE(AnyPortConflicts(Ports{kDns, local}, Ports{other}));
  EXPECT_FALSE(AnyPortConflicts(Ports{}, Ports{kWeb}));
}

TEST(UsedPortsTest, TheFirstHolderToLeaveFreesThePort) {
  UsedPorts used;
  const NodeId node(size_t{3});
  used.Add(node, Ports{kWeb, kWeb});
  used.Add(node, Ports{kDns, kWeb});
  EXPECT_EQ(UsedText(used.On(node)), "0.0.0.0/TCP/80 10.0.0.1/UDP/53");
  used.Remove(node, Ports{kWeb});
  EXPECT_EQ(UsedText(used.On(node)), "10.0.0.1/UDP/53");
  used.Remove(node, Ports{kDns, kWeb});
  EXPECT_EQ(UsedText(used.On(node)), "");
  EXPECT_EQ(UsedText(used.On(NodeId(size_t{0}))), "");
}

TEST(UsedPortsTest, RollbackRestoresTheSets) {
  UsedPorts used;
  const NodeId node(size_t{0});
  used.Add(node, Ports{kWeb});
  used.BeginWhatIf();
  used.Add(node, Ports{kWeb});
  used.Remove(node, Ports{kWeb});
  used.BeginWhatIf();
  used.Add(node, Ports{kDns});
  EXPECT_EQ(UsedText(used.On(node)), "10.0.0.1/UDP/53");
  used.Rollback();
  EXPECT_EQ(UsedText(used.On(node)), "");
  used.BeginWhatIf();
  used.Add(node, Ports{kDns});
  used.KeepWhatIf();
  EXPECT_EQ(UsedText(used.On(node)), "10.0.0.1/UDP/53");
  used.Rollback();
  EXPECT_EQ(UsedText(used.On(node)), "0.0.0.0/TCP/80");
}

// ---- Kept by ClusterState ----

TEST(UsedPortsTest, PodsTakeAndFreeThePortsOfTheirNode) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(TestNode("n", 1000, 0));
  PodShape shape = TestShape(1, 0);
  shape.constraints.host_ports = {kWeb};
  const ShapeId web = builder.AddShape(shape);
  ClusterState& cluster = builder.cluster();
  const PodId first = builder.Place(web, node);
  const PodId second = builder.Place(web, node);
  EXPECT_EQ(UsedText(cluster.used_ports(node)), "0.0.0.0/TCP/80");
  cluster.BeginWhatIf();
  cluster.Evict(first);
  EXPECT_EQ(UsedText(cluster.used_ports(node)), "");
  cluster.Rollback();
  EXPECT_EQ(UsedText(cluster.used_ports(node)), "0.0.0.0/TCP/80");
  cluster.Finish(first);
  EXPECT_EQ(UsedText(cluster.used_ports(node)), "");
  // Undoing gives back what was there, not what its pods ask for.
  cluster.BeginWhatIf();
  cluster.Evict(second);
  cluster.Rollback();
  EXPECT_EQ(UsedText(cluster.used_ports(node)), "");
}

}  // namespace
}  // namespace drasim
