import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { type Measured, mean } from '../measured.ts';

/** One thing that somebody did: when it was due, and when it was answered; never, if it failed. */
export type Look = { dueMs: number; answeredMs: number };

type Work = () => Promise<unknown>;

const GIVEN_UP_MS = 30_000;
/** So many times slower at most, or so many ms more where that is larger. */
const SLOWER = { kind: 'ratio at most', value: 3, orMoreBy: 300 } as const;
/** A timer may be late by as much, which is as long as a fast look takes. */
const TIMER_MS = 2;

/**
 * Open-loop load: each look begins at its own fixed moment, whether or not those before it were
 * answered. One that waited for its turn would wait a stall out before it is timed, which Gil Tene
 * calls coordinated omission.
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

/** For what takes so long that one is always under way: a stall falls into one of them, and thereby into their mean. */
export async function lookInTurns(work: Work, count: number): Promise<Look[]> {
  const looks: Look[] = [];
  for (let n = 0; n < count; n += 1) looks.push(await timed(performance.now(), work));
  return looks;
}

/**
 * Judges by the mean, counted from when each look was due: a median says nothing of a stall that
 * meets fewer than half of the looks.
 */
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

/** What fails, or takes longer than anybody would wait, has taken for ever. */
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
