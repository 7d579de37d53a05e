import { type Draft, draftNumbers, ROWS_PLACE, TEXT_PLACE } from '@bakehouse/contract/drafts';
import { useQuery } from '@tanstack/react-query';
import { Sparkles } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { Field } from '../../../ui/field.tsx';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { NumberField } from '../../../ui/number-field.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { quoteQuery, useStartDraft } from '../draft-calls.ts';
import { initialSettings, problemsOf, type SettingsForm } from './settings-form.ts';
import { TextModels } from './text-models.tsx';

/** Model, settings and price; asks before replacing existing rows. */
export function StartCard({ draft }: { draft: Draft }) {
  return <TextModels>{(models) => <LoadedCard draft={draft} models={models} />}</TextModels>;
}

function LoadedCard({ draft, models }: { draft: Draft; models: string[] }) {
  const [asks, setAsks] = useState(false);
  const start = useStartDraft(draft.draft_id);
  const unsaved = draft.rows - draft.rows_saved;
  const begin = () => start.mutate(form.values, { onSettled: () => setAsks(false) });
  const form = useForm<SettingsForm>({
    initial: () => initialSettings(draft.settings, models),
    problemsOf,
    onSubmit: () => (unsaved > 0 ? setAsks(true) : begin()),
  });
  const hasStarted = draft.settings !== null;
  return (
    <Card
      title={hasStarted ? 'Write the rows again' : 'Write rows'}
      description="The model reads the documents chunk by chunk, and writes rows from each."
    >
      <form onSubmit={form.onSubmit} noValidate className="grid gap-5">
        <SettingsFields models={models} {...form} />
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <Quote draftId={draft.draft_id} settings={form.values} />
          <Button type="submit" variant="primary" loading={start.isPending}>
            <Sparkles aria-hidden />
            {hasStarted ? 'Write again' : 'Write rows'}
          </Button>
        </div>
      </form>
      <ConfirmDialog
        open={asks}
        onOpenChange={setAsks}
        title="Write the rows again?"
        description={`${countOf(unsaved, 'unsaved row')} will be replaced.`}
        action="Write again"
        pending={start.isPending}
        onConfirm={begin}
      />
    </Card>
  );
}

type FieldsProps = Pick<ReturnType<typeof useForm<SettingsForm>>, 'values' | 'problems' | 'change'> & {
  models: string[];
};

function SettingsFields({ models, values, problems, change }: FieldsProps) {
  const number = (name: keyof typeof draftNumbers, help: string) => (
    <Field label={draftNumbers[name].label} error={problems[name]} help={help}>
      <NumberField
        value={Number.isNaN(values[name]) ? null : values[name]}
        onChange={(next) => change({ [name]: next ?? Number.NaN })}
        {...boundsOf(name)}
      />
    </Field>
  );
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          label="Model"
          error={problems.model}
          help="Starter models are for trying this out. Deploy a larger model for rows worth training on."
        >
          <Select
            value={values.model}
            onChange={(model) => change({ model })}
            options={models.map((name) => ({ value: name, label: name }))}
          />
        </Field>
        {number('rows_per_chunk', 'Fewer rows are more varied.')}
      </div>
      <Disclosure
        title="Prompt and chunks"
        hasProblem={Boolean(problems.prompt || problems.chunk_characters || problems.overlap_characters)}
      >
        <div className="grid gap-5">
          <Field
            label="Prompt"
            error={problems.prompt}
            help={`${TEXT_PLACE} is replaced by the text of the chunk, and ${ROWS_PLACE} by the rows per chunk.`}
          >
            <Textarea
              rows={10}
              className="font-mono text-compact"
              value={values.prompt}
              onChange={(event) => change({ prompt: event.target.value })}
            />
          </Field>
          <div className="grid gap-5 sm:grid-cols-2">
            {number('chunk_characters', 'Split at paragraphs and headings. A token is about 4 characters.')}
            {number('overlap_characters', 'Characters that each chunk repeats from the previous one.')}
          </div>
        </div>
      </Disclosure>
    </>
  );
}

function boundsOf(name: keyof typeof draftNumbers) {
  const { min, max, step } = draftNumbers[name];
  return { min, max, step };
}

/** The maximum cost, once the fields are stable and valid. */
function Quote({ draftId, settings }: { draftId: string; settings: SettingsForm }) {
  const settled = JSON.parse(useDebounced(JSON.stringify(settings))) as SettingsForm;
  const isSound = !Object.values(problemsOf(settled)).some(Boolean);
  const quote = useQuery({ ...quoteQuery(draftId, settled), enabled: isSound });
  if (!isSound) return <span />;
  if (quote.isError)
    return (
      <p role="alert" className="min-w-0 flex-1 text-compact text-bad">
        {errorMessage(quote.error)}
      </p>
    );
  return (
    <p className="min-h-5 text-compact text-muted" role="status">
      {quote.data ? (
        <>
          {countOf(quote.data.chunks, 'chunk')}, up to {countOf(quote.data.rows_max, 'row')}. At most{' '}
          <Money bgl={quote.data.highest_bgl} /> is held, and you pay for the tokens used, at batch prices.
        </>
      ) : (
        <>
          <span className="sr-only">Loading the price…</span>
          <Skeleton className="h-4 w-64 max-w-full" />
        </>
      )}
    </p>
  );
}
