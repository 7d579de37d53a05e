import * as contract from '@bakehouse/contract/credits';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { chargeBackPayment } from './charge-back-payment.ts';
import type { SendGathered } from './gather-sends.ts';
import { getBalance } from './get-balance.ts';
import { getLedger } from './get-ledger.ts';
import { grantCredits } from './grant-credits.ts';
import { listPrices } from './list-prices.ts';
import { listSpend } from './list-spend.ts';
import { listTransactions } from './list-transactions.ts';
import { transferCredits } from './transfer-credits.ts';
import { getUsageWindow } from './usage/get-usage-window.ts';

export const creditsRoutes = ({
  send,
  databaseUrl,
}: {
  send: SendGathered;
  databaseUrl: string;
}): Binding[] => [
  bind(contract.getBalance, (ctx) => getBalance(ctx)),
  bind(contract.listTransactions, (ctx, { query }) => listTransactions(ctx, query)),
  bind(contract.getUsageWindow, getUsageWindow),
  bind(contract.listSpend, (ctx, { query }) => listSpend(ctx, query)),
  // Stricter than the rest: a stolen key must not empty an account before its owner looks.
  bind(contract.transferTokens, (ctx, { body }) => transferCredits(ctx, send, body), { callsPerMinute: 60 }),
  bindPublic(contract.listPrices, async () => listPrices()),
  bind(contract.getLedger, (ctx) => getLedger(ctx, databaseUrl)),
  bind(contract.grantCredits, (ctx, { body }) => grantCredits(ctx, body)),
  bind(contract.chargeBackPayment, (ctx, { body }) => chargeBackPayment(ctx, body)),
];
