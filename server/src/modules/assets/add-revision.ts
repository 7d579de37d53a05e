import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { type CardFields, toCardFields } from './card/card-metadata.ts';
import { lockCardData } from './card/card-queries.ts';
import {
  type AssetRow,
  CARD_PATH,
  endFiles,
  findRevision,
  insertFiles,
  insertRevision,
  setNewestRevision,
} from './queries.ts';
import { bearsOnLora } from './recognise/find-lora-file.ts';
import { isLora } from './recognise/is-lora.ts';

export type NewFile = { path: string; sha256: string; sizeBytes: number };

type RevisionChange = {
  put: NewFile[];
  remove: string[];
  /** A title, optionally followed by an empty line and more text. */
  message: string;
  /** Null for this server itself. */
  authorUserId: string | null;
};

/**
 * Adds a revision to a locked asset: the files of the previous revision without `remove`, and with `put`,
 * which replaces files with the same path. The blobs must be registered. Returns its id.
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
      asset.dataset_type === 'MODEL' && paths.some(bearsOnLora) ? await isLora(tx, asset.id) : undefined,
    card: paths.includes(CARD_PATH) ? await readCardFields(tx, change.put) : undefined,
  });
  if (asset.owner_user_id) await publishChange(tx, asset.owner_user_id, { topic: 'asset', id: asset.id });
  return revisionId;
}

async function readCardFields(tx: Transaction, put: NewFile[]): Promise<CardFields> {
  const card = put.findLast(({ path }) => path === CARD_PATH);
  return toCardFields(card ? await lockCardData(tx, card.sha256) : null);
}
