// drasim mig products | profiles | fits | draw: what the catalogue says about GPUs that MIG can
// partition, and whether layouts fit. Nothing is simulated. The others are in cmd_mig_count.cc.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/mig_layout.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/json_writer.h"
#include "model/text/mig_catalogue.h"
#include "model/text/text_table.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/app/mig_arguments.h"
#include "sim/record/data_table.h"

namespace drasim {
namespace {

using Names = std::vector<std::string>;

absl::StatusOr<MigTable> DriverTable(const MigProduct& product, const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const MigRules rules, MigRulesOfDriver(product, flags));
  return MigTable::Make(product, rules);
}

std::string AmountText(int32_t amount) { return amount < 0 ? "?" : absl::StrCat(amount); }

std::string ListOrNone(const Names& names) {
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

// --- JSON --------------------------------------------------------------------------------------

void WriteAmount(absl::string_view key, int32_t amount, JsonWriter* json) {
  json->Key(key);
  if (amount < 0) {
    json->Null();
  } else {
    json->Int(amount);
  }
}

void WriteProfile(const MigProfile& profile, JsonWriter* json) {
  json->BeginObject();
  json->Key("name").String(profile.name);
  json->Key("names").Strings(profile.names);
  WriteAmount("profile_id", profile.profile_id, json);
  WriteAmount("nvml_enum", profile.nvml_enum, json);
  json->Key("compute_slices").Int(profile.compute_slices);
  json->Key("size").Int(profile.size);
  json->Key("starts").BeginArray();
  for (const int32_t start : profile.starts) json->Int(start);
  json->EndArray();
  json->Key("max_instances").Int(profile.max_instances);
  json->Key("nominal_gb").Int(profile.nominal_gb);
  WriteAmount("memory_mib", profile.memory_mib, json);
  WriteAmount("multiprocessors", profile.multiprocessors, json);
  WriteAmount("copy_engines", profile.copy_engines, json);
  WriteAmount("decoders", profile.decoders, json);
  WriteAmount("encoders", profile.encoders, json);
  WriteAmount("jpeg_engines", profile.jpeg_engines, json);
  WriteAmount("ofa_engines", profile.ofa_engines, json);
  json->Key("uncertain").Strings(profile.uncertain);
  json->EndObject();
}

// Key by key, into an object that is open.
void WriteProduct(const MigProduct& product, JsonWriter* json) {
  json->Key("group").String(product.group);
  json->Key("products").Strings(product.products);
  json->Key("pci_ids").Strings(product.pci_ids);
  json->Key("architecture").String(product.architecture);
  json->Key("compute_capability").String(product.compute_capability);
  json->Key("compute_slices").Int(product.compute_slices);
  json->Key("units").Int(product.units);
  json->Key("memory_nominal_gb").Int(product.memory_nominal_gb);
  WriteAmount("memory_mib", product.memory_mib, json);
  WriteAmount("multiprocessors", product.multiprocessors, json);
  json->Key("certainty").String(product.certainty);
  json->Key("sources").Strings(product.sources);
  json->Key("notes").Strings(product.notes);
  json->Key("profiles").BeginArray();
  for (const MigProfile& profile : product.profiles) WriteProfile(profile, json);
  json->EndArray();
}

// --- mig products ------------------------------------------------------------------------------

// The part before the first reservation.
absl::string_view ShortCertainty(const MigProduct& product) {
  return absl::string_view(product.certainty).substr(0, product.certainty.find_first_of(";:"));
}

std::string ProductsText() {
  size_t width = 0;
  for (const MigProduct& product : MigCatalogue()) {
    width = std::max(width, ShortCertainty(product).size());
  }
  // Texts read better left-aligned.
  const auto left = [width](absl::string_view text) {
    std::string padded(text);
    padded.resize(width, ' ');
    return padded;
  };
  TextTable table({"group", "architecture", "compute slices", "units", "memory GB", "profiles",
                   left("certainty")});
  for (const MigProduct& product : MigCatalogue()) {
    table.AddRow({product.group, product.architecture, absl::StrCat(product.compute_slices),
                  absl::StrCat(product.units), absl::StrCat(product.memory_nominal_gb),
                  absl::StrCat(product.profiles.size()), left(ShortCertainty(product))});
  }
  return table.Render(/*ansi=*/false);
}

std::string ProductsJson() {
  JsonWriter json;
  json.BeginDocument("mig-products").Key("products").BeginArray();
  for (const MigProduct& product : MigCatalogue()) {
    json.BeginObject();
    WriteProduct(product, &json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

void AddMigAmount(int32_t amount, DataTable* table) {
  if (amount < 0) {
    table->Empty();
  } else {
    table->Int(amount);
  }
}

std::string ProductsCsv() {
  DataTable table({"group", "architecture", "compute_capability", "compute_slices", "units",
                   "memory_nominal_gb", "memory_mib", "multiprocessors", "profiles", "certainty"});
  for (const MigProduct& product : MigCatalogue()) {
    table.AddRow().Text(product.group).Text(product.architecture);
    table.Text(product.compute_capability).Int(product.compute_slices).Int(product.units);
    table.Int(product.memory_nominal_gb);
    AddMigAmount(product.memory_mib, &table);
    AddMigAmount(product.multiprocessors, &table);
    table.Int(static_cast<int64_t>(product.profiles.size())).Text(product.certainty);
  }
  return table.Csv();
}

// --- mig profiles ------------------------------------------------------------------------------

std::string ProfileTable(const MigProduct& product) {
  TextTable table({"profile", "id", "compute", "units", "starts", "max", "MiB", "SMs",
                   "copy/dec/enc/jpeg/ofa"});
  for (const MigProfile& p : product.profiles) {
    Names engines;
    for (const int32_t amount :
         {p.copy_engines, p.decoders, p.encoders, p.jpeg_engines, p.ofa_engines}) {
      engines.push_back(AmountText(amount));
    }
    table.AddRow({p.name, AmountText(p.profile_id), absl::StrCat(p.compute_slices),
                  absl::StrCat(p.size), absl::StrJoin(p.starts, ","), absl::StrCat(p.max_instances),
                  AmountText(p.memory_mib), AmountText(p.multiprocessors),
                  absl::StrJoin(engines, "/")});
  }
  return table.Render(/*ansi=*/false);
}

// A line per doubt, with all profiles that share it.
std::string DoubtLines(const MigProduct& product) {
  std::vector<std::pair<std::string, Names>> doubts;
  for (const MigProfile& profile : product.profiles) {
    for (const std::string& doubt : profile.uncertain) {
      auto at = std::find_if(doubts.begin(), doubts.end(),
                             [&doubt](const auto& known) { return known.first == doubt; });
      if (at == doubts.end()) at = doubts.insert(at, {doubt, Names()});
      at->second.push_back(profile.name);
    }
  }
  std::string text;
  for (const auto& [doubt, names] : doubts) {
    absl::StrAppend(&text, "Uncertain, ", absl::StrJoin(names, ", "), ": ", doubt, "\n");
  }
  return text;
}

std::string ProductText(const MigProduct& product, const MigRules& rules) {
  std::string text = absl::StrCat(
      product.group, ": ", absl::StrJoin(product.products, ", "), "\n", product.architecture,
      ", compute capability ", product.compute_capability, "; ", product.compute_slices,
      " compute slices, ", product.units, " units, ", product.memory_nominal_gb, " GB (",
      AmountText(product.memory_mib), " MiB), ", AmountText(product.multiprocessors),
      " SMs\nCertainty: ", product.certainty, "\n\n", ProfileTable(product), "\n");
  for (const std::string& line : MigRuleLines(product.profiles, rules)) {
    absl::StrAppend(&text, line, "\n");
  }
  for (const MigProfile& profile : product.profiles) {
    if (profile.names.empty()) continue;
    absl::StrAppend(&text, "Other drivers call a ", profile.name, " ",
                    absl::StrJoin(profile.names, " or "), ".\n");
  }
  absl::StrAppend(&text, DoubtLines(product));
  for (const std::string& note : product.notes) absl::StrAppend(&text, "Note: ", note, "\n");
  return text;
}

std::string ProductJson(const MigProduct& product, const MigRules& rules) {
  JsonWriter json;
  json.BeginDocument("mig-profiles");
  WriteProduct(product, &json);
  WriteMigRules(rules, &json);
  json.EndObject();
  return json.text();
}

std::string ProfilesCsv(const MigProduct& product) {
  DataTable table({"profile", "profile_id", "compute_slices", "size", "starts", "max_instances",
                   "memory_mib", "multiprocessors", "copy_engines", "decoders", "encoders",
                   "jpeg_engines", "ofa_engines"});
  for (const MigProfile& p : product.profiles) {
    table.AddRow().Text(p.name);
    AddMigAmount(p.profile_id, &table);
    table.Int(p.compute_slices).Int(p.size).Text(absl::StrJoin(p.starts, ";"));
    table.Int(p.max_instances);
    for (const int32_t amount : {p.memory_mib, p.multiprocessors, p.copy_engines, p.decoders,
                                 p.encoders, p.jpeg_engines, p.ofa_engines}) {
      AddMigAmount(amount, &table);
    }
  }
  return table.Csv();
}

// --- mig fits ----------------------------------------------------------------------------------

struct Fit {
  std::string text;  // as given
  MigRequest request;
  MigState state = kNoMigState;
  std::string why;          // it does not fit
  Names more;               // profiles of which one more would fit
  PermutationSearch tried;  // by mig-parted, when it fits
};

Names OneMore(const MigTable& table, MigRequest request) {
  Names names;
  for (size_t p = 0; p < request.counts.size(); ++p) {
    ++request.counts[p];
    if (FindLayout(table, request) != kNoMigState) names.push_back(table.profiles()[p].name);
    --request.counts[p];
  }
  return names;
}

std::string SharedUnits(const MigPlacement& a, const MigPlacement& b) {
  const uint32_t shared = uint32_t{a.units} & uint32_t{b.units};
  const int first = std::countr_zero(shared);
  const int last = static_cast<int>(std::bit_width(shared)) - 1;
  return first == last ? absl::StrCat("unit ", first) : absl::StrCat("units ", first, " to ", last);
}

// Why the placements with a start do not go together; empty when they do.
std::string PlacementConflict(const MigTable& table, const std::vector<uint8_t>& placements) {
  uint64_t set = 0;
  for (const uint8_t p : placements) {
    const MigPlacement& added = table.placements()[p];
    const std::string name = PlacementText(table, added);
    const uint64_t bit = uint64_t{1} << p;
    if ((set & bit) != 0) return absl::StrCat(name, " is asked for twice");
    for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
      const MigPlacement& other = table.placements()[static_cast<size_t>(std::countr_zero(rest))];
      if ((other.units & added.units) == 0) continue;
      return absl::StrCat(PlacementText(table, other), " and ", name, " overlap in ",
                          SharedUnits(other, added));
    }
    if (table.Find(set | bit) == kNoMigState) {
      return absl::StrCat(name, " may not be beside ", PlacementsText(table, set));
    }
    set |= bit;
  }
  return "";
}

// Why there is no layout of the request; empty when there is one.
std::string WhyNot(const MigTable& table, const MigRequest& request) {
  if (request.placements.empty()) return ExplainMisfit(table, request.counts);
  std::string conflict = PlacementConflict(table, request.placements);
  if (!conflict.empty()) return conflict;
  std::vector<size_t> order(table.profiles().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&table](size_t a, size_t b) {
    return table.profiles()[a].size > table.profiles()[b].size;
  });
  uint64_t fixed = 0;
  for (const uint8_t p : request.placements) fixed |= uint64_t{1} << p;
  MigRequest fitting;
  fitting.placements = request.placements;
  fitting.counts.assign(request.counts.size(), 0);
  bool only_fixed = true;
  for (const size_t p : order) {
    while (fitting.counts[p] < request.counts[p]) {
      ++fitting.counts[p];
      if (FindLayout(table, fitting) != kNoMigState) {
        only_fixed = false;
        continue;
      }
      --fitting.counts[p];
      return absl::StrCat("no room for ", table.profiles()[p].name, " beside ",
                          PlacementsText(table, fixed), only_fixed ? "" : ", ",
                          only_fixed ? "" : MultisetText(table, fitting.counts),
                          "; one more that would fit: ", ListOrNone(OneMore(table, fitting)));
    }
  }
  return "";
}

absl::StatusOr<Fit> TryLayout(const MigTable& table, const std::string& text) {
  ASSIGN_OR_RETURN(MigRequest request, ParseLayout(table, text, MigCatalogue()));
  Fit fit;
  fit.text = text;
  fit.request = std::move(request);
  fit.state = FindLayout(table, fit.request);
  if (fit.state == kNoMigState) {
    fit.why = WhyNot(table, fit.request);
    return fit;
  }
  fit.more = OneMore(table, fit.request);
  fit.tried = ApplyByPermutations(table, MultisetOf(table, fit.state));
  return fit;
}

std::string FitText(const MigTable& table, const Fit& fit) {
  if (fit.state == kNoMigState) return absl::StrCat(fit.text, ": does not fit: ", fit.why, "\n");
  std::string text =
      absl::StrCat(fit.text, ": fits\n", DrawLayout(table, fit.state),
                   "one more that would fit: ", ListOrNone(fit.more), "\nmig-parted",
                   fit.request.placements.empty() ? ": " : ", which names no starts: ");
  if (fit.tried.state == kNoMigState) {
    absl::StrAppend(&text, "no layout in ", fit.tried.attempts, " attempts");
  } else {
    absl::StrAppend(&text, MigLayoutText(table, fit.tried.state), " in attempt ",
                    fit.tried.attempts);
  }
  absl::StrAppend(&text, "; created ", fit.tried.created, ", destroyed ", fit.tried.destroyed,
                  "\n");
  return text;
}

void WriteFit(const MigTable& table, const Fit& fit, JsonWriter* json) {
  json->BeginObject();
  json->Key("layout").String(fit.text);
  json->Key("fits").Bool(fit.state != kNoMigState);
  if (fit.state == kNoMigState) {
    json->Key("why").String(fit.why);
    json->EndObject();
    return;
  }
  json->Key("example").String(MigLayoutText(table, fit.state));
  json->Key("free_units").Int(table.free_units(fit.state));
  json->Key("usable_units").Int(table.usable_units(fit.state));
  json->Key("free_compute_slices").Int(table.free_compute(fit.state));
  json->Key("usable_compute_slices").Int(table.usable_compute(fit.state));
  json->Key("one_more").Strings(fit.more);
  json->Key("mig_parted").BeginObject();
  json->Key("succeeds").Bool(fit.tried.state != kNoMigState);
  json->Key("attempts").Int(fit.tried.attempts);
  json->Key("created").Int(fit.tried.created);
  json->Key("destroyed").Int(fit.tried.destroyed);
  if (fit.tried.state != kNoMigState) {
    json->Key("layout").String(MigLayoutText(table, fit.tried.state));
  }
  json->EndObject().EndObject();
}

std::string FitsJson(const MigTable& table, const std::vector<Fit>& fits) {
  JsonWriter json;
  json.BeginDocument("mig-fits");
  json.Key("product").String(table.product().group);
  json.Key("layouts").BeginArray();
  for (const Fit& fit : fits) WriteFit(table, fit, &json);
  json.EndArray().EndObject();
  return json.text();
}

std::string FitsCsv(const MigTable& table, const std::vector<Fit>& fits) {
  DataTable rows({"layout", "fits", "why", "example", "free_units", "usable_units",
                  "mig_parted_layout", "mig_parted_attempts"});
  for (const Fit& fit : fits) {
    rows.AddRow().Text(fit.text).Bool(fit.state != kNoMigState).Text(fit.why);
    if (fit.state == kNoMigState) {
      rows.Empty().Empty().Empty().Empty().Empty();
      continue;
    }
    rows.Text(MigLayoutText(table, fit.state));
    rows.Int(table.free_units(fit.state)).Int(table.usable_units(fit.state));
    rows.Text(fit.tried.state == kNoMigState ? "" : MigLayoutText(table, fit.tried.state));
    rows.Int(fit.tried.attempts);
  }
  return rows.Csv();
}

std::string FitsText(const MigTable& table, const std::vector<Fit>& fits) {
  return absl::StrJoin(fits, "\n", [&table](std::string* out, const Fit& fit) {
    absl::StrAppend(out, FitText(table, fit));
  });
}

// --- mig draw ----------------------------------------------------------------------------------

bool Knows(const MigProduct& product, absl::string_view name) {
  return std::any_of(product.profiles.begin(), product.profiles.end(), [name](const auto& p) {
    return absl::EqualsIgnoreCase(p.name, name) ||
           std::any_of(p.names.begin(), p.names.end(), [name](const std::string& other) {
             return absl::EqualsIgnoreCase(other, name);
           });
  });
}

// The products that have all profiles of the layout.
absl::StatusOr<std::vector<const MigProduct*>> ProductsOf(const std::string& layout) {
  std::vector<const MigProduct*> products;
  for (const MigProduct& product : MigCatalogue()) products.push_back(&product);
  for (const absl::string_view entry : absl::StrSplit(layout, ',')) {
    const absl::string_view name =
        absl::StripAsciiWhitespace(entry.substr(0, entry.find_first_of(":@")));
    Names known;
    bool anywhere = false;
    for (const MigProduct& product : MigCatalogue()) {
      for (const MigProfile& profile : product.profiles) known.push_back(profile.name);
      anywhere = anywhere || Knows(product, name);
    }
    if (!anywhere) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown profile '", name, "'", Suggest(name, known)));
    }
    products.erase(std::remove_if(products.begin(), products.end(),
                                  [name](const MigProduct* p) { return !Knows(*p, name); }),
                   products.end());
  }
  if (products.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout: found '", layout,
                     "', expected profiles of one GPU product; no product has all of these"));
  }
  return products;
}

