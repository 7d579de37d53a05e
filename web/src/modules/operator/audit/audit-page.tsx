import { type AuditEntry, listAudit } from '@bakehouse/contract/audit';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { Fragment } from 'react';
import { useShowAmount } from '../../../lib/format/currency.ts';
import { describeBrowser } from '../../../lib/format/describe-browser.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { useUrlSearch } from '../../../lib/url-search.ts';
import type { Column } from '../../../ui/data-table.tsx';
import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { operatorPage } from '../operator-page.tsx';
import { describeEntry } from './describe-entry.ts';

type AuditFilter = { user?: string; noun?: string };

/** Who has changed what, newest first; for operators. */
const auditQuery = (filter: AuditFilter) =>
  endpointPages(
    ['audit', filter],
    listAudit,
    { query: filter },
    { rows: 'entries', id: 'entry_id', staleTime: 0 },
  );

const filters = [
  { name: 'user', label: 'Who did it', placeholder: 'Username, email or ID' },
  {
    name: 'noun',
    label: 'What was changed',
    options: [
      { value: 'all', label: 'Everything' },
      { value: 'credits', label: 'Credits' },
      { value: 'purchase', label: 'Purchases' },
      { value: 'asset', label: 'Datasets and models' },
      { value: 'generation', label: 'Pictures and videos' },
      { value: 'run', label: 'Training runs' },
      { value: 'deployment', label: 'Deployments' },
      { value: 'api_key', label: 'API keys' },
      { value: 'access', label: 'Access to models' },
      { value: 'password', label: 'Passwords' },
      { value: 'session', label: 'Sessions' },
      { value: 'user', label: 'Accounts' },
    ],
  },
];

/** The operator's view of who has changed what. */
export const AuditPage = operatorPage('Audit log', 'the audit log', Audit);

function Audit() {
  const [{ user, noun }] = useUrlSearch<AuditFilter>();
  return (
    <ResourcePage
      title="Audit log"
      description="Who changed what. Entries cannot be changed or deleted."
      filters={filters}
    >
      <ResourceTable
        label="Audit log"
        query={useInfiniteQuery(auditQuery({ user, noun }))}
        rows={(page) => page.entries}
        rowKey={(entry) => entry.entry_id}
        rowHeight={60}
        columns={columns}
        failed="The audit log could not be loaded"
        empty={{
          icon: <ScrollText aria-hidden />,
          title: 'No entries',
          description: user && 'Enter the complete username, email address or ID.',
        }}
      />
    </ResourcePage>
  );
}

const columns: Column<AuditEntry>[] = [
  {
    id: 'what',
    header: 'What',
    cell: (entry) => (
      <>
        <Sentence entry={entry} />
        <span className="block text-muted text-xs sm:hidden">
          <Time at={entry.at} />
        </span>
        <Details entry={entry} />
      </>
    ),
  },
  {
    id: 'at',
    header: 'When',
    width: '10.5rem',
    hideBelow: 'sm',
    cell: ({ at }) => <Time at={at} />,
  },
];

/** Each name links to that user's entries. */
function Sentence({ entry }: { entry: AuditEntry }) {
  const amount = useShowAmount();
  const parts = describeEntry(entry, { amount, browser: describeBrowser });
  return (
    <span className="[overflow-wrap:anywhere]">
      {parts.map((part, place) =>
        typeof part === 'string' ? (
          part
        ) : (
          <Link
            key={place}
            to="/operator/audit"
            search={{ user: part.userId }}
            className="rounded font-medium hover:underline"
          >
            {part.name}
          </Link>
        ),
      )}
    </span>
  );
}

/** The recorded details, unchanged. */
function Details({ entry: { action, user_id, detail } }: { entry: AuditEntry }) {
  const recorded = Object.entries({ action, ...(user_id !== null && { user_id }), ...detail });
  return (
    <details className="group text-xs">
      <summary className="w-fit cursor-pointer rounded py-1 text-muted leading-4 hover:text-ink">
        Details
      </summary>
      <dl className="mt-1 mb-1.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
        {recorded.map(([name, value]) => (
          <Fragment key={name}>
            <dt className="text-muted">{name}</dt>
            <dd className="font-mono [overflow-wrap:anywhere]">{value}</dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}

function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} className="whitespace-nowrap tabular-nums">
      {formatDateTime(new Date(at))}
    </time>
  );
}
