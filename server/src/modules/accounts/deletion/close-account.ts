import { randomBytes } from 'node:crypto';
import type { Config } from '../../../config.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { endKeys } from '../keys/end-keys.ts';
import { deleteWebAppKey, listKeys } from '../keys/key-queries.ts';
import { anonymiseUser, lockUser } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { recogniseMailbox } from '../returning/recognise-mailbox.ts';
import { deleteUserSessions } from '../sessions/session-queries.ts';
import { deleteLinkedMethods, deletePassword, deleteResetLinks } from '../sign-in/sign-in-queries.ts';

/**
 * Step: ends all access to the account and anonymises its row; descriptions of transfers before 2026-11-21
 * may still contain the username. Username and address are available again from the commit on.
 */
export async function closeAccount(
  tx: Transaction,
  { userId, now, config }: { userId: string; now: Date; config: Config },
): Promise<void> {
  // Before any deletion, so that a concurrent sign-in either precedes it or finds the account deleted.
  await lockUser(tx, userId);
  // Usually already remembered, except for accounts from before this feature.
  await recogniseMailbox(tx, { userId, config });
  const keys = await listKeys(tx, userId);
  await endKeys(
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
