import type { Draft } from '@bakehouse/contract/drafts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { FileText, Plus } from 'lucide-react';
import { countOf } from '../../lib/format/count-of.ts';
import { formatNumber } from '../../lib/format/format-number.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { asOnlyPage } from '../../ui/resource/resource-list.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { ResourceTable } from '../../ui/resource/resource-table.tsx';
import { draftsQuery, useCreateDraft } from './draft-calls.ts';
import { titleOf } from './draft-sentences.ts';
import { DraftStatus } from './draft-status.tsx';

/** The user's drafts, and a button to create one. */
export function DraftsPage() {
  const navigate = useNavigate();
  const create = useCreateDraft();
  const drafts = useQuery(draftsQuery);
  const open = (id: string) => void navigate({ to: '/drafts/$id', params: { id } });
  const button = (
    <Button
      variant="primary"
      loading={create.isPending}
      onClick={() => {
        const unused = drafts.data?.drafts.find(isEmpty);
        if (unused) open(unused.draft_id);
        else create.mutate(undefined, { onSuccess: ({ draft_id }) => open(draft_id) });
      }}
    >
      <Plus aria-hidden />
      New draft
    </Button>
  );
  return (
    <ResourcePage
      title="Generate from documents"
      description="A model reads your documents and writes questions with answers. Review them, then save them as a dataset to train on."
      parents={[{ label: 'My Datasets', to: '/dataset' }]}
      actions={button}
    >
      <ResourceTable
        label="Drafts"
        query={asOnlyPage(drafts)}
        rows={(list) => list.drafts.filter((draft) => !isEmpty(draft))}
        rowKey={({ draft_id }) => draft_id}
        rowHeight={56}
        columns={columns}
        onRowClick={({ draft_id }) => open(draft_id)}
        failed="Your drafts could not be loaded"
        empty={{
          icon: <FileText aria-hidden />,
          title: 'No drafts yet',
          description: 'Start with PDF, Word, Markdown or text documents.',
          action: button,
        }}
      />
    </ResourcePage>
  );
}

/** True before the first document: such a draft is not listed, and the next 'New draft' opens it. */
function isEmpty({ documents }: Draft): boolean {
  return documents.length === 0;
}

const columns: Column<Draft>[] = [
  {
    id: 'documents',
    header: 'Documents',
    cell: (draft) => (
      <>
        <Link
          to="/drafts/$id"
          params={{ id: draft.draft_id }}
          className="rounded font-medium hover:underline [overflow-wrap:anywhere]"
        >
          {titleOf(draft)}
        </Link>
        <p className="text-compact text-muted">{countOf(draft.documents.length, 'document')}</p>
      </>
    ),
  },
  { id: 'status', header: 'Status', cell: (draft) => <DraftStatus draft={draft} />, width: '8rem' },
  { id: 'rows', header: 'Rows', cell: ({ rows }) => formatNumber(rows), numeric: true, width: '6rem' },
  {
    id: 'created',
    header: 'Created',
    cell: ({ created_at: at }) => (
      <span className="whitespace-nowrap text-muted">
        <RelativeTime at={at} />
      </span>
    ),
    width: '9rem',
    hideBelow: 'sm',
  },
];
