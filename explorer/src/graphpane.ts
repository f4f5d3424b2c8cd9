// The tab with the drawing of a program and its details.

import type { Data } from "./data";
import { ColourBar } from "./colourbar";
import { Details } from "./details";
import { h } from "./dom";
import { headline } from "./headline";
import type { Program } from "./model";
import type { Pane, Say } from "./panes";
import { Search } from "./search";
import { GraphView } from "./view";
import { Emphasis } from "./emphasis";
import { MatchWalk } from "./matches";

export function graphPane(data: Data, program: Program, say: Say): Pane & { view: GraphView } {
  const search = new Search(program);
  let found: string[] = [];
  let at = -1;
  const emphasis = new Emphasis(() => view, say);
  const details = new Details(data, (key) => view.select(key, true), (key) => emphasis.actions(key));
  const view = new GraphView(program, {
    label: `Graph of ${data.title}`,
    say,
    selected: (key) => {
      const item = key ? view.tree.items.get(key) : undefined;
      if (item) details.show(program, item, view.badges.get(item.key));
      else details.nothing(view.tree);
    },
  });
  details.nothing(view.tree);
  const colours = new ColourBar(data, () => [view], () => 0, say);
  colours.apply();
  const matches = data.matches?.length ? new MatchWalk(data.matches, view) : null;
  const sentence = headline(view.tree);
  return {
    title: "Graph",
    view,
    print: (on) => view.print(on),
    select: (key) => view.select(key, true),
    selection: () => (view.selected ? { key: view.selected, side: 1 } : null),
    element: h("div", { class: "split" }, h("div", { class: "main-column" }, sentence ? h("p", { class: "headline", title: sentence }, sentence) : null, matches?.element, view.element, h("div", { class: "bar-below" }, view.tools, colours.element)), details.element),
    key: (event) => {
      if (event.key === "c") return colours.next();
      const by = event.key === "n" ? 1 : event.key === "p" ? -1 : 0;
      if (by !== 0) matches?.walk(by);
      return by !== 0 && matches !== null;
    },
    search: (query) => {
      found = search.find(query);
      at = -1;
      view.setFound(found);
      return found.length;
    },
    next: (by) => {
      if (found.length === 0) return -1;
      at = (at + by + found.length) % found.length;
      view.select(found[at] as string, true);
      return at;
    },
  };
}
