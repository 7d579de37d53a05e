import { countOf } from '../../../lib/format/count-of.ts';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';
import { type StatementRow, totalsOf } from './transaction-rows.ts';

type Props = {
  rows: readonly StatementRow[];
  /** True if older transactions are not loaded yet. */
  hasMore: boolean;
  /** The sendable part of the current balance. */
  sendable: string | undefined;
};

/** Totals of the loaded rows, and the sendable part of the current balance. */
export function StatementSummary({ rows, hasMore, sendable }: Props) {
  const { incoming, outgoing, net } = totalsOf(rows);
  const totals = [
    { label: 'In', bgl: incoming, sign: '+' },
    { label: 'Out', bgl: outgoing, sign: '−' },
    { label: 'Net', bgl: net },
    ...(sendable === undefined ? [] : [{ label: 'Can be sent', bgl: sendable }]),
  ];
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-8 gap-y-3 border-line border-b px-5 py-3.5">
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        {totals.map(({ label, ...amount }) => (
          <Figure key={label} label={label}>
            <Money {...amount} />
          </Figure>
        ))}
      </dl>
      <span className="text-compact text-muted tabular-nums">
        {hasMore
          ? `Totals of the ${countOf(rows.length, 'newest transaction')}`
          : `Totals of ${countOf(rows.length, 'transaction')}`}
      </span>
    </div>
  );
}
