#include "sim/app/commands.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "model/text/yaml_proto.h"
#include "sim/app/cli.h"
#include "sim/scenario/comparison.h"
#include "sim/scenario/scenario_paths.h"
#include "sim/scenario/scheduler_spec.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

// Texts for --help that follow the registry; they live as long as the program.
absl::string_view PolicyNames() {
  static const auto* const text = [] {
    std::vector<std::string> names;
    for (const PolicyEntry& entry : BuiltinRegistry().policies()) names.push_back(entry.name);
    return new std::string(absl::StrJoin(names, ", "));
  }();
  return *text;
}

absl::string_view QueueChoices() {
  static const auto* const text = new std::string(
      absl::StrCat(absl::StrJoin(QueueNames(), ", "), " (in a replay; default: kubernetes)"));
  return *text;
}

absl::string_view ChooserNames() {
  static const auto* const text = new std::string(absl::StrCat(
      absl::StrJoin(BuiltinRegistry().allocator_names(), ", "), " (default: the policy's own)"));
  return *text;
}

std::vector<FlagSpec> With(std::vector<FlagSpec> own) {
  const std::vector<FlagSpec>& shared = ScenarioFlags();
  own.insert(own.begin(), shared.begin(), shared.end());
  return own;
}

std::vector<Command> MakeCommands() {
  const FlagSpec format{"format", "", "FORMAT", "what to print", "table,json,csv"};
  const FlagSpec text_format{"format", "", "FORMAT", "what to print", "text,json,csv"};
  const FlagSpec out{"out", "", "DIR", "where results go"};
  const FlagSpec force{"force", "", "",
                       "write into DIR even if it holds files that are not drasim's"};
  const FlagSpec quiet{"quiet", "", "", "no progress on standard error"};
  const FlagSpec queues{"queues", "", "A,B,...",
                        "queues, or all, in a replay (default: the scenario's)"};
  const FlagSpec policies{"policies", "", "A,B,...",
                          "policies, or all (default: all; with --queues the scenario's)"};
  const FlagSpec table{"table", "", "TABLE",
                       "openb-like (embedded) or the path of a table of shapes and node kinds"};
  const FlagSpec trace_format{"trace", "", "FORMAT",
                              "a built-in format's name or a mapping file (default openb)"};
  const FlagSpec lenient{"lenient", "", "", "skip and count bad rows instead of stopping"};
  const FlagSpec sort_window{"sort-window", "", "TIME",
                             "sort rows that are out of order by up to so long, such as 1h"};
  const FlagSpec more_tables{"table", "", "NAME=FILE",
                             "a further file of a format that has several; may be repeated"};
  return {
      {"run", "one scenario, one run", "[FLAGS] [SCENARIO.yaml]",
       "Without a trace, the embedded openb-like cluster and workload are used. With --out, the "
       "run leaves\n"
       "summary.json, run.json, scenario.yaml, timeseries.csv, pods.csv, by_load.csv, a ledger\n"
       "and, in a replay, jobs.csv in DIR.\n"
       "A run that was killed goes on with `drasim run --resume --out DIR`, without a scenario; it "
       "ends\n"
       "with the files that it would have left.\n",
       With({out,
             force,
             {"resume", "", "", "go on with the run in DIR from its last checkpoint"},
             {"ledger", "output.ledger", "on|off", "keep the ledger", "on,off"},
             format,
             quiet}),
       RunCommand},
      {"compare", "several policies or queues on the same input, side by side",
       "[FLAGS] [SCENARIO.yaml]",
       "Every policy sees the same pods in the same order. With several seeds, means with 95 % "
       "confidence\n"
       "intervals are shown. The best value of a column is bold on a terminal. A fill is compared "
       "by what\n"
       "it allocates, a replay by what it means for its jobs.\n"
       "The scenario's `comparison` may list policies, queues, seeds and metrics, which flags "
       "replace, and axes.\n"
       "Each combination of one value per axis is a world, which runs with every queue and policy; "
       "it is made\n"
       "after --set.\n"
       "--worlds compares front ends instead: direct[:POLICY], device-plugin, "
       "device-plugin:static-mig,\n"
       "device-plugin:time-slicing[=N] and dra-classic[:PLACEMENT][:immediate], where PLACEMENT is "
       "first-fit,\n"
       "fragmentation or a MIG policy. All see the same jobs, behind one queue and one policy "
       "(--policies);\n"
       "those of a fill come one a second. Below the table stand the most frequent failures and "
       "the first\n"
       "decision in which each world parts from the first one.\n",
       With({{"worlds", "", "A,B,...",
              "worlds by name, such as device-plugin,dra-classic:first-fit"},
             queues,
             policies,
             {"seeds", "", "SEEDS", "such as 42..51 (default: the scenario's seed)"},
             {"jobs", "", "N", "threads (default: all cores)"},
             out,
             force,
             format,
             quiet}),
       CompareCommand},
      {"sweep", "traces x queues x policies x seeds, one merged CSV, resumable",
       "--pods A.csv,B.csv.gz --out DIR [FLAGS]",
       "Finished cells are kept in DIR/sweep.partial.csv; the same command run again does only the "
       "missing ones.\n",
       With({queues,
             policies,
             {"seeds", "", "SEEDS", "such as 42..51 (default: the scenario's seed)"},
             {"jobs", "", "N", "threads (default: all cores)"},
             out,
             force,
             text_format,
             quiet}),
       SweepCommand},
      {"diff",
       "the first record where two ledgers part",
       "LEDGER LEDGER",
       "Exit code 0 when both tell the same, 1 when they differ.\n",
       {text_format},
       DiffCommand},
      {"explain",
       "why a pod does not run, or did not for so long",
       "LEDGER | --cluster FILE... --pod NAMESPACE/NAME",
       "LEDGER is a run's ledger or its folder; the run is simulated again, so its inputs must be "
       "there.\n"
       "--cluster takes what `kubectl get nodes,pods,resourceclaims,... -A -o yaml` printed.\n",
       {{"pod", "", "NAMESPACE/NAME",
         "the pod, or a gang; without a slash in the namespace default"},
        {"at", "", "TIME", "how it stood then, such as 1h30m (default: the end of the run)"},
        {"brief", "", "", "only how it stands, without its attempts"},
        {"cluster", "", "FILE", "objects of a cluster; may be repeated, - is standard input"},
        text_format,
        quiet},
       ExplainCommand},
      {"validate",
       "check scenario and mapping files without running them",
       "FILE...",
       "",
       {text_format},
       ValidateCommand},
      {"trace stats",
       "what is in a trace",
       "[FLAGS] FILE",
       "",
       {trace_format,
        lenient,
        sort_window,
        more_tables,
        {"nodes", "", "FILE", "the node list, where demand is to be compared with capacity"},
        format},
       TraceStatsCommand},
      {"trace convert",
       "any readable trace to an openb-style CSV",
       "[FLAGS] FILE --out FILE",
       "",
       {trace_format,
        lenient,
        sort_window,
        more_tables,
        {"out", "", "FILE", "where to write; .gz packs; - is standard output"},
        text_format},
       TraceConvertCommand},
      {"trace generate",
       "a synthetic workload and cluster",
       "--out DIR [FLAGS]",
       "Writes DIR/pods.csv and DIR/nodes.csv. Distributions: constant(5), uniform(low=1,high=5),\n"
       "exponential(mean=30), normal(mean=5,stddev=1), lognormal(median=600,sigma=2), "
       "pareto(min=1,alpha=2),\n"
       "weibull(scale=10,shape=1.5); in seconds.\n",
       {{"out", "", "DIR", "where the two files go"},
        force,
        table,
        {"pods", "", "N", "pods (default: the table's)"},
        {"nodes", "", "N", "nodes (default: the table's)"},
        {"sampling", "", "HOW", "exact shares or independent draws", "quota,independent"},
        {"interarrival", "", "DIST", "seconds between arrivals (default: all at once)"},
        {"run-time", "", "DIST", "seconds from start to end (default: pods never end)"},
        {"seed", "", "N", "default 42"},
        text_format},
       TraceGenerateCommand},
      {"trace fetch",
       "download a public trace and check its bytes",
       "NAME [FLAGS]",
       "Without NAME, lists what can be fetched. Interrupted downloads resume.\n",
       {{"out", "", "DIR", "where the files go (default: the trace's name)"},
        {"mirror", "", "DIR", "take the files from a folder instead of the network"},
        text_format,
        quiet},
       TraceFetchCommand},
      {"completion",
       "a completion script for the shell",
       "bash|zsh",
       "Load it with: source <(drasim completion bash)\n",
       {},
       CompletionCommand},
  };
}

