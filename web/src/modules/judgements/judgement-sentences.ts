import type { JudgedRow, Judgement } from '@bakehouse/contract/judgements';
import { countOf } from '../../lib/format/count-of.ts';
import { formatNumber } from '../../lib/format/format-number.ts';
import type { Tone } from '../../ui/badge.tsx';

/** Below so many rows the interval is wider than most differences. */
const FEW_ROWS = 30;

export const isRunning = ({ status }: Pick<Judgement, 'status'>): boolean =>
  status === 'running' || status === 'cancelling';

/** How many of the requests have no answer. */
export const openOf = ({ requests, requests_done, requests_failed }: Judgement): number =>
  requests - requests_done + requests_failed;

/** Whether every request has an answer, and no more are asked. */
const isOver = (judgement: Judgement): boolean => !isRunning(judgement) && openOf(judgement) === 0;

/** What comes of it: as much as the interval allows to say. */
export function headline(judgement: Judgement): string {
  const { win_rate: rate, interval } = judgement;
  if (rate === null || interval === null) return isOver(judgement) ? 'No verdict' : 'No verdict yet';
  if (interval.low > 0.5) return 'This model answers better than the base model';
  if (interval.high < 0.5) return 'This model answers worse than the base model';
  return 'These rows show no difference';
}

/** 'Win rate 70%, and in 95 of 100 such samples between 29% and 93%. 5 rows say little.'; without a verdict, why. */
export function rateText(judgement: Judgement): string {
  const { win_rate: rate, interval, wins, ties, losses } = judgement;
  if (rate === null || interval === null)
    return isOver(judgement)
      ? 'The judge never ended with A, B or TIE alike in both orders. Choose a larger model.'
      : '';
  const pairs = wins + ties + losses;
  const range = `95% interval ${percent(interval.low)} to ${percent(interval.high)}`;
  const few = pairs < FEW_ROWS ? ` ${countOf(pairs, 'row')} ${pairs === 1 ? 'says' : 'say'} little.` : '';
  return `Win rate ${percent(rate)}, ${range}. A tie is half a win.${few}`;
}

function percent(share: number): string {
  return formatNumber(share, { style: 'percent', maximumFractionDigits: 0 });
}

/** The word of a row, and its colour. */
export const outcomes: Record<JudgedRow['outcome'], { label: string; tone: Tone }> = {
  win: { label: 'Win', tone: 'good' },
  tie: { label: 'Tie', tone: 'neutral' },
  loss: { label: 'Loss', tone: 'bad' },
  no_verdict: { label: 'No verdict', tone: 'warn' },
  open: { label: 'Not answered', tone: 'neutral' },
};

type Answer = JudgedRow['judge'][number];

const verdicts: Record<NonNullable<Answer['verdict']>, string> = {
  tuned: 'for this model',
  base: 'for the base model',
  tie: 'for neither',
};

/** 'Base model first: for this model'. */
export function orderText({ tuned_first: tunedFirst, text, verdict }: Answer): string {
  const order = tunedFirst ? 'This model first' : 'Base model first';
  if (text === null) return `${order}: not answered`;
  return `${order}: ${verdict === null ? 'no verdict' : verdicts[verdict]}`;
}
