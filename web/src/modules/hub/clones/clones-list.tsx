import { useInfiniteQuery } from '@tanstack/react-query';
import { CloudDownload } from 'lucide-react';
import { ResourceList } from '../../../ui/resource/resource-list.tsx';
import { useUser } from '../../accounts/session.ts';
import { cloneListQuery } from './clone-calls.ts';
import { CloneItem } from './clone-item.tsx';

/** The user's clones, newest first. */
export function ClonesList() {
  return (
    <ResourceList
      query={useInfiniteQuery(cloneListQuery(useUser().id))}
      rows={(page) => page.clones}
      rowKey={(clone) => clone.id}
      failed="Your clones could not be loaded"
      rowHeight={96}
      empty={{
        icon: <CloudDownload aria-hidden />,
        title: 'No clones yet',
        description: 'Search for a model or dataset and clone it. Its progress appears here.',
      }}
      item={(clone) => <CloneItem clone={clone} />}
    />
  );
}
