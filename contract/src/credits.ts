import * as z from 'zod';
import { publicUser, userId, userIdParams } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { text } from './fields/text.ts';
import { NOTE_LENGTH_MAX } from './limits.ts';
import { bgl, positiveBgl } from './money.ts';

export const balance = z.object({
  /** All credits of the user, including those held. */
  balance: bgl,
  /** Held for running work. */
  held: bgl,
  /** Credits that can be spent: balance - held. */
  available: bgl,
  /** Promotional credits in the balance. They are spent first and cannot be sent to others. */
  given: bgl,
  /** Bought or received credits that running work does not need, up to the server's limit for 24 hours. */
  sendable: bgl,
  /** The next promotional credits to expire; null if none expire. */
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

/** One line of the statement. The types credit, deposit and refund are incoming, the others outgoing. */
export const generationEstimate = z.object({
  ...{ estimated_cost_tokens: z.number(), estimated_cost_bgl: z.number(), estimated_cost_usd: z.number() },
  ...{ currency: z.literal('USD'), is_free: z.boolean() },
});
export const transferredAmount = z.object({ transaction_id: z.string(), amount: bgl });
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
  /** The generated picture, which may have been deleted since. */
  generation_id: z.string().nullable(),
  /** Null until the transfer is sealed. */
  transaction_hash: z.string().nullable(),
  /** Set if the charge is the sum of individual answers, which `getUsageWindow` returns. */
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

/** Calendar days in the reader's time zone. */
const period = z.object({
  /** Inclusive ISO dates. */
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  /** Time zone of these days. */
  time_zone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'time_zone must be the name of a time zone, such as Europe/Berlin')
    .default('UTC'),
});

function isTimeZone(name: string): boolean {
  // Reject offsets such as +02:00, because PostgreSQL interprets their sign in the opposite way.
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
    /** Only charges of this API key. */
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
    /** Totals of the whole period. Only on the first page; null on later pages. */
    summary: transactionSummary.nullable(),
    /** Balance at the end of the period. Null on later pages, and if the list is filtered by key. */
    closing_balance: bgl.nullable(),
    next_cursor: z.string().nullable(),
  }),
});

/** Small charges are combined into a window, which is one line of the statement. Returns its answers. */
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
    /** Null while the window is open. */
    closed_at: z.string().nullable(),
    /** Number of answers stored so far. */
    answers_total: z.int(),
    used: bgl,
    /** Individual answers are stored for 90 days. */
    answers: z.array(
      z.object({
        id: z.string(),
        at: z.string(),
        amount: bgl,
        /** Amounts by name, e.g. `prompt_tokens`. */
        quantities: z.record(z.string(), z.number()),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
});

/** Categories of spending. */
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
    /** First and last day of the sum. */
    from: z.iso.date(),
    to: z.iso.date(),
    /** Days, oldest first. */
    days: z.array(z.object({ date: z.iso.date(), use: z.enum(uses), amount: bgl })),
    /** By API key, largest amount first. A null key is the spending without a key. */
    keys: z.array(
      z.object({
        key_id: z.string().nullable(),
        key_name: z.string().nullable(),
        amount: bgl,
        /** Sent to other users. Not included in the amount. */
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
  response: transferredAmount,
});

/**
 * Shows the recipient before sending. Null for an email address, whose owner is only revealed after sending,
 * and for an unknown name. Also null if the caller cannot send the amount, so that names cannot be guessed
 * without credits.
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
  response: z.object({ recipient: publicUser.nullable() }),
});

/** One line of a quote: item, quantity and price. */
export const quoteItem = z.object({
  label: z.string(),
  quantity: z.number(),
  unit: z.string(),
  unit_price: bgl,
  amount: bgl,
});

export const quote = z.object({ items: z.array(quoteItem), total: bgl, total_usd: z.string() });
export type Quote = z.infer<typeof quote>;

/** Units of prices. */
export const priceUnit = z.enum([
  'hour',
  'million_tokens',
  'thousand_expert_steps',
  'thousand_steps',
  'second',
  'image',
]);

export const price = z.object({
  id: z.string(),
  label: z.string(),
  unit: priceUnit,
  unit_price: bgl,
  /** The next price and when it takes effect; null if no change is planned. */
  next: z.object({ unit_price: bgl, valid_from: z.string() }).nullable(),
});

export const listPrices = endpoint({
  method: 'GET',
  path: '/api/v1/prices',
  access: 'public',
  summary: 'List prices',
  response: z.object({ prices: z.array(price) }),
});

/** Result of a ledger proof. */
export const ledgerProof = z.object({
  /** The time for which the proof is valid. */
  proved_at: z.string(),
  sum_of_balances: bgl,
  transfers: z.int(),
  open_holds: z.int(),
  sealed_transfers: z.int(),
  chain_head: z.string().nullable(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
});
export type LedgerProof = z.infer<typeof ledgerProof>;

/** For operators: accounts, and the last proof of the ledger. */
export const getLedger = endpoint({
  method: 'GET',
  path: '/api/v1/operator/ledger',
  access: 'operator',
  operation: 'load the ledger',
  summary: 'Get the largest accounts and the last ledger proof: balances, open holds and hash chain',
  response: z.object({
    /** System accounts and the 200 users with the highest balances. */
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
    /** Null before the first proof. */
    proof: ledgerProof.nullable(),
    /** True if there is no proof, or if it is older than a minute. A new one is being computed. */
    is_being_proved: z.boolean(),
  }),
});

/** Name of an operator's transfer in the statement. */
const description = text('Description', NOTE_LENGTH_MAX).min(1, 'Description must not be empty');

export const account = z.object({
  user_id: z.string(),
  username: z.string(),
  name: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  is_operator: z.boolean(),
  /** The account was deleted by its user, but its ledger entries remain. */
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
    /** Part of the username, name or email address; or an id. */
    search: z.string().trim().max(254).default(''),
    /** Only the user with this username, email address or id. */
    user: z.string().trim().min(1).max(254).optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
    /** The user_id of the previous page's last entry. */
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
  response: transferredAmount,
});

export const chargeBackPayment = endpoint({
  method: 'POST',
  path: '/api/v1/operator/chargebacks',
  access: 'operator',
  summary: 'Record a chargeback: transferable credits are collected immediately, and the rest is owed',
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
    /** Amount that was charged immediately. */
    collected: bgl,
    /** Amount that is charged as soon as the user has credits. */
    owed: bgl,
  }),
});
