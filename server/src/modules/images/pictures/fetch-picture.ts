import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/pictures';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { fetchPublic } from '../../../platform/http/addresses/fetch-public.ts';
import { readOwnLink } from '../../assets/files/links/read-own-link.ts';
import { collectPicture } from './collect-picture.ts';
import type { InputPicture } from './picture-queries.ts';
import { describePicture, storePicture } from './store-picture.ts';

/**
 * The picture at an address: a `data:` URL, a link of this server, or any public one. Throws AppError 'invalid_request' with
 * the field for every other address, and for what is no picture that can be edited.
 */
export async function fetchPicture(ctx: Context, address: string, param: string): Promise<InputPicture> {
  const { publicUrl } = ctx.config;
  if (!URL.canParse(address, publicUrl)) throw refused(param, `${param} is no address`);
  const url = new URL(address, publicUrl);
  if (url.protocol === 'data:') return storePicture(ctx, readDataUrl(url, param), param);
  if (url.origin === new URL(publicUrl).origin) {
    const own = await readOwnLink(ctx, url);
    if (!own) throw refused(param, `${param} is an address of this server, but no link to a file`);
    return describePicture(ctx, own, param);
  }
  return storePicture(ctx, await collectPicture(await fetchPublic(url, { param }), param), param);
}

function readDataUrl({ pathname }: URL, param: string): Buffer {
  const [, base64] = /^[^,]*;base64,(.*)$/s.exec(pathname) ?? [];
  if (base64 === undefined) throw refused(param, `${param}: a data URL has its picture in base64`);
  // A third of it is what base64 adds.
  if (base64.length > (PICTURE_BYTES_MAX * 4) / 3 + 4)
    throw new AppError('payload_too_large', { publicMessage: pictureMessages.tooLarge, param });
  // Escapes are those of '+', '/' and '='; what else may be there is no base64, and no picture.
  return Buffer.from(
    base64.replace(/%(2B|2F|3D)/gi, (escaped) => decodeURIComponent(escaped)),
    'base64',
  );
}

function refused(param: string, publicMessage: string): AppError {
  return new AppError('invalid_request', { publicMessage, param });
}
