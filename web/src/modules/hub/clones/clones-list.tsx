import { useInfiniteQuery } from '@tanstack/react-query';
import { CloudDownload } from 'lucide-react';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { PagedList } from '../../../ui/paged-list.tsx';
import { useUser } from '../../accounts/session.ts';
import { cloneListQuery } from './clone-calls.ts';
import { CloneItem } from './clone-item.tsx';

/** The user's clones, newest first. */
export function ClonesList() {
  const clones = useInfiniteQuery(cloneListQuery(useUser().id));
  return (
    <Card flush>
      <PagedList
        query={clones}
        rows={(page) => page.clones}
        failed="Your clones could not be loaded"
        rowHeight={96}
        empty={
          <EmptyState
            icon={<CloudDownload aria-hidden />}
            title="No clones yet"
            description="Search for a model or dataset and clone it. Its progress appears here."
          />
        }
      >
        {(rows) => (
          <ul className="divide-y divide-line">
            {rows.map((clone) => (
              <CloneItem key={clone.id} clone={clone} />
            ))}
          </ul>
        )}
      </PagedList>
    </Card>
  );
}
