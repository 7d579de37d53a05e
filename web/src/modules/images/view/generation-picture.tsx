import type { Generation } from '@bakehouse/contract/generations';
import { Ban, CircleAlert, ImageIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useNow } from '../../../lib/use-now.ts';
import { Button } from '../../../ui/button.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { useCancelGeneration } from '../generation-calls.ts';
import { isUnderWay, percentOf, phaseText, timeText } from '../generation-sentences.ts';

const SECOND_MS = 1_000;

/** The picture as far as it is there, with what is going on, or why there is none. */
export function GenerationPicture({ generation }: { generation: Generation }) {
  if (isUnderWay(generation)) return <UnderWay generation={generation} />;
  const [output] = generation.outputs;
  if (output) {
    return (
      <Frame>
        <img
          src={output.url}
          alt={generation.prompt}
          width={output.width}
          height={output.height}
          className="h-auto max-h-[32rem] w-full object-contain"
        />
      </Frame>
    );
  }
  const failed = generation.state === 'failed';
  return (
    <Frame>
      <div
        role={failed ? 'alert' : undefined}
        className="flex aspect-square flex-col items-center justify-center gap-2 p-6 text-center"
      >
        {failed ? (
          <CircleAlert aria-hidden className="size-6 text-bad" />
        ) : (
          <Ban aria-hidden className="size-6 text-faint" />
        )}
        <p className="font-medium">{failed ? 'The picture could not be drawn' : 'Cancelled'}</p>
        <p className="max-w-72 text-balance text-muted">{endText(generation)}</p>
      </div>
    </Frame>
  );
}

/** Why it ended, and that it cost nothing. */
function endText({ reason }: Generation): string {
  const free = 'You were not charged.';
  if (reason.includes(free)) return reason;
  return reason ? `${reason.replace(/\.?$/, '.')} ${free}` : free;
}

function UnderWay({ generation }: { generation: Generation }) {
  const cancel = useCancelGeneration();
  const now = useNow(SECOND_MS);
  const { state, preview } = generation;
  return (
    <Frame>
      {preview ? (
        <img src={preview} alt="" className="aspect-square w-full object-contain" />
      ) : (
        <div className="flex aspect-square items-center justify-center">
          <ImageIcon aria-hidden className="size-6 animate-[shimmer_1.6s_ease-in-out_infinite] text-faint" />
        </div>
      )}
      <div className="border-line border-t bg-surface px-4 py-3.5">
        <Progress
          value={percentOf(generation)}
          label={phaseText(generation)}
          aside={state === 'running' ? undefined : ''}
        />
        <div className="mt-2.5 flex items-center justify-between gap-4">
          <p className="text-[0.8125rem] text-muted tabular-nums">{timeText(generation, now)}</p>
          <Button size="sm" loading={cancel.isPending} onClick={() => cancel.mutate(generation.id)}>
            Cancel
          </Button>
        </div>
        {/* Each step would be too much to hear. */}
        <p role="status" className="sr-only">
          {{ queued: 'Waiting', starting: 'Starting the model', running: 'Drawing' }[state as 'queued']}
        </p>
      </div>
    </Frame>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return <div className="card overflow-hidden bg-subtle">{children}</div>;
}