std::vector<Command> MigCommands() {
  const FlagSpec format{"format", "", "FORMAT", "what to print", "table,json,csv"};
  const FlagSpec driver{"driver", "", "BRANCH", "the driver, such as 470 (default: the newest)"};
  const FlagSpec profiles{"profiles", "", "A,B,...",
                          "only these, such as 1g.5gb,2g.10gb (default: all)"};
  return {
      {"mig products",
       "the GPUs that MIG can partition",
       "[FLAGS]",
       "",
       {format},
       MigProductsCommand},
      {"mig profiles",
       "what instances a GPU can have, and where",
       "[FLAGS] PRODUCT",
       "PRODUCT is a group of `drasim mig products` or a product of it. What nobody has published "
       "is a '?'.\n",
       {driver, format},
       MigProfilesCommand},
      {"mig layouts",
       "what fits on a GPU together",
       "[FLAGS] PRODUCT",
       "Lists the combinations of instances that no other contains, and draws an example of each. "
       "`ways`\n"
       "says in how many ways the instances may sit.\n",
       {profiles, {"all", "", "", "every combination, without drawings"}, driver, format},
       MigLayoutsCommand},
      {"mig fits",
       "whether layouts fit on a GPU, or why not",
       "[FLAGS] PRODUCT LAYOUT...",
       "A LAYOUT is such as 3g.20gb:2,1g.5gb, or 3g.20gb@4 for an instance with a start. What fits "
       "is drawn\n"
       "as one of possibly several layouts, with what mig-parted would do, which creates instances "
       "in one\n"
       "order after the other until all fit. Exit code 0 when all fit, 1 when one does not.\n",
       {driver, format},
       MigFitsCommand},
      {"mig draw",
       "a layout as a picture",
       "[FLAGS] [PRODUCT] LAYOUT",
       "A LAYOUT is as for `drasim mig fits`. Without PRODUCT, the first is taken that has the "
       "profiles.\n",
       {{"product", "", "PRODUCT", "another way to give it"}, driver, format},
       MigDrawCommand},
      {"mig count",
       "how many layouts a GPU has",
       "[FLAGS] PRODUCT",
       "Counts sets of placements (the empty one included), those to which nothing can be added, "
       "and\n"
       "multisets of profiles (without the empty one). No driver's rules apply but those of the "
       "flags.\n",
       {profiles,
        {"forbid", "", "A,B", "two profiles that may not be on one GPU; may be repeated"},
        {"engines", "", "", "keep to the media engines of the GPU, too"},
        format},
       MigCountCommand},
  };
}

