import * as z from 'zod';
import { userId, userIdParams } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { text } from './fields/text.ts';
import { NOTE_LENGTH_MAX } from './limits.ts';
import { bgl, positiveBgl } from './money.ts';

const balance = z.object({
  /** All that is the user's, holds included. */
  balance: bgl,
  /** Promised to work that is running. */
  held: bgl,
  /** balance - held: what can be spent. */
  available: bgl,
  /** The part of the balance that was given: it is spent first and cannot be sent to others. */
  given: bgl,
  /** What can be sent to others: bought credits, and those that others sent, that no running work may need; within the server's limit for 24 hours. */
  sendable: bgl,
  /** What of the given credits ends next, and when; null where nothing does. */
  next_expiry: z.object({ amount: bgl, at: z.string() }).nullable(),
});

export const getBalance = endpoint({
  method: 'GET',
  path: '/api/v1/users/:userId/balance',
  access: 'key',
  summary: 'Get the balance: held, available and transferable credits',
  params: userIdParams,
  response: balance,
});

export const transactionTypes = [
  'credit',
  'deposit',
  'refund',
  'debit',
  'withdrawal',
  'payment',
  'transfer',
] as const;

/** One line of the user's list. Incoming: credit, deposit, refund; the others are outgoing. */
export const transaction = z.object({
  transaction_id: z.string(),
  transaction_date: z.string(),
  transaction_type: z.enum(transactionTypes),
  amount: bgl,
  description: z.string(),
  status: z.enum(['completed', 'pending']),
  asset_name: z.string().nullable(),
  buyer_id: z.string().nullable(),
  seller_id: z.string().nullable(),
  pod_id: z.string().nullable(),
  dataset_id: z.string().nullable(),
  model_id: z.string().nullable(),
  run_id: z.string().nullable(),
  /** The picture, which may have been deleted since. */
  generation_id: z.string().nullable(),
  /** Set once the sealer has chained the transfer. */
  transaction_hash: z.string().nullable(),
  /** What it was charged for consists of single answers, which `getUsageWindow` lists. */
  usage_window_id: z.string().nullable(),
});

export const transactionSummary = z.object({
  total_cost_video_generations: bgl,
  total_cost_image_generations: bgl,
  total_cost_fine_tuning: bgl,
  total_cost_llm_inference: bgl,
  other_costs: bgl,
  total_token_transferred: bgl,
});

/** Days of a calendar: the reader's, because a day begins at another moment in each time zone. */
const period = z.object({
  /** Inclusive ISO dates. */
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  /** Where those days begin and end. */
  time_zone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'time_zone must be the name of a time zone, such as Europe/Berlin')
    .default('UTC'),
});

