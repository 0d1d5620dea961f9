// KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) as values: read strictly, with
// Kubernetes' defaults and validation.
//
//   ASSIGN_OR_RETURN(const KubeConfig config, ReadKubeConfig(text, "kube-scheduler.yaml"));
//
// Source: k8s.io/kube-scheduler/config/v1, kubernetes/kubernetes pkg/scheduler/apis/config
// (v1/defaults.go, validation/*, v1/default_plugins.go), release 1.34.
#ifndef DRASIM_SIM_SCENARIO_KUBE_CONFIG_H_
#define DRASIM_SIM_SCENARIO_KUBE_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/time.h"
#include "policies/framework/profile_spec.h"

namespace drasim {

struct ExtenderSpec {
  struct ManagedResource {
    std::string name;
    bool ignored_by_scheduler = false;
    bool operator==(const ManagedResource&) const = default;
  };
  struct Tls {  // files, or their contents in base64
    bool insecure = false;
    std::string server_name;
    std::string cert_file;
    std::string key_file;
    std::string ca_file;
    std::string cert_data;
    std::string key_data;
    std::string ca_data;
    bool operator==(const Tls&) const = default;
  };
  std::string url_prefix;
  std::string filter_verb;  // empty: not supported; so the other verbs
  std::string prioritize_verb;
  std::string preempt_verb;
  std::string bind_verb;
  int64_t weight = 0;
  bool enable_https = false;
  Tls tls;
  SimDuration http_timeout = SimDuration::Seconds(5);
  bool node_cache_capable = false;
  std::vector<ManagedResource> managed_resources;
  bool ignorable = false;
  bool operator==(const ExtenderSpec&) const = default;
};

struct KubeConfig {
  int32_t percentage_of_nodes = 0;  // 0: adaptive
  SimDuration initial_backoff = SimDuration::Seconds(1);
  SimDuration max_backoff = SimDuration::Seconds(10);
  std::vector<ProfileSpec> profiles;    // in order; each with its percentage, own or global
  std::vector<ExtenderSpec> extenders;  // extenders that are not ignorable come first
  // Keys that have no meaning in a simulation and were given: "leaderElection". One note for all.
  std::vector<std::string> without_effect;
};

// Kubernetes' default: one profile with all default plugins.
KubeConfig DefaultKubeConfig();
ProfileSpec DefaultProfileSpec();

// Reads YAML or JSON. Errors, InvalidArgument, "FILE:LINE:COLUMN: PATH: ...", one per line: unknown
// fields, wrong types, another apiVersion (v1beta3 is told which is spoken), and everything that
// kube-scheduler refuses when it loads a configuration or builds its profiles, in its words.
absl::StatusOr<KubeConfig> ReadKubeConfig(absl::string_view text, absl::string_view file);
// The same of a file, "-" for standard input. Also errors of OpenByteSource.
absl::StatusOr<KubeConfig> ReadKubeConfigFile(const std::string& path);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_KUBE_CONFIG_H_
