// The tab with the drawing of a program and its details.

import type { Data } from "./data";
import { Details } from "./details";
import { h } from "./dom";
import type { Program } from "./model";
import type { Pane, Say } from "./panes";
import { Search } from "./search";
import { GraphView } from "./view";
import { legend } from "./legend";

export function graphPane(data: Data, program: Program, say: Say): Pane & { view: GraphView } {
  const search = new Search(program);
  let found: string[] = [];
  let at = -1;
  const details = new Details(data, (key) => view.select(key, true));
  const view = new GraphView(program, {
    label: `Graph of ${data.title}`,
    say,
    selected: (key) => {
      const item = key ? view.tree.items.get(key) : undefined;
      if (item) details.show(program, item);
      else details.nothing(program);
    },
  });
  details.nothing(program);
  return {
    title: "Graph",
    view,
    print: (on) => view.print(on),
    select: (key) => view.select(key, true),
    element: h("div", { class: "split" }, h("div", { class: "main-column" }, view.element, legend(data)), details.element),
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
