import { setTimeout as sleep } from 'node:timers/promises';
import type { Capacity } from '../../model/capacity.ts';
import type { Observed } from '../../model/observed.ts';
import type { Driver, Launch } from '../driver.ts';

/** Process handle passed to a scripted workload. */
export type FakeProcess = {
  /** Aborted when the workload is asked to stop. */
  stop: AbortSignal;
  /** Aborted when the workload is killed. */
  killed: AbortSignal;
  print: (line: string) => void;
};

/** A scripted workload; resolves to the exit status. A rejection is status 1 with the error as last line. */
export type Script = (launch: Launch, process: FakeProcess) => Promise<number>;

type Attempt = {
  launch: Launch;
  state: 'alive' | 'ended';
  exitCode: number | null;
  stop: AbortController;
  killed: AbortController;
};

/** An in-memory machine for tests, with functions as processes; outlives the engines that use it. */
export function createFakeDriver(options: {
  capacity: Capacity;
  script: Script;
}): Driver & { running: () => Launch[] } {
  const attempts = new Map<string, Attempt>();
  const newest = new Map<string, number>();
  const logs = new Map<string, string[]>();
  const listeners: ((workloadId: string) => void)[] = [];
  const alive = () => launchesAlive(attempts);
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
    admission: 'slots',
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
      const attempt = begin(launch);
      attempts.set(key, attempt);
      const lines = logs.get(workloadId) ?? [];
      logs.set(workloadId, lines);
      void run(options.script, attempt, lines).then((code) => finish(key, workloadId, code));
    },
    observe: async (workloadId, number) => {
      const attempt = attempts.get(keyOf(workloadId, number));
      return attempt ? observed(attempt, logs.get(workloadId)?.at(-1) ?? null) : { state: 'absent' };
    },
    tidy: async () => undefined,
    stop: async (workloadId, attempt) => attempts.get(keyOf(workloadId, attempt))?.stop.abort(),
    kill: async (workloadId, attempt) => kill(workloadId, attempt),
    logs: async (workloadId, limit) => (logs.get(workloadId) ?? []).slice(-limit),
    output: async (workloadId, cursor) => {
      const lines = logs.get(workloadId) ?? [];
      return { lines: lines.slice(Number(cursor ?? 0)), cursor: String(lines.length) };
    },
    list: async () => [...newest.keys()],
    listAlive: async () => alive().map(({ workloadId, attempt }) => ({ id: workloadId, attempt })),
    remove: async (workloadId) => {
      for (const key of attempts.keys()) {
        if (!key.startsWith(`${workloadId}/`)) continue;
        kill(workloadId, Number(key.split('/')[1]));
        attempts.delete(key);
      }
      logs.delete(workloadId);
      newest.delete(workloadId);
    },
    onChange: (listener) => void listeners.push(listener),
    running: alive,
  };
}

function launchesAlive(attempts: Map<string, Attempt>): Launch[] {
  return [...attempts.values()].filter(({ state }) => state === 'alive').map(({ launch }) => launch);
}

function begin(launch: Launch): Attempt {
  return {
    launch,
    state: 'alive',
    exitCode: null,
    stop: new AbortController(),
    killed: new AbortController(),
  };
}

async function run(script: Script, attempt: Attempt, lines: string[]): Promise<number> {
  const { launch, stop, killed } = attempt;
  const print = (line: string) => void lines.push(line);
  try {
    return await script(launch, { stop: stop.signal, killed: killed.signal, print });
  } catch (error) {
    if (attempt.state === 'alive') lines.push(String(error));
    return 1;
  }
}

function observed({ state, exitCode }: Attempt, lastLine: string | null): Observed {
  return state === 'alive' ? { state } : { state, by: 'itself', exitCode, lastLine, folder: 'kept' };
}

/** Script that waits until it is asked to stop. */
export async function idleUntilStopped(_launch: Launch, { stop, killed }: FakeProcess): Promise<number> {
  await sleep(2 ** 31 - 1, null, { signal: AbortSignal.any([stop, killed]), ref: false }).catch(
    () => undefined,
  );
  return 0;
}
