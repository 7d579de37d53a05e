import { DRAFT_ROWS_MAX, type DraftSettings, type quoteDraft as endpoint } from '@bakehouse/contract/drafts';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { quoteChats } from '../../batches/quote-chats.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import { findOwnDraft } from '../find-draft.ts';
import { type NewChunk, type OpenChunk, selectTexts, selectUnanswered } from '../queries.ts';
import { askForRows } from './ask-for-rows.ts';
import { toChunks } from './chunks.ts';

/** `chunks` is null if the draft's existing chunks are resumed. */
export type Quoted = {
  settings: DraftSettings;
  chunks: NewChunk[] | null;
  unanswered: OpenChunk[];
  highestMicro: bigint;
  prices: Record<string, string>;
};

/**
 * Returns what a draft of the caller would read and its maximum price at the batch rate: from scratch, or
 * without settings only for unanswered chunks. Throws AppError 'not_found', 'model_not_found', 'conflict' if
 * nothing is left to resume, and 'invalid_request' if there is nothing to read or it exceeds the limit of a
 * draft or the model.
 */
export async function readQuote(
  ctx: Context,
  chat: ChatParts,
  { draftId, settings: wanted }: { draftId: string; settings: DraftSettings | undefined },
): Promise<Quoted> {
  const draft = await findOwnDraft(ctx, draftId);
  const settings = wanted ?? draft.settings;
  const chunks = wanted ? await readChunks(ctx, draftId, wanted) : null;
  const unanswered = chunks ?? (await selectUnanswered(ctx.db, draftId));
  if (settings === null || unanswered.length === 0)
    throw new AppError('conflict', { publicMessage: 'The draft has no chunks without an answer.' });
  const { model } = settings;
  const quoted = await quoteChats(ctx, chat, {
    model,
    bodies: unanswered.map(({ text }) => askForRows(settings, text)),
    tooLong: (tokens) =>
      refused(
        'settings.chunk_characters',
        `${model} reads and writes ${tokens} tokens at once. Take fewer characters or rows per chunk.`,
      ),
  });
  return { settings, chunks, unanswered, ...quoted };
}

async function readChunks(ctx: Context, draftId: string, settings: DraftSettings): Promise<NewChunk[]> {
  const sizes = { size: settings.chunk_characters, overlap: settings.overlap_characters };
  const documents = await selectTexts(ctx.db, draftId);
  if (documents.length === 0) throw refused('draft_id', 'The draft has no documents. Add one first.');
  const chunks = documents
    .flatMap(({ id: documentId, name, sections }) =>
      toChunks(sections, sizes).map(({ place, text }) => ({
        ...{ documentId, text },
        source: place === '' ? name : `${name}, ${place}`,
      })),
    )
    .map((chunk, number) => ({ number, ...chunk }));
  const rowsMax = chunks.length * settings.rows_per_chunk;
  if (rowsMax > DRAFT_ROWS_MAX)
    throw refused(
      'settings.rows_per_chunk',
      `${chunks.length} chunks would be up to ${rowsMax} rows, and a draft has at most ${DRAFT_ROWS_MAX}. Take fewer rows per chunk, or larger chunks.`,
    );
  return chunks;
}

/** Returns the quote for the API. */
export async function quoteDraft(
  ctx: Context,
  chat: ChatParts,
  asked: { draftId: string; settings: DraftSettings | undefined },
): Promise<ResponseOf<typeof endpoint>> {
  const { settings, unanswered, highestMicro } = await readQuote(ctx, chat, asked);
  return {
    chunks: unanswered.length,
    rows_max: unanswered.length * settings.rows_per_chunk,
    highest_bgl: formatBgl(highestMicro),
  };
}
