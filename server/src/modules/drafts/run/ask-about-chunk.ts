import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { storableJson } from '../../../platform/db/storable-text.ts';
import { answerRequest } from '../../batches/answer-request.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import type { DraftRow } from '../drafts-table.ts';
import type { ChunkResult, OpenChunk } from '../queries.ts';
import { askForRows } from '../start/ask-for-rows.ts';
import { rowsOfAnswer } from './rows-of-answer.ts';

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

/**
 * What the model writes about a chunk, through the same door as its user's chat would go; a chunk that gets no answer costs
 * nothing. Throws where the signal or the end of this process has broken it off.
 */
export async function askAboutChunk(
  services: Services,
  chat: ChatParts,
  { draft, chunk, signal }: { draft: DraftRow; chunk: OpenChunk; signal: AbortSignal },
): Promise<ChunkResult> {
  if (draft.settings === null) throw new Error('A draft that runs has settings');
  const { answer, isError, costMicro } = await answerRequest(services, chat, {
    batch: { ...draft, endpoint: '/v1/chat/completions' },
    request: {
      number: chunk.number,
      customId: String(chunk.number),
      body: askForRows(draft.settings, chunk.text),
    },
    signal,
  });
  const { number } = chunk;
  if (isError) {
    const error = refusal.parse(answer).response.body.error.message;
    return { number, rows: [], dropped: {}, error, costMicro: 0n };
  }
  const [choice] = answered.parse(answer).response.body.choices;
  const isWhole = choice.finish_reason !== 'length';
  const found = rowsOfAnswer(choice.message.content ?? '', isWhole);
  return { number, ...storableJson(found), error: null, costMicro };
}
