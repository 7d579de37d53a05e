/** What a driver saw of the current attempt. */
export type Observed =
  /** It was never started, or nothing is left of it. */
  | { state: 'absent' }
  /** It waits in the driver's own queue: it has not begun, and reports nothing yet. */
  | { state: 'pending'; reason: string }
  /** `starved`: at low priority it has hardly got any processor time for a while. */
  | { state: 'alive'; starved?: boolean }
  /** `exitCode` is null when it is unknown; `lastLine` is the last thing it printed. */
  | { state: 'ended'; exitCode: number | null; lastLine: string | null };
