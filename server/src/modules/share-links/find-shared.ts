import type { Caller, Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { findPublicName } from '../accounts/steps.ts';
import { type Own, selectShared } from './queries.ts';
import { readShareToken } from './share-token.ts';

/** What is behind a link, and what its owner may read, of which the link shows a part. */
export type Shared = Own & { token: string; maker: string | null; ownerCtx: Context };

/** Reads what is behind a link. Throws AppError 'not_found', in the same words for one that was never made, was revoked, or has ended with its thing or account. */
export async function readShared<Read>(
  ctx: Context<Caller>,
  token: string,
  read: (shared: Shared) => Promise<Read>,
): Promise<Read> {
  try {
    return await read(await findShared(ctx, token));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') throw noSuchLink();
    throw error;
  }
}

async function findShared(ctx: Context<Caller>, token: string): Promise<Shared> {
  const { db, config } = ctx;
  const linkId = readShareToken(serverSecret(config), token);
  const own = linkId === null ? undefined : await selectShared(db, linkId);
  const owner = own && (await findPublicName(db, own.userId));
  if (!own || !owner) throw noSuchLink();
  const ownerCtx: Context = {
    ...ctx,
    caller: { kind: 'user', userId: own.userId, isOperator: false },
    idempotencyKey: null,
  };
  return { ...own, token, maker: owner.name, ownerCtx };
}

function noSuchLink(): AppError {
  return new AppError('not_found', {
    publicMessage: 'This link does not work. It may be mistyped, or it is no longer shared.',
  });
}
