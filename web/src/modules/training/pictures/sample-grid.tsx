import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunSamples } from '@bakehouse/contract/runs';
import { useNavigate } from '@tanstack/react-router';
import { WandSparkles } from 'lucide-react';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { notify } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useCheckpointModel, useRunSamples } from './picture-calls.ts';
import { pictureWith } from './picture-with.ts';
import { SampleViewer } from './sample-viewer.tsx';

type Samples = ResponseOf<typeof getRunSamples>;

/** What the checkpoints have drawn, beside what the base model draws; the newest unless another one is chosen. */
export function SampleGrid({ runId, className = '' }: { runId: string; className?: string }) {
  return (
    <Card title="Samples" className={className}>
      <QueryView
        query={useRunSamples(runId, { enabled: true })}
        failed="The samples could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-60 w-full rounded-xl" />
          </LoadingRegion>
        }
        isEmpty={({ checkpoints }) => checkpoints.length === 0}
        empty={
          <p className="text-muted">
            The first samples come before the first step, then with each checkpoint.
          </p>
        }
      >
        {({ prompts, checkpoints }) => (
          <SampleViewer
            prompts={prompts}
            checkpoints={checkpoints}
            use={(shown) => <UseCheckpoint key={shown.step} runId={runId} checkpoint={shown} />}
          />
        )}
      </QueryView>
    </Card>
  );
}

/** The way to a picture with what was learned by this step: to the model that has it, which is made first where there is none. */
function UseCheckpoint({ runId, checkpoint }: { runId: string; checkpoint: Samples['checkpoints'][number] }) {
  const { step, model_id: modelId, is_kept: isKept } = checkpoint;
  const navigate = useNavigate();
  const make = useCheckpointModel(runId);
  if (modelId !== null)
    return (
      <ButtonLink size="sm" {...pictureWith(modelId)}>
        <WandSparkles aria-hidden />
        Use this checkpoint
      </ButtonLink>
    );
  if (!isKept)
    return <p className="text-muted text-xs">No longer kept: the last 20 are, for a week after the run.</p>;
  return (
    <Button
      size="sm"
      loading={make.isPending}
      onClick={() =>
        make.mutate(step, {
          onSuccess: ({ model_id }) => {
            notify.success('The checkpoint is now a model', {
              description: 'It is chosen here, and you find it under My Models.',
            });
            void navigate(pictureWith(model_id));
          },
        })
      }
    >
      <WandSparkles aria-hidden />
      Use this checkpoint
    </Button>
  );
}
