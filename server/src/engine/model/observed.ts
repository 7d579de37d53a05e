/** A driver's observation of the current attempt. */
export type Observed =
  /** Never started, or nothing remains of it. */
  | { state: 'absent' }
  /** Waits in the driver's own queue, before its start. `reason` is what holds it up, or ''. */
  | { state: 'pending'; reason: string }
  /** `starved`: hardly gets CPU time at low priority. `address`: its host, if not its machine's. */
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
