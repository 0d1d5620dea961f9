#include "sim/app/cli.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/text/did_you_mean.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/flags.h"
#include "sim/app/format_flag.h"
#include "sim/record/data_table.h"
#include "sim/record/version.h"

namespace drasim {
namespace {

std::string Overview() {
  std::string text =
      "drasim: a discrete-event simulator of Kubernetes scheduling for clusters with "
      "accelerators.\n\n"
      "Usage: drasim COMMAND [FLAGS] [ARGUMENTS]\n\nCommands:\n";
  for (const Command& c : Commands()) {
    std::string left = absl::StrCat("  ", c.name);
    left.resize(20, ' ');
    absl::StrAppend(&text, left, c.summary, "\n");
  }
  text +=
      "\n`drasim COMMAND --help` explains one of them. Exit codes: 0 done, 1 the run failed, 2 bad "
      "usage or input.\n";
  return text;
}

std::string HelpOf(const Command& c) {
  std::string text = absl::StrCat("drasim ", c.name, ": ", c.summary, "\n\nUsage: drasim ", c.name,
                                  " ", c.usage, "\n");
  if (!c.details.empty()) absl::StrAppend(&text, "\n", c.details);
  if (!c.flags.empty()) absl::StrAppend(&text, "\nFlags:\n", FlagHelp(c.flags));
  return text;
}

void Print(absl::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int Report(const absl::Status& status, OutputFormat format) {
  if (status.ok()) return kExitOk;
  if (const std::optional<int> code = QuietExitCode(status); code.has_value()) return *code;
  const int exit_code = ExitCodeOf(status);
  const std::string text = format == OutputFormat::kJson
                               ? ErrorJson(status, exit_code)
                               : absl::StrCat("drasim: error: ", status.message(), "\n");
  std::fputs(text.c_str(), stderr);
  return exit_code;
}

std::string VersionText(OutputFormat format) {
  if (format == OutputFormat::kText) return absl::StrCat("drasim ", kDrasimVersion, "\n");
  DataTable table({"version"});
  table.AddRow().Text(kDrasimVersion);
  return DocumentOf("version", table, format);
}

std::string OverviewIn(OutputFormat format) {
  if (format == OutputFormat::kText) return Overview();
  DataTable table({"name", "summary", "flags"});
  for (const Command& c : Commands()) {
    std::vector<std::string> flags;
    for (const FlagSpec& flag : c.flags) flags.emplace_back(flag.name);
    table.AddRow().Text(c.name).Text(c.summary).Text(absl::StrJoin(flags, " "));
  }
  return RowsIn("commands", "commands", table, format);
}

// The command that the first one or two words name, and how many words that took.
const Command* Find(const std::vector<std::string>& args, size_t* words) {
  for (size_t n = 2; n >= 1; --n) {
    if (args.size() < n) continue;
    const std::string name = n == 2 ? absl::StrCat(args[0], " ", args[1]) : args[0];
    for (const Command& c : Commands()) {
      if (c.name == name) {
        *words = n;
        return &c;
      }
    }
  }
  return nullptr;
}

int UnknownCommand(const std::vector<std::string>& args, OutputFormat format) {
  std::vector<std::string> known;
  for (const Command& c : Commands()) known.emplace_back(c.name);
  std::string typed = args[0];
  for (const std::string& name : known) {
    if (name.rfind(absl::StrCat(typed, " "), 0) != 0) continue;
    if (args.size() >= 2 && args[1] == "--version") {
      Print(VersionText(format));
      return kExitOk;
    }
    if (args.size() < 2 || args[1] == "--help" || args[1] == "-h") {
      std::string text = absl::StrCat("Commands under `drasim ", typed, "`:\n");
      for (const Command& c : Commands()) {
        if (c.name.rfind(absl::StrCat(typed, " "), 0) == 0)
          absl::StrAppend(&text, "  ", c.name, "  ", c.summary, "\n");
      }
      Print(text);
      return args.size() < 2 ? kExitUsage : kExitOk;
    }
    absl::StrAppend(&typed, " ", args[1]);
    break;
  }
  return Report(
      absl::InvalidArgumentError(absl::StrCat(
          "unknown command '", typed, "'", Suggest(typed, known), "; `drasim --help` lists them")),
      format);
}

// Prints into the buffer of standard output; its failures come out in FlushStandardOutput.
int RunCommandLine(const std::vector<std::string>& args) {
  if (args.empty()) {
    Print(Overview());
    return kExitUsage;
  }
  const OutputFormat format = FormatAskedFor(args);
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    Print(OverviewIn(format));
    return kExitOk;
  }
  if (args[0] == "--version" || args[0] == "version") {
    Print(VersionText(format));
    return kExitOk;
  }
  size_t words = 0;
  const Command* command = Find(args, &words);
  if (command == nullptr) return UnknownCommand(args, format);
  std::vector<FlagSpec> specs = command->flags;
  specs.push_back({"help", "", "", "this text"});
  specs.push_back({"version", "", "", "drasim's version"});
  absl::StatusOr<ParsedFlags> flags =
      ParseFlags(specs, {args.begin() + static_cast<std::ptrdiff_t>(words), args.end()});
  if (!flags.ok()) {
    const int code = Report(flags.status(), format);
    if (format != OutputFormat::kJson) {
      std::fprintf(stderr, "`drasim %s --help` lists the flags.\n",
                   std::string(command->name).c_str());
    }
    return code;
  }
  if (flags->Has("help")) {
    Print(HelpOf(*command));
    return kExitOk;
  }
  if (flags->Has("version")) {
    Print(VersionText(format));
    return kExitOk;
  }
  if (absl::Status s = CheckFormat(specs, *flags); !s.ok()) return Report(s, format);
  return Report(command->run(*flags), format);
}

// Every command prints with the C library, whose errors stick, so that one look at the end finds
// them all.
absl::Status FlushStandardOutput() {
  const bool lost = std::ferror(stdout) != 0;
  bool failed = std::fflush(stdout) != 0;
  if (!failed) {
    // Some file systems report a full disk when a file is closed.
    const int copy = dup(STDOUT_FILENO);
    failed = copy >= 0 && close(copy) != 0;
  }
  if (!failed && !lost) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("standard output: cannot write", failed ? ": " : "",
                                             failed ? std::strerror(errno) : ""));
}

}  // namespace

int RunCli(const std::vector<std::string>& args) {
  const int code = RunCommandLine(args);
  const absl::Status written = FlushStandardOutput();
  if (written.ok()) return code;
  Report(written, FormatAskedFor(args));
  return code == kExitOk ? kExitFailed : code;
}

}  // namespace drasim
