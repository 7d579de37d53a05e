import type { Account } from '@bakehouse/contract/credits';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { formatDateTime } from '../../lib/format/format-time.ts';
import { useUrlSearch } from '../../lib/url-search.ts';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Money } from '../../ui/money.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { ResourceTable } from '../../ui/resource/resource-table.tsx';
import { accountsQuery } from '../billing/credit-queries.ts';
import { operatorPage } from './operator-page.tsx';

/** The operator's list of users with their balances. */
export const AccountsPage = operatorPage('Accounts', 'the accounts', Accounts);

function Accounts() {
  const [{ q = '' }] = useUrlSearch<{ q?: string }>();
  return (
    <ResourcePage
      title="Accounts"
      description="Everyone who has signed up, newest first."
      actions={<ButtonLink to="/operator/ledger">Grant credits</ButtonLink>}
      filters={[{ name: 'q', label: 'Search accounts', placeholder: 'Username, name, email or ID' }]}
    >
      <ResourceTable
        label="Accounts"
        query={useInfiniteQuery(accountsQuery(q))}
        rows={(page) => page.accounts}
        rowKey={(account) => account.user_id}
        rowHeight={60}
        columns={columns}
        failed="The accounts could not be loaded"
        empty={{ icon: <Users aria-hidden />, title: 'No accounts found' }}
      />
    </ResourcePage>
  );
}

const columns: Column<Account>[] = [
  {
    id: 'who',
    header: 'Account',
    cell: ({ username, email, is_operator, is_deleted, email_verified }) => (
      <>
        <span className="flex flex-wrap items-center gap-2">
          <span className="break-all font-medium">{username}</span>
          {is_operator && <Badge tone="accent">Operator</Badge>}
          {is_deleted && <Badge>Deleted</Badge>}
          {!is_deleted && !email_verified && <Badge>Unverified</Badge>}
        </span>
        {!is_deleted && <span className="block break-all text-muted text-xs">{email}</span>}
      </>
    ),
  },
  {
    id: 'since',
    header: 'Since',
    width: '10.5rem',
    hideBelow: 'md',
    cell: ({ created_at }) => formatDateTime(new Date(created_at)),
  },
  {
    id: 'held',
    header: 'Held',
    numeric: true,
    width: '7rem',
    hideBelow: 'md',
    cell: ({ held }) => <Money bgl={held} />,
  },
  {
    id: 'balance',
    header: 'Balance',
    numeric: true,
    width: '8rem',
    cell: ({ balance }) => <Money bgl={balance} />,
  },
  {
    id: 'audit',
    header: <span className="sr-only">Audit log</span>,
    width: '7rem',
    hideBelow: 'sm',
    cell: ({ username, user_id }) => (
      <Link
        to="/operator/audit"
        search={{ user: user_id }}
        className="rounded text-compact text-muted hover:text-ink hover:underline"
      >
        Audit log<span className="sr-only"> of {username}</span>
      </Link>
    ),
  },
];