absl::StatusOr<std::string> FlagToKey(const FlagSpec& spec, const std::string& value) {
  if (spec.choices == "on,off") {
    if (value == "on" || value == "true") return std::string("true");
    if (value == "off" || value == "false") return std::string("false");
    return absl::InvalidArgumentError(
        absl::StrCat("--", spec.name, ": found '", value, "', expected on or off"));
  }
  return value;
}

}  // namespace

const std::vector<Command>& Commands() {
  static const auto* const commands = [] {
    auto* const all = new std::vector<Command>(MakeCommands());
    const std::vector<Command> mig = MigCommands();
    all->insert(all->end() - 1, mig.begin(), mig.end());  // completion stays last
    return all;
  }();
  return *commands;
}

const std::vector<FlagSpec>& ScenarioFlags() {
  static const auto* const flags = new std::vector<FlagSpec>{
      {"scenario", "", "FILE", "the scenario file; - is standard input"},
      {"trace", "workload.trace.format", "FORMAT",
       "format of the pod list: a format's name or a mapping file"},
      {"nodes", "cluster.path", "FILE", "the node list, .csv, or Node objects, .yaml; perhaps .gz"},
      {"pods", "workload.trace.path", "FILE", "the pod list, .csv or .csv.gz"},
      {"policy", "scheduler.policy", "NAME", PolicyNames()},
      {"queue", "scheduler.queue", "NAME", QueueChoices()},
      {"device-chooser", "scheduler.device_chooser", "NAME", ChooserNames()},
      {"mode", "mode", "MODE", "use of time", "fill,replay"},
      {"order", "order", "ORDER", "arrival order and tie-breaks", "artifact,seeded,trace"},
      {"seed", "seed", "N", "of every random choice (default 42)"},
      {"tuning-ratio", "workload.tuning.ratio", "R",
       "inflate or thin the workload to R times the cluster's GPUs"},
      {"limit", "workload.limit", "N", "at most N jobs"},
      {"lenient", "workload.trace.lenient", "", "skip and count bad rows instead of stopping"},
      {"sort-window", "workload.trace.sort_window", "TIME",
       "keep so much of the trace in order while reading, such as 1h"},
      {"cache", "scheduler.cache", "on|off", "per-shape caches; never changes a decision",
       "on,off"},
      {"set", "", "KEY=VALUE",
       "any scenario key, such as workload.generated.pods=1000; may be repeated"},
  };
  return *flags;
}

