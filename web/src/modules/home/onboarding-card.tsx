import { Check } from 'lucide-react';
import { useEffect } from 'react';
import { useCreatePanel } from '../../lib/create-panel.ts';
import { cx } from '../../lib/cx.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { refreshSession, useUser } from '../accounts/api.ts';

const steps = [
  {
    id: 'create_dataset',
    title: 'Create a dataset',
    text: 'Upload a csv, jsonl, json, txt or parquet file and look at its rows.',
    panel: 'dataset',
  },
  {
    id: 'fine_tune_model',
    title: 'Fine-tune a model',
    text: 'Teach the starter model your data. It runs on this machine’s CPU if there is no GPU.',
    panel: 'model',
  },
  {
    id: 'create_model',
    title: 'Create a model',
    text: 'Your fine-tune, or files of your own, as a model to deploy and download.',
    panel: 'model',
  },
] as const;

/** The first steps, with a button for the next one; gone when all are done. */
export function OnboardingCard() {
  const { onboarding } = useUser();
  const openPanel = useCreatePanel();
  const done = onboarding.onboarding_completed;

  // The server ticks a step when its thing is created; the session knows it from its last reading.
  useEffect(() => {
    if (!done) refreshSession().catch(() => undefined);
  }, [done]);

  if (done) return null;
  const next = steps.find(({ id }) => !onboarding.steps[id].completed);
  const count = steps.filter(({ id }) => onboarding.steps[id].completed).length;
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
        {steps.map(({ id, title, text, panel }, index) => {
          const completed = onboarding.steps[id].completed;
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
              {id === next?.id && (
                <Button variant="primary" size="sm" onClick={() => openPanel({ create: panel })}>
                  Start
                </Button>
              )}
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
