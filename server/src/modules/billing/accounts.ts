import type {
  Account,
  chargeBackPayment as chargeBackPaymentEndpoint,
  grantCredits as grantCreditsEndpoint,
  listAccounts as listAccountsEndpoint,
} from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { idempotent } from '../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { conflict, notFoundError, unknownCursor } from '../../platform/errors.ts';
import { isOperator } from '../accounts/operators.ts';
import { isUnprovenAddress } from '../accounts/proven-addresses.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { findUserId, isPerson } from '../accounts/users.ts';
import { notify } from '../notifications/notifications.ts';
import { GRANTS_ACCOUNT, userAccount } from './ledger/accounts.ts';
import { chargeBack } from './ledger/given-credits.ts';
import { transfer } from './ledger/transfer.ts';

type AccountRow = {
  id: string;
  username: string;
  name: string;
  email: string;
  email_verified: boolean;
  is_deleted: boolean;
  created_at: Date;
  balance: bigint;
  held: bigint;
};

type Place = { id: string };

/** Returns the list cursor of the user with this id; undefined if the user does not exist. */
async function findPlace(db: Database, id: string): Promise<Place | undefined> {
  return db.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst();
}

/**
 * Grants credits to a user; the caller is an operator. The credits count as bought, because the user paid
 * elsewhere, or the operator grants them on purpose. Throws AppError 'not_found' for an unknown recipient,
 * and 'conflict' for an unverified address.
 */
export async function grantCredits(
  ctx: Context,
  input: InputOf<typeof grantCreditsEndpoint>['body'],
): Promise<ResponseOf<typeof grantCreditsEndpoint>> {
  const { userId } = ctx.caller;
  const call = { userId, key: ctx.idempotencyKey, operation: 'grant-credits', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const recipientId = await findUserId(tx, input.recipient_id);
      if (recipientId === undefined) {
        throw notFoundError('User not found. Please check the username.', { param: 'recipient_id' });
      }
      if (await isUnprovenAddress(tx, ctx.config, input.recipient_id)) {
        throw conflict('This email address is not confirmed. Use the username or id.', {
          param: 'recipient_id',
        });
      }
      const { transferId, isReplayed } = await transfer(tx, {
        debitAccountId: GRANTS_ACCOUNT,
        creditAccountId: userAccount(recipientId),
        amountMicro: input.amount,
        kind: 'grant',
        description: input.description,
        idempotencyKey: ctx.idempotencyKey && `grant-credits:${userId}:${ctx.idempotencyKey}`,
      });
      const amount = formatBgl(input.amount);
      // A repeated call normally gets the stored response. After that expired, it reaches this point, and the
      // ledger recognises its key.
      if (!isReplayed) {
        await notify(tx, {
          userId: recipientId,
          kind: 'credits_granted',
          data: { amount_micro: String(input.amount) },
        });
        await recordAudit(tx, {
          userId,
          action: 'credits.granted',
          detail: { recipient_id: recipientId, amount, transaction_id: transferId },
        });
      }
      return { transaction_id: transferId, amount };
    }),
  );
}

/**
 * Returns the newest users after `after` whose names or address contain `search`, with their balances.
 * Returns only the user `id` if it is set.
 */
export async function selectAccounts(
  db: Database,
  { search, id, after, limit }: { search: string; id?: string; after: Place | null; limit: number },
): Promise<AccountRow[]> {
  const part = `%${search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
  const { rows } = await sql<AccountRow>`
    select users.id, username, name, email, email_verified, users.deleted_at is not null as is_deleted,
      users.created_at,
      coalesce(credits_posted - debits_posted, 0) as balance, coalesce(debits_pending, 0) as held
    from users left join ledger_accounts account on account.id = 'user:' || users.id
    where ${isPerson}
      and (${search} = '' or username like ${part} or email like ${part} or lower(name) like ${part} or users.id = ${search})
      and (${id ?? null}::text is null or users.id = ${id ?? null})
      and (${after?.id ?? null}::text is null
        or (users.created_at, users.id) < (select created_at, id from users where id = ${after?.id ?? null}))
    order by users.created_at desc, users.id desc
    limit ${limit}`.execute(db);
  return rows;
}

/** Lists users and balances, newest first; for operators. The cursor is the previous page's last user. */
export async function listAccounts(
  ctx: Context,
  { query }: InputOf<typeof listAccountsEndpoint>,
): Promise<ResponseOf<typeof listAccountsEndpoint>> {
  const { search, user, limit, cursor } = query;
  const id = user === undefined ? undefined : await findUserId(ctx.db, user);
  if (user !== undefined && id === undefined) return { accounts: [], next_cursor: null };
  const after = cursor === undefined ? null : await findPlace(ctx.db, cursor);
  if (after === undefined) throw unknownCursor();
  const found = await selectAccounts(ctx.db, { search, id, after, limit: limit + 1 });
  const accounts = found.slice(0, limit).map((row) => toAccount(ctx, row));
  return { accounts, next_cursor: found.length > limit ? (accounts.at(-1)?.user_id ?? null) : null };
}

function toAccount({ config }: Pick<Context, 'config'>, row: AccountRow): Account {
  const { id, email_verified, created_at, balance, held, ...words } = row;
  return {
    user_id: id,
    ...words,
    email_verified,
    is_operator: isOperator(config, { email: row.email, emailVerified: email_verified }),
    created_at: created_at.toISOString(),
    balance: formatBgl(balance),
    held: formatBgl(held),
  };
}

/**
 * Books that a user's payment was reversed; the caller is an operator. The balance is reduced as far as
 * possible, and the rest becomes a debt. Throws AppError 'not_found' for an unknown user.
 */
export async function chargeBackPayment(
  ctx: Context,
  input: InputOf<typeof chargeBackPaymentEndpoint>['body'],
): Promise<ResponseOf<typeof chargeBackPaymentEndpoint>> {
  const { userId } = ctx.caller;
  const call = { userId, key: ctx.idempotencyKey, operation: 'charge-back-payment', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const payerId = await findUserId(tx, input.payer_id);
      if (payerId === undefined) {
        throw notFoundError('User not found. Please check the username.', { param: 'payer_id' });
      }
      const { transferId, collectedMicro, owedMicro, isReplayed } = await chargeBack(tx, {
        userId: payerId,
        amountMicro: input.amount,
        description: input.description,
        idempotencyKey: ctx.idempotencyKey && `charge-back-payment:${userId}:${ctx.idempotencyKey}`,
      });
      const amount = formatBgl(input.amount);
      if (!isReplayed) {
        await recordAudit(tx, {
          userId,
          action: 'credits.charged_back',
          detail: { payer_id: payerId, amount, transaction_id: transferId },
        });
      }
      return {
        transaction_id: transferId,
        amount,
        collected: formatBgl(collectedMicro),
        owed: formatBgl(owedMicro),
      };
    }),
  );
}

/**
 * Locks the accounts of these users until the transaction ends. Like the ledger's functions, locks in the
 * order of ids in the database's collation, to avoid deadlocks.
 */
export async function lockUserAccounts(tx: Transaction, userIds: string[]): Promise<void> {
  await sql`
    select from ledger_accounts where id = any (${userIds.map(userAccount)}) order by id for no key update`.execute(
    tx,
  );
}
