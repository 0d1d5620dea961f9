// The arguments of the mig commands, and the rules that a driver adds to a product, in words and
// in JSON.
#ifndef DRASIM_SIM_APP_MIG_ARGUMENTS_H_
#define DRASIM_SIM_APP_MIG_ARGUMENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/text/json_writer.h"
#include "sim/app/flags.h"

namespace drasim {

// InvalidArgument with more than `most` positional arguments.
absl::Status AtMostArguments(size_t most, const ParsedFlags& flags);

// The product of that name, which lives as long as the program. InvalidArgument for an unknown one.
absl::StatusOr<const MigProduct*> MigProductNamed(const std::string& name);
// The product that the first argument names. InvalidArgument without one, for an unknown name and
// for more than `most` arguments.
absl::StatusOr<const MigProduct*> MigProductArgument(const ParsedFlags& flags, size_t most);

// The product's rules with the driver of --driver (default: the newest).
absl::StatusOr<MigRules> MigRulesOfDriver(const MigProduct& product, const ParsedFlags& flags);

// The limits on instances besides the places where they may sit, a sentence each.
std::vector<std::string> MigRuleLines(absl::Span<const MigProfile> profiles, const MigRules& rules);
// Writes the keys "forbid" and "engines" into an object that is open.
void WriteMigRules(const MigRules& rules, JsonWriter* json);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_MIG_ARGUMENTS_H_
