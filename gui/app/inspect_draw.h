// The contents of the inspector by kind of object. Each class keeps the pictures of its object from
// frame to frame, and makes them again when the inspection, the room or the theme has changed.
#ifndef DRASIM_GUI_APP_INSPECT_DRAW_H_
#define DRASIM_GUI_APP_INSPECT_DRAW_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/app/app_state.h"
#include "gui/app/decision_box.h"
#include "gui/app/what_if_box.h"
#include "gui/session/inspection.h"
#include "gui/view/life_bar.h"
#include "gui/view/state_boxes.h"

namespace drasim::gui {

// The states of a claim. Shared by the inspectors of pods and claims.
class ClaimMachine {
 public:
  void Draw(const std::shared_ptr<const Inspection>& claim, const AppState& app);

 private:
  std::shared_ptr<const Inspection> drawn_;
  view::StateBoxesFrame frame_;
  view::StateBoxesPicture picture_;
};

class PodPage {
 public:
  // REQUIRES: inspection->pod.
  void Draw(const std::shared_ptr<const Inspection>& inspection, AppState* app);

 private:
  void DrawLife(const std::shared_ptr<const Inspection>& inspection, AppState* app);
  void DrawClaims(const view::PodInspection& pod, AppState* app);
  void DrawWhy(const view::PodInspection& pod, AppState* app);
  void DrawNodes(const view::PodInspection& pod, AppState* app);

  std::shared_ptr<const Inspection> drawn_;
  view::LifeBarFrame frame_;
  view::LifeBar bar_;
  ClaimMachine machine_;
  // The claims of the pod in a snapshot: rows of its table.
  std::shared_ptr<const RunSnapshot> claims_of_;
  std::string claims_pod_;
  std::vector<size_t> claims_;
  WhatIfBox what_if_;
  DecisionBox decision_;
};

class NodePage {
 public:
  // REQUIRES: inspection.node.
  void Draw(const Inspection& inspection, AppState* app);

 private:
  WhatIfBox what_if_;
};

class ClaimPage {
 public:
  // REQUIRES: inspection->claim.
  void Draw(const std::shared_ptr<const Inspection>& inspection, AppState* app);

 private:
  ClaimMachine machine_;
};

// REQUIRES: inspection.tenant.
void DrawTenantInspection(const Inspection& inspection, AppState* app);

// Links of the inspectors; nothing for an empty name.
void NodeLink(const std::string& node, AppState* app);
void PodLink(const std::string& pod, AppState* app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_INSPECT_DRAW_H_
