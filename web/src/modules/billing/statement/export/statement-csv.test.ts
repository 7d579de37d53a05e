import { expect, test } from 'vitest';
import type { Transaction } from '../transaction-rows.ts';
import { statementCsv } from './statement-csv.ts';

const payment: Transaction = {
  transaction_id: 't1',
  transaction_date: '2026-11-20T08:00:00.000Z',
  transaction_type: 'payment',
  amount: '3.000001',
  description: 'Fine-tuning of "Crumb", again',
  status: 'completed',
  asset_name: '=1+1',
  buyer_id: null,
  seller_id: null,
  pod_id: null,
  dataset_id: null,
  model_id: null,
  run_id: null,
  generation_id: null,
  transaction_hash: 'ab',
  usage_window_id: null,
};

test('writes one line each with quotes as needed, negative outgoing amounts, and no formulas', () => {
  const refund: Transaction = {
    ...payment,
    transaction_type: 'refund',
    description: 'Refund',
    asset_name: null,
    transaction_hash: null,
  };
  const csv = statementCsv([
    { transaction: payment, balanceAfter: '122' },
    { transaction: refund, balanceAfter: '125.000001' },
    { transaction: refund, balanceAfter: null },
  ]);
  expect(csv.split('\r\n')).toEqual([
    'date,type,description,asset,amount_bgl,balance_bgl,transaction_id,hash',
    `2026-11-20T08:00:00.000Z,payment,"Fine-tuning of ""Crumb"", again",'=1+1,-3.000001,122,t1,ab`,
    '2026-11-20T08:00:00.000Z,refund,Refund,,3.000001,125.000001,t1,',
    '2026-11-20T08:00:00.000Z,refund,Refund,,3.000001,,t1,',
    '',
  ]);
});
