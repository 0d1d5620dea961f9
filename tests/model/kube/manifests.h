// A manifest with an object of every kind that model/proto/kube.proto has, each with as many of its
// fields as one object can have, and help to read it.
#ifndef DRASIM_TESTS_MODEL_KUBE_MANIFESTS_H_
#define DRASIM_TESTS_MODEL_KUBE_MANIFESTS_H_

#include <google/protobuf/text_format.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/kube/reader.h"

namespace drasim::kube_manifests {

// Reads `text` as "f.yaml"; a failure, and nothing, when it has errors.
inline KubeManifest ReadManifest(absl::string_view text, const KubeReadOptions& options = {}) {
  absl::StatusOr<KubeManifest> read = ReadKubeObjects(text, "f.yaml", options);
  if (read.ok()) return *std::move(read);
  ADD_FAILURE() << read.status().message();
  return KubeManifest();
}

// The errors, one per line, or "no error" and the warnings.
inline std::string ErrorsOf(absl::string_view text) {
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(text, "f.yaml");
  if (!read.ok()) return std::string(read.status().message());
  return "no error\n" + absl::StrJoin(read->warnings, "\n");
}

inline std::string TextOf(const KubeManifest& manifest) {
  std::string text;
  for (const KubeObject& object : manifest.objects) text += object.object.DebugString();
  return text;
}

// An object from protobuf's own text format.
inline proto::kube::Object ObjectOf(const std::string& text) {
  proto::kube::Object object;
  DRASIM_CHECK(google::protobuf::TextFormat::ParseFromString(text, &object));
  return object;
}

inline constexpr char kNodeManifest[] = R"(apiVersion: v1
kind: Node
metadata:
  name: gpu-1
  uid: "17"
  resourceVersion: "42"
  creationTimestamp: "2024-01-31T12:00:00Z"
  labels:
    kubernetes.io/hostname: gpu-1
    nvidia.com/gpu.count: "8"
spec:
  unschedulable: true
  podCIDR: 10.0.0.0/24
  taints:
  - {key: nvidia.com/gpu, value: present, effect: NoSchedule, timeAdded: "2024-01-31T12:00:00Z"}
status:
  capacity: {cpu: "96", memory: 1Ti, nvidia.com/gpu: 8, pods: 110}
  allocatable: {cpu: 95500m, memory: 1000Gi, nvidia.com/gpu: "8", pods: "110"}
  conditions:
  - type: Ready
    status: "True"
    reason: KubeletReady
    message: kubelet is posting ready status
    lastHeartbeatTime: "2024-01-31T12:00:05Z"
    lastTransitionTime: "2024-01-31T12:00:00Z"
  nodeInfo: {kubeletVersion: v1.29.9}
)";

inline constexpr char kPodManifest[] = R"(apiVersion: v1
kind: Pod
metadata:
  generateName: train-
  name: train-abcde
  namespace: ml
  annotations: {example.com/note: "1"}
  finalizers: [example.com/keep]
  deletionTimestamp: "2024-02-01T00:00:00.5+01:00"
  deletionGracePeriodSeconds: 30
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: train, uid: u-1, controller: true,
     blockOwnerDeletion: true}
