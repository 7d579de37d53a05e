import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  type addTrainingPictures as addTrainingPicturesEndpoint,
  METADATA,
  METADATA_BYTES_MAX,
} from '@bakehouse/contract/gallery';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { preparedIdempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { type AppError, conflict, invalidParam, unknownId } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { completeOnboardingStep } from '../../accounts/onboarding.ts';
import { findChangeableAsset } from '../../assets/access/changeable.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { putFiles } from '../../assets/revisions/commit-files.ts';
import { findGenerations, findOutputs } from '../../generations/generations.ts';
import type { GenerationRow, OutputRow } from '../../generations/queries.ts';

const WORDS_MAX = 48;

type Asked = InputOf<typeof addTrainingPicturesEndpoint>['body'];

type Answer = ResponseOf<typeof addTrainingPicturesEndpoint>;

/** The state of the dataset before the change. The id of a new dataset is null. */
type Dataset = {
  id: string | null;
  title: string;
  revisionId: string | null;
  metadata: string;
  paths: ReadonlySet<string>;
};

/** The planned change. Its bytes are already stored. */
type Prepared = { dataset: Dataset; added: Picture[]; metadata: Blob; present: number; leftOut: number };

/**
 * Adds generated pictures to a dataset of the caller, in the layout that picture training reads. The prompt
 * of a picture becomes its caption. Skips edits, and pictures that the dataset already has. Throws the errors
 * of `listPictures` and `putFiles`, and AppError 'invalid_request' if all pictures are edits, 'conflict' for
 * a dataset of another layout.
 */
export async function addTrainingPictures(ctx: Context, asked: Asked): Promise<Answer> {
  const { userId } = ctx.caller;
  const call = { userId, key: ctx.idempotencyKey, operation: 'add-training-pictures', input: asked };
  return preparedIdempotent(
    ctx.db,
    call,
    () => prepare(ctx, asked),
    (tx, prepared) => putPictures(tx, ctx, prepared),
  );
}

async function prepare(ctx: Context, asked: Asked): Promise<Prepared> {
  const { userId } = ctx.caller;
  const chosen = await listPictures(ctx.db, { ids: asked.ids, userId });
  // The prompt of an edit describes a change and is no caption.
  const pictures = chosen.filter(
    ({ row: { generator } }) =>
      generators[generator].makes === 'image' && !editsPictures(generators[generator]),
  );
  if (pictures.length === 0) throw noCaptions();
  const dataset = await readDataset(
    ctx,
    asked,
    pictures.map(({ name }) => name),
  );
  const { metadata, added } = addLines(dataset, pictures);
  return {
    dataset,
    added,
    metadata: await storeBlob(ctx, Readable.from([Buffer.from(metadata)])),
    present: pictures.length - added.length,
    leftOut: chosen.length - pictures.length,
  };
}

async function putPictures(
  tx: Transaction,
  ctx: Context,
  { dataset, added, metadata, present, leftOut }: Prepared,
): Promise<Answer> {
  const { userId } = ctx.caller;
  const assetId = dataset.id ?? (await makeDataset(tx, { userId, title: dataset.title }));
  const { revisionId: before } = dataset;
  const files = [...added.map(toFile), { path: METADATA, ...metadata }];
  const revisionId =
    before !== null && added.length === 0
      ? before
      : await putFiles(tx, ctx.config, { assetId, userId, revisionId: before, files, param: 'ids' });
  return {
    dataset_id: assetId,
    title: dataset.title,
    revision_id: revisionId,
    added: added.length,
    present,
    left_out: leftOut,
  };
}

function noCaptions(): AppError {
  return invalidParam(
    'ids',
    'Edits have no captions: their prompts say what to change. Choose pictures that were generated from text',
  );
}

/** Returns the dataset's metadata file, and which of the named files it has. */
async function readDataset(
  ctx: Context,
  { dataset_id: assetId, title }: Asked,
  names: string[],
): Promise<Dataset> {
  const empty = { metadata: '', paths: new Set<string>() };
  if (assetId === undefined) return { id: null, title, revisionId: null, ...empty };
  const { userId } = ctx.caller;
  const asset = await findChangeableAsset(ctx.db, { assetId, userId });
  if (asset.dataset_type !== 'RAW') {
    throw invalidParam('dataset_id', `${asset.title} is a model: choose a dataset for training pictures`);
  }
  const { revision_id: revisionId } = asset;
  const found = { id: assetId, title: asset.title, revisionId };
  if (revisionId === null || asset.file_count === 0) return { ...found, ...empty };
  const { files } = await readRevision(ctx.db, { assetId, userId, revisionId, paths: [METADATA, ...names] });
  const file = files.find(({ path }) => path === METADATA);
  if (!file || file.sizeBytes > METADATA_BYTES_MAX) {
    throw conflict(
      file
        ? `${asset.title} has too many pictures: no more can be added`
        : `${asset.title} has files but no ${METADATA}. Choose a dataset of pictures, an empty one, or a new one`,
      { param: 'dataset_id' },
    );
  }
  const { sha256 } = file;
  const metadata = await text(await readBlob(ctx, { sha256, path: METADATA }));
  return { ...found, metadata, paths: new Set(files.map(({ path }) => path)) };
}

async function makeDataset(
  tx: Transaction,
  { userId, title }: { userId: string; title: string },
): Promise<string> {
  const assetId = await insertAsset(tx, {
    ...{ ownerUserId: userId, datasetType: 'RAW', title },
    ...{ category: '', details: 'Pictures to train on, with their prompts as captions.', tags: [] },
  });
  await completeOnboardingStep(tx, userId, 'create_dataset');
  return assetId;
}

function toFile({ name, output }: Picture) {
  return { path: name, sha256: output.sha256, sizeBytes: Number(output.size_bytes) };
}

/**
 * Returns the metadata file with lines for these pictures, and the pictures to add: those for which the
 * dataset lacks the file, its line, or both. Throws AppError 'conflict' if the metadata file has an
 * incompatible layout.
 */
function addLines(
  { metadata, paths }: { metadata: string; paths: ReadonlySet<string> },
  pictures: readonly Picture[],
): { metadata: string; added: Picture[] } {
  const captioned = new Set(
    metadata
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(nameIn),
  );
  // A line may exist without its file, e.g. in metadata that was uploaded first.
  const added = pictures.filter(({ name }) => !captioned.has(name) || !paths.has(name));
  const lines = added
    .filter(({ name }) => !captioned.has(name))
    .map(({ name, row }) => `${oneLine({ file_name: name, text: row.prompt })}\n`);
  const before = metadata === '' || metadata.endsWith('\n') ? metadata : `${metadata}\n`;
  return { metadata: before + lines.join(''), added };
}

/**
 * Returns the row as one line of JSON. Python also treats these three characters as line ends, so they are
 * escaped.
 */
function oneLine(row: object): string {
  return JSON.stringify(row).replace(
    /[\u0085\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function nameIn(line: string, index: number): unknown {
  const row = parsed(line);
  if (typeof row !== 'object' || row === null || !('file_name' in row))
    throw cannotStand(`line ${index + 1} is no object with a file_name`);
  if ('source' in row && row.source !== null) throw cannotStand('it describes edits, each with its source');
  return row.file_name;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function cannotStand(why: string): AppError {
  return conflict(`No pictures can be added to the dataset’s ${METADATA}: ${why}`, { param: 'dataset_id' });
}

type Picture = { row: GenerationRow; output: OutputRow; name: string };

/**
 * Returns the pictures of these generations, in order. Throws AppError 'not_found' unless all belong to the
 * user, and 'invalid_request' if a generation has no picture.
 */
export async function listPictures(
  db: Database | Transaction,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<Picture[]> {
  const rows = await findGenerations(db, { ids, userId });
  const outputs = await findOutputs(db, ids);
  return ids.flatMap((id) => {
    const row = rows.get(id);
    if (!row) throw unknownId('generation', 'ids');
    const made = outputs.get(id) ?? [];
    if (made.length === 0) {
      throw invalidParam('ids', `ids: generation ${id} has made no picture`);
    }
    return made.map((output) => ({ row, output, name: pictureName(row.prompt, output) }));
  });
}

/** Returns a readable file name from the picture's prompt. The end of the output's id makes it unique. */
function pictureName(prompt: string, output: { id: string; media_type: string }): string {
  const words = prompt
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .slice(0, WORDS_MAX)
    .replace(/^-|[^\p{Letter}\p{Number}]+$/gu, '');
  const extension = output.media_type.split('/').at(-1)?.replace('jpeg', 'jpg');
  return `${words || 'picture'}-${output.id.slice(-12)}.${extension}`;
}
