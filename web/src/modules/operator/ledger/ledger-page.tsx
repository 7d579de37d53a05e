import type { getLedger } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { CircleCheck, CircleX, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { DataTable, type Sort } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Money } from '../../../ui/money.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { operatorPage } from '../operator-page.tsx';
import { ChargebackCard } from './chargeback-card.tsx';
import { GrantCard } from './grant-card.tsx';
import { useLedger } from './ledger-calls.ts';
import { sortAccounts } from './sort-accounts.ts';

type Ledger = ResponseOf<typeof getLedger>;
type Proof = NonNullable<Ledger['proof']>;

/** The operator's view of the ledger: the last proof, then the accounts. */
export const LedgerPage = operatorPage('Ledger', 'the ledger', Books);

function Books() {
  const ledger = useLedger();
  return (
    <ResourcePage
      title="Ledger"
      description="Every transaction is a double entry. Checked hourly and when you open this page."
      actions={
        <Button
          loading={ledger.isFetching || ledger.data?.is_being_proved}
          onClick={() => void ledger.refetch()}
        >
          <RotateCw aria-hidden />
          Check again
        </Button>
      }
    >
      <QueryView
        query={ledger}
        failed="The ledger could not be loaded"
        pending={
          <LoadingRegion className="grid gap-6">
            <Skeleton className="h-24 rounded-xl" />
            <Skeleton className="h-72 rounded-xl" />
            <Skeleton className="h-72 rounded-xl" />
          </LoadingRegion>
        }
      >
        {(data) => (
          <div className="grid grid-cols-1 gap-6">
            {data.proof && <Figures proof={data.proof} />}
            <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
              <Checks proof={data.proof} isBeingProved={data.is_being_proved} />
              <div className="grid gap-6">
                <GrantCard />
                <ChargebackCard />
              </div>
            </div>
            <Accounts accounts={data.accounts} total={data.accounts_total} />
          </div>
        )}
      </QueryView>
    </ResourcePage>
  );
}

function Figures({ proof }: { proof: Proof }) {
  const figures = [
    { label: 'Sum of all balances', value: <Money bgl={proof.sum_of_balances} /> },
    { label: 'Transfers', value: formatNumber(proof.transfers) },
    { label: 'Open holds', value: formatNumber(proof.open_holds) },
    { label: 'Sealed transfers', value: formatNumber(proof.sealed_transfers) },
  ];
  return (
    <div className="card">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-5 px-5 py-5 sm:grid-cols-4">
        {figures.map(({ label, value }) => (
          <div key={label}>
            <dt className="text-compact text-muted">{label}</dt>
            <dd className="mt-1 font-semibold text-xl tabular-nums tracking-tight">{value}</dd>
          </div>
        ))}
      </dl>
      {proof.chain_head && (
        <div className="flex items-center gap-2 border-line border-t px-5 py-2.5 text-compact">
          <span className="shrink-0 text-muted">Head of the hash chain</span>
          <span className="truncate font-mono text-xs">{proof.chain_head}</span>
          <CopyButton text={proof.chain_head} label="Copy the head of the hash chain" />
        </div>
      )}
    </div>
  );
}

function Checks({ proof, isBeingProved }: { proof: Proof | null; isBeingProved: boolean }) {
  if (proof === null) {
    return (
      <Card title="Checks">
        <EmptyState
          title="The books are being checked"
          description="The first check reads every transfer. Its results appear here."
          compact
        />
      </Card>
    );
  }
  const broken = proof.checks.filter((check) => !check.ok).length;
  return (
    <Card
      title="Checks"
      description={`The books as of ${formatDateTime(new Date(proof.proved_at))}${isBeingProved ? '; they are being checked again' : ''}.`}
      actions={
        <Badge tone={broken === 0 ? 'good' : 'bad'}>{broken === 0 ? 'All pass' : `${broken} failing`}</Badge>
      }
      flush
    >
      <ul className="divide-y divide-line border-line border-t">
        {proof.checks.map(({ name, ok, detail }) => (
          <li key={name} className="flex gap-3 px-5 py-3">
            {ok ? (
              <CircleCheck aria-label="Passed" className="mt-0.5 size-4.5 shrink-0 text-good" />
            ) : (
              <CircleX aria-label="Failed" className="mt-0.5 size-4.5 shrink-0 text-bad" />
            )}
            <div className="min-w-0">
              <div className="font-medium first-letter:uppercase">{name}</div>
              <div className="break-words text-compact text-muted">{detail}</div>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Accounts({ accounts, total }: { accounts: Ledger['accounts']; total: number }) {
  const [sort, setSort] = useState<Sort>({ column: 'balance', descending: true });
  return (
    <Card
      title="Accounts"
      description={`${countOf(total, 'account')}${accounts.length < total ? `; the ${accounts.length} largest are shown` : ''}.`}
      flush
    >
      <DataTable
        label="Accounts"
        rows={sortAccounts(accounts, sort)}
        rowKey={(account) => account.account_id}
        sort={sort}
        onSortChange={setSort}
        columns={[
          {
            id: 'account',
            header: 'Account',
            sortable: true,
            cell: (account) => (
              <>
                <span className="line-clamp-1 break-all font-medium">
                  {account.owner ?? account.account_id}
                </span>
                {account.owner && (
                  <span className="line-clamp-1 break-all font-mono text-faint text-xs">
                    {account.account_id}
                  </span>
                )}
              </>
            ),
          },
          {
            id: 'kind',
            header: 'Kind',
            width: '8rem',
            hideBelow: 'md',
            cell: (account) => <Badge>{account.kind}</Badge>,
          },
          {
            id: 'transfers',
            header: 'Transfers',
            numeric: true,
            sortable: true,
            width: '7rem',
            hideBelow: 'sm',
            cell: (account) => formatNumber(account.transfers),
          },
          {
            id: 'held',
            header: 'Held',
            numeric: true,
            sortable: true,
            width: '8rem',
            hideBelow: 'sm',
            cell: (account) => <Money bgl={account.held} />,
          },
          {
            id: 'balance',
            header: 'Balance',
            numeric: true,
            sortable: true,
            width: '9rem',
            cell: (account) => <Money bgl={account.balance} className="font-medium" />,
          },
        ]}
      />
    </Card>
  );
}
