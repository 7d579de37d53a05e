import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  type addTrainingPictures as endpoint,
  METADATA,
  METADATA_BYTES_MAX,
} from '@bakehouse/contract/gallery';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { preparedIdempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { completeOnboardingStep } from '../../accounts/complete-onboarding-step.ts';
import { findChangeableAsset } from '../../assets/access/find-changeable-asset.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { putFiles } from '../../assets/revisions/put-files.ts';
import { listPictures, type Picture } from './list-pictures.ts';
import { addLines } from './training-lines.ts';

type Asked = InputOf<typeof endpoint>['body'];
type Answer = ResponseOf<typeof endpoint>;

/** The dataset before the change; a new one has no id yet. */
type Dataset = {
  id: string | null;
  title: string;
  revisionId: string | null;
  metadata: string;
  paths: ReadonlySet<string>;
};

/** Everything to add, looked up and stored before the transaction. */
type Prepared = { dataset: Dataset; added: Picture[]; metadata: Blob; present: number; leftOut: number };

/**
 * Adds generated pictures to a dataset of the caller, each with its prompt as its caption, in the layout that
 * picture training reads. Skips pictures that are already in it, and edits. Throws the errors of
 * `listPictures` and `putFiles`, and AppError 'invalid_request' if all pictures are edits, 'conflict' for a
 * dataset of another layout.
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
  // The prompt of an edit is not a caption.
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
  return new AppError('invalid_request', {
    publicMessage:
      'Edits have no captions: their prompts say what to change. Choose pictures that were generated from text',
    param: 'ids',
  });
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
    throw new AppError('invalid_request', {
      publicMessage: `${asset.title} is a model: pictures to train on are put into a dataset`,
      param: 'dataset_id',
    });
  }
  const { revision_id: revisionId } = asset;
  const found = { id: assetId, title: asset.title, revisionId };
  if (revisionId === null || asset.file_count === 0) return { ...found, ...empty };
  const { files } = await readRevision(ctx.db, { assetId, userId, revisionId, paths: [METADATA, ...names] });
  const file = files.find(({ path }) => path === METADATA);
  if (!file || file.sizeBytes > METADATA_BYTES_MAX) {
    throw new AppError('conflict', {
      publicMessage: file
        ? `${asset.title} holds too many pictures to add others`
        : `${asset.title} has files but no ${METADATA}. Choose a dataset of pictures, an empty one, or a new one`,
      param: 'dataset_id',
    });
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
