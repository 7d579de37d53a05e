import { type JudgeSettings, judgePlaces } from '@bakehouse/contract/judgements';
import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import type { ChatToQuote } from '../batches/quote-chats.ts';

export type Pair = HeldOutAnswers['rows'][number];

/** Tokens for a few sentences and the verdict, and for what a model thinks before. */
const ANSWER_TOKENS = 1024;
const NO_REFERENCE = 'None.';

/** The request for a judge's verdict on a pair, the fine-tune's answer before the base's or after it. Pure. */
export function askJudge(
  { model, prompt }: JudgeSettings,
  { question, earlier_turns: earlier, expected, base, tuned }: Pair,
  tunedFirst: boolean,
): ChatToQuote {
  const places: Record<string, string> = {
    [judgePlaces.question]:
      earlier > 0 ? `(Earlier turns of the conversation are left out.)\n${question}` : question,
    [judgePlaces.reference]: expected === '' ? NO_REFERENCE : expected,
    [judgePlaces.answer_a]: tunedFirst ? tuned : base,
    [judgePlaces.answer_b]: tunedFirst ? base : tuned,
  };
  // In one go: an answer may have places of its own.
  const content = prompt.replace(/\{\{\w+\}\}/g, (place) => places[place] ?? place);
  return { model, messages: [{ role: 'user', content }], max_tokens: ANSWER_TOKENS, temperature: 0 };
}