spec:
  containers:
  - name: main
    image: trainer:1
    command: [train]
    ports:
    - {name: web, containerPort: 80, hostPort: 8080, hostIP: 0.0.0.0, protocol: TCP}
    resources:
      requests: {cpu: 500m, memory: 1Gi}
      limits: {cpu: 1, nvidia.com/mig-1g.5gb: 1}
      claims:
      - {name: gpu}
      - {name: net, request: fast}
  initContainers:
  - {name: sidecar, restartPolicy: Always}
  resourceClaims:
  - name: gpu
    source: {resourceClaimTemplateName: one-gpu}
  - name: net
    resourceClaimName: shared-net
  - name: disk
    source: {resourceClaimName: scratch}
  - name: spare
    resourceClaimTemplateName: one-gpu
  nodeName: gpu-1
  nodeSelector: {zone: a}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: nvidia.com/gpu.memory, operator: Gt, values: ["40000"]}
          matchFields:
          - {key: metadata.name, operator: In, values: [gpu-1]}
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 10
        preference: {matchExpressions: [{key: zone, operator: Exists}]}
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: zone
        labelSelector: {matchLabels: {app: db}}
        namespaces: [ml]
        namespaceSelector: {}
        matchLabelKeys: [pod-template-hash]
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}
          mismatchLabelKeys: [team]
  tolerations:
  - {key: nvidia.com/gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  - {key: zone, value: a}
  priority: 0
  priorityClassName: high
  preemptionPolicy: Never
  schedulerName: default-scheduler
  overhead: {cpu: 0.25}
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: train}}
    minDomains: 2
    nodeAffinityPolicy: Honor
    nodeTaintsPolicy: Ignore
    matchLabelKeys: [pod-template-hash]
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  activeDeadlineSeconds: 3600
  hostNetwork: true
  runtimeClassName: nvidia
  resources: {limits: {memory: 4Gi}}
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data-0, readOnly: true}}
  - {name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}
  - {name: settings, configMap: {name: settings}}
status:
  phase: Running
  conditions:
  - {type: PodScheduled, status: "True", lastProbeTime: "2024-01-31T12:00:00Z"}
  - {type: Ready, status: Unknown, lastProbeTime: null}
  reason: Because
  message: "true"
  nominatedNodeName: gpu-2
  startTime: "2024-01-31T12:00:00Z"
  resourceClaimStatuses:
  - {name: gpu, resourceClaimName: train-abcde-gpu-x1}
  containerStatuses:
  - name: main
    ready: true
    restartCount: 1
    started: false
    state: {running: {startedAt: "2024-01-31T12:00:00Z"}}
  initContainerStatuses:
  - name: sidecar
    state:
      terminated: {exitCode: 137, signal: 9, reason: OOMKilled, message: x,
                   startedAt: "2024-01-31T12:00:00Z", finishedAt: "2024-01-31T12:00:01Z"}
  - name: other
    state: {waiting: {reason: ContainerCreating, message: pulling}}
  podIP: 10.0.0.1
)";

inline constexpr char kGatedPodManifest[] = R"(apiVersion: v1
kind: Pod
metadata: {name: gated}
spec:
  containers: [{name: a}]
  schedulingGates: [{name: example.com/wait}]
)";

inline constexpr char kOwnersManifest[] = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  paused: true
  selector: {matchLabels: {app: web}}
  template: &template
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: web}]}
  strategy: {type: Recreate}
status: {replicas: 3}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1}
spec:
  replicas: 2
  selector: {matchExpressions: [{key: app, operator: In, values: [web]}]}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  podManagementPolicy: Parallel
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: a}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: a}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  completions: 4
  completionMode: Indexed
  backoffLimit: 0
  suspend: true
  activeDeadlineSeconds: 100
  ttlSecondsAfterFinished: 0
  selector: {matchLabels: {job-name: train}}
  template: {spec: {restartPolicy: Never, containers: [{name: a}]}}
)";

inline constexpr char kClaimsManifest[] = R"(apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: gpu.nvidia.com}
driverName: gpu.resource.nvidia.com
parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: DeviceClassParameters, name: shared,
                namespace: kube-system}
suitableNodes:
  nodeSelectorTerms: [{matchExpressions: [{key: nvidia.com/gpu.present, operator: Exists}]}]
structuredParameters: false
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaim
metadata: {name: train-abcde-gpu-x1, namespace: ml}
spec:
  resourceClassName: gpu.nvidia.com
  parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: GpuClaimParameters, name: big}
  allocationMode: Immediate
status:
  driverName: gpu.resource.nvidia.com
  allocation:
    resourceHandles: [{driverName: gpu.resource.nvidia.com, data: '{"gpus":[1]}'}]
    availableOnNodes:
      nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [gpu-1]}]}]
    shareable: true
  reservedFor:
  - {resource: pods, name: train-abcde, uid: u-2}
  - {apiGroup: batch, resource: jobs, name: j, uid: u-3}
  deallocationRequested: true
