import { Slider } from '@base-ui/react/slider';
import { MoveHorizontal } from 'lucide-react';
import { useState } from 'react';
import { fitted } from '../view/frame.tsx';
import { Media } from '../view/media.tsx';

type Props = {
  /** URL of the source. */
  before: string;
  after: { url: string; width: number; height: number };
  prompt: string;
};

/**
 * A picture on top of its source, with a slider between them. The source is cropped as the model saw it:
 * centred, to the ratio of the result.
 */
export function BeforeAfter({ before, after, prompt }: Props) {
  const [share, setShare] = useState(50);
  return (
    <Slider.Root value={share} onValueChange={setShare}>
      <Slider.Control
        className="relative cursor-ew-resize touch-pan-y select-none overflow-hidden"
        style={fitted(after.width / after.height)}
      >
        <Slider.Track className="size-full">
          <Media media={after} alt={prompt} draggable={false} className="size-full" />
          <Media
            media={{ url: before }}
            alt="Before"
            draggable={false}
            className="absolute inset-0 size-full object-cover"
            style={{ clipPath: `inset(0 ${100 - share}% 0 0)` }}
          />
          <Side name="Before" className="left-3" hidden={share < 20} />
          <Side name="After" className="right-3" hidden={share > 80} />
          <Slider.Thumb
            aria-label="Before and after"
            getAriaValueText={(_, value) => `${value}% before, ${100 - value}% after`}
            className="group h-full w-0.5 bg-white shadow-[0_0_0_1px_rgb(0_0_0/0.35)]"
          >
            <span
              aria-hidden
              className="absolute top-1/2 left-1/2 flex size-9 -translate-1/2 items-center justify-center rounded-full bg-white text-neutral-900 shadow-[0_1px_4px_rgb(0_0_0/0.5)] outline-offset-2 group-has-focus-visible:outline-2 group-has-focus-visible:outline-focus"
            >
              <MoveHorizontal className="size-4" />
            </span>
          </Slider.Thumb>
        </Slider.Track>
      </Slider.Control>
    </Slider.Root>
  );
}

function Side({ name, className, hidden }: { name: string; className: string; hidden: boolean }) {
  if (hidden) return null;
  return (
    <span
      aria-hidden
      className={`pointer-events-none absolute bottom-3 rounded-md bg-black/65 px-2 py-0.5 text-white text-xs ${className}`}
    >
      {name}
    </span>
  );
}
