import type { DraftRow } from '@bakehouse/contract/drafts';
import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useId } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { chunkQuery, useChangeRow, useDeleteRows } from '../draft-calls.ts';

type Props = { draftId: string; row: DraftRow; onClose: () => void };

/** A row next to its source text; read-only once it is saved. */
export function RowDialog({ draftId, row, onClose }: Props) {
  const formId = useId();
  const isSaved = row.saved_in !== null;
  const change = useChangeRow(draftId);
  const deletion = useDeleteRows(draftId);
  const form = useForm({
    initial: () => ({ question: row.question, answer: row.answer }),
    problemsOf: ({ question, answer }) => ({
      question: question.trim() === '' ? 'Enter a question' : undefined,
      answer: answer.trim() === '' ? 'Enter an answer' : undefined,
    }),
    onSubmit: (texts) => change.mutate({ rowId: row.row_id, ...texts }, { onSuccess: onClose }),
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={isSaved ? 'Saved row' : 'Edit row'}
      size="lg"
      dirty={form.isDirty}
      footer={
        isSaved ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button
              className="mr-auto"
              loading={deletion.isPending}
              onClick={() => deletion.mutate([row.row_id], { onSuccess: onClose })}
            >
              <Trash2 aria-hidden />
              Delete
            </Button>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" form={formId} variant="primary" loading={change.isPending}>
              Save
            </Button>
          </>
        )
      }
    >
      <div className="grid gap-5 md:grid-cols-2">
        <form id={formId} onSubmit={form.onSubmit} noValidate className="grid content-start gap-4">
          <Field label="Question" error={form.problems.question}>
            <Textarea
              value={form.values.question}
              readOnly={isSaved}
              onChange={(event) => form.change({ question: event.target.value })}
            />
          </Field>
          <Field label="Answer" error={form.problems.answer}>
            <Textarea
              rows={6}
              value={form.values.answer}
              readOnly={isSaved}
              onChange={(event) => form.change({ answer: event.target.value })}
            />
          </Field>
        </form>
        <Source draftId={draftId} row={row} />
      </div>
    </Dialog>
  );
}

function Source({ draftId, row: { chunk, source } }: Pick<Props, 'draftId' | 'row'>) {
  return (
    <section aria-label="Source" className="min-w-0">
      <h3 className="font-medium text-compact leading-5 [overflow-wrap:anywhere]">{source}</h3>
      <QueryView
        query={useQuery(chunkQuery(draftId, chunk))}
        failed="The source could not be loaded"
        pending={<Skeleton className="mt-1.5 h-48 w-full" />}
        compact
      >
        {({ text }) => (
          <div
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
            tabIndex={0}
            role="group"
            aria-label="Text of the source"
            className="mt-1.5 max-h-80 overflow-y-auto whitespace-pre-wrap rounded-lg border border-line bg-subtle px-3 py-2 text-compact leading-5 [overflow-wrap:anywhere]"
          >
            {text}
          </div>
        )}
      </QueryView>
    </section>
  );
}
