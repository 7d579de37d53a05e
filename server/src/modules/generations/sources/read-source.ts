import { editsPictures, type Generator, takesPicture } from '@bakehouse/contract/generators/generator';
import { pictureTypes } from '@bakehouse/contract/media';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { toThumbnail } from '../../media/thumbnails/thumbnail-columns.ts';
import { findOutputs } from '../find-generations.ts';
import { lockGeneration } from '../queries.ts';
import { findInputPicture, type InputPicture } from './picture-queries.ts';

/** The picture that a generation edits, and its origin. */
export type Source = {
  picture: InputPicture;
  /** The row of an uploaded picture. */
  inputId?: string;
  /** The generation that made it, the output, and the root of the edit tree. */
  generationId: string | null;
  outputId: string | null;
  rootId: string | null;
  /** Request field that names it. */
  param: string;
};

type Asked = {
  userId: string;
  /** The form as the provider accepts it. */
  form: Generator;
  picture_id?: string | undefined;
  source_generation_id?: string | undefined;
  source_output_id?: string | undefined;
};

/**
 * Step: returns the picture that a generation edits or starts from; undefined if it uses the prompt alone.
 * Throws AppError 'invalid_request' if a picture is missing or superfluous, and 'not_found' if it is not the
 * caller's.
 */
export async function readSource(
  tx: Transaction,
  { userId, form, ...asked }: Asked,
): Promise<Source | undefined> {
  const { picture_id: pictureId, source_generation_id: generationId, source_output_id: outputId } = asked;
  const named = generationId === undefined ? 'picture_id' : 'source_generation_id';
  const hasNone = pictureId === undefined && generationId === undefined;
  if (hasNone && !editsPictures(form)) return undefined;
  if (!takesPicture(form)) throw refused(named, `${form.title} takes no picture`);
  if (pictureId !== undefined && generationId !== undefined)
    throw refused('source_generation_id', 'Send either picture_id or source_generation_id');
  if (generationId !== undefined) return readGeneration(tx, { id: generationId, userId }, outputId);
  if (outputId !== undefined)
    throw refused('source_output_id', 'Send source_output_id with the source_generation_id that made it');
  if (pictureId === undefined) throw refused('picture_id', 'Choose a picture to edit');
  const picture = await findInputPicture(tx, { id: pictureId, userId });
  if (!picture) throw notFound('picture_id', 'No picture has this id. Uploaded pictures are kept for a day');
  return uploaded(picture, named);
}

/** Returns the source for an uploaded picture. `param` is the request field. */
export function uploaded(picture: InputPicture, param: string): Source {
  return { picture, generationId: null, outputId: null, rootId: null, param };
}

async function readGeneration(
  tx: Transaction,
  own: { id: string; userId: string },
  outputId: string | undefined,
): Promise<Source> {
  const param = 'source_generation_id';
  const { id } = own;
  const row = await lockGeneration(tx, own, 'deletion');
  if (!row) throw notFound(param, 'No generation has this id');
  const outputs = (await findOutputs(tx, [id])).get(id) ?? [];
  const output = outputId === undefined ? outputs[0] : outputs.find((one) => one.id === outputId);
  if (outputId !== undefined && !output)
    throw notFound('source_output_id', 'No picture of this generation has this id');
  const mediaType = pictureTypes.find((type) => type === output?.media_type);
  if (!output || !mediaType) throw refused(param, 'This generation has made no picture that can be edited');
  const { sha256, size_bytes, width, height } = output;
  const thumbnail = toThumbnail(output);
  const picture = { ...{ sha256, mediaType, width, height, thumbnail }, sizeBytes: Number(size_bytes) };
  return { picture, generationId: id, outputId: output.id, rootId: row.root_generation_id ?? id, param };
}

function notFound(param: string, publicMessage: string): AppError {
  return new AppError('not_found', { publicMessage, param });
}
