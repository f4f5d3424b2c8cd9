// What a tab of the page is, and what tabs share.

/** A tab: its element, and what it does when it is searched, shown or given keys. */
export interface Pane {
  title: string;
  element: HTMLElement;
  /** Called when the tab is shown. */
  shown?(): void;
  /** How many results there are. */
  search?(query: string): number;
  /** Goes to the next result or the one before; its number. */
  next?(by: 1 | -1): number;
  /** Shows all there is, for paper, or ends that. */
  print?(on: boolean): void;
  /** Shows an instruction; of the program before the run for side 0. */
  select?(key: string, side?: 0 | 1): void;
  /** A key that nobody else wanted. Whether it meant something. */
  key?(event: KeyboardEvent): boolean;
}

export type Say = (message: string) => void;
