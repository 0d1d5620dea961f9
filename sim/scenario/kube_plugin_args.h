// Arguments of plugins in a KubeSchedulerConfiguration: checks and conversion.
//
// Source: kubernetes/kubernetes pkg/scheduler/apis/config (v1/defaults.go,
// validation/validation_pluginargs.go), release 1.34.
#ifndef DRASIM_SIM_SCENARIO_KUBE_PLUGIN_ARGS_H_
#define DRASIM_SIM_SCENARIO_KUBE_PLUGIN_ARGS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/kube/kube_problem.h"
#include "model/proto/kube_scheduler.pb.h"
#include "policies/framework/plugin_args.h"

namespace drasim {

// Collects problems of a configuration in the words of Kubernetes' field errors
// (k8s.io/apimachinery pkg/util/validation/field). `what` begins with the path as Kubernetes prints
// it.
class ConfigProblems {
 public:
  // `place` is put before paths to find the place in the text, and `context` before the message.
  explicit ConfigProblems(std::vector<KubeProblem>* problems, std::string place = "",
                          std::string context = "")
      : problems_(problems), place_(std::move(place)), context_(std::move(context)) {}

  // `value` as Kubernetes prints it: texts in quotes.
  void Invalid(const std::string& path, absl::string_view value, absl::string_view detail);
  void Invalid(const std::string& path, int64_t value, absl::string_view detail);
  void Required(const std::string& path, absl::string_view detail);
  void Duplicate(const std::string& path, absl::string_view value);
  void NotSupported(const std::string& path, const std::string& value,
                    const std::vector<std::string>& supported);
  void Forbidden(const std::string& path, absl::string_view detail);
  // Problems of a value as one text, which names the path.
  void Aggregate(const std::string& path, const std::string& text);
  // The value must be a label's key or a resource's name: "example.com/name".
  void LabelName(const std::string& path, const std::string& value);
  // The value must be in 0..100.
  void Percentage(const std::string& path, int64_t value);

 private:
  void Add(const std::string& path, absl::string_view what);

  std::vector<KubeProblem>* problems_;
  std::string place_;
  std::string context_;
};

// "\"text\"", as Go prints a text.
std::string Quoted(absl::string_view text);

// Whether the plugin has arguments.
bool TakesArgs(absl::string_view plugin);

// Finds fields that the arguments of this plugin do not have, and another apiVersion or kind.
void CheckPluginArgFields(const std::string& path, const std::string& plugin,
                          const proto::kube::SchedulerPluginArgs& args,
                          std::vector<KubeProblem>* problems);

// Sets missing arguments to Kubernetes' defaults.
void SetPluginArgDefaults(const std::string& plugin, proto::kube::SchedulerPluginArgs* args);

// Checks that kube-scheduler makes when it loads a configuration. REQUIRES: defaults are set.
void CheckPluginArgs(const std::string& path, const std::string& plugin,
                     const proto::kube::SchedulerPluginArgs& args, ConfigProblems* problems);

// Checks that it makes when it creates NodeResourcesFit; paths begin at the arguments.
void CheckFitArgs(const proto::kube::SchedulerPluginArgs& args, ConfigProblems* problems);

// REQUIRES: the arguments have defaults and no problems.
PluginArgs PluginArgsOf(const std::string& plugin, const proto::kube::SchedulerPluginArgs& args);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_KUBE_PLUGIN_ARGS_H_
