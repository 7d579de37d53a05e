import type { Generation } from '@bakehouse/contract/generations';
import { PARIS_MODEL, paris } from '@bakehouse/contract/generators/paris';
import type { VisitorPicture } from '@bakehouse/contract/visitors';
import type { Caller, Context, Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError, conflict, notFoundError } from '../../platform/errors.ts';
import { isSameSecret, signatureOf } from '../../platform/signature.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { assertStorageLeft } from '../assets/files/storage-quota.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { getGeneration, transferGeneration } from '../generations/generations.ts';
import { startGeneration } from '../generations/start/start-generation.ts';
import { asVisitor, grantDailyBudget, VISITORS, withVisitorErrors } from './visitor-questions.ts';

const ID_LENGTH = 36;

/** Returns the fields of a picture that its visitor may see. */
function toVisitorPicture({ config }: Pick<Services, 'config'>, made: Generation): VisitorPicture {
  const { prompt, state, reason, step, steps, preview, outputs } = made;
  const token = pictureToken(serverSecret(config), made.id);
  return { token, prompt, state, reason, step, steps, preview, url: outputs[0]?.url ?? null };
}

/**
 * Returns the generation id in a token. Throws AppError 'not_found' if this server did not sign the token.
 */
function idOfToken({ config }: Pick<Services, 'config'>, token: string): string {
  const id = readPictureToken(serverSecret(config), token);
  if (id === null) throw pictureNotFoundError();
  return id;
}

/** Returns a visitor's picture. Throws AppError 'not_found' after an hour. */
export async function getVisitorPicture(
  ctx: Context<Caller>,
  { token }: { token: string },
): Promise<VisitorPicture> {
  const id = idOfToken(ctx, token);
  try {
    return toVisitorPicture(ctx, await getGeneration(asVisitor(ctx), { id }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') throw pictureNotFoundError();
    throw error;
  }
}

/** Returns the same error for unknown, claimed and deleted pictures. */
function pictureNotFoundError(): AppError {
  return notFoundError('There is no such picture. Without an account, pictures are kept for an hour.');
}

/** Returns the token of a visitor's picture, which is its signed id. */
function pictureToken(secret: string, generationId: string): string {
  return generationId + signatureOf(secret, 'pictures of visitors', [generationId]);
}

/** Returns the id in a token; null if this server did not sign it. */
function readPictureToken(secret: string, token: string): string | null {
  const id = token.slice(0, ID_LENGTH);
  return isSameSecret(pictureToken(secret, id), token) ? id : null;
}

/**
 * Generates a picture with the Paris starter at the installation's expense. Throws whatever `grantDailyBudget` and
 * `startGeneration` throw, and AppError 'rate_limited' if too many pictures are in progress or today's budget
 * is spent.
 */
export async function startVisitorPicture(
  ctx: Context<Caller>,
  usage: IdleCredit,
  { prompt }: { prompt: string },
): Promise<VisitorPicture> {
  await grantDailyBudget(ctx);
  const { starter } = paris;
  const quality = starter?.qualities.find(({ label }) => label === starter.opensOn);
  const request = {
    generator: 'paris',
    prompt,
    model: PARIS_MODEL,
    parameters: quality?.settings ?? {},
  } as const;
  const call = { sent: request, read: () => Promise.resolve(request) };
  return withVisitorErrors(async () =>
    toVisitorPicture(ctx, await startGeneration(asVisitor(ctx), usage, call)),
  );
}

/**
 * Moves a visitor's picture to the caller's gallery. The visitors' budget has already paid for it. Throws
 * AppError 'not_found', 'conflict' if the picture is not completed, and the errors of `assertStorageLeft`.
 */
export async function claimVisitorPicture(
  ctx: Context,
  { token }: { token: string },
): Promise<{ generation_id: string }> {
  const { userId } = ctx.caller;
  const id = idOfToken(ctx, token);
  return inTransaction(ctx.db, async (tx) => {
    await assertStorageLeft(tx, ctx.config, userId);
    const given = await transferGeneration(tx, { id, from: VISITORS, to: userId });
    if (given === undefined) throw pictureNotFoundError();
    if (given === null) throw conflict('This picture is not completed yet');
    return { generation_id: given };
  });
}
