/** A driver's observation of the current attempt. */
export type Observed =
  /** Never started, or nothing remains of it. */
  | { state: 'absent' }
  /**
   * Waits in the driver's own queue: not begun, reports nothing yet. `reason` is what holds it up; '' if
   * nothing does.
   */
  | { state: 'pending'; reason: string }
  /**
   * `starved`: hardly got CPU time at low priority for a while. `address`: its host, if that differs from its
   * machine's host.
   */
  | { state: 'alive'; starved?: boolean; address?: string }
  /**
   * `exitCode` is null if unknown; `lastLine` is the last printed line; `folder` is whether its work folder
   * is available to the next attempt.
   */
  | {
      state: 'ended';
      by: EndedBy;
      exitCode: number | null;
      lastLine: string | null;
      folder: 'kept' | 'gone';
    };

/**
 * Who ended an attempt: the work itself, work with priority (`preempted`), the machine's administrator
 * (`evicted`), the loss of the machine, the memory limit (`oom`), or an unavailable image.
 */
export type EndedBy = 'itself' | 'preempted' | 'evicted' | 'node_lost' | 'oom' | 'image';
