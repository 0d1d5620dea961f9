// Dumps of clusters of 1.29 to 1.34, as kubectl prints them, with the fields that were new in each:
// nothing that changes scheduling passes in silence. Each dump is run under kube-scheduler; the
// pods' places, the warnings, and the effects of changed fields are pinned.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "model/proto/kube.pb.h"
#include "model/proto/scenario.pb.h"
#include "sim/record/pod_log.h"
#include "sim/run/cluster_manifests.h"
#include "sim/run/end_objects.h"
#include "sim/run/simulation.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace kube_dumps_test {

const std::vector<std::string>& Releases() {
  static const auto* const releases =
      new std::vector<std::string>{"1.29", "1.30", "1.31", "1.32", "1.33", "1.34"};
  return *releases;
}

// The end of a run of the cluster, and its written objects.
struct DumpRun {
  explicit DumpRun(const std::string& dump) {
    dir.Write("dump.yaml", dump);
    proto::Scenario scenario;
    scenario.set_mode("replay");
    scenario.mutable_cluster()->add_manifests(dir.PathOf("dump.yaml"));
    scenario.mutable_scheduler()->set_policy("kube-scheduler");
    RunSpec spec = RunSpecOf(scenario);
    spec.KeepObjects();
    absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(std::move(spec));
    if (!built.ok()) {
      outcome = std::string(built.status().message());
      return;
    }
    PodLog log;
    (*built)->AddSink(&log);
    EXPECT_EQ((*built)->Start(), absl::OkStatus());
    EXPECT_EQ((*built)->Run(), absl::OkStatus());
    EXPECT_TRUE(PrepareObjectsDir(dir.PathOf("end"), false).ok());
    EndObjects end(built->get(), &log);
    EXPECT_EQ(end.WriteTo(dir.PathOf("end")), absl::OkStatus());
    outcome = OutcomeOf(dir.Read("end/32-pods.yaml"));
  }

  // "NAME on NODE", "NAME ended (REASON)", "NAME waits: MESSAGE", a line each.
  static std::string OutcomeOf(const std::string& pods) {
    const absl::StatusOr<KubeManifest> read = ReadKubeObjects(pods, "pods.yaml");
    EXPECT_TRUE(read.ok()) << read.status();
    if (!read.ok()) return "";
    std::string text;
    for (const KubeObject& object : read->objects) {
      const proto::kube::Pod& pod = object.object.pod();
      absl::StrAppend(&text, pod.metadata().name());
      std::string message;
      for (const proto::kube::Condition& condition : pod.status().conditions()) {
        if (condition.type() == "PodScheduled") message = condition.message();
      }
      if (absl::EqualsIgnoreCase(pod.status().phase(), "failed")) {
        absl::StrAppend(&text, " ended\n");
      } else if (pod.spec().node_name().empty()) {
        absl::StrAppend(&text, " waits: ", message, "\n");
      } else {
        absl::StrAppend(&text, " on ", pod.spec().node_name(), "\n");
      }
    }
    return text;
  }

  TempDir dir;
  std::string outcome;
};

TEST(KubeDumpsTest, PodsGoWhereTheirReleaseWouldPutThem) {
  for (const std::string& release : Releases()) {
    EXPECT_EQ(DumpRun(TestText(release)).outcome, TestText(release + " outcome")) << release;
  }
}

TEST(KubeDumpsTest, WhatHasNoMeaningHereIsSaid) {
  for (const std::string& release : Releases()) {
    TempDir dir;
    dir.Write("dump.yaml", TestText(release));
    const auto read = ReadClusterManifests({dir.PathOf("dump.yaml")}, /*full_shapes=*/true);
    ASSERT_TRUE(read.ok()) << release << ": " << read.status();
    const std::string warnings = absl::StrReplaceAll(absl::StrJoin(read->warnings, "\n"),
                                                     {{dir.PathOf("dump.yaml"), "DUMP"}});
    EXPECT_EQ(warnings + "\n", TestText(release + " warnings")) << release;
  }
}

// A line is "what stands there => what takes its place". Each changes a place or a reason.
TEST(KubeDumpsTest, ChangedFieldsChangeDecisions) {
  for (const std::string& release : Releases()) {
    const std::string& dump = TestText(release);
    const std::vector<std::string> lines =
        absl::StrSplit(TestText(release + " changes"), '\n', absl::SkipEmpty());
    EXPECT_GE(lines.size(), 3u) << release;
    for (const std::string& line : lines) {
      const std::pair<std::string, std::string> change = absl::StrSplit(line, " => ");
      const size_t at = dump.find(change.first);
      ASSERT_NE(at, std::string::npos) << release << ": " << line;
      std::string changed = dump;
      changed.replace(at, change.first.size(), change.second);
      EXPECT_NE(DumpRun(changed).outcome, TestText(release + " outcome"))
          << release << ": " << line;
    }
  }
}

// The written end is read back as the same state, and written as the same bytes.
TEST(KubeDumpsTest, TheEndReadsBack) {
  for (const std::string& release : Releases()) {
    const DumpRun first(TestText(release));
    proto::Scenario scenario;
    scenario.set_mode("replay");
    scenario.mutable_cluster()->add_manifests(first.dir.PathOf("end"));
    scenario.mutable_scheduler()->set_policy("kube-scheduler");
    RunSpec spec = RunSpecOf(scenario);
    spec.KeepObjects();
    const absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(std::move(spec));
    ASSERT_TRUE(built.ok()) << release << ": " << built.status();
    PodLog log;
    (*built)->AddSink(&log);
    ASSERT_EQ((*built)->Start(), absl::OkStatus());
    ASSERT_EQ((*built)->Run(), absl::OkStatus());
    ASSERT_TRUE(PrepareObjectsDir(first.dir.PathOf("again"), false).ok());
    EndObjects end(built->get(), &log);
    ASSERT_EQ(end.WriteTo(first.dir.PathOf("again")), absl::OkStatus());
    EXPECT_EQ(first.dir.Read("again/32-pods.yaml"), first.dir.Read("end/32-pods.yaml")) << release;
  }
}

}  // namespace kube_dumps_test
}  // namespace drasim
