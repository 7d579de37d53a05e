import { randomBytes } from 'node:crypto';
import type { User } from '@bakehouse/contract/accounts';
import { hashPassword } from 'better-auth/crypto';
import { sql } from 'kysely';
import type { Context, Services } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { invalidRequest, notFound } from '../../platform/errors.ts';
import { encryptApiKey, hashApiKey, makeApiKey } from './keys/api-key.ts';
import { findEncryptedKey, insertWebAppKey } from './keys/key-queries.ts';
import { isOperatorAddress } from './operators.ts';
import { findUser, listCompletedSteps, lockAddress, upsertVerifiedUser } from './queries.ts';
import { recordAudit } from './record-audit.ts';
import { setReturning } from './returning/returning-queries.ts';
import { recordMailbox } from './returning/returning-users.ts';
import { revokeAccess } from './revoke-access.ts';
import { serverSecret } from './sign-in/server-secret.ts';
import { upsertPassword } from './sign-in/sign-in-queries.ts';

const PREFIX = 'system:';

/**
 * SQL: true if a row of `users` is a person. Calls that accept a user, e.g. to send credits, exclude system
 * users.
 */
export const isPerson = sql<boolean>`not starts_with(users.id, ${PREFIX})`;

/** Returns the id of a system user. No other id or username starts with this prefix. */
export function systemUserId(name: string): string {
  return PREFIX + name;
}

/** Step: creates a system user unless it exists. System users cannot sign in. */
export async function ensureSystemUser(
  tx: Transaction,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const known = await tx.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst();
  if (known) return;
  // A random suffix avoids conflicts with existing usernames.
  const username = `${name.toLowerCase()}-${randomBytes(4).toString('hex')}`;
  await tx
    .insertInto('users')
    .values({ id, name, username, email: `${username}@bakehouse.invalid` })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Returns the id of the user with this username, email address or id; undefined if none or deleted. */
export async function findUserId(db: Database | Transaction, handle: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where((where) =>
      where.or([
        where('username', '=', handle.toLowerCase()),
        where('email', '=', handle.toLowerCase()),
        where('id', '=', handle),
      ]),
    )
    .where('deleted_at', 'is', null)
    .where(isPerson)
    .executeTakeFirst();
  return row?.id;
}

/** Returns the caller with the completed onboarding steps. */
export async function getMe(ctx: Context): Promise<User> {
  const { userId, isOperator } = ctx.caller;
  const [user, done] = await Promise.all([findUser(ctx.db, userId), listCompletedSteps(ctx.db, userId)]);
  if (!user) throw notFound('User');
  const steps = {
    create_dataset: { completed: done.has('create_dataset') },
    create_model: { completed: done.has('create_model') },
    fine_tune_model: { completed: done.has('fine_tune_model') },
  };
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    email: user.email,
    email_verified: user.email_verified,
    image_url: user.image,
    is_operator: isOperator,
    is_returning: user.is_returning,
    onboarding: {
      onboarding_completed: Object.values(steps).every((step) => step.completed),
      steps,
      dismissed: user.onboarding_dismissed_at !== null,
    },
  };
}

/**
 * Another module's handler for new users, which runs in the transaction that completes the user.
 * `isReturning`: the user's mailbox had an account before.
 */
export type OnUserCreated = (
  tx: Transaction,
  input: { userId: string; isReturning: boolean },
) => Promise<unknown>;

/**
 * Completes a user that the sign-in library has inserted: creates the API key and runs the modules' handlers
 * in one transaction. Does nothing if the user is complete. Every session calls it, which repairs interrupted
 * sign-ups.
 */
export async function provisionUser(
  services: Services,
  input: { userId: string; onUserCreated: OnUserCreated[] },
): Promise<void> {
  const { userId, onUserCreated } = input;
  if (await findEncryptedKey(services.db, userId)) return;
  const key = makeApiKey();
  const secret = serverSecret(services.config);
  const encrypted = encryptApiKey(key, { userId, secret });
  await inTransaction(services.db, async (tx) => {
    // Serialise concurrent sessions that complete the same user.
    await lockAddress(tx, userId);
    const isNew = await insertWebAppKey(tx, { userId, sha256: hashApiKey(key), encrypted });
    if (!isNew) return;
    const isReturning = await recordMailbox(tx, { userId, config: services.config });
    if (isReturning) await setReturning(tx, userId);
    for (const handler of onUserCreated) await handler(tx, { userId, isReturning });
    await recordAudit(tx, { userId, action: 'user.created' });
  });
}

/**
 * Gives an operator's address a verified account with a new password, and returns the password. If the
 * account exists, a stranger may have created it, so its sessions, password, linked sign-in methods and API
 * keys end. If it is new, its first session completes it. Throws AppError 'invalid_request' for an address
 * that is not in the settings.
 */
export async function makeOperator(
  { config, db, clock }: Pick<Services, 'config' | 'db' | 'clock'>,
  input: { email: string },
): Promise<{ password: string }> {
  const email = input.email.toLowerCase();
  if (!isOperatorAddress(config, email)) {
    throw invalidRequest(
      `BAKEHOUSE_OPERATORS does not name ${email}. Set it in .env, which the server and this command both read, and restart the server`,
    );
  }
  const password = randomBytes(18).toString('base64url');
  const passwordHash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    const userId = await upsertVerifiedUser(tx, email);
    await upsertPassword(tx, { userId, passwordHash });
    await revokeAccess(tx, { userId, serverSecret: serverSecret(config), now: clock.now() });
    await recordAudit(tx, { userId, action: 'operator.made' });
  });
  return { password };
}
