import type { Draft } from '@bakehouse/contract/drafts';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../lib/format/count-of.ts';
import { outcomeText } from '../../lib/format/outcome-text.ts';
import { Button } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Missing } from '../../ui/missing.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Progress } from '../../ui/progress.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { ContinueButton } from './continue-button.tsx';
import { DocumentsCard } from './documents/documents-card.tsx';
import { quoteQuery, useCancelDraft, useDeleteDraft, useDraft, useStartDraft } from './draft-calls.ts';
import { droppedText, isRunning, phaseText, progressOf, titleOf } from './draft-sentences.ts';
import { DraftStatus } from './draft-status.tsx';
import { RowsCard } from './review/rows-card.tsx';
import { StartCard } from './start/start-card.tsx';

const route = getRouteApi('/app/drafts/$id');

/** A draft: documents, settings, progress, and rows. */
export function DraftPage() {
  const { id } = route.useParams();
  return (
    <QueryView
      query={useDraft(id)}
      failed="This draft cannot be shown"
      pending={
        <LoadingRegion>
          <Skeleton className="mb-2 h-4 w-40" />
          <Skeleton className="mb-8 h-7 w-64 max-w-full" />
          <Skeleton className="mb-5 h-56 w-full" />
          <Skeleton className="h-72 w-full" />
        </LoadingRegion>
      }
      missing={
        <Missing
          title="Draft not found"
          text="The link may be mistyped, or the draft was deleted or belongs to another account."
          to="/drafts"
          label="Go to your drafts"
        />
      }
    >
      {(draft) => <LoadedPage key={draft.draft_id} draft={draft} />}
    </QueryView>
  );
}

function LoadedPage({ draft }: { draft: Draft }) {
  const [asks, setAsks] = useState(false);
  const running = isRunning(draft);
  return (
    <>
      <PageHeader
        title={titleOf(draft)}
        parents={[
          { label: 'My Datasets', to: '/dataset' },
          { label: 'Generate from documents', to: '/drafts' },
        ]}
        badge={draft.status !== 'open' && <DraftStatus draft={draft} />}
        actions={
          !running && (
            <Button onClick={() => setAsks(true)}>
              <Trash2 aria-hidden />
              Delete draft
            </Button>
          )
        }
      />
      <div className="grid gap-5">
        {running ? <Running draft={draft} /> : <Ended draft={draft} />}
        {draft.rows > 0 && <RowsCard draft={draft} />}
        <DocumentsCard draft={draft} />
        {!running && draft.documents.length > 0 && <StartCard draft={draft} />}
      </div>
      {asks && <DeleteDialog draft={draft} onClose={() => setAsks(false)} />}
    </>
  );
}

function Running({ draft }: { draft: Draft }) {
  const cancel = useCancelDraft();
  return (
    <Card>
      <Progress value={progressOf(draft)} label="Writing rows" />
      <div className="mt-3 flex flex-wrap items-center justify-between gap-3">
        <p className="min-w-0 text-compact text-muted tabular-nums [overflow-wrap:anywhere]">
          {phaseText(draft)}
          {draft.error !== null && <span className="mt-1 block text-warn">{draft.error}</span>}
        </p>
        <Button
          size="sm"
          disabled={draft.status === 'cancelling'}
          loading={cancel.isPending}
          onClick={() => cancel.mutate(draft.draft_id)}
        >
          <Square aria-hidden />
          Cancel
        </Button>
      </div>
    </Card>
  );
}

/** Result, skipped parts, and cost. */
function Ended({ draft }: { draft: Draft }) {
  const { status, rows, error, chunks, chunks_done, chunks_failed, cost_so_far: cost } = draft;
  if (status === 'open') return null;
  const unanswered = chunks - chunks_done + chunks_failed;
  const isBad = status === 'failed' || rows === 0;
  const title =
    status === 'failed'
      ? 'Writing the rows failed'
      : rows === 0
        ? 'The model wrote no rows'
        : `${countOf(rows, 'row')} to review`;
  const reason = status === 'failed' || chunks_failed > 0 ? (error ?? '') : '';
  return (
    <Callout
      tone={isBad ? 'warn' : 'info'}
      title={title}
      action={unanswered > 0 && <GoOnWithDraft draftId={draft.draft_id} chunks={unanswered} />}
    >
      {[
        unanswered > 0 && `${countOf(unanswered, 'chunk')} of ${chunks} without an answer.`,
        droppedText(draft),
        rows === 0 && status === 'completed' && 'Try a larger model, or another prompt.',
        outcomeText(reason, cost),
      ]
        .filter(Boolean)
        .join(' ')}
    </Callout>
  );
}

/** Continues with the chunks that have no answer. */
function GoOnWithDraft({ draftId, chunks }: { draftId: string; chunks: number }) {
  const quote = useQuery(quoteQuery(draftId, undefined));
  return <ContinueButton left={countOf(chunks, 'chunk')} quote={quote} start={useStartDraft(draftId)} />;
}

function DeleteDialog({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const navigate = useNavigate();
  const deletion = useDeleteDraft();
  const unsaved = draft.rows - draft.rows_saved;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Delete this draft?"
      description={`Its documents${unsaved > 0 ? ` and ${countOf(unsaved, 'unsaved row')}` : ''} will be deleted. Rows saved in datasets stay.`}
      action="Delete draft"
      pending={deletion.isPending}
      onConfirm={() => deletion.mutate(draft.draft_id, { onSuccess: () => void navigate({ to: '/drafts' }) })}
    />
  );
}