---
apiVersion: resource.k8s.io/v1alpha1
kind: ResourceClaim
metadata: {name: old}
spec: {resourceClassName: gpu.nvidia.com}
status: {driverName: d, allocation: {resourceHandle: data}}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec:
  metadata: {labels: {app: train}}
  spec: {resourceClassName: gpu.nvidia.com, allocationMode: WaitForFirstConsumer}
---
apiVersion: resource.k8s.io/v1alpha2
kind: PodSchedulingContext
metadata: {name: train-abcde}
spec: {selectedNode: gpu-1, potentialNodes: [gpu-1, gpu-2]}
status: {resourceClaims: [{name: gpu, unsuitableNodes: [gpu-2]}]}
---
apiVersion: resource.k8s.io/v1alpha1
kind: PodScheduling
metadata: {name: train-abcde}
spec: {selectedNode: gpu-1}
)";

inline constexpr char kParametersManifest[] = R"(apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000000
globalDefault: true
preemptionPolicy: PreemptLowerPriority
description: not read
---
apiVersion: v1
kind: Namespace
metadata: {name: ml, labels: {team: a}}
spec: {finalizers: [kubernetes]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: parameters}
data:
  count: "2"
  script: |
    first
      second
---
apiVersion: gpu.resource.nvidia.com/v1alpha1
kind: GpuClaimParameters
metadata: {name: big}
spec:
  count: 2
  selector:
    andExpression:
    - productName: '*a100*'
    - memory: {value: 40Gi, operator: GreaterThanOrEqualTo}
    - orExpression:
      - {cudaComputeCapability: {value: "8.0", operator: Equals}}
      - {driverVersion: {value: 535.1.2, operator: LessThan}}
      - {cudaDriverVersion: {value: "12.2", operator: GreaterThan}}
      - {index: 0}
      - {uuid: GPU-1}
      - {migEnabled: false}
      - {brand: Tesla}
      - {architecture: Ampere}
  sharing: {strategy: TimeSlicing, timeSlicingConfig: {timeSlice: Long}}
---
apiVersion: gpu.resource.nvidia.com/v1alpha1
kind: MigDeviceClaimParameters
metadata: {name: small}
spec: {profile: 1g.5gb, gpuClaimName: big, sharing: {strategy: MPS}}
---
apiVersion: gpu.resource.nvidia.com/v1alpha1
kind: ComputeInstanceClaimParameters
metadata: {name: part}
spec: {profile: 1c.3g.20gb, migDeviceClaimName: small}
---
apiVersion: gpu.resource.nvidia.com/v1alpha1
kind: DeviceClassParameters
metadata: {name: shared}
spec: {sharable: true}
---
apiVersion: resource.nvidia.com/v1beta1
kind: GpuConfig
metadata: {name: slices}
sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Short}}
---
apiVersion: resource.nvidia.com/v1beta1
kind: MigDeviceConfig
metadata: {name: mps}
sharing:
  strategy: MPS
  mpsConfig:
    defaultActiveThreadPercentage: 50
    defaultPinnedDeviceMemoryLimit: 10Gi
    defaultPerDevicePinnedMemoryLimit: {"0": 5Gi}
---
apiVersion: gpu.resource.example.com/v1alpha1
kind: GpuClaimParameters
metadata: {name: example}
spec: {count: 3}
---
apiVersion: gpu.resource.example.com/v1alpha1
kind: DeviceClassParameters
metadata: {name: example}
spec: {deviceSelector: [{type: gpu, name: "*"}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m}}
scheduling: {nodeSelector: {kata: "true"}, tolerations: [{key: kata, operator: Exists}]}
)";

// All of them, in the order above.
inline std::string EveryKind() {
  const std::vector<std::string> parts = {kNodeManifest,   kPodManifest,    kGatedPodManifest,
                                          kOwnersManifest, kClaimsManifest, kParametersManifest};
  return absl::StrJoin(parts, "---\n");
}

}  // namespace drasim::kube_manifests

#endif  // DRASIM_TESTS_MODEL_KUBE_MANIFESTS_H_
