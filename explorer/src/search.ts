// Finding instructions by op, value, type, attribute or scope.

import { type Program, instKey, paramKey } from "./model";

interface Entry {
  key: string;
  op: string;
  value: string;
  type: string;
  text: string;
  attrs: string;
  scope: string;
}

/** Removes the spaces next to commas and equals signs, so that a query need not contain them exactly. */
export function removeSpaces(text: string): string {
  return text.replace(/ *([,=]) */g, "$1");
}

/** A search for items that contain all words. `op:`, `value:`, `type:`, `attr:` and `scope:` select a field. `@name` finds functions. */
export class Search {
  private readonly entries: Entry[] = [];

  constructor(program: Program) {
    program.functions.forEach((f, fn) => {
      this.add({ key: `${fn}.b${f.body}`, op: "", value: "", type: "", text: `@${f.name}`, attrs: "", scope: "" });
      for (const param of f.bodies.get(f.body)?.params ?? []) {
        const { name, type } = f.value(param);
        this.add({ key: paramKey(fn, param), op: "", value: name, type, text: `${name} ${type}`, attrs: "", scope: "" });
      }
      for (const inst of f.insts.values()) {
        const value = inst.results.map((v) => f.value(v).name).join(" ");
        this.add({ key: instKey(fn, inst.id), op: inst.op, value, type: f.typeOf(inst), text: `${inst.text} ${inst.scope}`, attrs: attributes(inst.text), scope: inst.scope });
      }
    });
  }

  private add({ key, ...entry }: Entry): void {
    const plain = (text: string) => removeSpaces(text.toLowerCase());
    this.entries.push({ key, op: plain(entry.op), value: plain(entry.value), type: plain(entry.type), text: plain(entry.text), attrs: plain(entry.attrs), scope: plain(entry.scope) });
  }

  find(query: string): string[] {
    const words = removeSpaces(query.toLowerCase()).split(/\s+/).filter(Boolean).map(condition);
    if (words.length === 0) return [];
    return this.entries.filter((entry) => words.every((holds) => holds(entry))).map((entry) => entry.key);
  }
}

function condition(word: string): (entry: Entry) => boolean {
  const [, where, what] = /^(op|value|type|attr|scope):(.*)$/s.exec(word) ?? [];
  switch (where) {
    case "op":
      return (entry) => entry.op.includes(what as string);
    case "value":
      return (entry) => entry.value.includes(what as string);
    case "type":
      return (entry) => entry.type.includes(what as string);
    case "attr":
      return (entry) => entry.attrs.includes(what as string);
    case "scope":
      return (entry) => entry.scope.includes(what as string);
    default:
      return (entry) => entry.text.includes(word);
  }
}

// Returns the text in braces and after the op's name: a literal, a function, a string.
function attributes(text: string): string {
  const behind = /^(?:%.*? = )?[\w.]+ ("(?:[^"\\]|\\.)*"|[^%{:]*)/.exec(text)?.[1] ?? "";
  const braces = text.indexOf("{");
  return braces < 0 ? behind : `${behind} ${text.slice(braces)}`;
}
