import { randomUUID } from 'node:crypto';
import path from 'node:path';
import {
  DOCUMENT_BYTES_MAX,
  DOCUMENTS_MAX,
  DRAFT_CHARACTERS_MAX,
  type DraftDocument,
  documentKinds,
} from '@bakehouse/contract/drafts';
import type { Multipart } from '@fastify/multipart';
import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { storableText } from '../../../platform/db/storable-text.ts';
import { conflict, invalidParam } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { receiveForm } from '../../../platform/http/bodies/receive-form.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { withBlobFile } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { cleanFileName } from '../../assets/files/upload/clean-path.ts';
import { acquireUploadSlot } from '../../assets/files/upload/upload-file.ts';
import { findUserDraft, lockIdleDraft, toDocument } from '../drafts.ts';
import { insertDocument, selectDocuments } from '../queries.ts';
import type { Section } from './sections.ts';

const PART = 'document';
const PROGRAM = new URL('./read-document-program.ts', import.meta.url);
/** Enough to upload a document of the maximum size at 0.5 Mbit/s. */
const WHOLE_MS = 15 * 60_000;
/** Four times what a document of a thousand pages needs. */
const CPU_SECONDS = 60;
const HEAP_MB = 512;
const WAITING_MAX = 4;

const answer = z.union([
  z.object({ unreadable: z.string() }),
  z.object({
    sections: z.array(
      z.object({ page: z.int().nullable(), heading: z.string().nullable(), text: z.string() }),
    ),
  }),
]);

/**
 * Reads a document of a multipart body in a separate process, and adds its text to a draft of the caller; the
 * file is not stored. Throws AppError 'not_found', 'conflict' while the draft is running,
 * 'payload_too_large', and 'invalid_request' for a document that has no text, is unreadable or exceeds a
 * limit.
 */
export async function addDocument(
  ctx: Context,
  { draftId, request }: { draftId: string; request: Http['request'] },
): Promise<DraftDocument> {
  const leave = acquireUploadSlot(ctx);
  try {
    const form = { part: PART, limits: { files: 2 }, wholeMs: WHOLE_MS };
    return await receiveForm(ctx, request, form, async (parts, signal) => {
      await findUserDraft(ctx, draftId);
      const { name, blob } = await receive(ctx, parts);
      const sections = await read(ctx, { name, blob, signal });
      return saveDocument(ctx, { draftId, name, sections });
    });
  } finally {
    leave();
  }
}

type Received = { name: string; blob: Blob };

async function receive(ctx: Context, parts: AsyncIterable<Multipart>): Promise<Received> {
  let received: Received | null = null;
  for await (const part of parts) {
    if (part.type !== 'file' || part.fieldname !== PART || received)
      throw invalidParam(PART, `Send one document, in a part named ${PART}`);
    const name = cleanFileName(part.filename, PART);
    const kinds: readonly string[] = documentKinds;
    if (!kinds.includes(path.extname(name).toLowerCase()))
      throw invalidParam(PART, `${name} cannot be read. Documents are .pdf, .docx, .md or .txt files.`);
    const limits = { sizeBytesMax: DOCUMENT_BYTES_MAX, tooLargeMessage: `${name} is larger than 50 MB` };
    received = { name, blob: await storeBlob(ctx, part.file, limits) };
  }
  if (!received) throw invalidParam(PART, `Send the document in a part named ${PART}`);
  return received;
}

/** Reads the document in a separate process. Returns all sections, including empty ones. */
async function read(
  ctx: Context,
  { name, blob, signal }: Received & { signal: AbortSignal },
): Promise<Section[]> {
  const limits = {
    kind: 'check',
    ...{ cpuSeconds: CPU_SECONDS, heapMb: HEAP_MB, waitingMax: WAITING_MAX },
    ...{ userId: ctx.caller.userId, signal },
  } as const;
  const output = await withBlobFile(ctx, { sha256: blob.sha256, path: name }, (localPath) =>
    runConfined(ctx.sandbox, { program: PROGRAM, localPath, input: { name } }, limits),
  ).catch((cause: unknown) => {
    if (!(cause instanceof OutOfLimits)) throw cause;
    throw invalidParam(PART, `${name} takes too much time or memory to be read. Split it and add the parts.`);
  });
  const extracted = answer.parse(output);
  if ('unreadable' in extracted) throw invalidParam(PART, `${name} ${extracted.unreadable}`);
  const sections = extracted.sections.map(({ page, heading, text }) => ({
    page,
    heading: heading && storableText(heading),
    text: storableText(text).trim(),
  }));
  if (!sections.some(hasText)) throw invalidParam(PART, `${name} ${withoutText(name)}`);
  return sections;
}

/** True if the text has a letter: horizontal rules and page numbers alone are no content. */
function hasText({ text }: Pick<Section, 'text'>): boolean {
  return /\p{L}/u.test(text);
}

function withoutText(name: string): string {
  return /\.pdf$/i.test(name)
    ? 'has no text: its pages are pictures. Make them text with OCR, such as OCRmyPDF, and add it again.'
    : 'has no text.';
}

async function saveDocument(
  ctx: Context,
  { draftId, name, sections }: { draftId: string; name: string; sections: Section[] },
): Promise<DraftDocument> {
  const row = {
    id: randomUUID(),
    draft_id: draftId,
    name: storableText(name),
    pages: sections[0]?.page === null ? null : sections.length,
    empty_pages: sections.filter((section) => section.page !== null && !hasText(section)).length,
    characters: charactersOf(sections),
    sections: sections.filter(hasText),
  };
  await inTransaction(ctx.db, async (tx) => {
    const { user_id: userId } = await lockIdleDraft(tx, ctx, draftId);
    const documents = await selectDocuments(tx, [draftId]);
    if (documents.length >= DOCUMENTS_MAX)
      throw invalidParam(
        PART,
        `A draft has at most ${DOCUMENTS_MAX} documents. Remove one, or start another draft.`,
      );
    if (documents.some((document) => document.name === row.name))
      throw conflict(`${row.name} is in the draft already. Remove it first, or rename the file.`, {
        param: PART,
      });
    const sum = documents.reduce((all, { characters }) => all + characters, row.characters);
    if (sum > DRAFT_CHARACTERS_MAX)
      throw invalidParam(
        PART,
        `${row.name} has ${count(row.characters)} characters of text: with it the draft would have ${count(sum)}, and it can have ${count(DRAFT_CHARACTERS_MAX)}. Split the document, or start another draft.`,
      );
    await insertDocument(tx, row);
    await publishChange(tx, userId, { topic: 'draft', id: draftId });
  });
  return toDocument(row);
}

function charactersOf(sections: readonly Section[]): number {
  return sections.reduce((sum, { text }) => sum + text.length, 0);
}

function count(characters: number): string {
  return characters.toLocaleString('en-US');
}
