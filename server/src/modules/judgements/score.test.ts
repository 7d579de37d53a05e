import { expect, test } from 'vitest';
import { outcomeOf, readVerdict, scoreOf, type Verdict } from './score.ts';

test.each<[string, Verdict]>([
  ['A', 'A'],
  ['The reference says 39, and so does B.\n\nB\n', 'B'],
  ['Both are right.\r\n  TIE  \r\n\r\n', 'TIE'],
  // Whatever else would have to be guessed.
  ['', null],
  ['A is better.', null],
  ['A\nB is also fine.', null],
  ['Verdict: A', null],
  ['**A**', null],
  ['a', null],
  ['Tie', null],
  ['AB', null],
  ['A or B', null],
])('the verdict of %j is %s', (text, verdict) => {
  expect(readVerdict(text)).toBe(verdict);
});

const pair = { base: 'It depends.', tuned: '39 euros.' };
/** What a judge has said who read the base's answer first, and then the fine-tune's. */
const both = (first: Verdict, second: Verdict) =>
  [first, second].map((verdict, at) => ({ tuned_first: at === 1, text: 'Words', verdict, error: null }));

test.each<[string, Verdict, Verdict, string]>([
  ['both orders name the fine-tune', 'B', 'A', 'win'],
  ['both orders name the base', 'A', 'B', 'loss'],
  ['whatever is read first is preferred', 'A', 'A', 'tie'],
  ['whatever is read last is preferred', 'B', 'B', 'tie'],
  ['both orders name neither', 'TIE', 'TIE', 'tie'],
  ['one order names neither', 'TIE', 'A', 'tie'],
  ['one order has no verdict', 'B', null, 'no_verdict'],
  ['no order has one', null, null, 'no_verdict'],
])('where %s (%s, %s) it is a %s', (_case, first, second, outcome) => {
  expect(outcomeOf(pair, both(first, second))).toBe(outcome);
});

test('a pair is open until both orders are answered, and the same text twice is a tie', () => {
  const [first] = both('B', 'A');
  expect(outcomeOf(pair, [])).toBe('open');
  expect(outcomeOf(pair, first ? [first] : [])).toBe('open');
  expect(
    outcomeOf(pair, [
      ...both('B', null).slice(0, 1),
      { tuned_first: true, text: null, verdict: null, error: 'Gone' },
    ]),
  ).toBe('open');
  expect(outcomeOf({ base: '39 euros.', tuned: ' 39 euros.\n' }, [])).toBe('tie');
});

test('the win rate has the interval of Wilson, of the pairs that have a verdict', () => {
  const of = (wins: number, ties: number, losses: number) =>
    scoreOf([...Array(wins).fill('win'), ...Array(ties).fill('tie'), ...Array(losses).fill('loss')]);
  expect(scoreOf(['no_verdict', 'open'])).toEqual({
    ...{ wins: 0, ties: 0, losses: 0, no_verdict: 1, win_rate: null, interval: null },
  });
  expect(of(3, 1, 1)).toMatchObject({ win_rate: 0.7 });
  // Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I.
  const { low, high } = of(81, 0, 182).interval ?? { low: 0, high: 0 };
  expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.2553', '0.3662']);
  const none = of(0, 0, 20).interval ?? { low: 1, high: 0 };
  expect([none.low, none.high.toFixed(4)]).toEqual([0, '0.1611']);
  // Where the cheat comes out: the middle, and nothing known.
  expect(of(0, 5, 0)).toMatchObject({ win_rate: 0.5 });
  expect(scoreOf(['win', 'loss', 'no_verdict']).interval).toEqual(scoreOf(['win', 'loss']).interval);
});
