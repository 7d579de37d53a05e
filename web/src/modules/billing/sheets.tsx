import { lazy } from 'react';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    'transaction-history': Record<string, never>;
    'send-credits': { recipient?: string };
  }
}

const loadSendCreditsSheet = () => import('./send/send-credits-sheet.tsx');
const SendCreditsSheet = lazy(async () => ({ default: (await loadSendCreditsSheet()).SendCreditsSheet }));

const loadTransactionsSheet = () => import('./statement/transactions-sheet.tsx');
const TransactionsSheet = lazy(async () => ({ default: (await loadTransactionsSheet()).TransactionsSheet }));

export const creditsSheets: Sheet[] = [
  {
    name: 'send-credits',
    label: 'Send Credits',
    preload: loadSendCreditsSheet,
    render: ({ open, onClose, params }) => (
      <SendCreditsSheet open={open} onClose={onClose} recipient={params.recipient} />
    ),
  },
  {
    name: 'transaction-history',
    label: 'Transaction History',
    page: '/transactions',
    preload: loadTransactionsSheet,
    render: ({ open, onClose }) => <TransactionsSheet open={open} onClose={onClose} />,
  },
];
