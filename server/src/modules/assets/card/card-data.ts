import { text } from 'node:stream/consumers';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { CARD_PATH, type FileRow } from '../queries.ts';
import { toCardFields } from './card-metadata.ts';
import { updateCardFields } from './card-queries.ts';
import { type CardData, HEAD_BYTES_MAX } from './parse-card.ts';
import { readCard } from './read-card.ts';

type Parts = Pick<Services, 'blobs' | 'clock' | 'db' | 'log' | 'sandbox'>;

/** Parses a card that was not parsed at upload, e.g. the card of a clone. */
export const readCardJob = defineJob({
  name: 'assets.read-card',
  run: async (services, { sha256, sizeBytes }: { sha256: string; sizeBytes: number }) => {
    await saveCardDataOf(services, { sha256, sizeBytes }, 'cards');
  },
});

/** Returns the metadata of a card. If the card is not parsed yet, enqueues a job for it and returns null. */
export async function findCardData(
  { db, jobs }: Pick<Services, 'db' | 'jobs'>,
  card: Pick<FileRow, 'sha256' | 'size_bytes'> | undefined,
): Promise<CardData | null> {
  if (!card || card.size_bytes === 0n) return null;
  const { sha256, size_bytes: sizeBytes } = card;
  const row = await db.selectFrom('card_data').select('data').where('sha256', '=', sha256).executeTakeFirst();
  if (row) return row.data as CardData | null;
  await inTransaction(db, (tx) =>
    enqueueCard(tx, jobs, [{ path: CARD_PATH, sha256, sizeBytes: Number(sizeBytes) }]),
  );
  return null;
}

/**
 * Returns the metadata of a card, and parses the card first if necessary. Only for signed-in users, because
 * parsing is expensive.
 */
export async function ensureCardData(
  services: Parts,
  card: Pick<FileRow, 'sha256' | 'size_bytes'> | undefined,
  userId: string,
): Promise<CardData | null> {
  if (!card || card.size_bytes === 0n) return null;
  const { sha256 } = card;
  const known = await services.db
    .selectFrom('card_data')
    .select(['data', 'parsed'])
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  if (known?.parsed) return known.data as CardData | null;
  return saveCardDataOf(services, { sha256, sizeBytes: Number(card.size_bytes) }, userId);
}

/**
 * Enqueues a job that parses the card among these files, unless it is already parsed or enqueued. For files
 * that were not uploaded, e.g. of a clone.
 */
export async function enqueueCard(
  tx: Transaction,
  jobs: Services['jobs'],
  files: (Blob & { path: string })[],
): Promise<void> {
  const card = files.find(({ path }) => path === CARD_PATH);
  if (!card || card.sizeBytes === 0) return;
  const { sha256, sizeBytes } = card;
  const added = await tx
    .insertInto('card_data')
    .values({ sha256, data: null, parsed: false })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  // Only the first caller enqueues the job.
  if (added.numInsertedOrUpdatedRows === 1n) await jobs.enqueue(tx, readCardJob, { sha256, sizeBytes });
}

/** Parses an uploaded card to make its metadata available immediately. `findCardData` retries failures. */
export async function parseUploadedCard(
  services: Parts,
  { path, blob, userId }: { path: string; blob: Blob; userId: string },
): Promise<void> {
  if (path !== CARD_PATH || blob.sizeBytes === 0) return;
  try {
    await saveCardDataOf(services, blob, userId);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    services.log.warn({ err: error }, 'failed to parse card');
  }
}

async function saveCardDataOf(
  services: Parts,
  { sha256, sizeBytes }: Blob,
  userId: string,
): Promise<CardData | null> {
  const range = { start: 0, end: Math.min(sizeBytes, HEAD_BYTES_MAX) - 1 };
  const head = await text(await readBlob(services, { sha256, path: CARD_PATH, range }));
  const { data } = await readCard(services, head, userId);
  await saveCardData(services, sha256, data);
  return data;
}

/** Saves the metadata of a card, and its list fields on the assets with this card. */
export async function saveCardData(
  { db }: Pick<Services, 'db'>,
  sha256: string,
  data: CardData | null,
): Promise<void> {
  const value = data && JSON.stringify(data);
  await db
    .insertInto('card_data')
    .values({ sha256, data: value, parsed: true })
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ data: value, parsed: true }))
    .execute();
  // Do not update the assets in the transaction above: `addRevision` locks the asset before the card.
  await updateCardFields(db, sha256, toCardFields(data));
}
