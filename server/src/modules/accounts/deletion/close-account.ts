import { randomBytes } from 'node:crypto';
import type { Config } from '../../../config.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { forbidden, invalidParam } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { revokeKeys } from '../keys/api-keys.ts';
import { deleteWebAppKey, listKeys } from '../keys/key-queries.ts';
import { anonymiseUser, lockUser } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { recordMailbox } from '../returning/returning-users.ts';
import { deleteUserSessions } from '../sessions/session-queries.ts';
import { passwords, runWithHashQueue } from '../sign-in/hash-passwords.ts';
import {
  deleteLinkedMethods,
  deletePassword,
  deleteResetLinks,
  findPasswordHash,
} from '../sign-in/sign-in-queries.ts';

/** A user without a password must have signed in within this time to delete the account. */
const RECENT_MS = 10 * 60 * 1000;

/**
 * Step: ends all access to the account and anonymises its row. After the commit, other users can take the
 * username and the address. Descriptions of transfers from before 2026-11-21 may still contain the username.
 */
export async function closeAccount(
  tx: Transaction,
  { userId, now, config }: { userId: string; now: Date; config: Config },
): Promise<void> {
  // Lock first: a concurrent sign-in either commits before this transaction, or finds the account deleted.
  await lockUser(tx, userId);
  // Records accounts that are older than the records.
  await recordMailbox(tx, { userId, config });
  const keys = await listKeys(tx, userId);
  await revokeKeys(
    tx,
    keys.filter((key) => !key.for_web_app),
    now,
  );
  for (const { id } of keys.filter((key) => key.for_web_app)) {
    await deleteWebAppKey(tx, id);
    await publishChange(tx, userId, { topic: 'api_key', id });
  }
  await deleteUserSessions(tx, userId);
  await deletePassword(tx, userId);
  await deleteLinkedMethods(tx, userId);
  await deleteResetLinks(tx, userId);
  await anonymiseUser(tx, { userId, username: `deleted-${randomBytes(8).toString('hex')}`, now });
  await recordAudit(tx, { userId, action: 'user.deleted' });
  await publishChange(tx, userId, { topic: 'user', id: userId });
}

/**
 * Confirms that the caller owns the account: by the password, or by a recent sign-in if the account has no
 * password. Password checks wait in a queue in which client addresses take turns; `address` is the caller's.
 * Throws AppError 'invalid_request', 'forbidden', or 'unavailable' if the queue is full.
 */
export async function confirmIdentity(
  ctx: Context,
  { password, address }: { password: string | undefined; address: string },
): Promise<void> {
  const { userId, session } = ctx.caller;
  const hash = await findPasswordHash(ctx.db, userId);
  if (hash !== null) {
    const isRight =
      password !== undefined && (await runWithHashQueue(address, () => passwords.verify({ hash, password })));
    if (isRight) return;
    throw invalidParam('password', 'Wrong password');
  }
  if (session && ctx.clock.now().getTime() - session.createdAt.getTime() < RECENT_MS) return;
  throw forbidden('Sign out, sign in again, and delete the account within ten minutes');
}
