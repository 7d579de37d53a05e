import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunSamples } from '@bakehouse/contract/runs';
import { useNavigate } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, WandSparkles } from 'lucide-react';
import { useState } from 'react';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { notify } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { generatorLinkFor } from './generator-link-for.ts';
import { useCheckpointModel, useRunSamples } from './picture-calls.ts';

type Samples = ResponseOf<typeof getRunSamples>;
type Checkpoint = Samples['checkpoints'][number];

/** Samples of a checkpoint next to the base model's. Shows the newest checkpoint unless another is chosen. */
export function SampleGrid({ runId, className = '' }: { runId: string; className?: string }) {
  return (
    <Card title="Samples" className={className}>
      <QueryView
        query={useRunSamples(runId)}
        failed="The samples could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-60 w-full rounded-xl" />
          </LoadingRegion>
        }
        isEmpty={({ checkpoints }) => checkpoints.length === 0}
        empty={
          <p className="text-muted">
            The first samples appear before the first step, then with each checkpoint.
          </p>
        }
      >
        {({ prompts, checkpoints }) => (
          <SampleViewer runId={runId} prompts={prompts} checkpoints={checkpoints} />
        )}
      </QueryView>
    </Card>
  );
}

function SampleViewer({ runId, prompts, checkpoints }: Samples & { runId: string }) {
  // Null follows the newest checkpoint.
  const [chosen, setChosen] = useState<number | null>(null);
  const last = checkpoints.length - 1;
  const index = Math.min(chosen ?? last, last);
  const shown = checkpoints[index];
  if (!shown) return null;
  const before = checkpoints.find(({ step }) => step === 0);
  const go = (to: number) => setChosen(to >= last ? null : to);
  const label = shown.step === 0 ? 'Before training' : `Step ${formatNumber(shown.step)}`;
  return (
    <>
      <div className="mb-4 flex items-center gap-2">
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Earlier checkpoint"
          disabled={index === 0}
          onClick={() => go(index - 1)}
        >
          <ChevronLeft aria-hidden />
        </Button>
        <input
          type="range"
          className="min-w-0 flex-1 accent-accent"
          min={0}
          max={last}
          step={1}
          value={index}
          aria-label="Checkpoint"
          aria-valuetext={label}
          onChange={(event) => go(Number(event.target.value))}
        />
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Later checkpoint"
          disabled={index === last}
          onClick={() => go(index + 1)}
        >
          <ChevronRight aria-hidden />
        </Button>
        <output className="w-28 text-right text-compact tabular-nums">{label}</output>
      </div>
      <ul className="grid gap-4 sm:grid-cols-2">
        {shown.pictures.map((picture, number) => {
          const asked = prompts[number];
          return (
            <li key={asked ? `${asked.seed} ${asked.prompt}` : picture.url} className="min-w-0">
              <div className="grid grid-cols-2 gap-2">
                <Picture picture={before?.pictures[number]} alt={`${asked?.prompt}, before training`} />
                <Picture picture={picture} alt={`${asked?.prompt}, ${label.toLowerCase()}`} />
              </div>
              <p className="mt-1.5 text-compact [overflow-wrap:anywhere]">
                {asked?.prompt} <span className="text-muted">seed {asked?.seed}</span>
              </p>
            </li>
          );
        })}
      </ul>
      <div className="mt-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p className="max-w-[62ch] text-muted text-xs">
          Left: the base model. Right: with this checkpoint’s LoRA, at strength 1.
        </p>
        {shown.step > 0 && <UseCheckpoint key={shown.step} runId={runId} checkpoint={shown} />}
      </div>
    </>
  );
}

/** Opens the generator with the checkpoint's model, creating the model first if necessary. */
function UseCheckpoint({ runId, checkpoint }: { runId: string; checkpoint: Checkpoint }) {
  const { step, model_id: modelId, is_kept: isKept } = checkpoint;
  const navigate = useNavigate();
  const make = useCheckpointModel(runId);
  if (modelId !== null)
    return (
      <ButtonLink size="sm" {...generatorLinkFor(modelId)}>
        <WandSparkles aria-hidden />
        Use this checkpoint
      </ButtonLink>
    );
  if (!isKept)
    return (
      <p className="text-muted text-xs">
        Deleted. Only the last 20 checkpoints are kept, for a week after the run.
      </p>
    );
  return (
    <Button
      size="sm"
      loading={make.isPending}
      onClick={() =>
        make.mutate(step, {
          onSuccess: ({ model_id }) => {
            notify.success('The checkpoint is now a model', {
              description: 'It is selected here and listed under My Models.',
            });
            void navigate(generatorLinkFor(model_id));
          },
        })
      }
    >
      <WandSparkles aria-hidden />
      Use this checkpoint
    </Button>
  );
}

type Drawn = Checkpoint['pictures'][number];

function Picture({ picture, alt }: { picture: Drawn | undefined; alt: string }) {
  if (!picture) return <span />;
  const { url, width, height } = picture;
  return (
    <img
      src={url}
      alt={alt}
      width={width}
      height={height}
      className="block h-auto w-full rounded-lg bg-subtle"
    />
  );
}
