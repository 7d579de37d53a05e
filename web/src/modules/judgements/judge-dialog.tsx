import {
  DEFAULT_JUDGE_PROMPT,
  type JudgeSettings,
  judgePlaces,
  neededPlaces,
} from '@bakehouse/contract/judgements';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { countOf } from '../../lib/format/count-of.ts';
import { useDebounced } from '../../lib/use-debounced.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { Field } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { errorMessage } from '../../ui/notify.ts';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Textarea } from '../../ui/textarea.tsx';
import { type Problems, useForm } from '../../ui/use-form.ts';
import { TextModels } from '../deployments/chat/text-models.tsx';
import { quoteQuery, useStartJudgement } from './judgement-calls.ts';

type Props = {
  runId: string;
  /** How it was asked before; null: it was not. */
  before: JudgeSettings | null;
  onClose: () => void;
};

/** Which model judges, by which prompt, and at which price. */
export function JudgeDialog({ runId, before, onClose }: Props) {
  const formId = useId();
  const start = useStartJudgement(runId);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Have the answers judged"
      description={`A model reads both answers to each row beside the expected one, in both orders. What it prefers in both is a win.${before ? ' Its verdicts replace those of before.' : ''}`}
      size="lg"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={formId} variant="primary" loading={start.isPending}>
            Start
          </Button>
        </>
      }
    >
      <TextModels pending={<Skeleton className="h-40 w-full" />}>
        {(models) => (
          <JudgeForm
            {...{ formId, runId, models, before }}
            onSubmit={(settings) => start.mutate(settings, { onSuccess: onClose })}
          />
        )}
      </TextModels>
    </Dialog>
  );
}

type FormProps = Pick<Props, 'runId' | 'before'> & {
  formId: string;
  models: string[];
  onSubmit: (settings: JudgeSettings) => void;
};

function JudgeForm({ formId, runId, models, before, onSubmit }: FormProps) {
  const { values, problems, change, ...form } = useForm<JudgeSettings>({
    initial: () => ({
      model: before && models.includes(before.model) ? before.model : (models[0] ?? ''),
      prompt: before?.prompt ?? DEFAULT_JUDGE_PROMPT,
    }),
    problemsOf,
    onSubmit,
  });
  return (
    <form id={formId} onSubmit={form.onSubmit} noValidate className="grid gap-5">
      <Field
        label="Judge"
        help="A small model judges like the toss of a coin, and any model likes its own answers. Choose a larger one that gave neither."
      >
        <Select
          value={values.model}
          onChange={(model) => change({ model })}
          options={models.map((name) => ({ value: name, label: name }))}
        />
      </Field>
      <Disclosure title="Prompt" hasProblem={Boolean(problems.prompt)}>
        <Field
          label="Prompt"
          error={problems.prompt}
          help={`${Object.values(judgePlaces).join(', ')} are replaced by the texts of a row. The last line of an answer has to be A, B or TIE; any other is no verdict.`}
        >
          <Textarea
            rows={12}
            className="font-mono text-[0.8125rem]"
            value={values.prompt}
            onChange={(event) => change({ prompt: event.target.value })}
          />
        </Field>
      </Disclosure>
      <Quote runId={runId} settings={values} />
    </form>
  );
}

function problemsOf({ prompt }: JudgeSettings): Problems<JudgeSettings> {
  const missing = neededPlaces.filter((place) => !prompt.includes(place));
  return missing.length === 0
    ? {}
    : {
        prompt: `The prompt must have ${missing.join(', ')} where the ${missing.length === 1 ? 'text goes' : 'texts go'}`,
      };
}

/** What it costs at most, once the fields have settled and nothing is wrong with them. */
function Quote({ runId, settings }: { runId: string; settings: JudgeSettings }) {
  const settled = JSON.parse(useDebounced(JSON.stringify(settings))) as JudgeSettings;
  const isSound = !problemsOf(settled).prompt;
  const quote = useQuery({ ...quoteQuery(runId, settled), enabled: isSound });
  if (!isSound) return null;
  if (quote.isError)
    return (
      <p role="alert" className="text-[0.8125rem] text-bad">
        {errorMessage(quote.error)}
      </p>
    );
  return (
    <p className="min-h-5 text-[0.8125rem] text-muted" role="status">
      {!quote.data && (
        <>
          <span className="sr-only">Loading the price…</span>
          <Skeleton className="h-4 w-64 max-w-full" />
        </>
      )}
      {quote.data?.requests === 0 && 'Both models gave the same answers: nothing is asked, and it is free.'}
      {quote.data && quote.data.requests > 0 && (
        <>
          {countOf(quote.data.requests, 'request')}. At most <Money bgl={quote.data.highest_bgl} /> is held,
          and you pay for the tokens used, at the price of batches.
        </>
      )}
    </p>
  );
}
