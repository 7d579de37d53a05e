import type { AuditEntry } from '@bakehouse/contract/audit';
import { expect, test } from 'vitest';
import { describeEntry } from './describe-entry.ts';

const base = {
  entry_id: 'entry-1',
  at: '2026-11-21T14:00:00Z',
  user_id: 'u1',
  username: 'ada',
  detail: {},
  names: {},
};
const show = { amount: (bgl: string) => `${bgl} BGL`, browser: () => 'Firefox on Linux' };
const sentenceOf = (entry: Partial<AuditEntry> & { action: string }) =>
  describeEntry({ ...base, ...entry }, show)
    .map((part) => (typeof part === 'string' ? part : `[${part.name}]`))
    .join('');

const detail = { asset_id: 'a1', model_id: 'a1', key_id: 'k1', recipient_id: 'u2', amount: '5' };
const names = { a1: 'Rye', k1: 'ci', u2: 'bob' };

test.each([
  [{ action: 'user.created' }, '[ada] signed up'],
  // Anyone who knows the address can request the link.
  [{ action: 'password.reset_requested' }, '[ada] was sent a link to reset their password'],
  [{ action: 'session.created' }, '[ada] signed in with Firefox on Linux'],
  [{ action: 'session.others_ended', detail: { ended: '1' } }, '[ada] signed out 1 other browser'],
  [{ action: 'api_key.revoked', detail, names }, '[ada] revoked the API key “ci”'],
  [{ action: 'api_key.revoked', detail }, '[ada] revoked an API key'],
  [{ action: 'asset.created', detail: { type: 'RAW', title: 'Rye' } }, '[ada] created the dataset “Rye”'],
  [{ action: 'asset.files_added', detail: { ...detail, files: '3' }, names }, '[ada] added 3 files to “Rye”'],
  [
    { action: 'asset.tagged', detail: { ...detail, tag: 'v1' }, names },
    '[ada] tagged a version of “Rye” with v1',
  ],
  [{ action: 'deployment.created', detail, names }, '[ada] deployed “Rye”'],
  [
    { action: 'deployment.ended', detail, names, user_id: null, username: null },
    'The server ended the deployment of “Rye”',
  ],
  [{ action: 'credits.bought', detail: { purchase_id: 'p1' } }, '[ada] bought credits'],
  [{ action: 'credits.bought', detail }, '[ada] bought 5 BGL'],
  [
    { action: 'credits.reversed', detail },
    '[ada] was refunded a payment or disputed it, and 5 BGL was taken back',
  ],
  [
    { action: 'credits.reinstated', detail },
    '[ada] got 5 BGL back because a refund failed or a dispute was won',
  ],
  [
    { action: 'credits.written_off', detail, username: null },
    'Deleted user owed 5 BGL, which was written off with the account',
  ],
  [
    { action: 'purchase.closed', detail: { status: 'failed' } },
    '[ada] tried to pay for credits, but the payment failed',
  ],
  [
    { action: 'purchase.closed', detail: { status: 'expired' } },
    '[ada] did not pay for the credits they were buying',
  ],
  [
    { action: 'purchase.refused', detail: { reason: 'the account was deleted' } },
    '[ada] made a payment that was not credited: the account was deleted',
  ],
  [{ action: 'x_account.disconnected', username: null }, 'Deleted user had their X account disconnected'],
  [{ action: 'credits.sent', detail, names }, '[ada] sent 5 BGL to [bob]'],
  [{ action: 'credits.sent', detail, username: null }, 'Deleted user sent 5 BGL to Deleted user'],
  [
    { action: 'address.proven', detail: { by: 'mail' } },
    '[ada] confirmed their email address with the link in an email',
  ],
  [{ action: 'oven.door_opened' }, '[ada] – oven door opened'],
])('%j: %s', (entry, sentence) => {
  expect(sentenceOf(entry)).toBe(sentence);
});
