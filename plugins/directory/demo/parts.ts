/** What another plugin adds to the invented region. */
export interface DemoPart {
  /** What it adds, as the commands count it: `signals`. */
  name: string;
  /** Once the region is there; answers how many it added, none when they are there already. */
  load(region: DemoRegion): Promise<number>;
  /** Before the region goes; answers how many it took away. */
  remove(): Promise<number>;
}

export interface DemoRegion {
  /** Ids of its actors. */
  actors: string[];
  /** Which of them have become one. */
  merged: { id: string; into: string }[];
}

export interface DemoParts {
  /** Whether this instance is there for the demo: what only the demo has may be announced. */
  readonly isOn: boolean;
  /** In `register`. */
  contribute(part: DemoPart): void;
  all(): readonly DemoPart[];
}

export function createDemoParts(isOn: boolean): DemoParts {
  const parts: DemoPart[] = [];
  return { isOn, contribute(part) { parts.push(part); }, all: () => parts };
}
