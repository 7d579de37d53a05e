/** What a driver saw of the current attempt. */
export type Observed =
  /** It was never started, or nothing is left of it. */
  | { state: 'absent' }
  /**
   * It waits in the driver's own queue: it has not begun, and reports nothing yet. `reason` says what keeps it there;
   * '' where nothing does.
   */
  | { state: 'pending'; reason: string }
  /**
   * `starved`: at low priority it has hardly got any processor time for a while. `address`: the host that it answers
   * at, where that is another one than its machine's.
   */
  | { state: 'alive'; starved?: boolean; address?: string }
  /**
   * `exitCode` is null when it is unknown; `lastLine` is the last thing it printed. `folder`: whether its work folder
   * is there for the next attempt.
   */
  | {
      state: 'ended';
      by: EndedBy;
      exitCode: number | null;
      lastLine: string | null;
      folder: 'kept' | 'gone';
    };

/**
 * Who ended an attempt: the work itself, another one that goes before it (`preempted`), whoever looks after its machine
 * (`evicted`), the loss of that machine, the end of its memory (`oom`), or an image that cannot be had.
 */
export type EndedBy = 'itself' | 'preempted' | 'evicted' | 'node_lost' | 'oom' | 'image';
