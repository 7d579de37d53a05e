import type { JudgedRow, Judgement } from '@bakehouse/contract/judgements';

/** Answer A, answer B, or neither; null: the judge has not said so. */
export type Verdict = 'A' | 'B' | 'TIE' | null;

/** What the judge has said to a pair in one of both orders. */
export type JudgeAnswer = {
  tuned_first: boolean;
  text: string | null;
  verdict: Verdict;
  error: string | null;
};

/** Of a normal distribution 95 of 100 are within so many deviations. */
const Z = 1.959964;

/** The verdict of an answer: its last line, which has to be A, B or TIE and nothing else. Pure. */
export function readVerdict(text: string): Verdict {
  const [verdict] = /^(?:A|B|TIE)$/.exec(text.trimEnd().split('\n').at(-1)?.trim() ?? '') ?? [];
  return (verdict as Verdict | undefined) ?? null;
}

/** Whether there is nothing to judge: both answers are the same text. */
export function isSame({ base, tuned }: { base: string; tuned: string }): boolean {
  return base.trim() === tuned.trim();
}

/** Whose answer it names. */
export function whoseVerdict({
  tuned_first: tunedFirst,
  verdict,
}: Pick<JudgeAnswer, 'tuned_first' | 'verdict'>): 'tuned' | 'base' | 'tie' | null {
  if (verdict === null) return null;
  if (verdict === 'TIE') return 'tie';
  return (verdict === 'A') === tunedFirst ? 'tuned' : 'base';
}

/**
 * What comes of a pair for the fine-tune. A judge prefers what it reads first, so it is asked in both orders, and a win counts only
 * where both agree; else it is a tie (Zheng et al., Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, 2023, section 3.4).
 */
export function outcomeOf(
  pair: { base: string; tuned: string },
  answers: readonly JudgeAnswer[],
): JudgedRow['outcome'] {
  if (isSame(pair)) return 'tie';
  if (answers.filter(({ text }) => text !== null).length < 2) return 'open';
  const [one = null, other = null] = answers.map(whoseVerdict);
  if (one === null || other === null) return 'no_verdict';
  if (one !== other || one === 'tie') return 'tie';
  return one === 'tuned' ? 'win' : 'loss';
}

type Score = Pick<Judgement, 'wins' | 'ties' | 'losses' | 'no_verdict' | 'win_rate' | 'interval'>;

/**
 * How the fine-tune does over all pairs. A tie is half a win, as in MT-Bench and AlpacaEval; pairs without a verdict are left out.
 * Halves vary less than wins and losses do, so the interval is never too narrow by them.
 */
export function scoreOf(outcomes: readonly JudgedRow['outcome'][]): Score {
  const count = (of: JudgedRow['outcome']) => outcomes.filter((outcome) => outcome === of).length;
  const [wins, ties, losses] = [count('win'), count('tie'), count('loss')];
  const pairs = wins + ties + losses;
  const counts = { wins, ties, losses, no_verdict: count('no_verdict') };
  if (pairs === 0) return { ...counts, win_rate: null, interval: null };
  const rate = (wins + ties / 2) / pairs;
  return { ...counts, win_rate: rate, interval: wilson(rate, pairs) };
}

/** The score interval of a share of so many (Wilson, Probable inference, the law of succession, and statistical inference, 1927). */
function wilson(share: number, count: number): { low: number; high: number } {
  const spread = Z * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2));
  const centre = share + Z ** 2 / (2 * count);
  const scale = 1 + Z ** 2 / count;
  return { low: Math.max(0, (centre - spread) / scale), high: Math.min(1, (centre + spread) / scale) };
}
