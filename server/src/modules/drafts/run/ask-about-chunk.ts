import type { Services } from '../../../platform/context.ts';
import { storableJson } from '../../../platform/db/storable-text.ts';
import { answerChat } from '../../batches/answer-chat.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import type { DraftRow } from '../drafts-table.ts';
import type { ChunkResult, OpenChunk } from '../queries.ts';
import { askForRows } from '../start/ask-for-rows.ts';
import { rowsOfAnswer } from './rows-of-answer.ts';

/** Requests the model's rows for a chunk. Throws the errors of `answerChat`. */
export async function askAboutChunk(
  services: Services,
  chat: ChatParts,
  { draft, chunk, signal }: { draft: DraftRow; chunk: OpenChunk; signal: AbortSignal },
): Promise<ChunkResult> {
  if (draft.settings === null) throw new Error('Running draft has no settings');
  const { number, text } = chunk;
  const body = askForRows(draft.settings, text);
  const answer = await answerChat(services, chat, { work: draft, number, body, signal });
  const { error, costMicro } = answer;
  if (error !== null) return { number, rows: [], dropped: {}, error, costMicro };
  return { number, ...storableJson(rowsOfAnswer(answer.text, answer.isWhole)), error, costMicro };
}
