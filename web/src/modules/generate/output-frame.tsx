import { Clapperboard, Image } from 'lucide-react';
import { useId } from 'react';
import { Button } from '../../ui/button.tsx';

type Props = {
  makes: 'image' | 'video';
  ratio: string;
  /** Example prompts. */
  examples: readonly string[];
  onExample: (prompt: string) => void;
};

/** Placeholder for the results in the chosen aspect ratio. */
export function OutputFrame({ makes, ratio, examples, onExample }: Props) {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  const Icon = makes === 'image' ? Image : Clapperboard;
  return (
    <section
      aria-label="Results"
      className="flex min-h-80 items-center justify-center rounded-xl bg-subtle p-6 max-lg:min-h-60 lg:min-h-120"
    >
      <div
        className="flex max-h-104 flex-col items-center justify-center gap-3 rounded-xl border border-line-strong border-dashed p-4 text-center text-muted transition-[aspect-ratio] duration-200"
        style={{
          aspectRatio: `${width} / ${height}`,
          ...(width >= height ? { width: '100%' } : { height: '26rem' }),
          maxWidth: `${(26 * width) / height}rem`,
        }}
      >
        <Icon aria-hidden className="size-6 text-faint" />
        <p className="max-w-56 text-balance">
          {makes === 'image' ? 'Your pictures appear here' : 'Your videos appear here'}
        </p>
        {examples.length > 0 && <Examples prompts={examples} onChoose={onExample} />}
      </div>
    </section>
  );
}

function Examples({ prompts, onChoose }: { prompts: readonly string[]; onChoose: (prompt: string) => void }) {
  const label = useId();
  return (
    <div role="group" aria-labelledby={label} className="mt-3 grid justify-items-center gap-2">
      <p id={label} className="text-compact">
        Try one of these
      </p>
      <div className="flex max-w-96 flex-wrap justify-center gap-2">
        {prompts.map((prompt) => (
          <Button key={prompt} size="sm" onClick={() => onChoose(prompt)}>
            {prompt}
          </Button>
        ))}
      </div>
    </div>
  );
}
