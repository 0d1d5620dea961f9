// drasim completion: a completion script for the shell, made from the table of commands.

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sim/app/commands.h"
#include "sim/app/flags.h"

namespace drasim {

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

}  // namespace drasim
