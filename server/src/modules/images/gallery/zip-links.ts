import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import {
  type linkZip as linkZipEndpoint,
  openZipLink as openZipLinkEndpoint,
} from '@bakehouse/contract/gallery';
import type { Config } from '../../../config.ts';
import type { Context, Services } from '../../../platform/context.ts';
import { invalidLink, linkExpired, notFoundError } from '../../../platform/errors.ts';
import type { Answer } from '../../../platform/http/answer.ts';
import { isSameSecret, signatureOf } from '../../../platform/signature.ts';
import { answerZip } from '../../../platform/storage/answer-blob.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { accountExists } from '../../accounts/steps.ts';
import { contentDisposition } from '../../assets/files/content-type.ts';
import { listPictures } from './add-training-pictures.ts';

const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** As long as a link to a file. */
const LIFE_S = 60 * 60;

/**
 * Returns a public link to the pictures of these generations as one zip. Throws the errors of `listPictures`.
 */
export async function linkZip(
  ctx: Context,
  { ids }: InputOf<typeof linkZipEndpoint>['body'],
): Promise<ResponseOf<typeof linkZipEndpoint>> {
  const { userId } = ctx.caller;
  await listPictures(ctx.db, { ids, userId });
  const expires = Math.floor(ctx.clock.now().getTime() / 1000) + LIFE_S;
  const claims = { userId, ids: packIds(ids), expires };
  const query = { ...claims, signature: signZip(ctx.config, claims) };
  return {
    url: endpointUrl(openZipLinkEndpoint.path, {}, query),
    expires_at: new Date(expires * 1000).toISOString(),
  };
}

/** Signs the parameters of a link to a zip: `ids` as packed by `packIds`, `expires` in seconds since 1970. */
export function signZip(
  config: Config,
  { userId, ids, expires }: { userId: string; ids: string; expires: number },
): string {
  return signatureOf(serverSecret(config), 'zip links', [userId, ids, expires]);
}

/** Packs ids for a link. Two hundred ids in plain form would make a URL longer than proxies accept. */
function packIds(ids: readonly string[]): string {
  return Buffer.from(ids.join('').replaceAll('-', ''), 'hex').toString('base64url');
}

/** Returns the ids packed by `packIds`. */
export function unpackIds(packed: string): string[] {
  const digits = Buffer.from(packed, 'base64url').toString('hex');
  return (digits.match(/.{32}/g) ?? []).map((id) => id.replace(UUID, '$1-$2-$3-$4-$5'));
}

/**
 * Returns the zip that a link names. Throws AppError 'forbidden' for an invalid signature, 'gone' for an
 * expired link, and 'not_found' if a picture or its owner was deleted.
 */
export async function openZipLink(
  services: Services,
  { query }: Pick<InputOf<typeof openZipLinkEndpoint>, 'query'>,
): Promise<Answer> {
  const { userId, ids, expires, signature } = query;
  if (!isSameSecret(signZip(services.config, { userId, ids, expires }), signature)) {
    throw invalidLink();
  }
  if (expires * 1000 <= services.clock.now().getTime()) {
    throw linkExpired();
  }
  if (!(await accountExists(services.db, userId))) throw notFoundError('These pictures no longer exist');
  const pictures = await listPictures(services.db, { ids: unpackIds(ids), userId });
  return answerZip(services, {
    files: pictures.map(({ row, output, name }) => ({
      path: name,
      sha256: output.sha256,
      sizeBytes: Number(output.size_bytes),
      modifiedAt: row.ended_at ?? row.created_at,
    })),
    headers: {
      'content-disposition': contentDisposition('attachment', 'pictures.zip'),
      'cache-control': 'private, no-store',
    },
  });
}
