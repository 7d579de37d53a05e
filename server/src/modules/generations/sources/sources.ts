import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import {
  acceptsMask,
  acceptsPicture,
  editsPictures,
  type Generator,
} from '@bakehouse/contract/generators/generator';
import { pictureTypes } from '@bakehouse/contract/media';
import type { Context, Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { invalidParam, notFoundError, unknownId } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { assertBlobFitsQuota } from '../../assets/files/storage-quota.ts';
import { readPictureAddress } from '../../media/read-picture-address.ts';
import { toThumbnail } from '../../media/thumbnails/thumbnails.ts';
import { findOutputs } from '../generations.ts';
import { type GenerationRow, lockGeneration } from '../queries.ts';
import {
  findInputPicture,
  findInputPictures,
  type InputPicture,
  insertInputPicture,
} from './picture-queries.ts';
import { describePicture, storePicture } from './pictures.ts';

/**
 * Returns the picture at a `data:` URL, a link of this server, or a public URL. Throws the errors of
 * `readPictureAddress`, and AppError 'invalid_request' for a picture that cannot be edited.
 */
export async function fetchPicture(
  ctx: Context,
  address: string,
  { param, signal }: { param: string; signal: AbortSignal },
): Promise<InputPicture> {
  const found = await readPictureAddress(ctx, address, { param, signal });
  return Buffer.isBuffer(found) ? storePicture(ctx, found, param) : describePicture(ctx, found, param);
}

/**
 * Step: assigns a stored picture to the caller for a later generation. `param` is the request field. Returns
 * its id. Throws AppError 'payload_too_large' beyond the user's quota.
 */
export async function savePicture(
  tx: Transaction,
  { caller, clock, config }: Pick<Context, 'caller' | 'clock' | 'config'>,
  { picture, param }: { picture: InputPicture; param: string },
): Promise<string> {
  const { userId } = caller;
  await assertBlobFitsQuota(tx, config, { userId, blob: picture, param });
  return insertInputPicture(tx, { userId, picture, createdAt: clock.now() });
}

/** Returns the whole input picture of a generation, and its mask; null if it has none. */
export async function readInput(
  services: Services,
  { id }: Pick<GenerationRow, 'id'>,
): Promise<{ bytes: Buffer; mediaType: string; mask: Buffer | null } | null> {
  const { source, mask } = (await findInputPictures(services.db, [id])).get(id) ?? {};
  if (!source) return null;
  const read = async ({ sha256 }: InputPicture) =>
    buffer(await readBlob(services, { sha256, path: `source of ${id}` }));
  return {
    bytes: await read(source),
    mediaType: source.mediaType,
    mask: mask ? await read(mask) : null,
  };
}

/** The picture that a generation edits or starts from, and its origin. */
export type Source = {
  picture: InputPicture;
  /** Id of the uploaded picture's row. */
  inputId?: string;
  /** The generation and the output that made the picture, and the first generation of the chain of edits. */
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
 * Step: returns the picture that a generation edits or starts from; undefined if the generation uses only its
 * prompt. Throws AppError 'invalid_request' if a picture is missing or not supported, and 'not_found' if it
 * is not the caller's.
 */
export async function readSource(
  tx: Transaction,
  { userId, form, ...asked }: Asked,
): Promise<Source | undefined> {
  const { picture_id: pictureId, source_generation_id: generationId, source_output_id: outputId } = asked;
  const named = generationId === undefined ? 'picture_id' : 'source_generation_id';
  const hasNone = pictureId === undefined && generationId === undefined;
  if (hasNone && !editsPictures(form)) return undefined;
  if (!acceptsPicture(form)) throw invalidParam(named, `${form.title} does not accept a picture`);
  if (pictureId !== undefined && generationId !== undefined)
    throw invalidParam('source_generation_id', 'Send either picture_id or source_generation_id');
  if (generationId !== undefined) return readGeneration(tx, { id: generationId, userId }, outputId);
  if (outputId !== undefined)
    throw invalidParam(
      'source_output_id',
      'Send source_output_id with the source_generation_id that made it',
    );
  if (pictureId === undefined) throw invalidParam('picture_id', 'Choose a picture to edit');
  return readUploaded(tx, { id: pictureId, userId }, named);
}

async function readUploaded(
  tx: Transaction,
  own: { id: string; userId: string },
  param: string,
): Promise<Source> {
  const picture = await findInputPicture(tx, own);
  if (picture) return uploaded(picture, param);
  throw notFoundError('No picture has this id. Uploaded pictures are kept for a day', { param });
}

/**
 * Step: returns the mask that limits an edit of `source`; undefined if there is none. Throws AppError
 * 'invalid_request' for a mask of another size, and if the model does not take one, and 'not_found' if it is
 * not the caller's.
 */
export async function readMask(
  tx: Transaction,
  { userId, form, mask: sent, mask_id: id }: Pick<Asked, 'userId' | 'form'> & AskedMask,
  source: Source | undefined,
): Promise<Source | undefined> {
  const mask = sent ?? (id === undefined ? undefined : await readUploaded(tx, { id, userId }, 'mask_id'));
  if (!mask) return undefined;
  const { param } = mask;
  if (!acceptsMask(form)) throw invalidParam(param, `${form.title} does not accept a mask`);
  if (!source) throw invalidParam(param, 'Send the picture that the mask belongs to');
  const { width, height } = source.picture;
  const { picture: area } = mask;
  // A rotated JPEG has its sides swapped. The model server compares them again, once it is upright.
  const isSame = area.width === width && area.height === height;
  if (isSame || (area.width === height && area.height === width)) return mask;
  throw invalidParam(param, `The mask must have the size of the picture, ${width} x ${height} pixels`);
}

type AskedMask = { mask?: Source | undefined; mask_id?: string | undefined };

/** Returns the source for an uploaded picture. `param` is the request field. */
function uploaded(picture: InputPicture, param: string): Source {
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
  if (!row) throw unknownId('generation', param);
  const outputs = (await findOutputs(tx, [id])).get(id) ?? [];
  const output = outputId === undefined ? outputs[0] : outputs.find((one) => one.id === outputId);
  if (outputId !== undefined && !output) throw unknownId('picture of this generation', 'source_output_id');
  const mediaType = pictureTypes.find((type) => type === output?.media_type);
  if (!output || !mediaType) throw invalidParam(param, 'This generation has no picture that can be edited');
  const { sha256, size_bytes, width, height } = output;
  const thumbnail = toThumbnail(output);
  const picture = { ...{ sha256, mediaType, width, height, thumbnail }, sizeBytes: Number(size_bytes) };
  return { picture, generationId: id, outputId: output.id, rootId: row.root_generation_id ?? id, param };
}

/** A picture that was sent with a call, as bytes or as an address. */
export type SentPicture = {
  /** Hash of the bytes or the address. It identifies a repeated call. */
  sha256: string;
  /**
   * Stores the picture for editing. If no generation uses it, it counts against the caller's quota for a day,
   * like an uploaded picture.
   */
  read: () => Promise<Source>;
};

/** Wraps a picture that a call sent as bytes or as an address. `param` is the request field. */
export function sentPicture(
  ctx: Context,
  sent: Buffer | string,
  param: string,
  read: () => Promise<InputPicture>,
): SentPicture {
  return {
    sha256: createHash('sha256').update(sent).digest('hex'),
    read: async () => {
      const picture = await read();
      const inputId = await inTransaction(ctx.db, (tx) => savePicture(tx, ctx, { picture, param }));
      return { ...uploaded(picture, param), inputId };
    },
  };
}
