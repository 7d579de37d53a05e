import type { Generation } from '@bakehouse/contract/generations';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Images } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { generationsQuery } from '../generation-queries.ts';
import { isVideo, Media } from '../view/media.tsx';

type Props = { userId: string; onChoose: (source: { generationId: string; outputId: string }) => void };

/** Chooses an earlier picture instead of a file. */
export function GalleryChoice({ userId, onChoose }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" onClick={() => setOpen(true)}>
        From your gallery
      </Button>
      {isOpen && (
        <Dialog open onOpenChange={setOpen} size="lg" title="Choose a picture">
          <Pictures
            userId={userId}
            onChoose={(source) => {
              setOpen(false);
              onChoose(source);
            }}
          />
        </Dialog>
      )}
    </>
  );
}

const gridClass = 'grid grid-cols-3 gap-2 sm:grid-cols-5';
const TILES = 10;

function Pictures({ userId, onChoose }: Props) {
  const list = useInfiniteQuery(generationsQuery(userId, { state: 'completed' }));
  return (
    <>
      <QueryView
        query={list}
        failed="Your pictures could not be loaded"
        pending={
          <LoadingRegion className={gridClass}>
            {Array.from({ length: TILES }, (_, at) => (
              <Skeleton key={at} className="aspect-square rounded-lg" />
            ))}
          </LoadingRegion>
        }
        isEmpty={({ pages }) => !list.hasNextPage && picturesOf(pages).length === 0}
        empty={<EmptyState icon={<Images aria-hidden />} title="No pictures yet" compact />}
        compact
      >
        {({ pages }) => (
          <ul className={gridClass}>
            {picturesOf(pages).map(({ generation, output }) => (
              <li key={output.id}>
                <button
                  type="button"
                  title={generation.prompt}
                  onClick={() => onChoose({ generationId: generation.id, outputId: output.id })}
                  className="block aspect-square w-full overflow-hidden rounded-lg bg-subtle shadow-card outline-offset-2"
                >
                  <Media small media={output} alt={generation.prompt} className="size-full" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </QueryView>
      <Pager pages={list} />
    </>
  );
}

function picturesOf(pages: readonly { generations: readonly Generation[] }[]) {
  return pages
    .flatMap((page) => page.generations)
    .flatMap((generation) =>
      generation.outputs.filter((output) => !isVideo(output)).map((output) => ({ generation, output })),
    );
}
