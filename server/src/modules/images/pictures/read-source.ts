import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { pictureTypes } from '@bakehouse/contract/pictures';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findOutputs, lockGeneration } from '../queries.ts';
import { findInputPicture, type InputPicture } from './picture-queries.ts';

/** What a generation edits, and where that comes from. */
export type Source = {
  picture: InputPicture;
  /** The generation that made it, and the first one of its edit tree. */
  generationId: string | null;
  rootId: string | null;
  /** The field that names it. */
  param: string;
};

type Asked = {
  userId: string;
  generator: GeneratorName;
  picture_id?: string | undefined;
  source_generation_id?: string | undefined;
};

/**
 * Step: the picture that a generation is to edit; undefined for a generator that draws from the prompt alone. Throws AppError
 * 'invalid_request' where there is none, or one too many, and 'not_found' for what is not the caller's.
 */
export async function readSource(
  tx: Transaction,
  { userId, generator, picture_id: pictureId, source_generation_id: generationId }: Asked,
): Promise<Source | undefined> {
  const { fields, title } = generators[generator];
  const asksForPicture = fields.some(({ kind }) => kind === 'picture');
  const named = generationId === undefined ? 'picture_id' : 'source_generation_id';
  if (!asksForPicture) {
    if (pictureId === undefined && generationId === undefined) return undefined;
    throw refused(named, `${title} edits no picture`);
  }
  if (pictureId !== undefined && generationId !== undefined)
    throw refused('source_generation_id', 'Send either picture_id or source_generation_id');
  if (generationId !== undefined) return readGeneration(tx, { id: generationId, userId });
  if (pictureId === undefined) throw refused('picture_id', 'Choose a picture to edit');
  const picture = await findInputPicture(tx, { id: pictureId, userId });
  if (!picture) throw notFound('picture_id', 'No picture has this id. Uploaded pictures are kept for a day');
  return { picture, generationId: null, rootId: null, param: named };
}

async function readGeneration(tx: Transaction, own: { id: string; userId: string }): Promise<Source> {
  const param = 'source_generation_id';
  const { id } = own;
  const row = await lockGeneration(tx, own, 'deletion');
  if (!row) throw notFound(param, 'No generation has this id');
  const output = (await findOutputs(tx, [id])).get(id)?.[0];
  const mediaType = pictureTypes.find((type) => type === output?.media_type);
  if (!output || !mediaType) throw refused(param, 'This generation has made no picture that can be edited');
  const { sha256, size_bytes, width, height } = output;
  const picture = { ...{ sha256, mediaType, width, height }, sizeBytes: Number(size_bytes) };
  return { picture, generationId: id, rootId: row.root_generation_id ?? id, param };
}

function refused(param: string, publicMessage: string): AppError {
  return new AppError('invalid_request', { publicMessage, param });
}

function notFound(param: string, publicMessage: string): AppError {
  return new AppError('not_found', { publicMessage, param });
}