struct Drawing {
  std::string product;
  std::string layout;  // with starts
  std::string picture;
  bool chosen = false;  // the product was not named; `others` have the profiles, too
  Names others;
};

absl::StatusOr<Drawing> DrawOn(const MigProduct& product, const std::string& layout,
                               const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const MigTable table, DriverTable(product, flags));
  ASSIGN_OR_RETURN(const MigRequest request, ParseLayout(table, layout, MigCatalogue()));
  const MigState state = FindLayout(table, request);
  if (state == kNoMigState) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout: found '", layout, "', which does not fit: ", WhyNot(table, request)));
  }
  Drawing drawing;
  drawing.product = product.group;
  drawing.layout = MigLayoutText(table, state);
  drawing.picture = DrawLayout(table, state);
  return drawing;
}

absl::StatusOr<Drawing> DrawOnNamed(const std::string& name, const std::string& layout,
                                    const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const MigProduct* const product, MigProductNamed(name));
  return DrawOn(*product, layout, flags);
}

// On the first product that has the profiles and where the layout fits.
absl::StatusOr<Drawing> DrawOnSome(const std::string& layout, const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<const MigProduct*> products, ProductsOf(layout));
  absl::Status first_error;
  for (const MigProduct* const product : products) {
    absl::StatusOr<Drawing> drawing = DrawOn(*product, layout, flags);
    if (!drawing.ok()) {
      first_error.Update(drawing.status());
      continue;
    }
    drawing->chosen = true;
    for (const MigProduct* const other : products) {
      if (other != product) drawing->others.push_back(other->group);
    }
    return drawing;
  }
  return first_error;
}

