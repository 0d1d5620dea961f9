// A cluster as `kubectl get nodes,pods -A -o yaml` prints it: pools with labels, taints and images,
// and pods of many apps with affinity, spread constraints and tolerations, some of them waiting.
#ifndef DRASIM_TESTS_SIM_EXPLAIN_BIG_DUMP_H_
#define DRASIM_TESTS_SIM_EXPLAIN_BIG_DUMP_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace drasim::explain_rig {

inline std::string BigDumpNode(int i) {
  constexpr const char* kPools[] = {"gpu", "cpu", "mem", "infra"};
  const bool gpu = i % 4 == 0;
  const std::string name = absl::StrFormat("node-%05d", i);
  const std::string amounts = absl::StrCat(
      "      cpu: \"", i % 4 == 1 ? 32 : 64, "\"\n      ephemeral-storage: 500Gi\n",
      "      memory: 256Gi\n", gpu ? "      nvidia.com/gpu: \"8\"\n" : "", "      pods: \"110\"\n");
  return absl::StrCat(
      "- apiVersion: v1\n  kind: Node\n  metadata:\n    annotations:\n",
      "      node.alpha.kubernetes.io/ttl: \"0\"\n    creationTimestamp: "
      "\"2024-05-01T00:00:00Z\"\n",
      "    labels:\n      kubernetes.io/arch: amd64\n      kubernetes.io/hostname: ", name,
      "\n      kubernetes.io/os: linux\n      pool: ", kPools[i % 4],
      "\n      topology.kubernetes.io/region: r1\n      topology.kubernetes.io/zone: r1-", i % 3,
      "\n    name: ", name, "\n    resourceVersion: \"", i, "\"\n  spec:\n    podCIDR: 10.",
      i / 250, ".", i % 250, ".0/24\n",
      gpu ? "    taints:\n    - effect: NoSchedule\n      key: nvidia.com/gpu\n      value: "
            "present\n"
          : "",
      i % 50 == 7 ? "    unschedulable: true\n" : "", "  status:\n    allocatable:\n", amounts,
      "    capacity:\n", amounts,
      "    conditions:\n    - lastHeartbeatTime: \"2024-05-01T00:00:00Z\"\n      message: kubelet "
      "is "
      "posting ready status\n      reason: KubeletReady\n      status: \"True\"\n      type: "
      "Ready\n",
      "    images:\n    - names:\n      - registry.example.com/app", i % 20, ":1\n",
      "      sizeBytes: 300000000\n");
}

inline std::string BigDumpPod(int p, int nodes, bool waits) {
  const int app = p % 200;
  const bool gpu = p % 9 == 0;
  const int on = p * 7 % nodes;
  std::string affinity;
  if (app % 5 == 1) {
    absl::StrAppend(
        &affinity,
        "      podAntiAffinity:\n        requiredDuringSchedulingIgnoredDuringExecution:\n"
        "        - labelSelector:\n            matchLabels:\n              app: app",
        app, "\n          topologyKey: kubernetes.io/hostname\n");
  }
  if (app % 7 == 2) {
    absl::StrAppend(&affinity,
                    "      nodeAffinity:\n        requiredDuringSchedulingIgnoredDuringExecution:\n"
                    "          nodeSelectorTerms:\n          - matchExpressions:\n"
                    "            - key: pool\n              operator: In\n              values:\n"
                    "              - cpu\n              - infra\n");
  }
  std::string text = absl::StrCat(
      "- apiVersion: v1\n  kind: Pod\n  metadata:\n    creationTimestamp: "
      "\"2024-05-02T00:00:00Z\"\n"
      "    labels:\n      app: app",
      app, "\n      pod-template-hash: h", app, "\n    name: app", app, "-", p,
      "\n    namespace: ns", app % 25,
      "\n    ownerReferences:\n    - apiVersion: apps/v1\n      controller: true\n      kind: "
      "ReplicaSet\n      name: app",
      app, "\n      uid: u-", app, "\n    uid: u-", app, "-", p, "\n  spec:\n",
      affinity.empty() ? "" : "    affinity:\n", affinity,
      "    containers:\n    - env:\n      - name: A\n        value: b\n      image: "
      "registry.example.com/app",
      app % 20, ":1\n      imagePullPolicy: IfNotPresent\n",
      "      name: main\n      resources:\n        limits:\n",
      gpu ? "          nvidia.com/gpu: \"1\"\n" : "", "          memory: 2Gi\n        requests:\n",
      "          cpu: ", waits && p % 3 == 0 ? "60" : "1500m", "\n          memory: 2Gi\n",
      gpu ? "          nvidia.com/gpu: \"1\"\n" : "",
      "      terminationMessagePath: /dev/termination-log\n      volumeMounts:\n      - mountPath: "
      "/var/run/secrets\n        name: kube-api-access\n        readOnly: true\n    dnsPolicy: "
      "ClusterFirst\n");
  if (!waits) absl::StrAppend(&text, absl::StrFormat("    nodeName: node-%05d\n", on));
  absl::StrAppend(
      &text,
      "    priority: 0\n    restartPolicy: Always\n    schedulerName: default-scheduler\n"
      "    securityContext: {}\n    tolerations:\n    - effect: NoExecute\n      key: "
      "node.kubernetes.io/not-ready\n      operator: Exists\n",
      gpu ? "    - key: nvidia.com/gpu\n      operator: Exists\n" : "");
  if (app % 3 == 0) {
    absl::StrAppend(&text,
                    "    topologySpreadConstraints:\n    - labelSelector:\n        matchLabels:\n"
                    "          app: app",
                    app,
                    "\n      maxSkew: 1\n      topologyKey: "
                    "topology.kubernetes.io/zone\n      whenUnsatisfiable: ",
                    app % 2 == 1 ? "DoNotSchedule" : "ScheduleAnyway", "\n");
  }
  absl::StrAppend(&text,
                  "    volumes:\n    - name: kube-api-access\n      projected:\n        "
                  "defaultMode: 420\n  status:\n    phase: ",
                  waits ? "Pending" : "Running", "\n");
  return text;
}

// One pod in `waiting` waits.
inline std::string BigDump(int nodes, int pods, int waiting) {
  std::string text = "apiVersion: v1\nitems:\n";
  for (int i = 0; i < nodes; ++i) text += BigDumpNode(i);
  for (int p = 0; p < pods; ++p) text += BigDumpPod(p, nodes, p % waiting == waiting - 1);
  text += "kind: List\nmetadata:\n  resourceVersion: \"\"\n";
  return text;
}

}  // namespace drasim::explain_rig

#endif  // DRASIM_TESTS_SIM_EXPLAIN_BIG_DUMP_H_
