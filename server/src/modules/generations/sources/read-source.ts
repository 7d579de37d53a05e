import { editsPictures, type Generator, takesPicture } from '@bakehouse/contract/generators/generator';
import { pictureTypes } from '@bakehouse/contract/media';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { toThumbnail } from '../../media/thumbnails/thumbnail-columns.ts';
import { findOutputs } from '../find-generations.ts';
import { lockGeneration } from '../queries.ts';
import { findInputPicture, type InputPicture } from './picture-queries.ts';

/** What a generation edits, and where that comes from. */
export type Source = {
  picture: InputPicture;
  /** The row that keeps it, where it came with the call and has one of its own. */
  inputId?: string;
  /** The generation that made it, as which of its outputs, and the first generation of its edit tree. */
  generationId: string | null;
  outputId: string | null;
  rootId: string | null;
  /** The field that names it. */
  param: string;
};

type Asked = {
  userId: string;
  /** As whoever generates takes it. */
  form: Generator;
  picture_id?: string | undefined;
  source_generation_id?: string | undefined;
  source_output_id?: string | undefined;
};

/**
 * Step: the picture that a generation is to edit, or begins with; undefined where it works from the prompt alone. Throws AppError
 * 'invalid_request' where there is none, or one too many, and 'not_found' for what is not the caller's.
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

/** The source that such a picture is, which no generation has made. `param` is the field that it came in. Pure. */
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
