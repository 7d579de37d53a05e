import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { decrypt } from '../../../platform/secrets/encryption.ts';
import { requireX } from './require-x.ts';
import { toTokenColumns } from './to-token-columns.ts';
import { XUnauthorized } from './x-client.ts';
import { deleteXAccount, findXAccount, replaceXTokens } from './x-queries.ts';

/** A token that expires this soon may expire during the call. */
const LEEWAY_MS = 60_000;

type Account = NonNullable<Awaited<ReturnType<typeof findXAccount>>>;

/**
 * Calls X with the caller's token, refreshed if it expired or X refuses it. Throws AppError 'conflict' if no
 * account is connected or X revoked the connection, which is then deleted.
 */
export async function withXToken<Answer>(
  ctx: Context,
  work: (accessToken: string, account: Account) => Promise<Answer>,
): Promise<Answer> {
  const { userId } = ctx.caller;
  const { encryptionOf } = requireX(ctx);
  let account = await findConnected(ctx);
  const isOver = account.expires_at.getTime() - LEEWAY_MS < ctx.clock.now().getTime();
  if (isOver) account = await refresh(ctx, account);
  const call = () => work(decrypt(account.access_token, encryptionOf(userId)), account);
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof XUnauthorized) || isOver) throw await lost(ctx, account, error);
  }
  account = await refresh(ctx, account);
  try {
    return await call();
  } catch (error) {
    throw await lost(ctx, account, error);
  }
}

async function findConnected({ db, caller }: Context): Promise<Account> {
  const account = await findXAccount(db, caller.userId);
  if (account) return account;
  throw new AppError('conflict', { publicMessage: 'Connect your X account first' });
}

async function refresh(ctx: Context, account: Account): Promise<Account> {
  const { userId } = ctx.caller;
  const { client, encryptionOf } = requireX(ctx);
  try {
    const tokens = await client.refresh(decrypt(account.refresh_token, encryptionOf(userId)));
    const columns = toTokenColumns(tokens, encryptionOf(userId), ctx.clock.now());
    await replaceXTokens(ctx.db, account, columns);
    return { ...account, ...columns };
  } catch (error) {
    // A refresh token works once: a concurrent call of the same user may have used it.
    const newer = await findXAccount(ctx.db, userId);
    if (newer && !newer.refresh_token.equals(account.refresh_token)) return newer;
    throw await lost(ctx, account, error);
  }
}

/** Returns the error to throw. Deletes the connection if X no longer accepts it. */
async function lost({ db, caller }: Context, { refresh_token }: Account, error: unknown): Promise<unknown> {
  if (!(error instanceof XUnauthorized)) return error;
  await deleteXAccount(db, caller.userId, refresh_token);
  const publicMessage = 'Your X connection has expired. Connect your account again';
  return new AppError('conflict', { publicMessage, cause: error });
}
