import type { Asset } from '@bakehouse/contract/assets';
import type { FilePictures } from '@bakehouse/contract/data-files';
import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Captions, ImageOff } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { CaptionEditor } from './caption-editor.tsx';
import { picturesQuery } from './pictures-query.ts';

const PENDING = 12;
const gridClass = 'grid grid-cols-[repeat(auto-fill,minmax(min(8.5rem,45%),1fr))] gap-3';

type Picture = FilePictures['pictures'][number];

/** The pictures of a dataset as thumbnails; names those that cannot be read. The owner can edit captions. */
export function PicturesTab({ asset, canChange }: { asset: Asset; canChange: boolean }) {
  const [writing, setWriting] = useState(false);
  const pages = useInfiniteQuery(picturesQuery(asset.dataset_id, asset.revision_id));
  return (
    <>
      {canChange && (
        <div className="mb-4 flex justify-end">
          <Button size="sm" onClick={() => setWriting(true)}>
            <Captions aria-hidden />
            Write captions
          </Button>
        </div>
      )}
      <QueryView
        query={pages}
        failed="The pictures could not be loaded"
        pending={
          <div className={gridClass}>
            {Array.from({ length: PENDING }, (_, at) => (
              <Skeleton key={at} className="h-44 w-full rounded-xl" />
            ))}
          </div>
        }
        isEmpty={({ pages: all }) => all.every(({ pictures }) => pictures.length === 0)}
        empty={<EmptyState title="No pictures" description="PNG, JPEG and WebP files are shown here." />}
      >
        {({ pages: all }) => <Pictures pictures={all.flatMap(({ pictures }) => pictures)} />}
      </QueryView>
      <Pager pages={pages} />
      {writing && <CaptionEditor datasetId={asset.dataset_id} onClose={() => setWriting(false)} />}
    </>
  );
}

function Pictures({ pictures }: { pictures: Picture[] }) {
  const broken = pictures.filter(({ problem }) => problem !== null);
  return (
    <>
      {broken.length > 0 && (
        <Callout
          tone="warn"
          className="mb-4"
          title={`${countOf(broken.length, 'picture')} cannot be read, and cannot be trained on`}
        >
          <ul>
            {broken.map(({ path, problem }) => (
              <li key={path} className="[overflow-wrap:anywhere]">
                {path}: {problem}
              </li>
            ))}
          </ul>
        </Callout>
      )}
      <ul aria-label="Pictures" className={gridClass}>
        {pictures.map((picture) => (
          <li key={picture.path} className="card min-w-0 overflow-hidden">
            <div className="flex h-32 items-center justify-center bg-subtle">
              {picture.thumbnail === null ? (
                <ImageOff aria-label="It cannot be read" className="size-6 text-faint" />
              ) : (
                <img src={picture.thumbnail} alt={picture.path} className="max-h-32 max-w-full" />
              )}
            </div>
            <div className="px-2.5 py-2 text-xs">
              <p className="truncate font-medium" title={picture.path}>
                {picture.path.split('/').at(-1)}
              </p>
              <p className="truncate text-muted tabular-nums">
                {picture.width !== null && `${picture.width} × ${picture.height}, `}
                {formatBytes(picture.size_bytes)}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
