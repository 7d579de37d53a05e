import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { type Measured, mean } from '../measured.ts';

/** One probe: when it was due, and when it was answered (infinite if it failed). */
export type Probe = { dueMs: number; answeredMs: number };

type Work = () => Promise<unknown>;

const GIVEN_UP_MS = 30_000;
/** Goal: at most three times as slow as undisturbed, or at most 300 ms slower. */
const SLOWER = { kind: 'ratio at most', value: 3, orMoreBy: 300 } as const;
/** Timer delay that is ignored; as long as a fast probe. */
const TIMER_MS = 2;

/**
 * Starts each probe at a fixed time, even if earlier ones were not answered (open loop). If each probe waited
 * for the one before it, a stall would delay the probes instead of being measured (coordinated omission, Gil
 * Tene).
 */
export async function lookAtFixedTimes(
  work: Work,
  { count, everyMs, firstMs = 0 }: { count: number; everyMs: number; firstMs?: number },
): Promise<Probe[]> {
  const start = performance.now() + firstMs;
  const looks: Promise<Probe>[] = [];
  for (let n = 0; n < count; n += 1) {
    const dueMs = start + n * everyMs;
    await until(dueMs);
    looks.push(timed(dueMs, work));
  }
  return Promise.all(looks);
}

/** Makes slow operations one after the other (closed loop). A stall affects one of them, and so the mean. */
export async function probeSequentially(work: Work, count: number): Promise<Probe[]> {
  const looks: Probe[] = [];
  for (let n = 0; n < count; n += 1) looks.push(await timed(performance.now(), work));
  return looks;
}

/** Compares means, because a median would hide stalls that affect fewer than half of the probes. */
export function compareLooks(name: string, before: Probe[], during: Probe[]): Measured {
  return {
    name,
    unit: 'ms',
    ours: meanMs(during),
    reference: { what: 'undisturbed', value: meanMs(before) },
    goal: SLOWER,
  };
}

function meanMs(looks: Probe[]): number {
  return mean(looks.map(({ dueMs, answeredMs }) => answeredMs - dueMs));
}

/** Runs one probe. A failure or timeout counts as infinitely late. */
async function timed(dueMs: number, work: Work): Promise<Probe> {
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
