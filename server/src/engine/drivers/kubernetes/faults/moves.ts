import fc from 'fast-check';

/** Events that can happen to a cluster and its reconcilers. */
export type Move =
  | { move: 'request' }
  | { move: 'stop' | 'evict' | 'deletePod' | 'deleteJob' | 'preempt'; which: number }
  /** One reconciler makes a pass after a delay. If it is paused, the pass blocks. */
  | { move: 'pass'; who: number; seconds: number }
  /** All processes report. */
  | { move: 'work' }
  /** All processes end. */
  | { move: 'exit'; status: number }
  /** Kueue admits waiting Jobs. */
  | { move: 'admit' }
  | { move: 'loseNode' | 'healNode' }
  | { move: 'cut'; forget: boolean }
  | { move: 'fail'; times: number }
  | { move: 'hold' | 'wake' | 'restart'; who: number };

const is = <Name extends string>(...names: Name[]) => fc.constantFrom(...names);
const who = fc.nat(1);
const which = fc.nat(20);

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ move: is('pass'), who, seconds: fc.constantFrom(0, 1, 5, 20, 70) }),
  },
  { weight: 5, arbitrary: fc.record({ move: is('admit') }) },
  { weight: 5, arbitrary: fc.record({ move: is('work') }) },
  { weight: 2, arbitrary: fc.record({ move: is('request') }) },
  {
    weight: 5,
    arbitrary: fc.record({ move: is('stop', 'evict', 'deletePod', 'deleteJob', 'preempt'), which }),
  },
  { weight: 1, arbitrary: fc.record({ move: is('exit'), status: fc.constantFrom(0, 1, 75) }) },
  { weight: 2, arbitrary: fc.record({ move: is('loseNode', 'healNode') }) },
  { weight: 2, arbitrary: fc.record({ move: is('cut'), forget: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ move: is('fail'), times: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 4, arbitrary: fc.record({ move: is('hold', 'wake', 'restart'), who }) },
);

// By default sequences have about ten moves, which are too few to interact.
export const moves = fc.array(move, { minLength: 10, maxLength: 60, size: 'max' });
