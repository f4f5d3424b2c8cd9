// Finding instructions by op, value, type or attribute.

import { type Program, instKey, paramKey } from "./model";

interface Entry {
  key: string;
  op: string;
  value: string;
  type: string;
  text: string;
  attrs: string;
}

/** A text without the spaces beside commas and equals signs, which nobody should have to get right. */
export function squeezed(text: string): string {
  return text.replace(/ *([,=]) */g, "$1");
}

/** Words that all have to be there; `op:`, `value:`, `type:` and `attr:` say where. `@name` finds functions. */
export class Search {
  private readonly entries: Entry[] = [];

  constructor(program: Program) {
    program.functions.forEach((f, fn) => {
      this.add({ key: `${fn}.b${f.body}`, op: "", value: "", type: "", text: `@${f.name}`, attrs: "" });
      for (const param of f.bodies.get(f.body)?.params ?? []) {
        const { name, type } = f.value(param);
        this.add({ key: paramKey(fn, param), op: "", value: name, type, text: `${name} ${type}`, attrs: "" });
      }
      for (const inst of f.insts.values()) {
        const value = inst.results.map((v) => f.value(v).name).join(" ");
        this.add({ key: instKey(fn, inst.id), op: inst.op, value, type: f.typeOf(inst), text: inst.text, attrs: attributes(inst.text) });
      }
    });
  }

  private add({ key, ...entry }: Entry): void {
    const plain = (text: string) => squeezed(text.toLowerCase());
    this.entries.push({ key, op: plain(entry.op), value: plain(entry.value), type: plain(entry.type), text: plain(entry.text), attrs: plain(entry.attrs) });
  }

  find(query: string): string[] {
    const words = squeezed(query.toLowerCase()).split(/\s+/).filter(Boolean).map(condition);
    if (words.length === 0) return [];
    return this.entries.filter((entry) => words.every((holds) => holds(entry))).map((entry) => entry.key);
  }
}

function condition(word: string): (entry: Entry) => boolean {
  const [, where, what] = /^(op|value|type|attr):(.*)$/s.exec(word) ?? [];
  switch (where) {
    case "op":
      return (entry) => entry.op.includes(what as string);
    case "value":
      return (entry) => entry.value.includes(what as string);
    case "type":
      return (entry) => entry.type.includes(what as string);
    case "attr":
      return (entry) => entry.attrs.includes(what as string);
    default:
      return (entry) => entry.text.includes(word);
  }
}

// What stands in braces, and what stands behind the op's name: a literal, a function, a string.
function attributes(text: string): string {
  const behind = /^(?:%.*? = )?[\w.]+ ("(?:[^"\\]|\\.)*"|[^%{:]*)/.exec(text)?.[1] ?? "";
  const braces = text.indexOf("{");
  return braces < 0 ? behind : `${behind} ${text.slice(braces)}`;
}