absl::StatusOr<GivenScenario> ScenarioFromFlags(const ParsedFlags& flags) {
  GivenScenario given;
  proto::Scenario& scenario = given.scenario;
  std::vector<std::string> files = flags.All("scenario");
  files.insert(files.end(), flags.positional().begin(), flags.positional().end());
  if (files.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one scenario file, found ", absl::StrJoin(files, ", ")));
  }
  if (!files.empty()) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(files[0]);
    if (!source.ok()) return source.status();
    absl::StatusOr<std::string> text = ReadAll(**source, kMaxScenarioBytes);
    if (!text.ok()) return text.status();
    given.file = (*source)->name();
    given.text = *std::move(text);
    if (absl::Status s = ParseGiven(&given); !s.ok()) return s;
    AnchorPaths(files[0], &scenario);
  }
  for (const auto& [name, value] : flags.given()) {
    for (const Command& command : Commands()) {
      if (command.name != "run") continue;
      for (const FlagSpec& spec : command.flags) {
        if (spec.name != name || spec.key.empty()) continue;
        absl::StatusOr<std::string> text = FlagToKey(spec, value);
        if (!text.ok()) return text.status();
        if (absl::Status s = SetField(spec.key, *text, absl::StrCat("--", name), &scenario);
            !s.ok()) {
          return s;
        }
        given.overridden.emplace_back(spec.key);
      }
    }
  }
  for (const std::string& setting : flags.All("set")) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    if (setting.find('=') == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--set: found '", setting, "', expected KEY=VALUE"));
    }
    if (absl::Status s = SetField(pair.first, pair.second, "--set", &scenario); !s.ok()) return s;
    given.overridden.emplace_back(pair.first);
  }
  return given;
}

absl::Status CompletionCommand(const ParsedFlags& flags) {
  const std::string shell = flags.positional().empty() ? "bash" : flags.positional()[0];
  if (shell != "bash" && shell != "zsh") {
    return absl::InvalidArgumentError(
        absl::StrCat("completion: found '", shell, "', expected bash or zsh"));
  }
  std::string script = shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  absl::StrAppend(
      &script,
      "_drasim() {\n  local cur=${COMP_WORDS[COMP_CWORD]} cmd=\"${COMP_WORDS[1]}\" words\n",
      "  [[ ( $cmd == trace || $cmd == mig ) && $COMP_CWORD -gt 2 ]] && "
      "cmd=\"$cmd ${COMP_WORDS[2]}\"\n",
      "  case \"$cmd\" in\n");
  std::vector<std::string> top;
  std::map<std::string, std::vector<std::string>> families;  // "trace" -> "stats", ...
  for (const Command& c : Commands()) {
    const std::vector<std::string> words = absl::StrSplit(c.name, ' ');
    if (words.size() == 2) {
      families[words[0]].push_back(words[1]);
    } else {
      top.push_back(words[0]);
    }
    std::vector<std::string> names = {"--help"};
    for (const FlagSpec& f : c.flags) names.push_back(absl::StrCat("--", f.name));
    absl::StrAppend(&script, "    '", c.name, "') words='", absl::StrJoin(names, " "), "';;\n");
  }
  for (const auto& [family, members] : families) {
    top.push_back(family);
    absl::StrAppend(&script, "    ", family, ") words='", absl::StrJoin(members, " "), "';;\n");
  }
  absl::StrAppend(&script, "    *) words='", absl::StrJoin(top, " "),
                  " --help --version';;\n  esac\n", "  [[ $COMP_CWORD -eq 1 ]] && words='",
                  absl::StrJoin(top, " "), " --help --version'\n",
                  "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n",
                  "  [[ -z \"$COMPREPLY\" ]] && COMPREPLY=($(compgen -f -- \"$cur\"))\n}\ncomplete "
                  "-F _drasim drasim\n");
  std::fputs(script.c_str(), stdout);
  return absl::OkStatus();
}

ContenderFlags ContenderFlagsOf(const ParsedFlags& flags) {
  const auto value = [&flags](absl::string_view name) -> std::optional<std::string> {
    if (!flags.Has(name)) return std::nullopt;
    return *flags.Get(name);
  };
  ContenderFlags given;
  given.policies = value("policies");
  given.queues = value("queues");
  given.seeds = value("seeds");
  given.worlds = value("worlds");
  given.queue = value("queue");
  return given;
}

}  // namespace drasim
