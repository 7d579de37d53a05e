import { countOf } from '../../../lib/format/count-of.ts';
import { currencyChoice, showUnrounded } from '../../../lib/format/currency.ts';
import { Figure } from '../../../ui/figure.tsx';
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
  const currency = currencyChoice.use();
  const { incoming, outgoing, net } = totalsOf(rows);
  const totals = [
    { label: 'In', text: `+${showUnrounded(incoming, currency)}` },
    { label: 'Out', text: `−${showUnrounded(outgoing, currency)}` },
    { label: 'Net', text: showUnrounded(net, currency) },
    ...(sendable === undefined ? [] : [{ label: 'Can be sent', text: showUnrounded(sendable, currency) }]),
  ];
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-8 gap-y-3 border-line border-b px-5 py-3.5">
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        {totals.map(({ label, text }) => (
          <Figure key={label} label={label}>
            {text}
          </Figure>
        ))}
      </dl>
      <span className="text-[0.8125rem] text-muted tabular-nums">
        {hasMore
          ? `Totals of the ${countOf(rows.length, 'newest transaction')}`
          : `Totals of ${countOf(rows.length, 'transaction')}`}
      </span>
    </div>
  );
}
