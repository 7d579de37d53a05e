import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { type Measured, mean } from '../measured.ts';

/** One probe: when it was due, and when it was answered; never, if it failed. */
export type Look = { dueMs: number; answeredMs: number };

type Work = () => Promise<unknown>;

const GIVEN_UP_MS = 30_000;
/** At most this factor, or this many ms more, whichever is larger. */
const SLOWER = { kind: 'ratio at most', value: 3, orMoreBy: 300 } as const;
/** Tolerated timer delay, which is as long as a fast probe. */
const TIMER_MS = 2;

/**
 * Open-loop load: each probe starts at its own fixed time, whether or not earlier ones were answered. A
 * closed loop would wait out a stall before measuring it (coordinated omission, Gil Tene).
 */
export async function lookAtFixedTimes(
  work: Work,
  { count, everyMs, firstMs = 0 }: { count: number; everyMs: number; firstMs?: number },
): Promise<Look[]> {
  const start = performance.now() + firstMs;
  const looks: Promise<Look>[] = [];
  for (let n = 0; n < count; n += 1) {
    const dueMs = start + n * everyMs;
    await until(dueMs);
    looks.push(timed(dueMs, work));
  }
  return Promise.all(looks);
}

/** Closed loop for slow operations that run back to back: a stall affects one of them and so the mean. */
export async function probeSequentially(work: Work, count: number): Promise<Look[]> {
  const looks: Look[] = [];
  for (let n = 0; n < count; n += 1) looks.push(await timed(performance.now(), work));
  return looks;
}

/** Compares means from when each probe was due: a median hides stalls of fewer than half of the probes. */
export function compareLooks(name: string, before: Look[], during: Look[]): Measured {
  return {
    name,
    unit: 'ms',
    ours: meanMs(during),
    reference: { what: 'undisturbed', value: meanMs(before) },
    goal: SLOWER,
  };
}

function meanMs(looks: Look[]): number {
  return mean(looks.map(({ dueMs, answeredMs }) => answeredMs - dueMs));
}

/** Failures and timeouts count as infinite. */
async function timed(dueMs: number, work: Work): Promise<Look> {
  const done = await Promise.race([
    work().then(
      () => true,
      () => false,
    ),
    pause(GIVEN_UP_MS, false, { ref: false }),
  ]);
  return { dueMs, answeredMs: done ? performance.now() : Number.POSITIVE_INFINITY };
}

async function until(dueMs: number): Promise<void> {
  await pause(Math.max(0, dueMs - performance.now() - TIMER_MS));
  while (performance.now() < dueMs) await turn();
}
