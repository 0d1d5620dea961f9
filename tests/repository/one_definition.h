// One definition of every type: two types of one name in one namespace, in files that never meet in
// a unit, compile and link, and then one's destructor runs on the other's objects
// ([basic.def.odr]).
//
// Looks at types outside unnamed namespaces. Two inline functions with one signature are not found.
#ifndef DRASIM_TESTS_REPOSITORY_ONE_DEFINITION_H_
#define DRASIM_TESTS_REPOSITORY_ONE_DEFINITION_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/repository/cpp_text.h"
#include "tests/repository/file_rules.h"

namespace drasim::tidy {

struct TypeDefinition {
  std::string name;  // with its namespace: "drasim::ClaimPlan"
  size_t line = 0;
};

// Types that `tokens` define at the level of a named namespace, without specialisations. O(tokens).
inline std::vector<TypeDefinition> TypesOf(const std::vector<Token>& tokens) {
  std::vector<TypeDefinition> types;
  std::vector<std::string> scopes;  // of open braces; "" for all but named namespaces
  std::string next_scope;           // of the next brace
  for (size_t at = 0; at < tokens.size(); ++at) {
    const std::string& text = tokens[at].text;
    if (tokens[at].directive) continue;
    if (text == "{") {
      scopes.push_back(std::exchange(next_scope, ""));
    } else if (text == "}") {
      if (!scopes.empty()) scopes.pop_back();
    } else if (text == "namespace") {
      next_scope.clear();
      for (++at; IsName(TextAt(tokens, at)) || TextAt(tokens, at) == "::"; ++at) {
        next_scope += tokens[at].text;
      }
      if (TextAt(tokens, at) != "{") next_scope.clear();  // an alias
      --at;
    } else if (MatchesAny("struct class enum", text)) {
      if (text == "enum" && MatchesAny("struct class", TextAt(tokens, at + 1))) ++at;
      const std::string name(TextAt(tokens, at + 1));
      if (!IsName(name) || MatchesAny("< ::", TextAt(tokens, at + 2))) continue;
      size_t end = at + 2;
      while (end < tokens.size() && !MatchesAny("{ ; ( ) & > = ,", tokens[end].text)) {
        // The arguments of a base: struct A : B<C, D> {
        if (tokens[end].text == "<") {
          while (end < tokens.size() && !MatchesAny("> {", tokens[end].text)) ++end;
        }
        ++end;
      }
      if (TextAt(tokens, end) != "{") continue;
      std::string whole;
      bool outside = true;
      for (const std::string& scope : scopes) {
        outside = outside && !scope.empty();
        whole += absl::StrCat(scope, "::");
      }
      if (outside) types.push_back({whole + name, tokens[at].line});
    }
  }
  return types;
}

// Product code alone: tests are binaries of their own.
inline std::vector<Finding> CheckOneDefinition(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> first;  // place by name
  std::vector<Finding> findings;
  for (const SourceFile& file : files) {
    if (!IsCpp(file.path) || IsUnderAny(file.path, "tests bench")) continue;
    for (const TypeDefinition& type : TypesOf(Tokenize(CodeOnly(file.text)))) {
      const auto [known, added] = first.emplace(type.name, absl::StrCat(file.path, ":", type.line));
      if (!added) {
        findings.push_back({file.path, type.line,
                            absl::StrCat(type.name, " is defined in ", known->second, " too")});
      }
    }
  }
  return findings;
}

}  // namespace drasim::tidy

#endif  // DRASIM_TESTS_REPOSITORY_ONE_DEFINITION_H_
