#include "sim/app/commands.h"

#include <utility>

#include "sim/app/gate_flags.h"
#include "sim/app/report_flag.h"
#include "sim/app/scenario_flags.h"
#include "sim/app/shard_flags.h"

namespace drasim {
namespace {

std::vector<FlagSpec> With(std::vector<FlagSpec> own) {
  const std::vector<FlagSpec>& shared = ScenarioFlags();
  own.insert(own.begin(), shared.begin(), shared.end());
  return own;
}

// The flags of a scenario that `slices` has, too: those about the cluster.
std::vector<FlagSpec> ClusterFlags() {
  std::vector<FlagSpec> flags;
  for (const FlagSpec& flag : ScenarioFlags()) {
    for (const absl::string_view name : {"scenario", "nodes", "snapshot", "set"}) {
      if (flag.name == name) flags.push_back(flag);
    }
  }
  return flags;
}

Command SlicesEntry() {
  std::vector<FlagSpec> flags = {
      {"driver", "", "KIND", "the driver", "gpu.nvidia.com,gpu.example.com,slices"},
      {"gpu", "", "MODEL", "of the nodes' GPUs, such as A100-SXM4-40GB"},
      {"count", "", "N", "GPUs of a node (default: 1 with --gpu)"},
      {"node", "", "NAME", "a node; may be repeated (default: node-1)"},
      {"mig", "", "FORM", "how NVIDIA's driver publishes MIG (default none)",
       "none,static,dynamic"},
      {"layout", "", "LAYOUT",
       "instances of each GPU with --mig static: 3g.20gb:2, or a configuration such as "
       "all-balanced"},
      {"order", "", "ORDER", "of devices in a slice (default: the driver's)",
       "name,size,size-desc"},
      {"release", "", "RELEASE", "of Kubernetes (default 1.37)", "1.34,1.35,1.36,1.37"},
      {"slices", "", "FILE", "ResourceSlices that --driver slices takes over"},
      {"option", "", "KEY=VALUE",
       "another option of the driver, such as consumable_shares=memory; may be repeated"},
      {"format", "", "FORMAT", "what to print", "yaml,json"},
  };
  const std::vector<FlagSpec> cluster = ClusterFlags();
  flags.insert(flags.end(), cluster.begin(), cluster.end());
  return {"slices",
          "the ResourceSlices that a DRA driver publishes for nodes",
          "--driver KIND [FLAGS] [SCENARIO.yaml]",
          "The nodes are those of --gpu, --count and --node, or of a scenario, a node list or a "
          "cluster.\n"
          "Prints what kubectl takes; `drasim cel`, `validate` and --driver slices read it.\n",
          std::move(flags),
          SlicesCommand};
}

std::vector<Command> MakeCommands() {
  const FlagSpec format{"format", "", "FORMAT", "what to print", "table,json,csv"};
  const FlagSpec text_format{"format", "", "FORMAT", "what to print", "text,json,csv"};
  const FlagSpec out{"out", "", "DIR", "where results go"};
  const FlagSpec force{"force", "", "",
                       "write into DIR even if it holds files that are not drasim's"};
  const FlagSpec extender_record{"extender-record", "", "FILE",
                                 "write down what scheduler extenders answer"};
  const FlagSpec extender_replay{"extender-replay", "", "FILE",
                                 "take their answers from such a file, or a ledger"};
  const FlagSpec extender_check{"extender-check", "", "FILE",
                                "ask them, and stop where they answer otherwise than there"};
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
       "with the files that it would have left.\n"
       "Extenders in the scheduler's configuration are asked over HTTP. The ledger has what they "
       "answered,\n"
       "so that --extender-replay repeats the run without them.\n",
       With({out,
             force,
             {"resume", "", "", "go on with the run in DIR from its last checkpoint"},
             {"ledger", "output.ledger", "on|off", "keep the ledger", "on,off", true},
             extender_record,
             extender_replay,
             extender_check,
             {"objects-out", "", "DIR",
              "the end as Kubernetes objects, which --snapshot DIR takes again"},
             {"openmetrics-out", "", "FILE",
              "the end as OpenMetrics text, in the names of kube-scheduler and kube-state-metrics"},
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
       "device-plugin:time-slicing[=N], dra-classic[:PLACEMENT][:immediate], where PLACEMENT is "
       "first-fit,\n"
       "fragmentation or a MIG policy, and dra-structured[:POLICY][:extended], where POLICY "
       "chooses "
       "devices\n"
       "(best-fit, ...) and, with extended, pods ask for extended resources instead of claims.\n"
       "All see the same jobs, behind one queue and one policy (--policies);\n"
       "those of a fill come one a second. Below the table stand the most frequent failures and "
       "the first\n"
       "decision in which each world parts from the first one.\n"
       "--baseline compares with an earlier compare.json, seed by seed. --fail-if ends with exit "
       "code 1 if a\n"
       "difference (new minus old) is such as 'gpu_allocation_percent_end < -0.5' or "
       "'mean_jct_seconds > 2%'.\n",
       With({{"worlds", "", "A,B,...",
              "worlds by name, such as device-plugin,dra-classic:first-fit"},
             queues,
             policies,
             {"seeds", "", "SEEDS", "such as 42..51 (default: the scenario's seed)"},
             GateFlagSpecs()[0],
             GateFlagSpecs()[1],
             {"jobs", "", "N", "threads (default: all cores)"},
             out,
             force,
             format,
             ReportFlag(),
             quiet}),
       CompareCommand},
      {"sweep", "traces x queues x policies x seeds, one merged CSV, resumable",
       "--pods A.csv,B.csv.gz --out DIR [FLAGS]",
       "Finished cells are kept in DIR/sweep.partial.csv; the same command run again does only the "
       "missing ones.\n",
       WithShardFlags(With({queues,
                            policies,
                            {"seeds", "", "SEEDS", "such as 42..51 (default: the scenario's seed)"},
                            {"jobs", "", "N", "threads (default: all cores)"},
                            out,
                            force,
                            text_format,
                            ReportFlag(),
                            quiet})),
       SweepCommand},
      {"merge",
       "joins the results of `sweep --shard` or `bench run --shard`",
       "--out DIR FOLDER... [FLAGS]",
       "The folders are those of all shards of one run. All results but CPU time and memory are "
       "byte "
       "for byte\n"
       "those of a run without --shard. Exit codes: 2 a shard is missing, there twice or of "
       "another "
       "run; 4\n"
       "cells of a suite did not run.\n",
       {out, force, text_format},
       MergeCommand},
      {"diff",
       "the first record where two ledgers part",
       "LEDGER LEDGER",
       "Exit code 0 when both tell the same, 1 when they differ. As JSON, it also simulates both "
       "runs again\n"
       "and tells the decisions in which they part: pod, nodes, candidates with scores.\n",
       {text_format, {"json", "", "", "the same as --format json"}, ReportFlag()},
       DiffCommand},
      {"explain",
       "why a pod does not run, or did not for so long",
       "LEDGER --pod NAMESPACE/NAME | --cluster FILE... [--pod NAMESPACE/NAME]",
       "LEDGER is a run's ledger or its folder; the run is simulated again, so its inputs must be "
       "there.\n"
       "--cluster takes what `kubectl get nodes,pods,resourceclaims,... -A -o yaml` printed;\n"
       "without --pod it answers for all pending pods.\n",
       {{"pod", "", "NAMESPACE/NAME",
         "the pod, or a gang; without a slash in the namespace default"},
        {"at", "", "TIME", "how it stood then, such as 1h30m (default: the end of the run)"},
        {"brief", "", "", "only how it stands, without its attempts"},
        {"cluster", "", "FILE", "objects of a cluster; may be repeated, - is standard input"},
        text_format,
        ReportFlag(),
        quiet},
       ExplainCommand},
      {"cdi",
       "the CDI specifications of a pod's claims, as its node's drivers write them",
       "DIR --pod NAMESPACE/NAME",
       "DIR is the folder of a run with classic or structured DRA, or its ledger. A specification "
       "tells the\n"
       "container runtime which device nodes and variables a claim brings; several are printed as "
       "a "
       "list.\n",
       {{"pod", "", "NAMESPACE/NAME", "the pod; without a slash in the namespace default"},
        {"at", "", "TIME", "its claims then, such as 1h30m (default: those that it used last)"}},
       CdiCommand},
      {"report",
       "a run, or two side by side, as one HTML page",
       "[FLAGS] LEDGER [LEDGER] --out FILE.html",
       "The page holds figures, plots over time, the map of the cluster, waits and tenants; with a "
       "second\n"
       "ledger also what differs, and the first decisions that part. It needs no network and no "
       "scripts,\n"
       "except for the map of more than 2000 GPUs.\n",
       {{"out", "", "FILE", "where the page goes; - is standard output"},
        {"at", "", "TIME,...",
         "moments of the map, such as 9h,12h30m (default: the end or, if nothing runs then, when "
         "most was allocated)"},
        text_format},
       ReportCommand},
      {"validate",
       "check scenarios, mappings, kube-scheduler configurations and manifests",
       "FILE...",
       "",
       {text_format, ReportFlag()},
       ValidateCommand},
      {"cases kube",
       "what kube-scheduler decides in small clusters given as cases",
       "[FLAGS] FILE.jsonl[.gz]",
       "Prints one line per case, {\"id\": ..., \"answer\": {...}}. A line of FILE is {\"case\": "
       "{...}},\n"
       "with or without the answer of the original scheduler, which --compare needs.\n"
       "Extenders in a case's configuration are asked over HTTP.\n",
       {{"compare", "", "",
         "count the equal answers by family and field instead; exit code 1 if any differs"},
        extender_record,
        extender_replay,
        extender_check},
       CasesKubeCommand},
      {"cases sdra",
       "which devices claims of resource.k8s.io/v1 get, in clusters given as cases",
       "[FLAGS] FILE.jsonl[.gz]",
       "Prints one line per case, {\"name\": ..., \"want\": {...}}. A line of FILE is {\"case\": "
       "{...}},\n"
       "with or without the answer of the original allocator, which --compare needs.\n",
       {{"variant", "", "VARIANT",
         "of the original allocator: stable, incubating (default) or experimental"},
        {"release", "", "RELEASE", "of the original scheduler: 1.34 to 1.37 (default)"},
        {"policy", "", "POLICY",
         "that chooses among all solutions on a node: first-fit (default), best-fit, "
         "mig-fragmentation, pack, spread, topology"},
        {"mended", "", "",
         "without the bugs that are open in the original (strict_upstream: false)"},
        {"count-steps", "", "",
         "search as the original does, without pruning, and count the calls of its recursive "
         "function"},
        {"compare", "", "",
         "count the equal answers by part and field instead; exit code 1 if any differs"}},
       CasesSdraCommand},
      {"cases cel",
       "what expressions of device selectors say of devices given as cases",
       "[FLAGS] FILE.json",
       "FILE is an array. Prints one line per case, {\"name\": ..., \"want\": {...}}, with the "
       "verdict,\n"
       "the error if there is one, and the estimated worst-case cost.\n",
       {{"compare", "", "",
         "count the answers equal to the stored ones instead; exit code 1 if any differs"}},
       CasesCelCommand},
      {"cel",
       "what a CEL expression says of the devices of ResourceSlices",
       "[FLAGS] EXPRESSION FILE...",
       "Prints the estimated worst-case cost, then a line per device: DRIVER/POOL/DEVICE, true, "
       "false\n"
       "or the error, and the actual cost.\n",
       {text_format},
       CelCommand},
      SlicesEntry(),
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

std::vector<Command> BenchCommands() {
  const FlagSpec text_format{"format", "", "FORMAT", "what to print", "text,json,csv"};
  const FlagSpec tier{"tier", "", "TIER", "leave out entries of later tiers", "smoke,pr,nightly"};
  const FlagSpec filter{
      "filter", "", "RE",
      "only cells whose ENTRY/QUEUE/POLICY/SEED matches, a POSIX extended regular "
      "expression"};
  const FlagSpec history{"history", "", "FILE.jsonl",
                         "add a line with the results to this file, for bench report"};
  const FlagSpec commit{"commit", "", "REV",
                        "the commit of that line (default: $GITHUB_SHA or $CI_COMMIT_SHA)"};
  return {
      {"bench run", "the cells of a benchmark suite, resumable",
       "SUITE.yaml|--scheduler-perf DIR --out DIR [FLAGS]",
       "Leaves the figures in DIR/cells.csv, CPU time and memory in costs.csv, and what could not "
       "run in\n"
       "missing.csv. The same command run again runs only cells that are not there, or whose "
       "inputs or\n"
       "program have changed. Exit codes: 1 a cell failed, 4 a file that an entry needs is not "
       "there.\n"
       "With --scheduler-perf the cells are the workloads of Kubernetes' benchmark of that name, "
       "and perf.csv\n"
       "has their throughput, and why some do not run.\n",
       WithShardFlags(
           {{"out", "", "DIR", "where results go"},
            {"scheduler-perf", "", "DIR",
             "run the workloads of every performance-config.yaml in DIR and below"},
            {"overlay", "", "DIR", "files here replace templates of --scheduler-perf"},
            {"label-filter", "", "LABELS",
             "only workloads with these labels, and without those after '-': performance,-short"},
            {"set", "", "KEY=VALUE",
             "with --scheduler-perf: a scenario key of scheduler, timing or preemption, or seed; "
             "repeatable"},
            {"page", "", "FILE",
             "with --scheduler-perf: also write a page that lists all workloads"},
            tier,
            filter,
            {"jobs", "", "N", "processes (default: all cores)"},
            {"timeout", "", "SECONDS", "of a cell, which is then killed (default: 600)"},
            {"instructions", "", "", "count those of cells marked `cost`, with valgrind or perf"},
            {"force", "", "", "write into DIR even if it holds files that are not drasim's"},
            text_format,
            ReportFlag(),
            history,
            commit,
            {"quiet", "", "", "no progress on standard error"}}),
       BenchRunCommand},
      {"bench compare",
       "verdicts on a suite's results: better, worse or the same",
       "BASE HEAD [FLAGS]",
       "BASE and HEAD are folders of `bench run` or baselines; with --suite, two programs that "
       "run\n"
       "beside each other, judged by instructions, CPU time and memory, too. Exit codes: 0 all the "
       "same, 1 "
       "something is\n"
       "worse, 3 decisions changed and nothing is worse, 4 cells are missing or none was "
       "compared.\n",
       {{"suite", "", "FILE", "BASE and HEAD are programs: run the suite with each"},
        {"out", "", "DIR", "where the programs' results go, with --suite"},
        tier,
        filter,
        {"instructions", "", "", "count them, with --suite; must be compared in any case"},
        {"blocks", "", "N", "of CPU times, with --suite: 0 for none, or from 15 on (default: 15)"},
        {"jobs", "", "N", "processes, with --suite (default: all cores)"},
        {"timeout", "", "SECONDS", "of a cell, which is then killed (default: 600)"},
        {"force", "", "", "write into DIR even if it holds files that are not drasim's"},
        text_format,
        ReportFlag(),
        history,
        commit,
        {"quiet", "", "", "no progress on standard error"}},
       BenchCompareCommand},
      {"bench accept",
       "take results as the new baseline",
       "--reason TEXT BASELINE.csv DIR [FLAGS]",
       "Rewrites only the lines of cells that differ. Each keeps the reason for which it was "
       "accepted.\n",
       {{"reason", "", "TEXT", "why the results changed, one line"}, text_format},
       BenchAcceptCommand},
      {"bench judge", "the figures of another scheduler's decisions",
       "--decisions FILE [FLAGS] [SCENARIO.yaml]",
       "The placements of FILE are carried out on the scenario's cluster and workload. FILE is a "
       "table with the\n"
       "columns pod, node, devices and time, what `kubectl get pods -A -o json` prints, a run's "
       "pods.csv, its\n"
       "ledger or its folder. --baseline compares with the JSON of an earlier call. Exit codes: 1 "
       "a "
       "placement is\nimpossible or a --fail-if applies, 2 FILE cannot be read.\n",
       With({{"decisions", "", "FILE", "what the scheduler decided"},
             {"zero", "", "TIME",
              "the run's time zero as kubectl tells times, such as 2026-01-31T08:00:00Z (default: "
              "when the oldest pod was created)"},
             GateFlagSpecs()[0],
             GateFlagSpecs()[1],
             {"out", "", "DIR", "leave the files of a run there"},
             {"force", "", "", "write into DIR even if it holds files that are not drasim's"},
             text_format,
             {"quiet", "", "", "do not name impossible placements"}}),
       BenchJudgeCommand},
      {"bench card",
       "how good policies are: differences, ranks, and the distance from the best possible",
       "SUITE.yaml --out BUNDLE [FLAGS], or RESULTS [FLAGS]",
       "With --out the suite's cells are run (those of an earlier call are kept), and BUNDLE holds "
       "all that the\n"
       "card was made from, for `bench verify`. Without, the card is made of a folder of `bench "
       "run`, and lacks\n"
       "the bounds. Exit codes: 4 a file that an entry needs is not there.\n",
       {{"out", "", "BUNDLE", "where the card goes"},
        {"reference", "", "POLICY", "differences are from it (default: the one of most scenarios)"},
        {"front", "", "A,B,...", "metrics whose trade-off counts (default: by kind of scenario)"},
        tier,
        filter,
        {"jobs", "", "N", "processes (default: all cores)"},
        {"force", "", "", "write into BUNDLE even if it holds files that are not drasim's"},
        text_format,
        {"quiet", "", "", "no progress on standard error"}},
       BenchCardCommand},
      {"bench verify",
       "make a card again and compare it byte by byte",
       "BUNDLE [FLAGS]",
       "Exit codes: 0 reproduced, 1 something differs, 4 a file that an entry needs is not "
       "there.\n",
       {{"jobs", "", "N", "processes (default: all cores)"},
        text_format,
        {"quiet", "", "", "no progress on standard error"}},
       BenchVerifyCommand},
      {"bench bisect",
       "the first commit that changes what a benchmark does",
       "--good REV [--bad REV] ENTRY [FLAGS]",
       "Builds commits in worktrees beside the repository and runs the cells of the entry (or of "
       "ENTRY/QUEUE/\n"
       "POLICY, or one cell) with `drasim run`. Names the first commit whose fingerprint, counters "
       "or figures\n"
       "differ from those of --good, and the decision. Commits that do not build are skipped. Exit "
       "codes: 0\n"
       "nothing differs, 1 a commit was found.\n",
       {{"good", "", "REV", "a commit before the change"},
        {"bad", "", "REV", "a commit with the change (default: HEAD)"},
        {"suite", "", "SUITE.yaml", "the suite (default: bench/suite/core.yaml)"},
        {"figures", "", "A,B,...",
         "only figures whose names begin so: fingerprint, steps, jobs.jct_seconds, ... (default: "
         "all)"},
        {"all", "", "", "every commit that changes something, not only the first"},
        {"build", "", "CMD", "how to build a worktree (default: cmake, the preset release)"},
        {"program", "", "PATH", "what that leaves (default: build/release/bin/drasim)"},
        text_format,
        {"quiet", "", "", "no progress on standard error"}},
       BenchBisectCommand},
      {"bench cases",
       "the answers to the cases of one entry of a suite",
       "SUITE.yaml [ENTRY] [FLAGS]",
       "Prints the figures of the entry, which has `cases`, and a fingerprint of the answers. With "
       "--answers, a\n"
       "line for each case, as `drasim cases` has it; with --cases, the cases, those of a "
       "generated "
       "world, too.\n"
       "ENTRY is needed if several entries have cases.\n",
       {{"answers", "", "", "print the answers instead"},
        {"cases", "", "", "print the cases instead"},
        {"rounds", "", "N", "how often all cases are answered (default: the entry's)"},
        text_format},
       BenchCasesCommand},
      {"bench report",
       "the history of a suite as one HTML page",
       "--history FILE.jsonl --html FILE [FLAGS]",
       "Trend lines of every figure that changed, with the commits at which it did. The page needs "
       "no network.\n",
       {{"history", "", "FILE.jsonl", "what bench run and bench compare --history have written"},
        {"html", "", "FILE", "where the page goes"},
        {"commit-url", "", "URL", "links of commits, with {commit} for the hash"},
        text_format},
       BenchReportCommand},
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

}  // namespace

const std::vector<Command>& Commands() {
  static const auto* const commands = [] {
    auto* const all = new std::vector<Command>(MakeCommands());
    // Completion stays last.
    for (const std::vector<Command>& family : {BenchCommands(), MigCommands()})
      all->insert(all->end() - 1, family.begin(), family.end());
    return all;
  }();
  return *commands;
}

}  // namespace drasim
