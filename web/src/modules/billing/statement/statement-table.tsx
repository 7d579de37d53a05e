import { Link } from '@tanstack/react-router';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { useUser } from '../../accounts/session.ts';
import { GenerationThumbnail, shortPrompt } from '../../gallery/thumbnail/generation-thumbnail.tsx';
import { useGenerationThumbnail } from '../../gallery/thumbnail/generation-thumbnail-query.ts';
import { SignedAmount } from './signed-amount.tsx';
import { type StatementRow, type Transaction, workOf } from './transaction-rows.ts';

/** Settled movements, the balance after each, and its hash in the chain. */
export function StatementTable({ rows }: { rows: readonly StatementRow[] }) {
  return (
    <>
      <DataTable
        label="Statement"
        rows={rows}
        rowKey={({ transaction }) => transaction.transaction_id}
        columns={[...aboutColumns, ...amountColumns]}
      />
      <p className="border-line border-t px-5 py-3 text-compact text-muted">
        Each hash covers its transaction and the previous hash, so a changed past transaction is detected. New
        transactions are sealed within a minute.
      </p>
    </>
  );
}

const aboutColumns: Column<StatementRow>[] = [
  {
    id: 'date',
    header: 'Date',
    width: '11rem',
    hideBelow: 'md',
    cell: ({ transaction }) => (
      <span className="whitespace-nowrap text-muted tabular-nums">
        {formatDateTime(new Date(transaction.transaction_date))}
      </span>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    cell: ({ transaction }) => (
      <>
        <About transaction={transaction} />
        <span className="text-muted text-xs tabular-nums md:hidden">
          {formatDateTime(new Date(transaction.transaction_date))}
        </span>
      </>
    ),
  },
  {
    id: 'hash',
    header: 'Hash',
    width: '9rem',
    hideBelow: 'lg',
    cell: ({ transaction }) =>
      transaction.transaction_hash ? (
        <span className="flex items-center gap-1">
          <span className="font-mono text-muted text-xs">{transaction.transaction_hash.slice(0, 10)}</span>
          <CopyButton text={transaction.transaction_hash} label="Copy the hash" />
        </span>
      ) : (
        <span className="text-faint text-xs">Not sealed yet</span>
      ),
  },
];

const amountColumns: Column<StatementRow>[] = [
  {
    id: 'amount',
    header: 'Amount',
    numeric: true,
    cell: ({ transaction, balanceAfter }) => (
      <>
        <SignedAmount transaction={transaction} />
        <span className="block whitespace-nowrap text-muted text-xs sm:hidden">
          Balance <Money bgl={balanceAfter} />
        </span>
      </>
    ),
  },
  {
    id: 'balance',
    header: 'Balance',
    numeric: true,
    hideBelow: 'sm',
    cell: ({ balanceAfter }) => <Money bgl={balanceAfter} />,
  },
];

/** The description, with the thumbnail and name of the work. */
function About({ transaction }: { transaction: Transaction }) {
  const { description, asset_name: name, generation_id: generationId } = transaction;
  const generation = useGenerationThumbnail(useUser().id, generationId ?? null);
  const work = generation === null ? null : workOf(transaction);
  const ofName = name && !description.includes(name) ? name : null;
  const about = generation ? shortPrompt(generation.prompt) : generation === null ? 'Deleted' : ofName;
  return (
    <span className="flex items-center gap-3">
      {generationId && <GenerationThumbnail generation={generation} />}
      <span className="min-w-0">
        <span className="block [overflow-wrap:anywhere]">
          {work ? (
            <Link {...work} className="hover:underline">
              {description}
            </Link>
          ) : (
            description
          )}
        </span>
        {about && <span className="block text-muted text-xs [overflow-wrap:anywhere]">{about}</span>}
      </span>
    </span>
  );
}
