import { useNavigate } from '@tanstack/react-router';
import { useSheets } from '../../lib/sheet.ts';
import type { NavItem } from './nav-items.ts';

/** Returns a function that opens a navigation item. */
export function useGoToItem(): (item: NavItem) => void {
  const navigate = useNavigate();
  const { open } = useSheets();
  return (item) => {
    if (item.kind === 'route') void navigate({ to: item.to });
    else if (item.kind === 'sheet') open(item.sheet);
    else window.open(item.href, '_blank', 'noreferrer');
  };
}
