import { changeOnboarding } from '@bakehouse/contract/accounts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import { useEffect } from 'react';
import { call } from '../../lib/api/api-client.ts';
import { cx } from '../../lib/cx.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { type SheetControl, useSheets } from '../../lib/sheet.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { notify } from '../../ui/notify.ts';
import { refreshUser, useUser } from '../accounts/session.ts';
import { assetListQuery } from '../datasets/asset-queries.ts';
import { deploymentListQuery } from '../deployments/deployment-lists.ts';
import { useRuns } from '../fine-tuning/runs/run-queries.ts';
import { hasEnded } from '../fine-tuning/runs/run-state.ts';
import { useExampleDataset } from './use-example-dataset.ts';

type Step = {
  id: 'create_dataset' | 'fine_tune_model' | 'create_model' | 'ask_model';
  title: string;
  text: string;
  /** Starts the step; the last step has a page instead. */
  start?: (sheets: SheetControl, dataset: string | undefined) => void;
};

const steps: Step[] = [
  {
    id: 'create_dataset',
    title: 'Create a dataset',
    text: 'Upload a csv, jsonl, json, txt or parquet file.',
    start: ({ open }) => open('create-dataset'),
  },
  {
    id: 'fine_tune_model',
    title: 'Fine-tune a model',
    text: 'Train the starter model on your data, on a GPU or the CPU.',
    start: ({ open }, dataset) =>
      open('create-model', { modelType: 'finetune', ...(dataset && { dataset }) }),
  },
  {
    id: 'create_model',
    title: 'Create a model',
    text: 'Fine-tune or upload one.',
    start: ({ open }) => open('create-model'),
  },
  {
    id: 'ask_model',
    title: 'Ask your model',
    text: 'Deploy it and chat with it.',
  },
];

/** The first steps with a button for the next one; hidden when all are done. */
export function OnboardingCard() {
  const { id: userId, onboarding } = useUser();
  const { data: deployments } = useInfiniteQuery(deploymentListQuery('text', userId, { status: 'all' }));
  const dismiss = useDismissOnboarding();
  const created = onboarding.onboarding_completed;

  // The server completes a step when its object exists; the session may predate that, even if it was read on
  // this page.
  useEffect(() => {
    if (!created) refreshUser(5_000).catch(() => undefined);
  }, [created]);

  const hide = () =>
    dismiss.mutate(true, {
      onSuccess: () =>
        notify.info('Get started is hidden', {
          action: { label: 'Undo', onClick: () => dismiss.mutate(false) },
        }),
    });

  const asked = deployments?.pages.some((page) =>
    page.deployments.some(({ last_request_at }) => last_request_at !== null),
  );
  // Hidden until known, because most users have completed everything.
  if (created && asked !== false) return null;
  const isDone = (id: Step['id']) => (id === 'ask_model' ? asked === true : onboarding.steps[id].completed);
  const next = steps.find(({ id }) => !isDone(id));
  const count = steps.filter(({ id }) => isDone(id)).length;
  return (
    <Card
      title="Get started"
      description="From your data to a model that answers."
      actions={
        <>
          <span className="text-compact text-muted tabular-nums">
            {count} of {steps.length}
          </span>
          <Button variant="ghost" size="icon-sm" aria-label="Hide Get started" onClick={hide}>
            <X aria-hidden />
          </Button>
        </>
      }
      flush
    >
      <ol className="divide-y divide-line border-line border-t">
        {steps.map((step, index) => (
          <StepRow
            key={step.id}
            step={step}
            number={index + 1}
            state={isDone(step.id) ? 'done' : step.id === next?.id ? 'next' : 'later'}
          />
        ))}
      </ol>
    </Card>
  );
}

const circles = {
  done: 'bg-good-soft text-good',
  next: 'bg-accent-soft text-accent-text',
  later: 'bg-subtle text-muted',
};

type RowProps = { step: Step; number: number; state: keyof typeof circles };

function StepRow({ step, number, state }: RowProps) {
  const { title, text } = step;
  return (
    <li className="flex items-center gap-x-4 gap-y-3 px-5 py-3.5 max-sm:flex-wrap">
      <span
        className={cx(
          'flex size-7 shrink-0 items-center justify-center rounded-full font-semibold text-xs tabular-nums',
          circles[state],
        )}
      >
        {state === 'done' ? <Check aria-label="Done" className="size-4" /> : number}
      </span>
      <div className="min-w-0 flex-1">
        <h3 className={cx('font-medium', state === 'done' && 'text-muted')}>{title}</h3>
        <p className="text-compact text-muted leading-5">{text}</p>
      </div>
      {state === 'next' && <Begin step={step} />}
    </li>
  );
}

/** The button that starts the next step. */
function Begin({ step: { id, start } }: { step: Step }) {
  const { id: userId } = useUser();
  const { data: datasets } = useInfiniteQuery(assetListQuery(userId, { types: 'RAW' }));
  const sheets = useSheets();
  const navigate = useNavigate();
  const example = useExampleDataset();
  // Not called if the user has left the page: the component is unmounted.
  const makeExample = () =>
    example.mutate(userId, {
      onSuccess: (datasetId) => void navigate({ to: '/dataset/$id/description', params: { id: datasetId } }),
    });
  // A fine-tune starts with the newest dataset that has files.
  const dataset = datasets?.pages[0]?.datasets.find(({ file_count }) => file_count > 0)?.dataset_id;
  const run = useRuns().data?.pages[0]?.runs.find((one) => !hasEnded(one));
  // During the first fine-tune, link to it instead of starting a second one.
  if (id === 'fine_tune_model' && run)
    return (
      <ButtonLink size="sm" to="/runs/$id" params={{ id: run.run_id }}>
        View run
      </ButtonLink>
    );
  return (
    <div className="flex shrink-0 gap-2 max-sm:basis-full max-sm:pl-11">
      {id === 'create_dataset' && (
        <Button size="sm" loading={example.isPending} onClick={makeExample}>
          Use an example
        </Button>
      )}
      {start ? (
        <Button variant="primary" size="sm" onClick={() => start(sheets, dataset)}>
          Start
        </Button>
      ) : (
        <ButtonLink variant="primary" size="sm" to="/my-deployments">
          Start
        </ButtonLink>
      )}
    </div>
  );
}

/** Dismisses or restores the first steps. */
function useDismissOnboarding() {
  return useMutation({
    mutationFn: (dismissed: boolean) => call(changeOnboarding, { body: { dismissed } }),
    onSuccess: () => refreshUser(),
  });
}
