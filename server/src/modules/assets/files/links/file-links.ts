import type { downloadFile as downloadFileEndpoint } from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { type linkFile as linkFileEndpoint, openFileLink } from '@bakehouse/contract/file-links';
import type { Context, Services } from '../../../../platform/context.ts';
import { invalidParam } from '../../../../platform/errors.ts';
import { Answer } from '../../../../platform/http/answer.ts';
import { guardDamagedReads } from '../../../../platform/storage/read-blob.ts';
import { serverSecret } from '../../../accounts/sign-in/server-secret.ts';
import { countDownload } from '../../downloads/count-download.ts';
import { contentDisposition, contentTypeOf } from '../content-type.ts';
import { findFile } from '../files.ts';
import { checkLink, type LinkedFile, signLink } from './check-link.ts';

/** Time to resume a large download, or to watch a video to its end. */
const LIFE_S = 60 * 60;

/** All links created within this period are identical, so that a browser can reuse its cached copy. */
const STEP_S = 30 * 60;

const OWN_PATH = /^\/api\/v1\/files\/([^/]+)\/(.+)$/;

/**
 * Returns a link to a file as JSON instead of the file's bytes. The original product's Python client, which
 * sends the header `bagel_source`, expects this.
 */
export async function answerLink(
  ctx: Context,
  { params, query }: InputOf<typeof downloadFileEndpoint>,
): Promise<Answer> {
  const link = await linkFile(ctx, {
    assetId: params.id,
    path: params['*'],
    disposition: 'attachment',
    ...query,
  });
  return new Answer({ ...link, url: new URL(link.url, ctx.config.publicUrl).href });
}

/**
 * Returns a link to a blob under a file name. Anyone can use it. It works for at least an hour, but only
 * while its creator may read the blob. Exception: a link into an S3 bucket works until it expires.
 */
export async function linkBlob(
  { blobs, clock, config }: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { path, ...file }: { path: string } & Omit<LinkedFile, 'name' | 'expires'>,
): Promise<{ url: string; expiresAt: Date }> {
  const { sha256, ...query } = file;
  const expires = Math.ceil((clock.now().getTime() / 1000 + LIFE_S) / STEP_S) * STEP_S;
  const expiresAt = new Date(expires * 1000);
  const elsewhere = await blobs.presign(sha256, {
    contentType: contentTypeOf(path).contentType,
    contentDisposition: contentDisposition(file.disposition, path),
    expiresAt,
  });
  const name = path.split('/').at(-1) ?? path;
  const signature = signLink(serverSecret(config), { ...file, name, expires });
  const own = endpointUrl(openFileLink.path, { sha256, '*': name }, { ...query, expires, signature });
  return { url: elsewhere ?? own, expiresAt };
}

/**
 * Returns a link to a file that the caller may read. Anyone can use it. It works for at least an hour, but
 * only while the file exists and the caller may read it. Throws AppError 'not_found', and 'conflict' if the
 * bytes are known to be damaged, because a browser could not report that error.
 */
export async function linkFile(
  ctx: Context,
  input: { assetId: string } & InputOf<typeof linkFileEndpoint>['query'],
): Promise<ResponseOf<typeof linkFileEndpoint>> {
  const { disposition, path } = input;
  const file = await findFile(ctx, { assetId: input.assetId, revisionId: input.revision_id, path });
  const { canBeInline } = contentTypeOf(path);
  if (disposition === 'inline' && !canBeInline) {
    throw invalidParam(
      'disposition',
      `${path} can be downloaded, but not shown: only pictures, videos and sounds can be shown`,
    );
  }
  if (disposition === 'attachment') countDownload(ctx, input.assetId);
  await guardDamagedReads(ctx, { sha256: file.sha256, path });
  const { url, expiresAt } = await linkBlob(ctx, {
    ...{ sha256: file.sha256, path, disposition },
    ...{ user: ctx.caller.userId, asset: input.assetId, revision: input.revision_id },
  });
  return { url, expires_at: expiresAt.toISOString() };
}

/** Returns the file behind a link of this server; null for other URLs. Throws the errors of `checkLink`. */
export async function readOwnLink(
  services: Services,
  url: URL,
): Promise<{ sha256: string; path: string; sizeBytes: number } | null> {
  const [, sha256, path] = OWN_PATH.exec(url.pathname) ?? [];
  const params = openFileLink.params?.safeParse({ sha256, '*': path && decodePath(path) }).data;
  const query = openFileLink.query?.safeParse(Object.fromEntries(url.searchParams)).data;
  if (!params || !query) return null;
  const { sizeBytes } = await checkLink(services, { params, query });
  return { sha256: params.sha256, path: params['*'], sizeBytes };
}

/** Decodes a path; returns it unchanged if its escapes are invalid. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
