import { loadable } from '../../lib/loadable.tsx';
import type { Sheet } from '../../lib/sheet.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    'transaction-history': Record<string, never>;
    'send-credits': { recipient?: string };
  }
}

const SendCreditsSheet = loadable(
  async () => (await import('./send/send-credits-sheet.tsx')).SendCreditsSheet,
);

const TransactionsSheet = loadable(
  async () => (await import('./statement/transactions-sheet.tsx')).TransactionsSheet,
);

export const creditsSheets: Sheet[] = [
  {
    name: 'send-credits',
    label: 'Send Credits',
    preload: SendCreditsSheet.preload,
    render: ({ open, onClose, params }) => (
      <SendCreditsSheet open={open} onClose={onClose} recipient={params.recipient} />
    ),
  },
  {
    name: 'transaction-history',
    label: 'Transaction History',
    page: '/transactions',
    preload: TransactionsSheet.preload,
    render: ({ open, onClose }) => <TransactionsSheet open={open} onClose={onClose} />,
  },
];
