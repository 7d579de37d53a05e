import { Clapperboard, Image } from 'lucide-react';

/** Where the results will be, in the shape that was chosen. */
export function OutputFrame({ makes, ratio }: { makes: 'image' | 'video'; ratio: string }) {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  const Icon = makes === 'image' ? Image : Clapperboard;
  return (
    <section
      aria-label="Results"
      className="flex min-h-80 items-center justify-center rounded-xl bg-subtle p-6 max-lg:min-h-60 lg:min-h-[30rem]"
    >
      <div
        className="flex max-h-[26rem] flex-col items-center justify-center gap-3 rounded-xl border border-line-strong border-dashed p-4 text-center text-muted transition-[aspect-ratio] duration-200"
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
      </div>
    </section>
  );
}
