import type { SharedSamples } from '@bakehouse/contract/share-links';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Button } from '../../../ui/button.tsx';

type Checkpoint = SharedSamples['checkpoints'][number];

type Props<Shown extends Checkpoint> = {
  prompts: SharedSamples['prompts'];
  checkpoints: readonly Shown[];
  /** What can be done with the LoRA of a checkpoint. */
  use?: (checkpoint: Shown) => ReactNode;
};

/** What checkpoints have drawn, beside what the base model draws; the newest unless another one is chosen. */
export function SampleViewer<Shown extends Checkpoint>({ prompts, checkpoints, use }: Props<Shown>) {
  // Null: the newest, also when another one comes.
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
        <output className="w-28 text-right text-[0.8125rem] tabular-nums">{label}</output>
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
              <p className="mt-1.5 text-[0.8125rem] [overflow-wrap:anywhere]">
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
        {shown.step > 0 && use?.(shown)}
      </div>
    </>
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
