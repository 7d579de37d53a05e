import type { InputOf } from '@bakehouse/contract/endpoint';
import type { askAsVisitor as endpoint } from '@bakehouse/contract/visitors';
import { inTurn } from '../../platform/concurrency/in-turn.ts';
import { openByKey } from '../../platform/concurrency/open-by-key.ts';
import type { Caller, Context } from '../../platform/context.ts';
import type { Http } from '../../platform/http/bind.ts';
import { clientSignal } from '../../platform/http/client-signal.ts';
import { completeChat } from '../chat/answer-completion.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { starterLanguageModel } from '../models/starter/starter-language-model.ts';
import { asVisitor, VISITORS } from './as-visitor.ts';
import { busyWithOthers, explainRefusal } from './explain-refusal.ts';
import { openBudget } from './open-budget.ts';

/** Of all visitors together, in this process. */
const WAITING_MAX = 4;
const ANSWER_TOKENS_MAX = 200;

const open = openByKey();
/** One after the other: who has signed in waits for no more than one of them. */
const turns = inTurn();

/**
 * Asks the starter language model and streams its answer as a chat completion; the installation pays. Throws what
 * `openBudget` and `completeChat` throw, and AppError 'rate_limited' where visitors have too many under way or today's budget
 * is spent.
 */
export async function askAsVisitor(
  ctx: Context<Caller>,
  parts: ChatParts,
  { body: asked }: InputOf<typeof endpoint>,
  http: Http,
): Promise<void> {
  const client = clientSignal(http.reply);
  const leave = open.enter(VISITORS, WAITING_MAX);
  if (!leave) throw busyWithOthers();
  try {
    await openBudget(ctx);
    const messages = [...asked.turns, { role: 'user', content: asked.question }];
    const { slug: model } = starterLanguageModel;
    const body = { model, messages, max_tokens: ANSWER_TOKENS_MAX, temperature: 0, stream: true };
    await explainRefusal(() =>
      turns(VISITORS, async () => {
        // Who has left meanwhile is not answered.
        if (client.aborted) return;
        await completeChat(asVisitor(ctx), parts, { path: '/v1/chat/completions', body }, http);
      }),
    );
  } finally {
    leave();
  }
}
