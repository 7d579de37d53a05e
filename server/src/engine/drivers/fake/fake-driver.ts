import { setTimeout as sleep } from 'node:timers/promises';
import type { Observed } from '../../plan.ts';
import type { Capacity } from '../../queue.ts';
import type { Driver, Launch } from '../driver.ts';

/** What a scripted workload sees of its process. */
export type FakeProcess = {
  /** Aborted when it is asked to stop. */
  stop: AbortSignal;
  /** Aborted when it is killed. */
  killed: AbortSignal;
  print: (line: string) => void;
};

/** A scripted workload; resolves to the exit status. A rejection is status 1 with the error as last line. */
export type Script = (launch: Launch, process: FakeProcess) => Promise<number>;

type Attempt = {
  state: 'alive' | 'ended';
  exitCode: number | null;
  stop: AbortController;
  killed: AbortController;
};

/**
 * A machine in memory, for tests of the server: its processes are functions. It outlives the
 * engines that use it, as a machine outlives the server's processes.
 */
export function createFakeDriver(options: {
  capacity: Capacity;
  script: Script;
}): Driver & { running: () => Launch[] } {
  const attempts = new Map<string, Attempt>();
  const launches = new Map<string, Launch>();
  const newest = new Map<string, number>();
  const logs = new Map<string, string[]>();
  const listeners: ((workloadId: string) => void)[] = [];
  const keyOf = (workloadId: string, attempt: number) => `${workloadId}/${attempt}`;

  function finish(key: string, workloadId: string, exitCode: number): void {
    const attempt = attempts.get(key);
    if (attempt?.state !== 'alive') return;
    attempt.state = 'ended';
    attempt.exitCode = exitCode;
    for (const listener of listeners) listener(workloadId);
  }

  function kill(workloadId: string, attempt: number): void {
    const key = keyOf(workloadId, attempt);
    attempts.get(key)?.killed.abort();
    finish(key, workloadId, 137);
  }

  return {
    endsWithServer: true,
    capacity: async () => options.capacity,
    blocker: async () => null,
    start: async (launch) => {
      const { workloadId } = launch;
      if (launch.attempt < (newest.get(workloadId) ?? 0)) throw new Error('The process did not begin');
      newest.set(workloadId, launch.attempt);
      for (let earlier = 1; earlier < launch.attempt; earlier += 1) kill(workloadId, earlier);
      const key = keyOf(workloadId, launch.attempt);
      if (attempts.has(key)) return;
      const attempt: Attempt = {
        state: 'alive',
        exitCode: null,
        stop: new AbortController(),
        killed: new AbortController(),
      };
      attempts.set(key, attempt);
      launches.set(key, launch);
      const lines = logs.get(workloadId) ?? [];
      logs.set(workloadId, lines);
      const process = {
        stop: attempt.stop.signal,
        killed: attempt.killed.signal,
        print: (line: string) => void lines.push(line),
      };
      options.script(launch, process).then(
        (code) => finish(key, workloadId, code),
        (error: unknown) => {
          if (attempt.state === 'alive') lines.push(String(error));
          finish(key, workloadId, 1);
        },
      );
    },
    observe: async (workloadId, number): Promise<Observed> => {
      const attempt = attempts.get(keyOf(workloadId, number));
      if (!attempt) return { state: 'absent' };
      if (attempt.state === 'alive') return { state: 'alive' };
      return { state: 'ended', exitCode: attempt.exitCode, lastLine: logs.get(workloadId)?.at(-1) ?? null };
    },
    stop: async (workloadId, attempt) => attempts.get(keyOf(workloadId, attempt))?.stop.abort(),
    kill: async (workloadId, attempt) => kill(workloadId, attempt),
    logs: async (workloadId, limit) => (logs.get(workloadId) ?? []).slice(-limit),
    // Lines stand for bytes here.
    output: async (workloadId, offset) => {
      const lines = logs.get(workloadId) ?? [];
      return { lines: lines.slice(offset), offset: lines.length };
    },
    remove: async (workloadId) => {
      for (const key of attempts.keys()) {
        if (!key.startsWith(`${workloadId}/`)) continue;
        kill(workloadId, Number(key.split('/')[1]));
        attempts.delete(key);
        launches.delete(key);
      }
      logs.delete(workloadId);
      newest.delete(workloadId);
    },
    onEnd: (listener) => {
      listeners.push(listener);
    },
    running: () =>
      [...launches].filter(([key]) => attempts.get(key)?.state === 'alive').map(([, launch]) => launch),
  };
}

/** A script that does nothing until it is asked to stop. */
export async function idleUntilStopped(_launch: Launch, { stop, killed }: FakeProcess): Promise<number> {
  await sleep(2 ** 31 - 1, null, { signal: AbortSignal.any([stop, killed]), ref: false }).catch(
    () => undefined,
  );
  return 0;
}
