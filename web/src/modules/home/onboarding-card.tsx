import { useInfiniteQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { useEffect } from 'react';
import { cx } from '../../lib/cx.ts';
import { type SheetControl, useSheets } from '../../lib/sheet.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { refreshSession, useUser } from '../accounts/api.ts';
import { deploymentListQuery } from '../deployments/api.ts';

type Step = {
  id: 'create_dataset' | 'fine_tune_model' | 'create_model' | 'ask_model';
  title: string;
  text: string;
  /** Where it begins; the last one begins on a page. */
  start?: (sheets: SheetControl) => void;
};

const steps: Step[] = [
  {
    id: 'create_dataset',
    title: 'Create a dataset',
    text: 'Upload a csv, jsonl, json, txt or parquet file and look at its rows.',
    start: ({ open }) => open('create-dataset'),
  },
  {
    id: 'fine_tune_model',
    title: 'Fine-tune a model',
    text: 'Train the starter model on your data. It runs on this machine’s CPU if there is no GPU.',
    start: ({ open }) => open('create-model', { modelType: 'finetune' }),
  },
  {
    id: 'create_model',
    title: 'Create a model',
    text: 'Your fine-tune, or files of your own, as a model to deploy and download.',
    start: ({ open }) => open('create-model'),
  },
  {
    id: 'ask_model',
    title: 'Ask your model',
    text: 'Deploy it and chat with it, here or from your own programs.',
  },
];

/** The first steps, with a button for the next one; gone when all are done. */
export function OnboardingCard() {
  const { id: userId, onboarding } = useUser();
  const sheets = useSheets();
  const { data: deployments } = useInfiniteQuery(deploymentListQuery(userId, true));
  const created = onboarding.onboarding_completed;

  // The server ticks a step when its thing is created; the session knows it from its last reading.
  useEffect(() => {
    if (!created) refreshSession().catch(() => undefined);
  }, [created]);

  const asked = deployments?.pages.some(({ pods }) => pods.some((pod) => pod.last_request_at !== null));
  // Not before it is known: most people have done all of it.
  if (created && asked !== false) return null;
  const isDone = (id: Step['id']) => (id === 'ask_model' ? asked === true : onboarding.steps[id].completed);
  const next = steps.find(({ id }) => !isDone(id));
  const count = steps.filter(({ id }) => isDone(id)).length;
  return (
    <Card
      title="Get started"
      description="From your own file to a model that answers."
      actions={
        <span className="text-[0.8125rem] text-muted tabular-nums">
          {count} of {steps.length}
        </span>
      }
      flush
    >
      <ol className="divide-y divide-line border-line border-t">
        {steps.map(({ id, title, text, start }, index) => {
          const completed = isDone(id);
          return (
            <li key={id} className="flex items-center gap-4 px-5 py-3.5">
              <span
                className={cx(
                  'flex size-7 shrink-0 items-center justify-center rounded-full font-semibold text-xs tabular-nums',
                  completed
                    ? 'bg-good-soft text-good'
                    : id === next?.id
                      ? 'bg-accent-soft text-accent-text'
                      : 'bg-subtle text-muted',
                )}
              >
                {completed ? <Check aria-label="Done" className="size-4" /> : index + 1}
              </span>
              <div className="min-w-0 flex-1">
                <h3 className={cx('font-medium', completed && 'text-muted')}>{title}</h3>
                <p className="text-[0.8125rem] text-muted leading-5">{text}</p>
              </div>
              {id === next?.id &&
                (start ? (
                  <Button variant="primary" size="sm" onClick={() => start(sheets)}>
                    Start
                  </Button>
                ) : (
                  <ButtonLink variant="primary" size="sm" to="/my-deployments">
                    Start
                  </ButtonLink>
                ))}
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
