import type { AssetCommit } from '@bakehouse/contract/asset-commits';
import { Tag } from 'lucide-react';
import { Badge } from '../../../ui/badge.tsx';

/** Maximum number of tags displayed per commit. */
const SHOWN_MAX = 5;

/** The tags of a commit. */
export function CommitTags({ tags }: Pick<AssetCommit, 'tags'>) {
  const more = tags.length - SHOWN_MAX;
  return (
    <>
      {tags.slice(0, SHOWN_MAX).map((tag) => (
        <Badge key={tag} tone="accent">
          <Tag aria-hidden className="size-3 shrink-0" />
          <span className="truncate" title={tag}>
            <span className="sr-only">Tag: </span>
            {tag}
          </span>
        </Badge>
      ))}
      {more > 0 && <Badge>{`and ${more} more`}</Badge>}
    </>
  );
}
