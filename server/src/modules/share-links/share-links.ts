import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import {
  type getGenerationShare,
  openSharedOutput as openSharedOutputEndpoint,
  type SharedGeneration,
  type shareGeneration as shareEndpoint,
} from '@bakehouse/contract/share-links';
import type { Selectable } from 'kysely';
import type { Config } from '../../config.ts';
import type { Caller, Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { DB } from '../../platform/db/schema.generated.ts';
import { conflict, notFoundError, unknownId } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { isSameSecret, signatureOf } from '../../platform/signature.ts';
import { answerBlob, type FileRequest } from '../../platform/storage/answer-blob.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { findPublicName } from '../accounts/steps.ts';
import { contentDisposition, contentTypeOf } from '../assets/files/content-type.ts';
import { findGeneration, findOutputs, lockUserGeneration } from '../generations/generations.ts';
import { mediumOf, titleOf } from '../generations/media-table.ts';
import { toThumbnail } from '../media/thumbnails/thumbnails.ts';

/** 16 bytes in base64url. */
const ID_LENGTH = 22;

/** The signature has 132 bits, so it cannot be guessed. */
const SIGNATURE_LENGTH = 22;

type Input = { params: { id: string } };

/** Returns the share link of a caller's generation; null if it is not shared. Throws AppError 'not_found'. */
export async function getShareLink(
  { db, config, caller: { userId } }: Context,
  { params: { id } }: Input,
): Promise<ResponseOf<typeof getGenerationShare>> {
  if (!(await findGeneration(db, { id, userId }))) throw unknownId('generation');
  const link = await selectLink(db, { id, userId });
  return { share: link ? toShare(config, link) : null };
}

/** Shares a completed generation or returns its existing link. Throws AppError 'not_found' or 'conflict'. */
export async function shareGeneration(
  { db, config, caller: { userId } }: Context,
  { params: { id } }: Input,
): Promise<ResponseOf<typeof shareEndpoint>> {
  const own = { id, userId };
  return inTransaction(db, async (tx) => {
    const { state, generator } = await lockUserGeneration(tx, own);
    if (state !== 'completed')
      throw conflict(`This ${mediumOf(generator).noun} is not completed, so there is nothing to share`);
    const created = await insertLink(tx, own);
    if (created) await recordChange(tx, own, 'generation.shared');
    const link = created ?? (await selectLink(tx, own));
    if (!link) throw new Error(`The link of generation ${id} belongs to another user`);
    return { share: toShare(config, link) };
  });
}

/** Deletes the share link of the caller's generation, if it has one. Throws AppError 'not_found'. */
export async function unshareGeneration(
  { db, caller: { userId } }: Context,
  { params: { id } }: Input,
): Promise<void> {
  const own = { id, userId };
  await inTransaction(db, async (tx) => {
    await lockUserGeneration(tx, own);
    if (await deleteLink(tx, own)) await recordChange(tx, own, 'generation.unshared');
  });
}

/**
 * Lists the caller's shared generations, oldest first. The list has no links, because a link works without
 * signing in.
 */
export async function listShareLinks({ db, caller: { userId } }: Context) {
  return db
    .selectFrom('share_links')
    .select(['generation_id', 'created_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Returns the URL of a share page. */
export function sharePageUrl({ publicUrl }: Config, token: string): string {
  return new URL(`/share/${encodeURIComponent(token)}`, publicUrl).href;
}

/** Returns the content of a share page. Throws whatever `findShared` throws. */
export async function getShared(
  ctx: Context<Caller>,
  { token }: { token: string },
): Promise<SharedGeneration> {
  const { row, outputs, maker } = await findShared(ctx, token);
  return {
    ...{ generator: row.generator, title: titleOf(row), prompt: row.prompt, maker },
    outputs: outputs.map((output) => {
      const { id, media_type, width, height, duration_s, has_audio } = output;
      const url = sharedOutputUrl(token, id);
      const hasThumbnail = output.thumbnail_sha256 !== null;
      const thumbnail_url = hasThumbnail ? sharedOutputUrl(token, id, { thumbnail: true }) : url;
      return { id, media_type, width, height, duration_s, has_audio, url, thumbnail_url };
    }),
    created_at: row.created_at.toISOString(),
  };
}

/**
 * Returns the generation behind a link. Throws AppError 'not_found' if the link was never created or was
 * revoked, or if the generation or account was deleted. The message is always the same.
 */
export async function findShared({ db, config }: Context<Caller>, token: string) {
  const linkId = readShareToken(serverSecret(config), token);
  const own = linkId === null ? undefined : await selectShared(db, linkId);
  const owner = own && (await findPublicName(db, own.userId));
  const row = own && (await findGeneration(db, own));
  if (!row || !owner)
    throw notFoundError('This link does not work. It may be mistyped, or it is no longer shared.');
  return { row, outputs: (await findOutputs(db, [row.id])).get(row.id) ?? [], maker: owner.name };
}

function sharedOutputUrl(token: string, outputId: string, query?: { thumbnail: boolean }): string {
  return endpointUrl(openSharedOutputEndpoint.path, { token, outputId }, query);
}

/** Step: deletes all share links of a user. */
export async function deleteShareLinks(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('share_links').where('user_id', '=', userId).execute();
}

async function recordChange(
  tx: Transaction,
  { id, userId }: { id: string; userId: string },
  action: 'generation.shared' | 'generation.unshared',
): Promise<void> {
  await recordAudit(tx, { userId, action, detail: { generation_id: id } });
  await publishChange(tx, userId, { topic: 'generation', id });
}

function toShare(config: Config, { id, created_at }: { id: string; created_at: Date }) {
  const url = sharePageUrl(config, shareToken(serverSecret(config), id));
  return { url, created_at: created_at.toISOString() };
}

type Db = Database | Transaction;

type LinkRow = Pick<Selectable<DB['share_links']>, 'id' | 'created_at'>;

/** A generation and its owner. */
type Own = { id: string; userId: string };

async function selectLink(db: Db, { id, userId }: Own): Promise<LinkRow | undefined> {
  return db
    .selectFrom('share_links')
    .select(['id', 'created_at'])
    .where('generation_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Inserts a link. Returns undefined if the generation already has one. */
async function insertLink(tx: Transaction, { id, userId }: Own): Promise<LinkRow | undefined> {
  return tx
    .insertInto('share_links')
    .values({ user_id: userId, generation_id: id })
    .onConflict((oc) => oc.column('generation_id').doNothing())
    .returning(['id', 'created_at'])
    .executeTakeFirst();
}

/** Returns true if a link was deleted. */
async function deleteLink(tx: Transaction, { id, userId }: Own): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('share_links')
    .where('generation_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the generation behind a link. */
async function selectShared(db: Db, linkId: string): Promise<Own | undefined> {
  return db
    .selectFrom('share_links')
    .select(['generation_id as id', 'user_id as userId'])
    .where('id', '=', linkId)
    .executeTakeFirst();
}

/** Returns the token in a share link's URL: its id and this server's signature. */
function shareToken(secret: string, shareId: string): string {
  const id = Buffer.from(shareId.replaceAll('-', ''), 'hex').toString('base64url');
  return id + signatureOf(secret, 'share links', [shareId]).slice(0, SIGNATURE_LENGTH);
}

/** Returns the share link's id; null if this server did not sign the token. */
function readShareToken(secret: string, token: string): string | null {
  const hex = Buffer.from(token.slice(0, ID_LENGTH), 'base64url').toString('hex');
  const shareId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isSameSecret(shareToken(secret, shareId), token) ? shareId : null;
}

/** Returns a shared picture or video. Throws the errors of `findShared` and `answerBlob`. */
export async function openSharedOutput(
  ctx: Context<Caller>,
  { params: { token, outputId }, query }: InputOf<typeof openSharedOutputEndpoint>,
  request: FileRequest,
): Promise<Answer> {
  const { row, outputs } = await findShared(ctx, token);
  const output = outputs.find(({ id }) => id === outputId);
  if (!output) throw notFoundError('There is no such picture behind this link');
  const thumbnail = query.thumbnail ? toThumbnail(output) : null;
  const { sha256, sizeBytes } = thumbnail ?? {
    sha256: output.sha256,
    sizeBytes: Number(output.size_bytes),
  };
  const path = `${row.generator}.${thumbnail ? 'webp' : output.media_type.split('/')[1]}`;
  // Stream the bytes: a link to the object store would still work after the share link is revoked.
  return answerBlob(ctx, request, {
    ...{ sha256, path, sizeBytes },
    headers: {
      'content-type': contentTypeOf(path).contentType,
      'content-disposition': contentDisposition('inline', path),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      // Messengers on other sites show the file in their previews.
      'cross-origin-resource-policy': 'cross-origin',
      // The browser revalidates the file on each view. A revoked link stops working, and unchanged bytes are
      // not loaded again.
      'cache-control': 'private, no-cache',
      'x-robots-tag': 'noindex',
    },
  });
}
