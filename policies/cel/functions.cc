#include "policies/cel/functions.h"

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "policies/cel/operators.h"

namespace drasim::cel {
namespace {

constexpr bool kMember = true;
constexpr bool kGlobal = false;

constexpr Overload kConditionals[] = {{kGlobal, CostRule::kConditional, "bAA:A"}};
constexpr Overload kLogic[] = {{kGlobal, CostRule::kLogic, "bb:b"}};
constexpr Overload kNots[] = {{kGlobal, CostRule::kOne, "b:b"}};
constexpr Overload kNegations[] = {{kGlobal, CostRule::kOne, "d:d"},
                                   {kGlobal, CostRule::kOne, "i:i"}};
constexpr Overload kEqualities[] = {{kGlobal, CostRule::kShorter, "AA:b"}};
constexpr Overload kOrders[] = {
    {kGlobal, CostRule::kOne, "bb:b"},     {kGlobal, CostRule::kOne, "ii:b"},
    {kGlobal, CostRule::kOne, "id:b"},     {kGlobal, CostRule::kOne, "iu:b"},
    {kGlobal, CostRule::kOne, "uu:b"},     {kGlobal, CostRule::kOne, "ud:b"},
    {kGlobal, CostRule::kOne, "ui:b"},     {kGlobal, CostRule::kOne, "dd:b"},
    {kGlobal, CostRule::kOne, "di:b"},     {kGlobal, CostRule::kOne, "du:b"},
    {kGlobal, CostRule::kShorter, "ss:b"}, {kGlobal, CostRule::kShorter, "yy:b"}};
constexpr Overload kMemberships[] = {{kGlobal, CostRule::kInList, "ALA:b"},
                                     {kGlobal, CostRule::kOne, "AMAB:b"}};
constexpr Overload kAdditions[] = {
    {kGlobal, CostRule::kConcat, "yy:y"}, {kGlobal, CostRule::kOne, "dd:d"},
    {kGlobal, CostRule::kOne, "ii:i"},    {kGlobal, CostRule::kConcatLists, "LALA:LA"},
    {kGlobal, CostRule::kConcat, "ss:s"}, {kGlobal, CostRule::kOne, "uu:u"}};
constexpr Overload kArithmetic[] = {{kGlobal, CostRule::kOne, "dd:d"},
                                    {kGlobal, CostRule::kOne, "ii:i"},
                                    {kGlobal, CostRule::kOne, "uu:u"}};
constexpr Overload kModulos[] = {{kGlobal, CostRule::kOne, "ii:i"},
                                 {kGlobal, CostRule::kOne, "uu:u"}};
constexpr Overload kIndices[] = {{kGlobal, CostRule::kIndexList, "LAi:A"},
                                 {kGlobal, CostRule::kIndexMap, "MABA:B"},
                                 {kGlobal, CostRule::kOne, "OLAi:OA"},
                                 {kGlobal, CostRule::kOne, "OMABA:OB"}};
constexpr Overload kOptIndices[] = {{kGlobal, CostRule::kOne, "LAi:OA"},
                                    {kGlobal, CostRule::kOne, "OLAi:OA"},
                                    {kGlobal, CostRule::kOne, "MABA:OB"},
                                    {kGlobal, CostRule::kOne, "OMABA:OB"}};

constexpr Overload kSizes[] = {
    {kGlobal, CostRule::kOne, "y:i"},   {kMember, CostRule::kOne, "y:i"},
    {kGlobal, CostRule::kOne, "LA:i"},  {kMember, CostRule::kOne, "LA:i"},
    {kGlobal, CostRule::kOne, "MAB:i"}, {kMember, CostRule::kOne, "MAB:i"},
    {kGlobal, CostRule::kOne, "s:i"},   {kMember, CostRule::kOne, "s:i"}};
constexpr Overload kContainments[] = {{kMember, CostRule::kProduct, "ss:b"}};
constexpr Overload kAffixes[] = {{kMember, CostRule::kArgument, "ss:b"}};
constexpr Overload kMatchings[] = {{kGlobal, CostRule::kRegex, "ss:b"},
                                   {kMember, CostRule::kRegex, "ss:b"}};
constexpr Overload kToInts[] = {{kGlobal, CostRule::kOne, "i:i"},
                                {kGlobal, CostRule::kOne, "d:i"},
                                {kGlobal, CostRule::kOne, "s:i"},
                                {kGlobal, CostRule::kOne, "u:i"}};
constexpr Overload kToUints[] = {{kGlobal, CostRule::kOne, "u:u"},
                                 {kGlobal, CostRule::kOne, "d:u"},
                                 {kGlobal, CostRule::kOne, "i:u"},
                                 {kGlobal, CostRule::kOne, "s:u"}};
constexpr Overload kToDoubles[] = {{kGlobal, CostRule::kOne, "d:d"},
                                   {kGlobal, CostRule::kOne, "i:d"},
                                   {kGlobal, CostRule::kOne, "s:d"},
                                   {kGlobal, CostRule::kOne, "u:d"}};
constexpr Overload kToStrings[] = {
    {kGlobal, CostRule::kOne, "s:s"},    {kGlobal, CostRule::kOne, "b:s"},
    {kGlobal, CostRule::kToText, "y:s"}, {kGlobal, CostRule::kOne, "d:s"},
    {kGlobal, CostRule::kOne, "i:s"},    {kGlobal, CostRule::kOne, "u:s"}};
constexpr Overload kToByteStrings[] = {{kGlobal, CostRule::kOne, "y:y"},
                                       {kGlobal, CostRule::kToBytes, "s:y"}};
constexpr Overload kToBools[] = {{kGlobal, CostRule::kOne, "b:b"},
                                 {kGlobal, CostRule::kOne, "s:b"}};
constexpr Overload kToDyns[] = {{kGlobal, CostRule::kOne, "A:D"}};
constexpr Overload kTypesOf[] = {{kGlobal, CostRule::kOne, "A:TA"}};

constexpr Overload kQuantities[] = {{kGlobal, CostRule::kOne, "s:q"}};
constexpr Overload kQuantityTests[] = {{kGlobal, CostRule::kOne, "s:b"}};
constexpr Overload kSigns[] = {{kGlobal, CostRule::kFixed, "q:i"}};
constexpr Overload kIntegerTests[] = {{kMember, CostRule::kFixed, "q:b"}};
constexpr Overload kIntegers[] = {{kMember, CostRule::kFixed, "q:i"}};
constexpr Overload kFloats[] = {{kMember, CostRule::kFixed, "q:d"}};
constexpr Overload kSums[] = {{kMember, CostRule::kFixed, "qq:q"},
                              {kMember, CostRule::kFixed, "qi:q"}};
constexpr Overload kComparisons[] = {{kMember, CostRule::kFixed, "qq:i"},
                                     {kMember, CostRule::kFixed, "vv:i"}};
constexpr Overload kInequalities[] = {{kMember, CostRule::kFixed, "qq:b"},
                                      {kMember, CostRule::kFixed, "vv:b"}};
constexpr Overload kSemvers[] = {{kGlobal, CostRule::kOne, "s:v"},
                                 {kGlobal, CostRule::kOne, "sb:v"}};
constexpr Overload kSemverTests[] = {{kGlobal, CostRule::kOne, "s:b"},
                                     {kGlobal, CostRule::kOne, "sb:b"}};
constexpr Overload kVersionParts[] = {{kMember, CostRule::kFixed, "v:i"}};

constexpr Overload kFinds[] = {{kMember, CostRule::kFind, "ss:s"}};
constexpr Overload kFindAlls[] = {{kMember, CostRule::kFind, "ss:Ls"},
                                  {kMember, CostRule::kFind, "ssi:Ls"}};

constexpr Overload kSortedTests[] = {
    {kMember, CostRule::kScan, "Li:b"}, {kMember, CostRule::kScan, "Lu:b"},
    {kMember, CostRule::kScan, "Ld:b"}, {kMember, CostRule::kScan, "Lb:b"},
    {kMember, CostRule::kScan, "Ls:b"}, {kMember, CostRule::kScan, "Ly:b"}};
constexpr Overload kListSums[] = {{kMember, CostRule::kScan, "Li:i"},
                                  {kMember, CostRule::kScan, "Lu:u"},
                                  {kMember, CostRule::kScan, "Ld:d"}};
constexpr Overload kExtremes[] = {
    {kMember, CostRule::kScan, "Li:i"}, {kMember, CostRule::kScan, "Lu:u"},
    {kMember, CostRule::kScan, "Ld:d"}, {kMember, CostRule::kScan, "Lb:b"},
    {kMember, CostRule::kScan, "Ls:s"}, {kMember, CostRule::kScan, "Ly:y"}};
constexpr Overload kPositions[] = {{kMember, CostRule::kScan, "LAA:i"},
                                   {kMember, CostRule::kScan, "ss:i"},
                                   {kMember, CostRule::kScan, "ssi:i"}};
constexpr Overload kInclusions[] = {{kMember, CostRule::kIncludes, "DD:b"}};

constexpr Overload kCharacters[] = {{kMember, CostRule::kOne, "si:s"}};
constexpr Overload kJoins[] = {{kMember, CostRule::kJoin, "Ls:s"},
                               {kMember, CostRule::kJoin, "Lss:s"}};
constexpr Overload kTransforms[] = {{kMember, CostRule::kTransform, "s:s"}};
constexpr Overload kReplacements[] = {{kMember, CostRule::kReplace, "sss:s"},
                                      {kMember, CostRule::kReplace, "sssi:s"}};
constexpr Overload kSplits[] = {{kMember, CostRule::kSplit, "ss:Ls"},
                                {kMember, CostRule::kSplit, "ssi:Ls"}};
constexpr Overload kSubstrings[] = {{kMember, CostRule::kTransform, "si:s"},
                                    {kMember, CostRule::kTransform, "sii:s"}};

constexpr Overload kOptionals[] = {{kGlobal, CostRule::kOne, "A:OA"}};
constexpr Overload kNones[] = {{kGlobal, CostRule::kOne, ":OA"}};
constexpr Overload kValues[] = {{kMember, CostRule::kOne, "OA:A"}};
constexpr Overload kValueTests[] = {{kMember, CostRule::kOne, "OA:b"}};
constexpr Overload kOptionalOrs[] = {{kMember, CostRule::kOne, "OAOA:OA"}};
constexpr Overload kOrValues[] = {{kMember, CostRule::kOne, "OAA:A"}};

constexpr FunctionInfo kFunctions[] = {
    {ops::kConditional, Function::kConditional, kConditionals},
    {ops::kOr, Function::kOr, kLogic},
    {ops::kAnd, Function::kAnd, kLogic},
    {ops::kNot, Function::kNot, kNots},
    {ops::kNegate, Function::kNegate, kNegations},
    {ops::kEqual, Function::kEqual, kEqualities},
    {ops::kNotEqual, Function::kNotEqual, kEqualities},
    {ops::kLess, Function::kLess, kOrders},
    {ops::kLessEqual, Function::kLessEqual, kOrders},
    {ops::kGreater, Function::kGreater, kOrders},
    {ops::kGreaterEqual, Function::kGreaterEqual, kOrders},
    {ops::kIn, Function::kIn, kMemberships},
    {ops::kAdd, Function::kAdd, kAdditions},
    {ops::kSubtract, Function::kSubtract, kArithmetic},
    {ops::kMultiply, Function::kMultiply, kArithmetic},
    {ops::kDivide, Function::kDivide, kArithmetic},
    {ops::kModulo, Function::kModulo, kModulos},
    {ops::kIndex, Function::kIndex, kIndices},
    {ops::kOptIndex, Function::kOptIndex, kOptIndices},
    {ops::kOptSelect, Function::kOptSelect, {}},
    {ops::kNotStrictlyFalse, Function::kNotStrictlyFalse, kNots},
    {"size", Function::kSize, kSizes},
    {"contains", Function::kContains, kContainments},
    {"startsWith", Function::kStartsWith, kAffixes},
    {"endsWith", Function::kEndsWith, kAffixes},
    {"matches", Function::kMatches, kMatchings},
    {"int", Function::kToInt, kToInts},
    {"uint", Function::kToUint, kToUints},
    {"double", Function::kToDouble, kToDoubles},
    {"string", Function::kToString, kToStrings},
    {"bytes", Function::kToBytes, kToByteStrings},
    {"bool", Function::kToBool, kToBools},
    {"dyn", Function::kToDyn, kToDyns},
    {"type", Function::kTypeOf, kTypesOf},
    {"quantity", Function::kQuantity, kQuantities},
    {"isQuantity", Function::kIsQuantity, kQuantityTests},
    {"sign", Function::kSign, kSigns},
    {"isInteger", Function::kIsInteger, kIntegerTests},
    {"asInteger", Function::kAsInteger, kIntegers},
    {"asApproximateFloat", Function::kAsApproximateFloat, kFloats},
    {"add", Function::kPlus, kSums},
    {"sub", Function::kMinus, kSums},
    {"compareTo", Function::kCompareTo, kComparisons},
    {"isGreaterThan", Function::kIsGreaterThan, kInequalities},
    {"isLessThan", Function::kIsLessThan, kInequalities},
    {"semver", Function::kSemver, kSemvers},
    {"isSemver", Function::kIsSemver, kSemverTests},
    {"major", Function::kMajor, kVersionParts},
    {"minor", Function::kMinor, kVersionParts},
    {"patch", Function::kPatch, kVersionParts},
    {"find", Function::kFind, kFinds},
    {"findAll", Function::kFindAll, kFindAlls},
    {"isSorted", Function::kIsSorted, kSortedTests},
    {"sum", Function::kSum, kListSums},
    {"min", Function::kMin, kExtremes},
    {"max", Function::kMax, kExtremes},
    {"indexOf", Function::kIndexOf, kPositions},
    {"lastIndexOf", Function::kLastIndexOf, kPositions},
    {"includes", Function::kIncludes, kInclusions},
    {"charAt", Function::kCharAt, kCharacters},
    {"join", Function::kJoin, kJoins},
    {"lowerAscii", Function::kLowerAscii, kTransforms},
    {"upperAscii", Function::kUpperAscii, kTransforms},
    {"trim", Function::kTrim, kTransforms},
    {"replace", Function::kReplace, kReplacements},
    {"split", Function::kSplit, kSplits},
    {"substring", Function::kSubstring, kSubstrings},
    {"optional.of", Function::kOptionalOf, kOptionals},
    {"optional.ofNonZeroValue", Function::kOptionalOfNonZero, kOptionals},
    {"optional.none", Function::kOptionalNone, kNones},
    {"value", Function::kOptionalValue, kValues},
    {"hasValue", Function::kOptionalHasValue, kValueTests},
    {"or", Function::kOptionalOr, kOptionalOrs},
    {"orValue", Function::kOptionalOrValue, kOrValues},
};

constexpr absl::string_view kUnsupported[] = {"timestamp",
                                              "duration",
                                              "getFullYear",
                                              "getMonth",
                                              "getDayOfYear",
                                              "getDate",
                                              "getDayOfMonth",
                                              "getDayOfWeek",
                                              "getHours",
                                              "getMinutes",
                                              "getSeconds",
                                              "getMilliseconds",
                                              "url",
                                              "isURL",
                                              "getScheme",
                                              "getHost",
                                              "getHostname",
                                              "getPort",
                                              "getEscapedPath",
                                              "getQuery",
                                              "ip",
                                              "isIP",
                                              "ip.isCanonical",
                                              "isCanonical",
                                              "family",
                                              "isUnspecified",
                                              "isLoopback",
                                              "isLinkLocalMulticast",
                                              "isLinkLocalUnicast",
                                              "isGlobalUnicast",
                                              "cidr",
                                              "isCIDR",
                                              "containsIP",
                                              "containsCIDR",
                                              "masked",
                                              "prefixLength",
                                              "format",
                                              "validate",
                                              "format.named",
                                              "named",
                                              "strings.quote",
                                              "quote",
                                              "reverse",
                                              "sets.contains",
                                              "sets.equivalent",
                                              "sets.intersects",
                                              "equivalent",
                                              "intersects",
                                              "path",
                                              "group",
                                              "serviceAccount",
                                              "resource",
                                              "subresource",
                                              "namespace",
                                              "name",
                                              "check",
                                              "allowed",
                                              "reason",
                                              "errored",
                                              "error",
                                              "fieldSelector",
                                              "labelSelector",
                                              "image",
                                              "isImage",
                                              "containsDigest",
                                              "registry",
                                              "repository",
                                              "identifier",
                                              "tag",
                                              "digest",
                                              "lists.range",
                                              "range",
                                              "slice",
                                              "flatten",
                                              "distinct",
                                              "sort",
                                              "sortBy",
                                              "first",
                                              "last",
                                              "optional.unwrap",
                                              "unwrap",
                                              "unwrapOpt",
                                              "jsonpatch.escapeKey",
                                              "escapeKey"};

}  // namespace

const FunctionInfo* FindFunction(absl::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const FunctionInfo*>;
    for (const FunctionInfo& info : kFunctions) map->emplace(info.name, &info);
    return map;
  }();
  const auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

bool IsUnsupportedFunction(absl::string_view name) {
  static const auto* const names =
      new absl::flat_hash_set<absl::string_view>(std::begin(kUnsupported), std::end(kUnsupported));
  return names->contains(name);
}

bool IsUnsupportedNamespace(absl::string_view name) {
  return name == "sets" || name == "lists" || name == "strings" || name == "optional" ||
         name == "ip" || name == "format" || name == "jsonpatch";
}

absl::string_view FunctionName(Function function) {
  // The table is in order of the enumeration, which begins with kNone.
  return kFunctions[static_cast<size_t>(function) - 1].name;
}

}  // namespace drasim::cel
