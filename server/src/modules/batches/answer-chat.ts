import type { chatCompletions } from '@bakehouse/contract/chat';
import type { InputOf } from '@bakehouse/contract/endpoint';
import * as z from 'zod';
import type { Services } from '../../platform/context.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { answerRequest } from './answer-request.ts';

const answered = z.object({
  response: z.object({
    body: z.object({
      choices: z.tuple([
        z.object({ message: z.object({ content: z.string().nullable() }), finish_reason: z.string() }),
      ]),
    }),
  }),
});
const refusal = z.object({
  response: z.object({ body: z.object({ error: z.object({ message: z.string() }) }) }),
});

export type ChatBody = InputOf<typeof chatCompletions>['body'];

/** The model's text, and whether it is complete. Or an error, for which the user pays nothing. */
type ChatAnswer =
  | { text: string; isWhole: boolean; error: null; costMicro: bigint }
  | { error: string; costMicro: bigint };

/**
 * Returns the answer to a chat on behalf of a user, through the same code as the user's own calls. Throws if
 * `signal` is aborted or the process is shutting down.
 */
export async function answerChat(
  services: Services,
  chat: ChatParts,
  {
    work,
    number,
    body,
    signal,
  }: {
    work: { id: string; user_id: string; prices: Record<string, string> };
    number: number;
    body: ChatBody;
    signal: AbortSignal;
  },
): Promise<ChatAnswer> {
  const { answer, isError, costMicro } = await answerRequest(services, chat, {
    batch: { ...work, endpoint: '/v1/chat/completions' },
    request: { number, customId: String(number), body },
    signal,
  });
  if (isError) return { error: refusal.parse(answer).response.body.error.message, costMicro: 0n };
  const [choice] = answered.parse(answer).response.body.choices;
  const { message, finish_reason: reason } = choice;
  return { text: message.content ?? '', isWhole: reason !== 'length', error: null, costMicro };
}
