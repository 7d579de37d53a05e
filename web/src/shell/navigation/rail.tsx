import type { ComponentProps } from 'react';
import { Tooltip } from '../../ui/tooltip.tsx';
import { Sidebar } from './sidebar.tsx';

/** The sidebar as icons with tooltips. A file of its own, because only few pages need tooltips at first. */
export function Rail(props: Pick<ComponentProps<typeof Sidebar>, 'user' | 'page'>) {
  return (
    <Sidebar
      {...props}
      withHint={(label, item) => (
        <Tooltip content={label} side="right">
          {item}
        </Tooltip>
      )}
    />
  );
}
