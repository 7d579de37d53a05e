import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { lockBlobRows } from '../../../platform/storage/queries.ts';
import { type CardFields, toCardFields } from '../card/card-metadata.ts';
import { lockCardData } from '../card/card-queries.ts';
import {
  type AssetRow,
  CARD_PATH,
  endFiles,
  findAsset,
  findRevision,
  insertFiles,
  insertRevision,
  listNewestFiles,
  lockAsset,
  newestFiles,
  setNewestRevision,
} from '../queries.ts';
import { affectsLora, findLoraFile } from '../recognise/find-lora-file.ts';

export type NewFile = { path: string; sha256: string; sizeBytes: number };

type RevisionChange = {
  put: NewFile[];
  remove: string[];
  /** A title, optionally followed by an empty line and more text. */
  message: string;
  /** Null if the server itself makes the change. */
  authorUserId: string | null;
};

/**
 * Adds a revision to a locked asset and returns its id. Starts from the files of the previous revision, drops
 * the paths in `remove`, and adds the files in `put`, which replace files with the same path. The blobs must
 * be registered.
 */
export async function addRevision(tx: Transaction, asset: AssetRow, change: RevisionChange): Promise<string> {
  const newest = asset.revision_id ? await findRevision(tx, asset.id, asset.revision_id) : undefined;
  const number = (newest?.number ?? 0) + 1;
  const revisionId = await insertRevision(tx, { assetId: asset.id, number, ...change });
  const paths = [...change.remove, ...change.put.map((file) => file.path)];
  const ended = await endFiles(tx, asset.id, { paths, lastNumber: number - 1 });
  await insertFiles(tx, asset.id, { files: change.put, firstNumber: number });
  const bytesAdded = change.put.reduce((sum, file) => sum + BigInt(file.sizeBytes), 0n);
  const bytesEnded = ended.reduce((sum, file) => sum + file.size_bytes, 0n);
  await setNewestRevision(tx, asset.id, {
    revisionId,
    files: change.put.length - ended.length,
    bytes: bytesAdded - bytesEnded,
    isLora:
      asset.dataset_type === 'MODEL' && paths.some(affectsLora) ? await isLora(tx, asset.id) : undefined,
    card: paths.includes(CARD_PATH) ? await readCardFields(tx, change.put) : undefined,
  });
  if (asset.owner_user_id) await publishChange(tx, asset.owner_user_id, { topic: 'asset', id: asset.id });
  return revisionId;
}

async function readCardFields(tx: Transaction, put: NewFile[]): Promise<CardFields> {
  const card = put.findLast(({ path }) => path === CARD_PATH);
  return toCardFields(card ? await lockCardData(tx, card.sha256) : null);
}

/**
 * Adds a revision that consists of these files. With `keepsOthers`, the asset's other files stay, and so does
 * an existing card, because its owner may have edited it during the run. Adds nothing if the newest revision
 * has the same files. The blob store must contain the bytes. Throws AppError 'not_found' if the asset was
 * deleted, and an Error if bytes are missing.
 */
export async function createRevisionFromBlobs(
  tx: Transaction,
  input: { assetId: string; files: NewFile[]; keepsOthers?: boolean; message?: string },
): Promise<{ revisionId: string }> {
  for (const { path } of input.files) assertSafePath(path);
  await lockAsset(tx, input.assetId);
  const asset = await findAsset(tx, input.assetId);
  if (!asset) throw notFound('Asset');
  const present = new Map((await listNewestFiles(tx, asset.id)).map((file) => [file.path, file.sha256]));
  const keepsCard = input.keepsOthers === true && present.has(CARD_PATH);
  const put = input.files.filter(
    (file) => present.get(file.path) !== file.sha256 && !(keepsCard && file.path === CARD_PATH),
  );
  const wanted = new Set(input.files.map((file) => file.path));
  const remove = input.keepsOthers ? [] : [...present.keys()].filter((path) => !wanted.has(path));
  if (asset.revision_id && put.length === 0 && remove.length === 0) return { revisionId: asset.revision_id };
  await lockBlobRows(
    tx,
    put.map((file) => file.sha256),
  );
  return {
    revisionId: await addRevision(tx, asset, {
      put,
      remove,
      message: input.message ?? '',
      authorUserId: asset.owner_user_id,
    }),
  };
}

function assertSafePath(path: string): void {
  const parts = path.split('/');
  if (path.includes('\\') || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new Error(`Not a path inside an asset: ${path}`);
  }
}

/** Step: returns true if the newest files of a model are a LoRA. */
async function isLora(tx: Transaction, assetId: string): Promise<boolean> {
  const files = await newestFiles(tx, assetId)
    .select('path')
    .where(sql<boolean>`path ~ '^[^/]+\\.(safetensors|json)$'`)
    .execute();
  return findLoraFile(files) !== undefined;
}
