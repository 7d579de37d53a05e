import type { Clock } from '../platform/clock.ts';

export type FakeClock = Clock & {
  /** Moves time forward. */
  advance: (step: {
    days?: number;
    hours?: number;
    minutes?: number;
    seconds?: number;
    milliseconds?: number;
  }) => void;
};

/** Returns a clock that only moves when told to. It starts at `start`, by default at the real time. */
export function fakeClock(start: Date = new Date()): FakeClock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    advance: ({ days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 }) => {
      now += (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
    },
  };
}
