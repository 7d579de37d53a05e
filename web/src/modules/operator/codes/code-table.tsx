import type { CreditCode } from '@bakehouse/contract/codes';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Ticket } from 'lucide-react';
import { useState } from 'react';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { codesQuery, useRevokeCode } from './code-calls.ts';

/** All codes with their state and redemptions; open ones can be revoked. */
export function CodeTable() {
  const list = useInfiniteQuery(codesQuery);
  const revoke = useRevokeCode();
  const [asked, setAsked] = useState<CreditCode | null>(null);
  const actions: Column<CreditCode> = {
    id: 'actions',
    header: <span className="sr-only">Actions</span>,
    numeric: true,
    cell: (code) =>
      stateOf(code).isOpen && (
        <Button
          size="sm"
          aria-label={`Revoke the code ending in ${code.hint}`}
          onClick={() => setAsked(code)}
        >
          Revoke
        </Button>
      ),
  };
  return (
    <>
      <ResourceTable
        label="Codes"
        title="All codes"
        query={list}
        rows={(page) => page.codes}
        rowKey={({ id }) => id}
        columns={[...columns, actions]}
        skeletonRows={6}
        failed="The codes could not be loaded"
        empty={{
          icon: <Ticket aria-hidden />,
          title: 'No codes yet',
          description: 'Codes you create appear here with their redemptions.',
        }}
      />
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={`Revoke the code ending in ${asked?.hint}?`}
        description="It can no longer be redeemed. Credits already redeemed are not affected."
        action="Revoke"
        pending={revoke.isPending}
        onConfirm={() => asked && revoke.mutate(asked.id, { onSettled: () => setAsked(null) })}
      />
    </>
  );
}

function stateOf({ revoked_at, expires_at, redemptions, redemptions_max }: CreditCode) {
  if (revoked_at) return { label: 'Revoked', isOpen: false };
  if (redemptions === redemptions_max) return { label: 'Used up', isOpen: false };
  if (expires_at && new Date(expires_at) <= new Date()) return { label: 'Expired', isOpen: false };
  return { label: 'Open', isOpen: true };
}

function State(code: CreditCode) {
  const { label, isOpen } = stateOf(code);
  return (
    <>
      <Badge tone={isOpen ? 'good' : 'neutral'}>{label}</Badge>
      {isOpen && code.expires_at && (
        <span className="mt-0.5 block text-muted text-xs">
          until {formatDateTime(new Date(code.expires_at))}
        </span>
      )}
    </>
  );
}

function Redeemed({ redemptions, redemptions_max, redeemed_by }: CreditCode) {
  const names = redeemed_by.map(({ username }) => username).join(', ');
  return (
    <>
      <span className="tabular-nums">
        {redemptions} of {redemptions_max}
      </span>
      {names && (
        <span className="line-clamp-1 break-all text-muted text-xs" title={names}>
          {names}
        </span>
      )}
    </>
  );
}

const columns: Column<CreditCode>[] = [
  {
    id: 'code',
    header: 'Code',
    cell: ({ hint, note }) => (
      <>
        <span className="font-mono text-compact">…{hint}</span>
        {note && <span className="line-clamp-1 break-all text-muted text-xs">{note}</span>}
      </>
    ),
  },
  {
    id: 'made',
    header: 'Created',
    hideBelow: 'md',
    cell: ({ created_at }) => <span className="text-muted">{formatDateTime(new Date(created_at))}</span>,
  },
  {
    id: 'state',
    header: 'Status',
    hideBelow: 'sm',
    cell: State,
  },
  { id: 'redeemed', header: 'Redeemed', cell: Redeemed },
  {
    id: 'amount',
    header: 'Amount',
    numeric: true,
    cell: ({ amount }) => <Money bgl={amount} className="font-medium" />,
  },
];
