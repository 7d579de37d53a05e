import * as codes from '@bakehouse/contract/codes';
import * as contract from '@bakehouse/contract/credits';
import * as prices from '@bakehouse/contract/prices';
import * as purchases from '@bakehouse/contract/purchases';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { chargeBackPayment, grantCredits, listAccounts } from './accounts.ts';
import { createCodes, listCodes, redeemCode, revokeCode } from './codes/codes.ts';
import type { SendInBatch } from './ledger/sends.ts';
import { changePrice } from './prices/change-price.ts';
import { listPriceChanges, listPrices } from './prices/read-prices.ts';
import type { PaymentProvider } from './purchases/payment-provider.ts';
import { listPurchases, startPurchase } from './purchases/purchases.ts';
import { getBalance } from './statement/balance.ts';
import { listSpend } from './statement/spend.ts';
import { listTransactions } from './statement/transactions.ts';
import { previewTransfer, transferCredits } from './transfers.ts';
import { getUsageWindow } from './usage/usage-window.ts';
import type { IdleCredit } from './usage/with-idle-credit.ts';
import { getLedger } from './verification/get-ledger.ts';

export const creditsRoutes = ({
  send,
  usage,
  payments,
}: {
  send: SendInBatch;
  usage: IdleCredit;
  /** Null if this server sells no credits. */
  payments: PaymentProvider | null;
}): Binding[] => [
  bind(contract.getBalance, (ctx) => getBalance(ctx)),
  bind(contract.listTransactions, (ctx, { query }) => listTransactions(ctx, query)),
  bind(contract.getUsageWindow, getUsageWindow),
  bind(contract.listSpend, (ctx, { query }) => listSpend(ctx, query)),
  // A lower limit than the default, so that a thief with a stolen key cannot empty an account before its
  // owner notices.
  bind(contract.transferTokens, (ctx, { body }) => transferCredits(ctx, { send, usage }, body), {
    callsPerMinute: 60,
  }),
  bind(contract.previewTransfer, (ctx, { query }) => previewTransfer(ctx, query), { callsPerMinute: 60 }),
  bind(purchases.listPurchases, (ctx, input) => listPurchases(ctx, payments !== null, input)),
  bind(purchases.startPurchase, (ctx, { body }) => startPurchase(ctx, payments, body), {
    callsPerMinute: 10,
  }),
  // The low limit prevents guessing of codes.
  bind(codes.redeemCode, (ctx, { body }) => redeemCode(ctx, body), { callsPerMinute: 10 }),
  bind(codes.listCodes, (ctx, { query }) => listCodes(ctx, query)),
  bind(codes.createCodes, (ctx, { body }) => createCodes(ctx, body)),
  bind(codes.revokeCode, revokeCode),
  bindPublic(contract.listPrices, (ctx) => listPrices(ctx)),
  bind(prices.listPriceChanges, (ctx, { query }) => listPriceChanges(ctx, query)),
  bind(prices.changePrice, (ctx, { body }) => changePrice(ctx, body)),
  bind(contract.getLedger, getLedger),
  bind(contract.listAccounts, listAccounts),
  bind(contract.grantCredits, (ctx, { body }) => grantCredits(ctx, body)),
  bind(contract.chargeBackPayment, (ctx, { body }) => chargeBackPayment(ctx, body)),
];
