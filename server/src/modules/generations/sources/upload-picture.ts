import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { uploadPicture as endpoint } from '@bakehouse/contract/media';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { linkBlob } from '../../assets/files/links/file-links.ts';
import { receivePicture } from '../../media/receive-picture.ts';
import { storePicture } from './pictures.ts';
import { savePicture } from './sources.ts';

/** Receives a picture to edit. Throws the errors of `receivePicture` and `storePicture`. */
export async function uploadPicture(
  ctx: Context,
  request: FastifyRequest,
): Promise<ResponseOf<typeof endpoint>> {
  const picture = await receivePicture(ctx, request, 'file', ({ bytes }) => storePicture(ctx, bytes, 'file'));
  const id = await inTransaction(ctx.db, (tx) => savePicture(tx, ctx, { picture, param: 'file' }));
  const { sha256, mediaType, width, height, sizeBytes } = picture;
  const path = `picture.${mediaType.split('/')[1]}`;
  const { url } = await linkBlob(ctx, { user: ctx.caller.userId, sha256, path, disposition: 'inline' });
  return { id, url, media_type: mediaType, width, height, size_bytes: sizeBytes };
}
