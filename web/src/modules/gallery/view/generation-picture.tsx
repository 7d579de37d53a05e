import type { Generation } from '@bakehouse/contract/generations';
import { makesVideos } from '@bakehouse/contract/generators';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { Link } from '@tanstack/react-router';
import { Ban, CircleAlert, Download, ImageIcon, ImageUp, Maximize2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { cx } from '../../../lib/cx.ts';
import { useNow } from '../../../lib/use-now.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { BeforeAfter } from '../edit-picture/before-after.tsx';
import { useCancelGeneration } from '../generation-calls.ts';
import {
  canBeCancelled,
  isUnderWay,
  noChargeText,
  percentOf,
  phaseText,
  timeText,
  workText,
} from '../generation-sentences.ts';
import { Frame, fitted, SMALL_PX_MAX } from './frame.tsx';
import { FullSize } from './full-size.tsx';
import { isVideo, Media } from './media.tsx';
import { LoopingVideo, VideoFacts, VideoPlayer } from './video.tsx';

const SECOND_MS = 1_000;

/** The picture or its preview with progress; or why there is none, or fewer than requested. */
export function GenerationPicture({ generation }: { generation: Generation }) {
  if (isUnderWay(generation)) return <UnderWay generation={generation} />;
  const remark = generation.state === 'completed' && generation.reason;
  if (!remark) return <Ended generation={generation} />;
  return (
    <div className="grid gap-3">
      <Callout tone="warn">{remark}</Callout>
      <Ended generation={generation} />
    </div>
  );
}

function Ended({ generation }: { generation: Generation }) {
  if (generation.outputs.length > 0) return <Made generation={generation} />;
  const failed = generation.state === 'failed';
  return (
    <Frame>
      <div
        role={failed ? 'alert' : undefined}
        className="flex aspect-square max-h-128 w-full flex-col items-center justify-center gap-2 p-6 text-center"
      >
        {failed ? (
          <CircleAlert aria-hidden className="size-6 text-bad" />
        ) : (
          <Ban aria-hidden className="size-6 text-faint" />
        )}
        <p className="font-medium">{failed ? failureTitle(generation) : 'Cancelled'}</p>
        <p className="max-w-72 text-balance text-muted">{noChargeText(generation)}</p>
      </div>
    </Frame>
  );
}

function failureTitle({ generator, source }: Generation): string {
  if (makesVideos(generator)) return 'Video generation failed';
  return `The picture could not be ${source ? 'edited' : 'generated'}`;
}

/** The result; a picture opens at full size, a video plays in place. */
function Made({ generation }: { generation: Generation }) {
  const [opened, setOpened] = useState<number | null>(null);
  const { source, prompt, outputs } = generation;
  const [output] = outputs;
  if (output && isVideo(output))
    return (
      <Frame small={isSmall(output)}>
        {isSmall(output) ? (
          <div className="overflow-hidden">
            <LoopingVideo video={output} label={prompt} />
          </div>
        ) : (
          <VideoPlayer
            video={output}
            label={prompt}
            className="h-auto max-h-128 w-full bg-black object-contain"
          />
        )}
        <VideoFacts video={output} className="border-line border-t bg-surface px-4 py-3" />
      </Frame>
    );
  return (
    <>
      {outputs.length > 1 ? (
        <Several generation={generation} onOpen={setOpened} />
      ) : (
        output && (
          <Frame small={isSmall(output)}>
            {source ? (
              <div className="relative">
                <BeforeAfter before={source.url} after={output} prompt={prompt} />
                <Button
                  size="icon-sm"
                  aria-label="View full size"
                  onClick={() => setOpened(0)}
                  className="absolute top-3 right-3"
                >
                  <Maximize2 aria-hidden />
                </Button>
              </div>
            ) : (
              <Zoomable label={prompt} onOpen={() => setOpened(0)}>
                <Media media={output} alt={prompt} className="h-auto max-h-128 w-full object-contain" />
              </Zoomable>
            )}
          </Frame>
        )
      )}
      <FullSize outputs={outputs} prompt={prompt} at={opened} onAt={setOpened} />
    </>
  );
}

function isSmall({ width }: { width: number }): boolean {
  return width <= SMALL_PX_MAX;
}

/** A picture that opens at full size when pressed. */
function Zoomable({ label, onOpen, children }: { label: string; onOpen: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-label={`View full size: ${label}`}
      onClick={onOpen}
      className="block w-full cursor-zoom-in -outline-offset-2"
    >
      {children}
    </button>
  );
}

const ACTION = 'flex items-center justify-center gap-1.5 py-2 hover:bg-subtle';

/** Several pictures of one generation, each with its own download and edit. */
function Several({
  generation: { id: generationId, outputs, prompt },
  onOpen,
}: {
  generation: Generation;
  onOpen: (index: number) => void;
}) {
  const nameOf = (index: number) => `${prompt}, ${index + 1} of ${outputs.length}`;
  return (
    <ul className="grid grid-cols-2 gap-3">
      {outputs.map((output, index) => (
        <li key={output.id}>
          <Frame>
            <Zoomable label={nameOf(index)} onOpen={() => onOpen(index)}>
              <Media media={output} alt={nameOf(index)} className="h-auto w-full object-contain" />
            </Zoomable>
            <div className="grid grid-cols-2 divide-x divide-line border-line border-t bg-surface text-compact">
              <a
                href={output.download_url}
                download
                aria-label={`Download picture ${index + 1}`}
                className={ACTION}
              >
                <Download aria-hidden className="size-4" />
                Download
              </a>
              <Link
                to="/flux-kontext"
                search={{ source: generationId, source_output: output.id }}
                aria-label={`Edit picture ${index + 1}`}
                className={ACTION}
              >
                <ImageUp aria-hidden className="size-4" />
                Edit
              </Link>
            </div>
          </Frame>
        </li>
      ))}
    </ul>
  );
}

function UnderWay({ generation }: { generation: Generation }) {
  const cancel = useCancelGeneration();
  const { state, preview, source, generator, model } = generation;
  return (
    <Frame small={model === starterFor(generator).starter.model}>
      {source ? (
        <Edited source={source} preview={preview} percent={percentOf(generation)} />
      ) : preview ? (
        <Media media={{ url: preview }} alt="" className="aspect-square max-h-128 w-full object-contain" />
      ) : (
        <div
          className={cx(
            'flex max-h-128 w-full items-center justify-center',
            makesVideos(generator) ? 'aspect-video' : 'aspect-square',
          )}
        >
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
          <p className="text-compact text-muted tabular-nums">
            <Time key={state} generation={generation} />
          </p>
          {canBeCancelled(generation) ? (
            <Button size="sm" loading={cancel.isPending} onClick={() => cancel.mutate(generation.id)}>
              Cancel
            </Button>
          ) : (
            <p className="text-compact text-muted">
              {`${generation.service ?? 'The service'} has started, so it can no longer be cancelled`}
            </p>
          )}
        </div>
        <p role="status" className="sr-only">
          {workText(generation, source !== null && !makesVideos(generator))}
        </p>
      </div>
    </Frame>
  );
}

type EditedProps = {
  source: NonNullable<Generation['source']>;
  preview: string | null;
  percent: number | null;
};

/** The source fading into the edit, because the first previews are mostly noise. */
function Edited({ source, preview, percent }: EditedProps) {
  // The model may crop its input.
  const [ratio, setRatio] = useState(source.width / source.height);
  return (
    <div className="relative" style={fitted(ratio)}>
      <Media media={{ url: source.url }} alt="" className="size-full object-cover" />
      {preview && (
        <Media
          media={{ url: preview }}
          alt=""
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setRatio(naturalWidth / naturalHeight)
          }
          className="absolute inset-0 size-full object-cover transition-opacity duration-300"
          style={{ opacity: (percent ?? 0) / 100 }}
        />
      )}
    </div>
  );
}

/** Updates every second; the first observed step is the base of the estimate. */
function Time({ generation }: { generation: Generation }) {
  const now = useNow(SECOND_MS);
  const [first] = useState({ at: now, step: generation.step });
  return <span>{timeText(generation, now, first)}</span>;
}
