import { readFile } from 'node:fs/promises';
import type { DatasetType } from '@bakehouse/contract/assets';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, invalidRequest } from '../../../platform/errors.ts';
import { touchBlobs } from '../../../platform/storage/queries.ts';
import { adoptBlob } from '../../../platform/storage/store-blob.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { cleanFilePath } from '../../assets/files/upload/clean-path.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { findOwnByTitle } from '../../assets/own/own-assets.ts';
import { MODEL_CONFIG, readFamily } from '../../assets/recognise/family.ts';
import { PIPELINE_INDEX } from '../../assets/recognise/pipelines.ts';
import { createRevisionFromBlobs, type NewFile } from '../../assets/revisions/add-revision.ts';
import { BUILT_IN_STARTERS } from '../starter/built-in-starters.ts';
import { upsertStarterAsset } from '../starter/queries.ts';
import { checkModelFile, weightsExtension } from '../weights/check-model-file.ts';
import { type FolderFile, readFolder } from './read-folder.ts';

/** Interval for touching stored blobs. A blob without an owner is garbage-collected after an hour. */
const TOUCH_MS = 10 * 60 * 1000;
/** Maximum size of a configuration file to parse; a model's have some kilobytes. */
const JSON_BYTES_MAX = 1024 * 1024;

type Input = {
  folder: string;
  title: string;
  /** The owner. If null, every user can read the asset and no user can change it. */
  userId: string | null;
  onFile?: (file: { path: string; sizeBytes: number; isLinked: boolean; at: number; of: number }) => void;
};

type Imported = {
  assetId: string;
  datasetType: DatasetType;
  /** False if the newest revision has the same files, so that no revision was added. */
  isNew: boolean;
  files: number;
  sizeBytes: number;
  linkedBytes: number;
  leftOut: string[];
};

/**
 * Imports a local folder as a model if it contains weights, else as a dataset. If the owner already has an
 * asset with this title, that asset gets a revision with exactly these files. All files are checked like
 * uploads before the first one is stored. The owner's storage quota does not apply. Throws AppError
 * 'invalid_request' for a refused file or an empty folder.
 */
export async function importFolder(
  services: Pick<Services, 'blobs' | 'db' | 'sandbox'>,
  { folder, title, userId, onFile }: Input,
): Promise<Imported> {
  const { files: found, leftOut } = await readFolder(folder);
  if (found.length === 0) throw invalidRequest(`There are no files in ${folder}`);
  const files = found.map((file) => ({ ...file, path: cleanFilePath(file.path) }));
  const isModel = files.some(({ path }) => weightsExtension(path) !== null || path === PIPELINE_INDEX);
  const datasetType = isModel ? 'MODEL' : 'RAW';
  if (isModel) {
    for (const { path, localPath } of files)
      await checkModelFile(services.sandbox, { localPath, name: path, userId: userId ?? '' });
  }
  const put = await adopt(services, files, onFile);
  const card = {
    title,
    datasetType,
    family: isModel ? await familyOf(files) : '',
    isImage: isPipeline(files),
  } as const;
  const { assetId, isNew } = await inTransaction(services.db, async (tx) => {
    const asset = await (userId === null ? openForEverybody(tx, card) : openOwn(tx, userId, card));
    const { revisionId } = await createRevisionFromBlobs(tx, {
      assetId: asset.id,
      files: put,
      message: 'Import a folder',
    });
    const changed = revisionId !== asset.revisionId;
    if (changed)
      await recordAudit(tx, {
        userId,
        action: 'asset.files_added',
        detail: { asset_id: asset.id, files: String(put.length) },
      });
    return { assetId: asset.id, isNew: changed };
  });
  const sum = (some: { sizeBytes: number }[]) => some.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
  return {
    ...{ assetId, datasetType, isNew, leftOut, files: put.length, sizeBytes: sum(put) },
    linkedBytes: sum(put.filter(({ isLinked }) => isLinked)),
  };
}

async function adopt(
  services: Pick<Services, 'blobs' | 'db'>,
  files: FolderFile[],
  onFile: Input['onFile'],
): Promise<(NewFile & { isLinked: boolean })[]> {
  const put: (NewFile & { isLinked: boolean })[] = [];
  let touchedAt = Date.now();
  for (const [index, { path, localPath }] of files.entries()) {
    const blob = await adoptBlob(services, localPath);
    put.push({ path, ...blob });
    onFile?.({ path, ...blob, at: index + 1, of: files.length });
    if (Date.now() - touchedAt < TOUCH_MS) continue;
    await touchBlobs(
      services.db,
      put.map(({ sha256 }) => sha256),
    );
    touchedAt = Date.now();
  }
  return put;
}

type Card = { title: string; datasetType: DatasetType; family: string; isImage: boolean };
type Opened = { id: string; revisionId: string | null };

async function openOwn(
  tx: Transaction,
  userId: string,
  { title, datasetType, family }: Card,
): Promise<Opened> {
  const own = await findOwnByTitle(tx, { userId, title, datasetType });
  if (own) return own;
  const id = await insertAsset(tx, {
    ...{ ownerUserId: userId, title, datasetType, family },
    ...{ category: '', details: '', tags: [] },
  });
  return { id, revisionId: null };
}

async function openForEverybody(
  tx: Transaction,
  { title, datasetType, family, isImage }: Card,
): Promise<Opened> {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^-|-$/g, '');
  const task = datasetType === 'RAW' ? null : isImage ? ('image' as const) : ('text' as const);
  const asset = await upsertStarterAsset(tx, {
    ...{ slug, task, title, family, datasetType },
    ...{ details: '', category: '', tags: [] },
  });
  if (slug !== '' && !BUILT_IN_STARTERS.includes(slug) && asset.datasetType === datasetType) return asset;
  throw conflict(`The title '${title}' is taken. Choose another one with --title`);
}

function isPipeline(files: FolderFile[]): boolean {
  return files.some(({ path }) => path === PIPELINE_INDEX);
}

async function familyOf(files: FolderFile[]): Promise<string> {
  const name = isPipeline(files) ? PIPELINE_INDEX : MODEL_CONFIG;
  const file = files.find(({ path }) => path === name);
  if (!file || file.sizeBytes > JSON_BYTES_MAX) return '';
  try {
    return readFamily(JSON.parse(await readFile(file.localPath, 'utf8'))) ?? '';
  } catch (error) {
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}
