// The colours of op families: one hue each, all of the same lightness, so that text on them is readable in both themes.

import { LEVELS } from "./cost";

/** The hues of families; related families have similar hues. */
const HUES: Record<string, number> = {
  unary: 28,
  binary: 45,
  compare: 62,
  cast: 85,
  normalization: 110,
  reduce: 130,
  window: 150,
  sort: 165,
  attention: 178,
  recurrent: 190,
  dot: 205,
  convolution: 220,
  linalg: 235,
  shape: 265,
  gather: 285,
  dynamic: 300,
  control: 330,
  call: 345,
  rng: 10,
};

export interface Colours {
  fill: string;
  line: string;
  text: string;
}

/** Returns the colours of a family in a theme. Constants, parameters and unknown families are grey. */
export function colours(family: string, dark: boolean): Colours {
  const hue = HUES[family];
  const known = hue !== undefined;
  const at = (saturation: number, lightness: number) => hex(hue ?? 215, known ? saturation : 9, lightness);
  const fill = dark ? at(34, 20) : at(72, 94);
  // Yellow looks lighter than blue at the same lightness: lines get darker until they contrast with their fill.
  let lightness = dark ? 56 : 46;
  while (contrast(at(52, lightness), fill) < 3 && lightness > 20 && lightness < 90) lightness += dark ? 1 : -1;
  return { fill, line: at(52, lightness), text: dark ? at(60, 90) : at(62, 17) };
}

/** The hue, saturation and lightness of the levels of heat after the first, in the light and in the dark theme. */
const HEAT: Record<"light" | "dark", [number, number, number][]> = {
  light: [[50, 85, 93], [45, 95, 84], [38, 96, 71], [24, 92, 62], [6, 76, 41]],
  dark: [[45, 22, 18], [38, 38, 22], [30, 52, 27], [20, 66, 32], [8, 76, 38]],
};

/** Returns the colours of a level of heat in a theme. */
export function heatColours(level: number, dark: boolean): Colours {
  const [hue, saturation, lightness] = HEAT[dark ? "dark" : "light"][level - 1] ?? [215, 9, dark ? 17 : 96];
  const hot = !dark && lightness < 50;
  return {
    fill: hex(hue, saturation, lightness),
    line: level === 0 ? hex(215, 9, dark ? 45 : 52) : hex(hue, 60, dark ? 58 : Math.min(36, lightness - 12)),
    text: dark || hot ? hex(hue, 60, 96) : hex(level === 0 ? 215 : 24, 40, 14),
  };
}

function hex(hue: number, saturation: number, lightness: number): string {
  const [s, l] = [saturation / 100, lightness / 100];
  const a = s * Math.min(l, 1 - l);
  const channel = (n: number) => {
    const k = (n + hue / 30) % 12;
    const value = l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, "0");
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** Returns the WCAG contrast of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const light = (colour: string) => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
    const [r, g, blue] = parts.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [x, y] = [light(a), light(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Returns the class name of a family. */
export function familyClass(family: string): string {
  return `fam-${family.replace(/[^a-z0-9]/g, "-") || "none"}`;
}

/** Returns the style rules that colour families and levels of heat in both themes. */
export function familyStyle(families: string[]): string {
  const rules = (dark: boolean, scope: string) =>
    [...new Set([...families, "parameter", ""])].map((family) => {
      const { fill, line, text } = colours(family, dark);
      return `${scope} .${familyClass(family)}{--fill:${fill};--line:${line};--ink:${text}}`;
    }).concat(
      LEVELS.map((_, level) => {
        const { fill, line, text } = heatColours(level, dark);
        return `${scope} .heat[data-heat="${level}"],${scope} .heated .graph-svg [data-heat="${level}"]${level === 0 ? `,${scope} .heated .graph-svg .row:not([data-heat])` : ""}{--fill:${fill};--line:${line};--ink:${text}}`;
      }),
    );
  return [
    ...rules(false, ":root"),
    "@media screen and (prefers-color-scheme: dark){",
    ...rules(true, ":root:not([data-theme=light])"),
    "}",
    "@media screen{",
    ...rules(true, ":root[data-theme=dark]"),
    "}",
  ].join("\n");
}
