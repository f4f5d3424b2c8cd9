// The interface of the tabs of the page.

/** A tab: its element, and its handlers of search, display and keys. */
export interface Pane {
  title: string;
  element: HTMLElement;
  /** Called when the tab is shown. */
  shown?(): void;
  /** Searches for a query and returns the number of results. */
  search?(query: string): number;
  /** Goes to the next or the previous result and returns its index. */
  next?(by: 1 | -1): number;
  /** Shows everything for printing, or ends that. */
  print?(on: boolean): void;
  /** Shows an instruction. Side 0 is the program before the run. */
  select?(key: string, side?: 0 | 1): void;
  /** Returns the selected instruction and its side. */
  selection?(): { key: string; side: 0 | 1 } | null;
  /** Handles a key that no element handled. Returns true if it did something. */
  key?(event: KeyboardEvent): boolean;
}

/** Shows a message, also to screen readers. */
export type Say = (message: string) => void;
