import type { InputOf } from '@bakehouse/contract/endpoint';
import type { askAsVisitor as endpoint } from '@bakehouse/contract/visitors';
import { fairQueue } from '../../platform/concurrency/fair-queue.ts';
import { openByKey } from '../../platform/concurrency/open-by-key.ts';
import type { Caller, Context } from '../../platform/context.ts';
import type { Http } from '../../platform/http/bind.ts';
import { siteOf } from '../../platform/http/callers/rate-limits.ts';
import { clientSignal } from '../../platform/http/client-signal.ts';
import { completeChat } from '../chat/answer-completion.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { starterLanguageModel } from '../models/starter/starter-language-model.ts';
import { asVisitor } from './as-visitor.ts';
import { busyWithOthers, explainRefusal } from './explain-refusal.ts';
import { openBudget } from './open-budget.ts';

/** Open questions in this process, in total and per network, so that one network cannot fill the queue. */
const OPEN_MAX = 8;
const OPEN_MAX_PER_NETWORK = 2;
const ANSWER_TOKENS_MAX = 200;

const open = openByKey();
/** One answer at a time, so that users wait for at most one visitor; networks are served round-robin. */
const turns = fairQueue(1);

/**
 * Streams the starter language model's answer as a chat completion at the installation's expense. Throws
 * whatever `openBudget` and `completeChat` throw, and AppError 'rate_limited' if too many questions are open
 * or today's budget is spent.
 */
export async function askAsVisitor(
  ctx: Context<Caller>,
  parts: ChatParts,
  { body: asked }: InputOf<typeof endpoint>,
  http: Http,
): Promise<void> {
  const client = clientSignal(http.reply);
  const network = siteOf(http.request);
  const leave = open.all() < OPEN_MAX ? open.enter(network, OPEN_MAX_PER_NETWORK) : null;
  if (!leave) throw busyWithOthers();
  try {
    await openBudget(ctx);
    const messages = [...asked.turns, { role: 'user', content: asked.question }];
    const { slug: model } = starterLanguageModel;
    const body = { model, messages, max_tokens: ANSWER_TOKENS_MAX, temperature: 0, stream: true };
    await explainRefusal(() =>
      turns.run(
        network,
        () => completeChat(asVisitor(ctx), parts, { path: '/v1/chat/completions', body }, http),
        client,
      ),
    );
  } finally {
    leave();
  }
}