std::string DrawingText(const Drawing& drawing) {
  if (!drawing.chosen) return drawing.picture;
  return absl::StrCat(drawing.picture, "Note: drawn for ", drawing.product,
                      drawing.others.empty() ? "" : "; also with these profiles: ",
                      absl::StrJoin(drawing.others, ", "), "\n");
}

}  // namespace

absl::Status MigProductsCommand(const ParsedFlags& flags) {
  const OutputFormat format = FormatOf(flags);
  RETURN_IF_ERROR(AtMostArguments(0, flags));
  const std::string text = format == OutputFormat::kJson  ? ProductsJson()
                           : format == OutputFormat::kCsv ? ProductsCsv()
                                                          : ProductsText();
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

absl::Status MigProfilesCommand(const ParsedFlags& flags) {
  const OutputFormat format = FormatOf(flags);
  ASSIGN_OR_RETURN(const MigProduct* const product, MigProductArgument(flags, 1));
  ASSIGN_OR_RETURN(const MigRules rules, MigRulesOfDriver(*product, flags));
  const std::string text = format == OutputFormat::kJson  ? ProductJson(*product, rules)
                           : format == OutputFormat::kCsv ? ProfilesCsv(*product)
                                                          : ProductText(*product, rules);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

absl::Status MigFitsCommand(const ParsedFlags& flags) {
  const OutputFormat format = FormatOf(flags);
  const Names& given = flags.positional();
  ASSIGN_OR_RETURN(const MigProduct* const product, MigProductArgument(flags, given.size()));
  if (given.size() < 2) {
    return absl::InvalidArgumentError("expected a layout such as 3g.20gb:2 or 3g.20gb@4");
  }
  ASSIGN_OR_RETURN(const MigTable table, DriverTable(*product, flags));
  std::vector<Fit> fits;
  bool all = true;
  for (size_t i = 1; i < given.size(); ++i) {
    ASSIGN_OR_RETURN(Fit fit, TryLayout(table, given[i]));
    all = all && fit.state != kNoMigState;
    fits.push_back(std::move(fit));
  }
  const std::string text = format == OutputFormat::kJson  ? FitsJson(table, fits)
                           : format == OutputFormat::kCsv ? FitsCsv(table, fits)
                                                          : FitsText(table, fits);
  std::fputs(text.c_str(), stdout);
  return all ? absl::OkStatus() : QuietFailure();
}

absl::Status MigDrawCommand(const ParsedFlags& flags) {
  const Names& given = flags.positional();
  std::optional<std::string> name = flags.Get("product");
  RETURN_IF_ERROR(AtMostArguments(name.has_value() ? 1 : 2, flags));
  if (given.size() == 2) name = given[0];
  if (given.empty() || (given.size() == 1 && FindMigProduct(given[0]) != nullptr)) {
    return absl::InvalidArgumentError("expected a layout such as 3g.20gb:2 or 3g.20gb@4");
  }
  ASSIGN_OR_RETURN(const Drawing drawing, name.has_value() ? DrawOnNamed(*name, given.back(), flags)
                                                           : DrawOnSome(given.back(), flags));
  const OutputFormat format = FormatOf(flags);
  if (format == OutputFormat::kText) {
    std::fputs(DrawingText(drawing).c_str(), stdout);
    return absl::OkStatus();
  }
  DataTable table({"product", "layout", "drawing"});
  table.AddRow().Text(drawing.product).Text(drawing.layout).Text(drawing.picture);
  std::fputs(DocumentOf("mig-draw", table, format).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