function isTimeZone(name: string): boolean {
  // Offsets such as +02:00 mean the opposite to PostgreSQL.
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

export const listTransactions = endpoint({
  method: 'GET',
  path: '/api/v1/transactions/:userId',
  access: 'key',
  summary: 'List transactions, pending ones first, then newest first, with totals by kind',
  params: userIdParams,
  query: period.extend({
    /** Only what was asked for with this API key. */
    key_id: idOf('API key').optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: z
      .string()
      .regex(
        /^(hold-[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|\d{1,18})$/,
        'cursor must be the next_cursor of an earlier page of this list',
      )
      .optional(),
  }),
  response: z.object({
    transactions: z.array(transaction),
    /** Of the whole period, on its first page; null on the following ones. */
    summary: transactionSummary.nullable(),
    /** At the end of the period, on its first page; null on the following ones, and where only those of one key are listed. */
    closing_balance: bgl.nullable(),
    next_cursor: z.string().nullable(),
  }),
});

/** Small charges are gathered in a window, which is one line of the statement; this opens it. */
export const getUsageWindow = endpoint({
  method: 'GET',
  path: '/api/v1/usage-windows/:windowId',
  access: 'key',
  summary: 'Get a usage window and its answers, newest first',
  params: z.object({ windowId: idOf('usage window') }),
  query: z.object({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: z
      .string()
      .regex(/^\d{1,18}$/, 'cursor must be a next_cursor of this list')
      .optional(),
  }),
  response: z.object({
    id: z.string(),
    /** What was used: `deployment:<pod id>` or `model:<name>`. */
    source: z.string(),
    /** The API key of the calls. */
    key_id: z.string().nullable(),
    opened_at: z.string(),
    /** Null: it goes on. */
    closed_at: z.string().nullable(),
    /** Of the answers that were written so far. */
    answers_total: z.int(),
    used: bgl,
    /** Single answers are kept for 90 days. */
    answers: z.array(
      z.object({
        id: z.string(),
        at: z.string(),
        amount: bgl,
        /** What was used, by name, e.g. `prompt_tokens`. */
        quantities: z.record(z.string(), z.number()),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
});

/** What credits are spent on. */
export const uses = [
  'fine_tuning',
  'llm_inference',
  'deployment',
  'image_generation',
  'video_generation',
] as const;
export type Use = (typeof uses)[number];

export const listSpend = endpoint({
  method: 'GET',
  path: '/api/v1/transactions/:userId/spend',
  access: 'key',
  operation: 'load the spending',
  summary:
    'Spending per day and use and per API key, net of refunds, without days of no spending. `from` defaults to 30 days before `to`; the period is at most 366 days',
  params: userIdParams,
  query: period,
  response: z.object({
    /** The first and the last day that were summed. */
    from: z.iso.date(),
    to: z.iso.date(),
    /** Oldest first. */
    days: z.array(z.object({ date: z.iso.date(), use: z.enum(uses), amount: bgl })),
    /** Who asked for it, by the API key; the largest first. Null is what no key asked for. */
    keys: z.array(
      z.object({
        key_id: z.string().nullable(),
        key_name: z.string().nullable(),
        amount: bgl,
        /** To other users, which is no part of the amount. */
        sent: bgl,
      }),
    ),
  }),
});

export const transferTokens = endpoint({
  method: 'POST',
  path: '/api/v1/transfer-tokens',
  access: 'key',
  summary: 'Send credits to another user',
  spends: true,
  body: only({
    user_id: userId,
    /** Username, email address or user id of the recipient. */
    recipient_id: z.string().trim().min(1, 'Recipient username cannot be empty'),
    amount: positiveBgl('Amount'),
  }),
  response: z.object({ transaction_id: z.string(), amount: bgl }),
});

/**
 * Who would get it, before it is sent. Null for an email address, which shows nothing before it is paid for; for a name
 * that nobody has; and where the caller could not send the amount: so names cannot be tried out without credits.
 */
export const previewTransfer = endpoint({
  method: 'GET',
  path: '/api/v1/transfer-tokens/recipient',
  access: 'key',
  operation: 'look up the recipient',
  scopes: [],
  summary: 'Preview the recipient of a transfer',
  query: z.object({
    user_id: userId,
    /** Username or user id. */
    recipient_id: z.string().trim().min(1, 'Recipient username cannot be empty'),
    amount: positiveBgl('Amount'),
  }),
  response: z.object({ recipient: z.object({ user_id: z.string(), username: z.string() }).nullable() }),
});

/** One line of a quote: what, how much of it, at which price. */
const quoteItem = z.object({
  label: z.string(),
  quantity: z.number(),
  unit: z.string(),
  unit_price: bgl,
  amount: bgl,
});

export const quote = z.object({ items: z.array(quoteItem), total: bgl, total_usd: z.string() });
export type Quote = z.infer<typeof quote>;

/** What a price is of. */
export const priceUnit = z.enum([
  'hour',
  'million_tokens',
  'thousand_expert_steps',
  'thousand_steps',
  'second',
  'image',
]);

const price = z.object({
  id: z.string(),
  label: z.string(),
  unit: priceUnit,
  unit_price: bgl,
  /** What it will be, and from when on; null where nothing is to change. */
  next: z.object({ unit_price: bgl, valid_from: z.string() }).nullable(),
});

export const listPrices = endpoint({
  method: 'GET',
  path: '/api/v1/prices',
  access: 'public',
  summary: 'List prices',
  response: z.object({ prices: z.array(price) }),
});

/** What a proof of the books found. */
const ledgerProof = z.object({
  /** The books are proven as they were then. */
  proved_at: z.string(),
  sum_of_balances: bgl,
  transfers: z.int(),
  open_holds: z.int(),
  sealed_transfers: z.int(),
  chain_head: z.string().nullable(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
});
export type LedgerProof = z.infer<typeof ledgerProof>;

/** The operator's page: accounts, and the last proof that the books are right. */
export const getLedger = endpoint({
  method: 'GET',
  path: '/api/v1/operator/ledger',
  access: 'operator',
  operation: 'load the ledger',
  summary: 'Get the largest accounts and the last ledger proof: balances, open holds and hash chain',
  response: z.object({
    /** Those of the system, and of users the 200 with the highest balances. */
    accounts: z.array(
      z.object({
        account_id: z.string(),
        kind: z.string(),
        owner: z.string().nullable(),
        balance: bgl,
        held: bgl,
        transfers: z.int(),
      }),
    ),
    accounts_total: z.int(),
    /** Null until the books were proven for the first time. */
    proof: ledgerProof.nullable(),
    /** There is no proof, or it is more than a minute old: a newer one is on its way. */
    is_being_proved: z.boolean(),
  }),
});

/** What an operator's transfer is called in the statement. */
const description = text('Description', NOTE_LENGTH_MAX).min(1, 'Description must not be empty');

const account = z.object({
  user_id: z.string(),
  username: z.string(),
  name: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  is_operator: z.boolean(),
  /** Its owner has deleted it; what the ledger has of it stays. */
  is_deleted: z.boolean(),
  created_at: z.string(),
  balance: bgl,
  held: bgl,
});

export type Account = z.infer<typeof account>;

export const listAccounts = endpoint({
  method: 'GET',
  path: '/api/v1/operator/accounts',
  access: 'operator',
  summary: 'List users and their balances, newest first',
  query: z.object({
    /** A part of the username, the name or the email address; or an id. */
    search: z.string().trim().max(254).default(''),
    /** Only the user whose username, email address or id this is, of whom there is one at most. */
    user: z.string().trim().min(1).max(254).optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
    /** The user_id of the last one of the page before. */
    cursor: z.string().min(1).max(100).optional(),
  }),
  response: z.object({ accounts: z.array(account), next_cursor: z.string().nullable() }),
});

export const grantCredits = endpoint({
  method: 'POST',
  path: '/api/v1/operator/grants',
  access: 'operator',
  summary: 'Grant credits to a user',
  spends: true,
  body: z.object({
    /** Username, email address or user id. */
    recipient_id: z.string().trim().min(1, 'Recipient username cannot be empty'),
    amount: positiveBgl('Amount'),
    description: description.default('Grant'),
  }),
  response: z.object({ transaction_id: z.string(), amount: bgl }),
});

export const chargeBackPayment = endpoint({
  method: 'POST',
  path: '/api/v1/operator/chargebacks',
  access: 'operator',
  summary: 'Record a chargeback: transferable credits are collected at once, and the rest is owed',
  spends: true,
  body: z.object({
    /** Username, email address or user id. */
    payer_id: z.string().trim().min(1, 'Payer username cannot be empty'),
    amount: positiveBgl('Amount'),
    description: description.default('Chargeback'),
  }),
  response: z.object({
    transaction_id: z.string(),
    amount: bgl,
    /** What the user paid at once. */
    collected: bgl,
    /** What is collected as soon as they have it. */
    owed: bgl,
  }),
});
