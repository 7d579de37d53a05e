/** What a driver saw of the current attempt. */
export type Observed =
  /** It was never started, or nothing is left of it. */
  | { state: 'absent' }
  /** Its driver has it in a queue of its own: it has not begun, and says nothing yet. */
  | { state: 'pending'; reason: string }
  /** `starved`: it gives way to other programs, and for a while these have left it hardly any of the processor. */
  | { state: 'alive'; starved?: boolean }
  /** `exitCode` is null when nobody saw it end; `lastLine` is the last thing it printed. */
  | { state: 'ended'; exitCode: number | null; lastLine: string | null };
