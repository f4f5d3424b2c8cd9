// Finding instructions by op, value, type or attribute.

import { type Program, instKey, paramKey } from "./model";

interface Entry {
  key: string;
  op: string;
  value: string;
  type: string;
  text: string;
}

/** Words that all have to be there; `op:`, `value:`, `type:` and `attr:` say where. */
export class Search {
  private readonly entries: Entry[] = [];

  constructor(program: Program) {
    program.functions.forEach((f, fn) => {
      for (const param of f.bodies.get(f.body)?.params ?? []) {
        const { name, type } = f.value(param);
        const text = `${name} ${type}`.toLowerCase();
        this.entries.push({ key: paramKey(fn, param), op: "", value: name.toLowerCase(), type: type.toLowerCase(), text });
      }
      for (const inst of f.insts.values()) {
        const value = inst.results.map((v) => f.value(v).name).join(" ").toLowerCase();
        const entry = { op: inst.op.toLowerCase(), value, type: f.typeOf(inst).toLowerCase(), text: inst.text.toLowerCase() };
        this.entries.push({ key: instKey(fn, inst.id), ...entry });
      }
    });
  }

  find(query: string): string[] {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).map(condition);
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
      return (entry) => attributes(entry.text).includes(what as string);
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
