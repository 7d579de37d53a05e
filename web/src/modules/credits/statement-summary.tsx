import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { countOf } from '../../lib/count-of.ts';
import { currencyChoice, showExact } from '../../lib/currency.ts';
import { saveAs } from '../../lib/download.ts';
import { localDay } from '../../lib/format-time.ts';
import { Button } from '../../ui/button.tsx';
import { Figure } from '../../ui/figure.tsx';
import { useUser } from '../accounts/api.ts';
import { readStatement } from './read-statement.ts';
import { statementCsv } from './statement-csv.ts';
import { type StatementRow, totalsOf } from './transaction-rows.ts';

type Props = {
  rows: readonly StatementRow[];
  /** There are older ones that are not loaded yet. */
  hasMore: boolean;
  /** What of today's balance can be sent to others. */
  sendable: string | undefined;
  from: string | undefined;
  to: string | undefined;
};

/** What the rows in sight sum to, what of today's balance can be sent, and the whole period as a file. */
export function StatementSummary({ rows, hasMore, sendable, from, to }: Props) {
  const user = useUser();
  const currency = currencyChoice.use();
  const { incoming, outgoing, net } = totalsOf(rows);
  const save = useMutation({
    mutationFn: async () => {
      const csv = statementCsv(await readStatement(user.id, { from, to }));
      saveAs(new Blob([csv], { type: 'text/csv' }), `statement-${to ?? localDay(new Date())}.csv`);
    },
  });
  const totals = [
    { label: 'In', text: `+${showExact(incoming, currency)}` },
    { label: 'Out', text: `−${showExact(outgoing, currency)}` },
    { label: 'Net', text: showExact(net, currency).replace('-', '−') },
    ...(sendable === undefined ? [] : [{ label: 'Can be sent', text: showExact(sendable, currency) }]),
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
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <span className="text-[0.8125rem] text-muted tabular-nums">
          {hasMore
            ? `Totals of the ${countOf(rows.length, 'newest transaction')}`
            : `Totals of ${countOf(rows.length, 'transaction')}`}
        </span>
        <Button size="sm" loading={save.isPending} onClick={() => save.mutate()}>
          <Download aria-hidden />
          Export CSV
        </Button>
      </div>
    </div>
  );
}
